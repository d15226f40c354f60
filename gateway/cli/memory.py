"""`daybook memory`: search what is remembered."""

from __future__ import annotations

import click

from gateway.cli.asking import ask, rows
from gateway.cli.output import print_json
from gateway.cli.place import Place

_DAY = click.DateTime(["%Y-%m-%d"])


@click.group("memory")
def memory_command() -> None:
    """Search what is remembered."""


@memory_command.command()
@click.argument("query")
@click.option("--scope", default="owner", show_default=True, help="owner, person:ID or group:CHANNEL:CHAT")
@click.option("-n", "number", type=click.IntRange(min=1), default=10, show_default=True, help="At most so many.")
@click.option("--now", type=_DAY, help="Ask as of that day (YYYY-MM-DD).")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.pass_obj
def search(place: Place, query: str, scope: str, number: int, now: object, as_json: bool) -> None:
    """Passages that answer QUERY, best first."""
    day = f"{now:%Y-%m-%d}" if now else None
    answer = ask(place, "memory.search", query=query, scope=scope, n=number, now=day)
    if as_json:
        return print_json(answer.value)
    found = rows(answer.value)
    for row in found:
        click.secho(f"{row.get('path')}:{row.get('start_line')}-{row.get('end_line')}", bold=True)
        click.echo(f"{row.get('text')}\n")
    if not found:
        click.echo("Nothing found.")
    return None
