"""`daybook import`: brings memory and conversations from elsewhere, and takes an import back."""

from __future__ import annotations

from collections.abc import Sequence

import click

from gateway.features.imports.operations import ImportOperations
from gateway.features.imports.values import ImportKind
from gateway.terminal.context import CliContext
from gateway.terminal.operations import command_of, group_of
from gateway.terminal.rpc import RpcAnswer, rows

_SHOWN = 20
"""Lines of a list for people; `--json` has all."""
_KINDS = {
    ImportKind.OPENCLAW: "A workspace of OpenClaw, or the folder that it is in, also zipped.",
    ImportKind.NANOBOT: "A workspace of nanobot, or the folder that it is in, also zipped.",
    ImportKind.CLAUDE: "An export of Claude: the zip, its folder or conversations.json.",
    ImportKind.CHATGPT: "An export of ChatGPT: the zip, its folder or conversations.json.",
    ImportKind.TEXT: "A folder of Markdown, as Obsidian and Logseq keep it, also zipped.",
}


def _show(context: CliContext, answer: RpcAnswer) -> None:
    report = answer.fields
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


import_command = group_of(
    "import",
    "Bring your memory and chats from other assistants, or Markdown.\n\nNothing that is there is overwritten.",
    [ImportOperations],
    [
        command_of(ImportOperations.run, _show, name=kind.value, help=help, fixed={"kind": kind.value})
        for kind, help in _KINDS.items()
    ],
)
