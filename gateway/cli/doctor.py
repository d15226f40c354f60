"""`daybook doctor`: checks everything; each problem with its fix."""

from __future__ import annotations

import os
import sys

import click

from gateway.cli.context import CliContext, print_json
from gateway.doctor.examine import examine, silent
from gateway.doctor.mend import mend
from gateway.doctor.security import security


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.option("--fix", "fixes", is_flag=True, help="First mend what can be mended without harm; your files stay.")
@click.option("--security", "is_security", is_flag=True, help="Only what others could reach; asks no server.")
@click.pass_obj
def doctor_command(context: CliContext, as_json: bool, fixes: bool, is_security: bool) -> None:
    """Check configuration, tokens, connections, permissions, transcripts, queues, disk and clock."""
    unreachable = silent(context.home)
    mended = mend(context.home, os.environ) if fixes and not unreachable else []
    findings = unreachable or (security if is_security else examine)(context.home, os.environ)
    bad = [finding for finding in findings if not finding.ok]
    if as_json:
        print_json([{"check": one.check, "ok": one.ok, "message": one.message, "cure": one.fix} for one in findings])
    else:
        for sentence in mended:
            click.echo(f"done {sentence}")
        for finding in findings:
            click.echo(f"{'ok  ' if finding.ok else 'BAD '} {finding.check}: {finding.message}")
            if finding.fix and not finding.ok:
                click.echo(f"     Fix: {finding.fix}")
        problems = "1 problem" if len(bad) == 1 else f"{len(bad)} problems"
        click.echo(f"\n{problems}; each has its fix above." if bad else "\nAll is well.")
    if bad:
        sys.exit(1)
