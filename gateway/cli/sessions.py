"""`daybook sessions`: transcripts."""

from __future__ import annotations

from pathlib import Path

import click

from gateway.cli.context import CliContext, CommandFailed
from gateway.cli.render import print_json, print_table
from gateway.cli.rpc import ask, rows


@click.group("sessions")
def sessions_command() -> None:
    """The transcripts of talks."""


@sessions_command.command("list")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.pass_obj
def list_sessions(place: CliContext, as_json: bool) -> None:
    """All sessions, the latest first."""
    answer = ask(place, "sessions.list")
    if as_json:
        return print_json(answer.value)
    names = ("id", "key", "started", "last", "messages")
    return print_table(names, [[row.get(name) for name in names] for row in rows(answer.value)], "No sessions yet.")


@sessions_command.command()
@click.argument("session", metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.pass_obj
def show(place: CliContext, session: str, as_json: bool) -> None:
    """Print a session as Markdown."""
    value = ask(place, "sessions.show", id=session).value
    if as_json:
        return print_json(value)
    return click.echo(_text(value))


@sessions_command.command()
@click.argument("session", metavar="ID")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="A new file; without it, stdout.")
@click.pass_obj
def export(place: CliContext, session: str, output: Path | None) -> None:
    """Write a session as Markdown to a file."""
    text = _text(ask(place, "sessions.export", id=session).value)
    if output is None:
        return click.echo(text)
    try:
        with output.open("x", encoding="utf-8") as file:
            file.write(text + "\n")
    except OSError as error:
        raise CommandFailed(f"{output} cannot be written: {error.strerror}") from error
    return click.echo(f"Written to {output}.", err=True)


@sessions_command.command()
@click.option("--days", type=click.IntRange(min=1), required=True, help="Keep what is younger than this.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.pass_obj
def prune(place: CliContext, days: int, yes: bool) -> None:
    """Delete ended transcripts that were last used more than --days ago."""
    if not yes:
        click.confirm(f"Delete transcripts that were last used more than {days} days ago?", abort=True)
    value = ask(place, "sessions.prune", days=days).value
    removed = value.get("removed") if isinstance(value, dict) else None
    click.echo(f"{len(removed) if isinstance(removed, list) else 0} deleted.")


def _text(value: object) -> str:
    return str(value.get("text", "")) if isinstance(value, dict) else ""
