"""`daybook memory`: searches memory, shows how it came about, undoes changes."""

from __future__ import annotations

import sys
from datetime import datetime
from functools import partial

import click

from agent.model.base import Json
from gateway.cli.context import CliContext
from gateway.cli.embedder import embedder
from gateway.cli.progress import show_progress
from gateway.cli.render import print_json, print_table
from gateway.cli.rpc import ask, ask_beside, rows

_SHOWN = 10


def _a_scope(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    """Checks the form of a scope; only the memory knows whether it exists."""
    audience, _, id = (value or "owner").partition(":")
    if audience == "owner" if not id else audience in ("person", "group"):
        return value
    raise click.BadParameter(f"{value!r} is no scope; write owner, person:ID or group:CHANNEL:CHAT")


_SCOPE = click.option(
    "--scope", default="owner", show_default=True, callback=_a_scope, help="owner, person:ID or group:CHANNEL:CHAT"
)
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
    place: CliContext,
    query: str,
    scope: str,
    number: int | None,
    now: datetime | None,
    agent: str | None,
    as_json: bool,
) -> None:
    """Passages that answer QUERY, best first."""
    day = now.date().isoformat() if now else None
    most = number or (None if as_json else _SHOWN)
    asked = {"query": query, "scope": scope, "n": most, "now": day, "agent": agent, "for_people": not as_json}
    value = ask_beside(place, "memory.search", asked, None).value
    if as_json:
        return print_json(value)
    return _show_found(value if isinstance(value, dict) else {})


def _show_found(found: dict[str, Json]) -> None:
    hits = rows(found.get("hits"))
    for row in hits:
        first, last = row.get("start_line"), row.get("end_line")
        click.secho(f"{row.get('path')}:{first}" + ("" if first == last else f"-{last}"), bold=True, nl=False)
        click.echo(f"  {row.get('date')}  {row.get('strength')}")
        click.echo(f"{row.get('text')}\n")
    if not hits:
        click.echo("Nothing found.")
    gaps = found.get("gaps")
    for gap in gaps if isinstance(gaps, list) else []:
        click.echo(f"Not searched: {gap}", err=True)


@memory_command.command()
@_SCOPE
@_AGENT
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.pass_obj
def status(place: CliContext, scope: str, agent: str | None, as_json: bool) -> None:
    """How large the search index is, and whether it knows the files as they are."""
    value = ask(place, "memory.status", scope=scope, agent=agent).value
    return print_json(value) if as_json else _show_status(value)


@memory_command.command()
@_SCOPE
@click.option("--force", is_flag=True, help="Make it anew, beside the present one.")
@_AGENT
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.pass_obj
def index(place: CliContext, scope: str, force: bool, agent: str | None, as_json: bool) -> None:
    """Index what changed."""
    asked: dict[str, Json] = {"scope": scope, "force": force, "agent": agent}
    beside = partial(show_progress, asked) if sys.stderr.isatty() else None
    value = ask_beside(place, "memory.index", asked, beside).value
    return print_json(value) if as_json else _show_status(value)


@memory_command.command()
@_SCOPE
@_AGENT
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.pass_obj
def test(place: CliContext, scope: str, agent: str | None, as_json: bool) -> None:
    """Ask the questions of memory/tests.md; exit code 1 where one fails."""
    value = ask(place, "memory.test", scope=scope, agent=agent).value
    report = value if isinstance(value, dict) else {}
    results = rows(report.get("results"))
    failed = [row for row in results if not row.get("passed")]
    if as_json:
        print_json(value)
    else:
        for row in results:
            missing = row.get("missing")
            lost = ", ".join(map(str, missing)) if isinstance(missing, list) else ""
            told = f"missing: {lost}" if lost else f"found in {row.get('where')}"
            click.echo(f"{'BAD ' if lost else 'ok  '} {row.get('question')}  {told}")
        unread = report.get("unread")
        for line in unread if isinstance(unread, list) else []:
            click.echo(f"Line {line} of memory/tests.md is no test: `- QUESTION -> WORDS`")
        if not results:
            click.echo("There is no test in memory/tests.md: `- QUESTION -> WORDS`, a line each.")
    if failed:
        sys.exit(1)


def _show_status(value: Json) -> None:
    found = value if isinstance(value, dict) else {}
    size = found.get("bytes")
    megabytes = size / 1_000_000 if isinstance(size, int) else 0.0
    where = "in memory: the disk takes no index" if found.get("in_memory") else f"{found.get('file')}"
    click.echo(
        f"{found.get('scope')}: {found.get('files')} files, {found.get('passages')} passages, "
        f"{megabytes:.1f} MB ({where})"
    )
    if found.get("embedded"):
        click.echo(f"{found.get('embedded')} passages are embedded: they are found by what they mean, too.")
    if problem := found.get("embedder_problem"):
        click.echo(f"An embedder is set up and does not work, so memory is searched by words alone: {problem}.")
    if found.get("stale"):
        click.echo(f"{found.get('stale')} files changed since; the next search takes them in.")
    problems = found.get("problems")
    for problem in problems if isinstance(problems, list) else []:
        click.echo(f"Not indexed: {problem}")


@memory_command.command()
@click.option("--scope", callback=_a_scope, help="owner, person:ID or group:CHANNEL:CHAT; without it, all.")
@click.option("--agent", help="Of that agent; without it, of all.")
@click.option("-n", "number", type=click.IntRange(min=1), default=50, show_default=True, help="At most so many.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.pass_obj
def log(place: CliContext, scope: str | None, agent: str | None, number: int, as_json: bool) -> None:
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
def diff(place: CliContext, change: str, as_json: bool) -> None:
    """What a change took out and put in."""
    value = ask(place, "memory.diff", id=change).value
    if as_json:
        return print_json(value)
    return click.echo(value.get("diff") if isinstance(value, dict) else "")


@memory_command.command()
@click.argument("change", metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.pass_obj
def restore(place: CliContext, change: str, as_json: bool) -> None:
    """Undo a change; what was written since is kept."""
    value = ask(place, "memory.restore", id=change).value
    if as_json:
        return print_json(value)
    return click.echo(value.get("message") if isinstance(value, dict) else "")


memory_command.add_command(embedder)
