"""`daybook memory`: search what is remembered, see how it came about, take a change back."""

from __future__ import annotations

import click

from gateway.cli.asking import ask, rows
from gateway.cli.output import print_json
from gateway.cli.place import Place
from gateway.cli.table import print_table

_DAY = click.DateTime(["%Y-%m-%d"])


@click.group("memory")
def memory_command() -> None:
    """Search what is remembered; see and undo its changes."""


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


@memory_command.command()
@click.option("--scope", help="owner, person:ID or group:CHANNEL-CHAT; without it, all.")
@click.option("-n", "number", type=click.IntRange(min=1), default=50, show_default=True, help="At most so many.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.pass_obj
def log(place: Place, scope: str | None, number: int, as_json: bool) -> None:
    """What was changed, when and by what, the newest first."""
    answer = ask(place, "memory.log", scope=scope, n=number)
    if as_json:
        return print_json(answer.value)
    names = ("id", "ts", "scope", "path", "by", "summary")
    return print_table(names, [[row.get(name) for name in names] for row in rows(answer.value)], "No change yet.")


@memory_command.command()
@click.argument("change", metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.pass_obj
def diff(place: Place, change: str, as_json: bool) -> None:
    """What a change took out and put in."""
    value = ask(place, "memory.diff", id=change).value
    if as_json:
        return print_json(value)
    return click.echo(value.get("diff") if isinstance(value, dict) else "")


@memory_command.command()
@click.argument("change", metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.pass_obj
def restore(place: Place, change: str, as_json: bool) -> None:
    """Undo a change; what was written since is kept."""
    value = ask(place, "memory.restore", id=change).value
    if as_json:
        return print_json(value)
    return click.echo(value.get("message") if isinstance(value, dict) else "")
