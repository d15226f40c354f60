"""`daybook pair`: who may write to the bot."""

from __future__ import annotations

import click

from agent.languages.sentences import Sentence
from agent.model.base import Json
from gateway.terminal.context import CliContext, print_json
from gateway.terminal.rpc import ask, rows
from gateway.terminal.table import print_table


@click.group("pair")
def pair_command() -> None:
    """See and choose who can talk to Daybook."""


@pair_command.command("list")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.pass_obj
def list_people(context: CliContext, as_json: bool) -> None:
    """List open requests with their codes, and who is approved."""
    answer = ask(context, "pair.list")
    if as_json:
        return print_json(answer.value)
    lines = [
        (row.get("code") or "", f"{row.get('channel')}:{row.get('user_id')}", row.get("name"), _state(context, row))
        for row in rows(answer.value)
    ]
    heads = context.heads(Sentence("code"), Sentence("account"), Sentence("name"), Sentence("state"))
    return print_table(heads, lines, context.said("No requests yet, and nobody is approved."))


@pair_command.command()
@click.argument("code")
@click.pass_obj
def approve(context: CliContext, code: str) -> None:
    """Approve the person who was given CODE."""
    _say(ask(context, "pair.approve", code=code.strip().upper()).value)


@pair_command.command()
@click.argument("account", metavar="ID")
@click.pass_obj
def revoke(context: CliContext, account: str) -> None:
    """Stop answering ID, such as telegram:11111."""
    _say(ask(context, "pair.revoke", id=account).value)


def _state(context: CliContext, row: dict[str, Json]) -> str:
    known = Sentence("waiting"), Sentence("owner"), Sentence("person"), Sentence("member")
    return context.said_of(next((state for state in known if state == row.get("state")), row.get("state")))


def _say(value: object) -> None:
    click.echo(value["message"] if isinstance(value, dict) else value)
