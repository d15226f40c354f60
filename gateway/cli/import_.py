"""`daybook import`: brings memory and conversations from elsewhere, and takes an import back."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from agent.model.base import Json
from gateway.cli.context import CliContext, print_json, show_time
from gateway.cli.rpc import ask, rows
from gateway.cli.table import print_table
from gateway.importing.values import ImportKind

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
        return _show(value if isinstance(value, dict) else {})

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
        (*(row.get(name) for name in ("id", "ts", "kind", "source", "files")), _state(row))
        for row in (row | {"ts": show_time(row.get("ts"), answer.zone)} for row in rows(answer.value))
    ]
    return print_table(("id", "when", "kind", "from", "files", "state"), lines, "No imports yet.")


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


def _state(row: dict[str, Json]) -> str:
    if row.get("undone"):
        return "undone"
    return "done" if row.get("finished") else "cut short"


def _show(report: dict[str, Json]) -> None:
    files, is_dry = rows(report.get("files")), report.get("dry_run") is True
    if files:
        verb = "Would write" if is_dry else "Wrote"
        chats, messages = report.get("conversations"), report.get("messages")
        said = f" with {_counted(messages, 'message')} of {_counted(chats, 'conversation')}" if messages else ""
        click.echo(f"{verb} {_counted(len(files), 'file')}{said}:")
        what = {"merged": " (added at its end)", "replaced": " (in place of Daybook's own, which is unchanged)"}
        _show_some([f"{row.get('path')}{what.get(str(row.get('what')), '')}" for row in files])
    else:
        click.echo("Nothing new: everything was imported before.")
    if already := report.get("already"):
        click.echo(f"There already, so passed over: {already}.")
    secrets = [f"{row.get('kind')} in {row.get('where')}" for row in rows(report.get("secrets"))]
    if secrets:
        click.echo("Left out:")
        _show_some(list(dict.fromkeys(secrets)))
    skipped = [f"{row.get('what')} {row.get('why')}" for row in rows(report.get("skipped"))]
    if skipped:
        click.echo(f"Not understood, or not taken ({len(skipped)}):")
        _show_some(skipped)
    remarks = report.get("remarks")
    for remark in remarks if isinstance(remarks, list) else []:
        click.echo(remark)
    if id := report.get("id"):
        click.echo(f"Only you see it. To take it back: daybook import undo {id}")


def _counted(number: Json, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _show_some(lines: Sequence[str]) -> None:
    for line in lines[:_SHOWN]:
        click.echo(f"  {line}")
    if len(lines) > _SHOWN:
        click.echo(f"  and {len(lines) - _SHOWN} more (--json shows all)")
