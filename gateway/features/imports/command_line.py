"""`daybook import`: brings memory and conversations from elsewhere, and takes an import back."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from agent.languages.sentences import Sentence
from agent.model.base import Json
from gateway.features.imports.values import ImportKind
from gateway.terminal.context import CliContext, print_json, show_time
from gateway.terminal.rpc import ask, rows
from gateway.terminal.table import print_table

_SHOWN = 20
"""Lines of a list for people; `--json` has all."""
_KINDS = {
    ImportKind.OPENCLAW: "A workspace of OpenClaw, or the folder that it is in, also zipped.",
    ImportKind.NANOBOT: "A workspace of nanobot, or the folder that it is in, also zipped.",
    ImportKind.CLAUDE: "An export of Claude: the zip, its folder or conversations.json.",
    ImportKind.CHATGPT: "An export of ChatGPT: the zip, its folder or conversations.json.",
    ImportKind.TEXT: "A folder of Markdown, as Obsidian and Logseq keep it, also zipped.",
}


@click.group("import")
def import_command() -> None:
    """Bring your memory and chats from other assistants, or Markdown.

    Nothing that is there is overwritten.
    """


def _import_of(kind: ImportKind, help: str) -> click.Command:
    @click.command(kind.value, help=help)
    @click.argument("path", type=click.Path(path_type=Path))
    @click.option("--dry-run", is_flag=True, help="Show what would be written, and write nothing.")
    @click.option("--agent", help="The agent's name; default: the main one.")
    @click.option("--json", "as_json", is_flag=True, help="One JSON document.")
    @click.pass_obj
    def command(context: CliContext, path: Path, dry_run: bool, agent: str | None, as_json: bool) -> None:
        where = str(path.expanduser().absolute())
        value = ask(context, "import.run", kind=kind.value, path=where, dry_run=dry_run, agent=agent).value
        if as_json:
            return print_json(value)
        return _show(context, value if isinstance(value, dict) else {})

    return command


for _kind, _help in _KINDS.items():
    import_command.add_command(_import_of(_kind, _help))


@import_command.command("list")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.pass_obj
def list_imports(context: CliContext, as_json: bool) -> None:
    """List imports, newest first."""
    answer = ask(context, "import.list")
    if as_json:
        return print_json(answer.value)
    lines = [
        (*(row.get(name) for name in ("id", "ts", "kind", "source", "files")), context.said_of(_state(row)))
        for row in (row | {"ts": show_time(row.get("ts"), answer.zone)} for row in rows(answer.value))
    ]
    heads = context.heads(
        *(Sentence("id"), Sentence("when"), Sentence("kind"), Sentence("from"), Sentence("files"), Sentence("state"))
    )
    return print_table(heads, lines, context.said("No imports yet."))


@import_command.command()
@click.argument("id", metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.pass_obj
def undo(context: CliContext, id: str, as_json: bool) -> None:
    """Take an import back; what you have changed since is kept."""
    value = ask(context, "import.undo", id=id).value
    if as_json:
        return print_json(value)
    return click.echo(value.get("message") if isinstance(value, dict) else "")


def _state(row: dict[str, Json]) -> Sentence:
    if row.get("undone"):
        return Sentence("undone")
    return Sentence("done") if row.get("finished") else Sentence("cut short")


def _show(context: CliContext, report: dict[str, Json]) -> None:
    files, is_dry = rows(report.get("files")), report.get("dry_run") is True
    if files:
        count, chats, messages = len(files), report.get("conversations"), report.get("messages")
        click.echo(
            context.said("Files that would be written: {count}", count=count)
            if is_dry
            else context.said("Files written: {count}", count=count)
        )
        if messages:
            click.echo(context.said("Conversations: {chats}, messages: {messages}", chats=chats, messages=messages))
        what = {
            "merged": context.said("(added at its end)"),
            "replaced": context.said("(in place of Daybook's own, which is unchanged)"),
        }
        _show_some(context, [f"{row.get('path')} {what.get(str(row.get('what')), '')}".rstrip() for row in files])
    else:
        click.echo(context.said("Nothing new: everything was imported before."))
    if already := report.get("already"):
        click.echo(context.said("There already, so passed over: {count}.", count=already))
    secrets = [
        context.said("{kind} in {where}", kind=row.get("kind"), where=row.get("where"))
        for row in rows(report.get("secrets"))
    ]
    if secrets:
        click.echo(context.said("Left out:"))
        _show_some(context, list(dict.fromkeys(secrets)))
    skipped = [
        context.said("{what} {why}", what=row.get("what"), why=row.get("why")) for row in rows(report.get("skipped"))
    ]
    if skipped:
        click.echo(context.said("Not understood, or not taken ({count}):", count=len(skipped)))
        _show_some(context, skipped)
    remarks = report.get("remarks")
    for remark in remarks if isinstance(remarks, list) else []:
        click.echo(remark)
    if id := report.get("id"):
        click.echo(context.said("Only you see it. To take it back: `daybook import undo {id}`", id=id))


def _show_some(context: CliContext, lines: Sequence[str]) -> None:
    for line in lines[:_SHOWN]:
        click.echo(f"  {line}")
    if len(lines) > _SHOWN:
        click.echo(f"  {context.said('and {count} more (--json shows all)', count=len(lines) - _SHOWN)}")
