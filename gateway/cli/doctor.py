"""`daybook doctor`: checks everything; each problem with its fix."""

from __future__ import annotations

import os
import sys
from dataclasses import asdict

import click

from gateway.cli.context import CliContext
from gateway.cli.render import print_json
from gateway.doctor.examine import examine


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.pass_obj
def doctor_command(place: CliContext, as_json: bool) -> None:
    """Check configuration, tokens, reachability, permissions, transcripts, queues, disk and clock."""
    findings = examine(place.home, os.environ)
    if as_json:
        print_json([asdict(finding) for finding in findings])
    else:
        for finding in findings:
            click.echo(f"{'ok  ' if finding.ok else 'BAD '} {finding.check}: {finding.message}")
            if finding.cure and not finding.ok:
                click.echo(f"     {finding.cure}")
    if not all(finding.ok for finding in findings):
        sys.exit(1)
