"""`daybook doctor`: checks everything; each problem with its fix."""

from __future__ import annotations

import os
import sys

import click

from agent.languages.codes import Language
from agent.languages.sentences import Sentence, Translatable, translated
from gateway.doctor.examine import examine, silent
from gateway.doctor.mend import mend
from gateway.doctor.security import security
from gateway.terminal.context import CliContext, print_json


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.option("--fix", "fixes", is_flag=True, help="First mend what can be mended without harm; your files stay.")
@click.option("--security", "is_security", is_flag=True, help="Only what others could reach; asks no server.")
@click.pass_obj
def doctor_command(context: CliContext, as_json: bool, fixes: bool, is_security: bool) -> None:
    """Check everything, and say how to fix each problem."""
    unreachable = silent(context.home)
    mended = mend(context.home, os.environ) if fixes and not unreachable else []
    findings = unreachable or (security(context.home, os.environ) if is_security else examine(context.home, os.environ))
    bad = [finding for finding in findings if not finding.ok]
    if as_json:
        print_json(
            [
                {"check": finding.check, "ok": finding.ok, "message": finding.message, "cure": finding.fix}
                for finding in findings
            ]
        )
    else:
        language = context.language
        for sentence in mended:
            click.echo(f"{context.said('done')} {translated(language, sentence)}")
        for finding in findings:
            mark = "ok  " if finding.ok else f"{context.said('BAD'):4}"
            click.echo(f"{mark} {_said(language, finding.check)}: {_said(language, finding.message)}")
            if finding.fix and not finding.ok:
                click.echo(f"     {context.said('Fix: {fix}', fix=_said(language, finding.fix))}")
        match len(bad):
            case 0:
                summary = context.said("All is well.")
            case 1:
                summary = context.said("1 problem; its fix is above.")
            case count:
                summary = context.said("{count} problems; each has its fix above.", count=count)
        click.echo(f"\n{summary}")
    if bad:
        sys.exit(1)


def _said(language: Language, text: str) -> object:
    """A finding's text in that language; most are whole sentences without values."""
    return translated(language, text if isinstance(text, Translatable) else Sentence(text))
