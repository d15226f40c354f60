"""`daybook sessions`: transcripts."""

from __future__ import annotations

from pathlib import Path

import click

from agent.languages.sentences import Sentence
from gateway.terminal.confirm import confirm
from gateway.terminal.context import CliContext, CommandFailed, print_json, show_time
from gateway.terminal.rpc import ask, rows
from gateway.terminal.table import print_table

_KEYS = ("id", "key", "started", "last", "messages")
"""The keys of `sessions list --json`, on which programs rely."""


@click.group("sessions")
def sessions_command() -> None:
    """List, show, name, archive, export and delete conversations."""


@sessions_command.command("list")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.option("--archived", is_flag=True, help="Those that were put away.")
@click.option("--aside", is_flag=True, help="Those of delegated tasks and of jobs.")
@click.pass_obj
def list_sessions(context: CliContext, as_json: bool, archived: bool, aside: bool) -> None:
    """List conversations, latest first."""
    answer = ask(context, "sessions.list")
    if as_json:
        return print_json([{name: row.get(name) for name in _KEYS} for row in rows(answer.value)])
    names = ("id", "key", "title", "last", "messages")
    heads = context.heads(Sentence("id"), Sentence("key"), Sentence("title"), Sentence("last"), Sentence("messages"))
    states = archived, aside
    shown = [row for row in rows(answer.value) if (bool(row.get("archived")), bool(row.get("aside"))) == states]
    lines = [row | {"last": show_time(row.get("last"), answer.zone)} for row in shown]
    nothing = context.said("No conversations are archived.") if archived else context.said("No conversations yet.")
    return print_table(heads, [[row.get(name) for name in names] for row in lines], nothing)


@sessions_command.command()
@click.argument("session", metavar="ID|TITLE")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.pass_obj
def show(context: CliContext, session: str, as_json: bool) -> None:
    """Print a conversation as Markdown."""
    value = ask(context, "sessions.show", id=session).value
    if as_json:
        return print_json(value)
    return click.echo(_text(value))


@sessions_command.command()
@click.argument("session", metavar="ID|TITLE")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="A new file; default: stdout.")
@click.pass_obj
def export(context: CliContext, session: str, output: Path | None) -> None:
    """Save a conversation as Markdown."""
    text = _text(ask(context, "sessions.export", id=session).value)
    if output is None:
        return click.echo(text)
    try:
        with output.open("x", encoding="utf-8") as file:
            file.write(text + "\n")
    except OSError as error:
        raise CommandFailed(
            Sentence("Can't write {output}: {why}. Choose another file.", output=output, why=error.strerror)
        ) from error
    return click.echo(context.said("Saved to {output}.", output=output), err=True)


@sessions_command.command()
@click.argument("session", metavar="ID|TITLE")
@click.argument("title", nargs=-1, metavar="[NEW TITLE]")
@click.pass_obj
def rename(context: CliContext, session: str, title: tuple[str, ...]) -> None:
    """Give a conversation a title; without one, it is called by its first message again."""
    value = ask(context, "sessions.rename", id=session, title=" ".join(title)).value
    click.echo(context.said("It is called “{title}” now.", title=_of(value, "title")))


@sessions_command.command()
@click.argument("session", metavar="ID|TITLE")
@click.option("--undo", is_flag=True, help="Take it back.")
@click.pass_obj
def archive(context: CliContext, session: str, undo: bool) -> None:
    """Put a conversation away: it is kept, and not listed."""
    value = ask(context, "sessions.archive", id=session, archived=not undo).value
    title = _of(value, "title")
    is_listed = context.said("“{title}” is listed again.", title=title)
    click.echo(is_listed if undo else context.said("“{title}” is archived.", title=title))


@sessions_command.command()
@click.option("--days", type=click.IntRange(min=1), required=True, help="Keep what was used within this many days.")
@click.option("--yes", is_flag=True, help="Don't ask.")
@click.pass_obj
def prune(context: CliContext, days: int, yes: bool) -> None:
    """Delete ended conversations that were last used more than --days ago."""
    if not yes:
        confirm(context.said("Delete conversations that were last used more than {days} days ago?", days=days))
    value = ask(context, "sessions.prune", days=days).value
    removed = value.get("removed") if isinstance(value, dict) else None
    click.echo(context.said("{count} deleted.", count=len(removed) if isinstance(removed, list) else 0))


def _text(value: object) -> str:
    return _of(value, "text")


def _of(value: object, name: str) -> str:
    return str(value.get(name, "")) if isinstance(value, dict) else ""
