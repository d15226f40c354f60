"""`daybook memory`: searches memory, shows how it came about, undoes changes."""

from __future__ import annotations

import sys

import click

from agent.languages.sentences import Sentence
from gateway.cli.embedder import embedder
from gateway.handlers.history import HistoryOperations
from gateway.handlers.memory import MemoryOperations
from gateway.rpc.protocol import Params
from gateway.terminal.context import CliContext
from gateway.terminal.operations import command_of, group_of
from gateway.terminal.rpc import Call, RpcAnswer, rows, show_progress


def _show_found(context: CliContext, answer: RpcAnswer) -> None:
    found = answer.fields
    hits = rows(found.get("hits"))
    for row in hits:
        first, last = row.get("start_line"), row.get("end_line")
        click.secho(f"{row.get('path')}:{first}" + ("" if first == last else f"-{last}"), bold=True, nl=False)
        strength = str(row.get("strength"))
        click.echo(f"  {answer.reader.moment(row.get('date'))}  {context.said_of(Sentence(strength))}")
        click.echo(f"{row.get('text')}\n")
    if not hits:
        click.echo(context.said("Nothing found."))
    gaps = found.get("gaps")
    for gap in gaps if isinstance(gaps, list) else []:
        click.echo(context.said("Not searched: {why}", why=gap), err=True)


async def _show_progress(_: CliContext, asked: Params, call: Call) -> None:
    if sys.stderr.isatty():
        await show_progress(asked, call)


def _show_tests(context: CliContext, answer: RpcAnswer) -> None:
    report = answer.fields
    results = rows(report.get("results"))
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


def _has_failed(answer: RpcAnswer) -> bool:
    return not all(row.get("passed") for row in rows(answer.fields.get("results")))


def _show_status(context: CliContext, answer: RpcAnswer) -> None:
    found = answer.fields
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


memory_command = group_of(
    "memory",
    "Search what Daybook remembers; see and undo changes.",
    [HistoryOperations],
    [
        command_of(MemoryOperations.search, _show_found),
        command_of(MemoryOperations.status, _show_status),
        command_of(MemoryOperations.index, _show_status, _show_progress),
        command_of(MemoryOperations.test, _show_tests, fails=_has_failed),
        embedder,
    ],
)
