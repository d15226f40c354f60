"""`daybook memory`: searches memory, shows how it came about, undoes changes."""

from __future__ import annotations

import sys
from datetime import date
from functools import partial
from zoneinfo import ZoneInfo

import click

from agent.languages.sentences import Sentence, said
from agent.model.base import Json
from gateway.cli.embedder import embedder
from gateway.handlers.agents import no_scope
from gateway.terminal.context import CliContext, print_json, show_time, terminal_language
from gateway.terminal.rpc import ask, ask_beside, rows, show_progress
from gateway.terminal.table import print_table

_SHOWN = 10


def _a_scope(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    """Checks the form of a scope; only the memory knows whether it exists."""
    audience, _, id = (value or "owner").partition(":")
    if audience == "owner" if not id else audience in ("person", "group"):
        return value
    raise click.BadParameter(no_scope(value).in_language(terminal_language()))


def _a_day(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    try:
        return date.fromisoformat(value).isoformat() if value else None
    except ValueError as error:
        raise click.BadParameter(
            said(terminal_language(), "{text} is not a date; write it as 2026-11-23.", text=repr(value))
        ) from error


_SCOPE = click.option(
    "--scope",
    default="owner",
    show_default=True,
    callback=_a_scope,
    help="Whose memory: owner, person:ID or group:CHANNEL:CHAT.",
)
_AGENT = click.option("--agent", help="The agent's name; default: the main one.")


@click.group("memory")
def memory_command() -> None:
    """Search what Daybook remembers; see and undo changes."""


@memory_command.command()
@click.argument("query")
@_SCOPE
@click.option(
    "-n",
    "number",
    type=click.IntRange(min=1),
    help="Show at most this many.",
)
@click.option("--now", metavar="YYYY-MM-DD", callback=_a_day, help="Search as of this day.")
@_AGENT
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.pass_obj
def search(
    context: CliContext,
    query: str,
    scope: str,
    number: int | None,
    now: str | None,
    agent: str | None,
    as_json: bool,
) -> None:
    """Find passages that answer QUERY, best first."""
    most = number or (None if as_json else _SHOWN)
    asked = {"query": query, "scope": scope, "n": most, "now": now, "agent": agent, "for_people": not as_json}
    answer = ask_beside(context, "memory.search", asked, None)
    if as_json:
        return print_json(answer.value)
    return _show_found(context, answer.value if isinstance(answer.value, dict) else {}, answer.zone)


def _show_found(context: CliContext, found: dict[str, Json], zone: ZoneInfo) -> None:
    hits = rows(found.get("hits"))
    for row in hits:
        first, last = row.get("start_line"), row.get("end_line")
        click.secho(f"{row.get('path')}:{first}" + ("" if first == last else f"-{last}"), bold=True, nl=False)
        strength = str(row.get("strength"))
        click.echo(f"  {show_time(row.get('date'), zone)}  {context.said_of(Sentence(strength))}")
        click.echo(f"{row.get('text')}\n")
    if not hits:
        click.echo(context.said("Nothing found."))
    gaps = found.get("gaps")
    for gap in gaps if isinstance(gaps, list) else []:
        click.echo(context.said("Not searched: {why}", why=gap), err=True)


@memory_command.command()
@_SCOPE
@_AGENT
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.pass_obj
def status(context: CliContext, scope: str, agent: str | None, as_json: bool) -> None:
    """Show the size of the search index, and whether it is up to date."""
    value = ask(context, "memory.status", scope=scope, agent=agent).value
    return print_json(value) if as_json else _show_status(context, value)


@memory_command.command()
@_SCOPE
@click.option("--force", is_flag=True, help="Rebuild everything, beside the current index.")
@_AGENT
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.pass_obj
def index(context: CliContext, scope: str, force: bool, agent: str | None, as_json: bool) -> None:
    """Index what has changed."""
    asked: dict[str, Json] = {"scope": scope, "force": force, "agent": agent}
    beside = partial(show_progress, asked) if sys.stderr.isatty() else None
    value = ask_beside(context, "memory.index", asked, beside).value
    return print_json(value) if as_json else _show_status(context, value)


@memory_command.command()
@_SCOPE
@_AGENT
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.pass_obj
def test(context: CliContext, scope: str, agent: str | None, as_json: bool) -> None:
    """Ask the questions in memory/tests.md. Exits with 1 if one fails."""
    value = ask(context, "memory.test", scope=scope, agent=agent).value
    report = value if isinstance(value, dict) else {}
    results = rows(report.get("results"))
    failed = [row for row in results if not row.get("passed")]
    if as_json:
        print_json(value)
    else:
        for row in results:
            missing = row.get("missing")
            lost = ", ".join(map(str, missing)) if isinstance(missing, list) else ""
            found = context.said("found in {place}", place=row.get("where"))
            outcome = context.said("missing: {what}", what=lost) if lost else found
            mark = context.said("BAD") if lost else "ok"
            click.echo(f"{mark:4} {row.get('question')}  {outcome}")
        unread = report.get("unread")
        for line in unread if isinstance(unread, list) else []:
            click.echo(
                context.said("Line {line} of memory/tests.md is not a test. Write `- QUESTION -> WORDS`.", line=line)
            )
        if not results:
            click.echo(
                context.said("There are no tests in memory/tests.md yet. Write one per line: `- QUESTION -> WORDS`.")
            )
    if failed:
        sys.exit(1)


def _show_status(context: CliContext, value: Json) -> None:
    found = value if isinstance(value, dict) else {}
    size = found.get("bytes")
    megabytes = f"{size / 1_000_000 if isinstance(size, int) else 0.0:.1f}"
    where = Sentence("not saved, because the disk can't be written") if found.get("in_memory") else found.get("file")
    known = {name: found.get(name) for name in ("scope", "files", "passages")}
    click.echo(
        context.said(
            "{scope}: {files} files, {passages} passages, {size} MB ({where})", size=megabytes, where=where, **known
        )
    )
    if count := found.get("embedded"):
        click.echo(context.said("{count} passages can also be found by meaning.", count=count))
    if problem := found.get("embedder_problem"):
        click.echo(context.said("Search by meaning doesn't work: {why}.", why=problem))
    if count := found.get("stale"):
        click.echo(context.said("{count} files have changed since; the next search includes them.", count=count))
    problems = found.get("problems")
    for problem in problems if isinstance(problems, list) else []:
        click.echo(context.said("Not indexed: {why}", why=problem))


@memory_command.command()
@click.option("--scope", callback=_a_scope, help="Whose memory: owner, person:ID or group:CHANNEL:CHAT; default: all.")
@click.option("--agent", help="The agent's name; default: all.")
@click.option("-n", "number", type=click.IntRange(min=1), default=50, show_default=True, help="Show at most this many.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.pass_obj
def log(context: CliContext, scope: str | None, agent: str | None, number: int, as_json: bool) -> None:
    """List changes, newest first: when, where and by what."""
    answer = ask(context, "memory.log", scope=scope, n=number, agent=agent)
    if as_json:
        return print_json(answer.value)
    names = ("id", "ts", "scope", "path", "by", "summary")
    heads = context.heads(
        *(Sentence("id"), Sentence("when"), Sentence("whose"), Sentence("file"), Sentence("by"), Sentence("what")),
    )
    lines = [row | {"ts": show_time(row.get("ts"), answer.zone)} for row in rows(answer.value)]
    return print_table(heads, [[row.get(name) for name in names] for row in lines], context.said("No changes yet."))


@memory_command.command()
@click.argument("change", metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.pass_obj
def diff(context: CliContext, change: str, as_json: bool) -> None:
    """Show what a change removed and added."""
    value = ask(context, "memory.diff", id=change).value
    if as_json:
        return print_json(value)
    return click.echo(value.get("diff") if isinstance(value, dict) else "")


@memory_command.command()
@click.argument("change", metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.pass_obj
def restore(context: CliContext, change: str, as_json: bool) -> None:
    """Undo a change; anything written since is kept."""
    value = ask(context, "memory.restore", id=change).value
    if as_json:
        return print_json(value)
    return click.echo(value.get("message") if isinstance(value, dict) else "")


memory_command.add_command(embedder)
