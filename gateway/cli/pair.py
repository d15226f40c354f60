"""`daybook pair`: who may write to the bot."""

from __future__ import annotations

import click

from gateway.cli.context import CliContext
from gateway.cli.render import print_json, print_table
from gateway.cli.rpc import ask, rows


@click.group("pair")
def pair_command() -> None:
    """Who may talk to it."""


@pair_command.command("list")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.pass_obj
def list_people(place: CliContext, as_json: bool) -> None:
    """Open requests with their codes, and who is approved."""
    answer = ask(place, "pair.list")
    if as_json:
        return print_json(answer.value)
    lines = [
        (row.get("code") or "", f"{row.get('channel')}:{row.get('user_id')}", row.get("name"), row.get("state"))
        for row in rows(answer.value)
    ]
    return print_table(("code", "account", "name", "state"), lines, "Nobody has asked, and nobody is approved.")


@pair_command.command()
@click.argument("code")
@click.pass_obj
def approve(place: CliContext, code: str) -> None:
    """Let in who was given CODE."""
    _say(ask(place, "pair.approve", code=code.strip().upper()).value)


@pair_command.command()
@click.argument("account", metavar="ID")
@click.pass_obj
def revoke(place: CliContext, account: str) -> None:
    """Let ID (such as telegram:11111) in no longer."""
    _say(ask(place, "pair.revoke", id=account).value)


def _say(value: object) -> None:
    click.echo(value["message"] if isinstance(value, dict) else value)
