"""`daybook memory`: search what is remembered, see how it came about, take a change back."""

from __future__ import annotations

import sys

import click

from agent.model.base import Json
from gateway.cli.asking import ask, rows
from gateway.cli.output import print_json
from gateway.cli.place import Place
from gateway.cli.table import print_table

_SHOWN = 10
_SCOPE = click.option("--scope", default="owner", show_default=True, help="owner, person:ID or group:CHANNEL:CHAT")
_AGENT = click.option("--agent", help="Of that agent; without it, the one that answers where no route says otherwise.")
_DAY = click.DateTime(["%Y-%m-%d"])


@click.group("memory")
def memory_command() -> None:
    """Search what is remembered; see and undo its changes."""


@memory_command.command()
@click.argument("query")
@_SCOPE
@click.option(
    "-n", "number", type=click.IntRange(min=1), help=f"At most so many; default {_SHOWN}, with --json as configured."
)
@click.option("--now", type=_DAY, help="Ask as of that day (YYYY-MM-DD).")
@_AGENT
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.pass_obj
def search(
    place: Place, query: str, scope: str, number: int | None, now: object, agent: str | None, as_json: bool
) -> None:
    """Passages that answer QUERY, best first."""
    day = f"{now:%Y-%m-%d}" if now else None
    most = number or (None if as_json else _SHOWN)
    answer = ask(place, "memory.search", query=query, scope=scope, n=most, now=day, agent=agent)
    if as_json:
        return print_json(answer.value)
    found = rows(answer.value)
    for row in found:
        where = f"{row.get('path')}:{row.get('start_line')}-{row.get('end_line')}"
        click.secho(where, bold=True, nl=False)
        click.echo(f"  {row.get('date')}  {row.get('score'):.2f}")
        click.echo(f"{row.get('text')}\n")
    if not found:
        click.echo("Nothing found.")
    return None


@memory_command.command()
@_SCOPE
@_AGENT
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.pass_obj
def status(place: Place, scope: str, agent: str | None, as_json: bool) -> None:
    """How large the search index is, and whether it knows the files as they are."""
    value = ask(place, "memory.status", scope=scope, agent=agent).value
    return print_json(value) if as_json else _show_status(value)


@memory_command.command()
@_SCOPE
@click.option("--force", is_flag=True, help="Make it anew, beside the present one.")
@_AGENT
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.pass_obj
def index(place: Place, scope: str, force: bool, agent: str | None, as_json: bool) -> None:
    """Index what changed."""
    if sys.stderr.isatty():
        click.echo("Indexing…", err=True)
    value = ask(place, "memory.index", scope=scope, force=force, agent=agent).value
    return print_json(value) if as_json else _show_status(value)


def _show_status(value: Json) -> None:
    found = value if isinstance(value, dict) else {}
    size = found.get("bytes")
    megabytes = size / 1_000_000 if isinstance(size, int) else 0.0
    where = "in memory: the disk takes no index" if found.get("in_memory") else f"{found.get('file')}"
    click.echo(
        f"{found.get('scope')}: {found.get('files')} files, {found.get('passages')} passages, "
        f"{megabytes:.1f} MB ({where})"
    )
    if found.get("stale"):
        click.echo(f"{found.get('stale')} files changed since; the next search takes them in.")
    problems = found.get("problems")
    for problem in problems if isinstance(problems, list) else []:
        click.echo(f"Not indexed: {problem}")


@memory_command.command()
@click.option("--scope", help="owner, person:ID or group:CHANNEL-CHAT; without it, all.")
@click.option("--agent", help="Of that agent; without it, of all.")
@click.option("-n", "number", type=click.IntRange(min=1), default=50, show_default=True, help="At most so many.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.pass_obj
def log(place: Place, scope: str | None, agent: str | None, number: int, as_json: bool) -> None:
    """What was changed, when and by what, the newest first."""
    answer = ask(place, "memory.log", scope=scope, n=number, agent=agent)
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
