"""`daybook sessions`: transcripts."""

from __future__ import annotations

from pathlib import Path

import click

from agent.languages.sentences import Sentence
from gateway.handlers.agents import SessionOperations
from gateway.terminal.confirm import confirm
from gateway.terminal.context import CliContext, CommandFailed, print_json
from gateway.terminal.operations import YES, command_from, command_of, group_of
from gateway.terminal.rpc import RpcAnswer, ask
from gateway.terminal.table import print_table

_KEYS = ("id", "key", "started", "last", "messages")
"""The keys of `sessions list --json`, on which programs rely."""


@click.command("list")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.option("--archived", is_flag=True, help="Those that were put away.")
@click.option("--aside", is_flag=True, help="Those of delegated tasks and of jobs.")
@click.pass_obj
def list_sessions(context: CliContext, as_json: bool, archived: bool, aside: bool) -> None:
    """List conversations, latest first."""
    answer = ask(context, "sessions.list")
    if as_json:
        return print_json([{name: row.get(name) for name in _KEYS} for row in answer.rows])
    names = ("id", "key", "title", "last", "messages")
    heads = context.heads(Sentence("id"), Sentence("key"), Sentence("title"), Sentence("last"), Sentence("messages"))
    states = archived, aside
    shown = [row for row in answer.rows if (bool(row.get("archived")), bool(row.get("aside"))) == states]
    lines = [row | {"last": answer.reader.moment(row.get("last"))} for row in shown]
    nothing = context.said("No conversations are archived.") if archived else context.said("No conversations yet.")
    return print_table(heads, [[row.get(name) for name in names] for row in lines], nothing)


_OUTPUT = click.Option(["-o", "--output"], type=click.Path(path_type=Path), help="A new file; default: stdout.")


def _export(context: CliContext, id: str, output: Path | None) -> None:
    text = str(ask(context, "sessions.export", id=id).fields.get("text"))
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


def _prune(context: CliContext, days: int, yes: bool) -> None:
    if not yes:
        confirm(context.said("Delete conversations that were last used more than {days} days ago?", days=days))
    removed = ask(context, "sessions.prune", days=days).fields.get("removed")
    click.echo(context.said("{count} deleted.", count=len(removed) if isinstance(removed, list) else 0))


def _show_title(context: CliContext, answer: RpcAnswer) -> None:
    click.echo(context.said("It is called “{title}” now.", title=answer.fields.get("title")))


def _show_archived(context: CliContext, answer: RpcAnswer) -> None:
    title = answer.fields.get("title")
    is_listed = context.said("“{title}” is listed again.", title=title)
    click.echo(context.said("“{title}” is archived.", title=title) if answer.fields.get("archived") else is_listed)


sessions_command = group_of(
    "sessions",
    "List, show, name, archive, export and delete conversations.",
    [SessionOperations],
    [
        command_of(SessionOperations.rename, _show_title),
        command_of(SessionOperations.archive, _show_archived),
        list_sessions,
        command_from(SessionOperations.export, _export, _OUTPUT),
        command_from(SessionOperations.prune, _prune, YES),
    ],
)
