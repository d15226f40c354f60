"""`daybook status` and `usage`: the running gateway at a glance."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from datetime import datetime

import click
from rich.cells import cell_len

from agent.languages.sentences import Sentence
from agent.model.base import Json
from gateway.handlers.status import UsageOperations
from gateway.operations import ResultReader
from gateway.terminal.context import CliContext, print_json
from gateway.terminal.operations import command_of
from gateway.terminal.rpc import RpcAnswer, ask, rows
from gateway.terminal.table import print_table

_JOBS_SHOWN = 5
_LABEL = 11
"""Cells from the beginning of a label to its text."""
_USED = ("calls", "input", "output", "cache_read", "cost_usd")
_WHAT = ("day", "purpose", "session", "model")
_SUMMED = ("calls", "input", "output", "cache_read", "cache_write", "cost_usd")


@click.command("status")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.pass_obj
def status_command(context: CliContext, as_json: bool) -> None:
    """Show what Daybook is doing."""
    answer = ask(context, "status")
    status = dict(answer.fields)
    if not answer.running:
        others = [gateway for gateway in rows(status.get("gateways")) if gateway.get("pid") != os.getpid()]
        status["gateways"] = list(others)
        is_stored = context.said("Daybook isn't running; this is what is stored. `daybook gateway` starts it.")
        elsewhere = context.said(
            "Daybook isn't running on this computer; this is what is stored. `daybook gateway` starts it."
        )
        click.echo(elsewhere if others else is_stored, err=True)
    if as_json:
        return print_json(status)
    for label, text in _lines(context, status, answer.reader):
        click.echo(f"{label}{' ' * max(1, _LABEL - cell_len(label))}{text}")
    return None


def _lines(context: CliContext, status: Mapping[str, Json], reader: ResultReader) -> Iterator[tuple[str, str]]:
    """The labels and texts of the lines."""
    troubles = status.get("troubles")
    for trouble in troubles if isinstance(troubles, list) else ():
        yield context.said("trouble"), str(trouble)
    gateways = rows(status.get("gateways"))
    shared = {part.get("name") for gateway in gateways for part in rows(gateway.get("connections"))}
    for name, channel in _part(status.get("channels")).items():
        if name not in shared:
            yield name, _state(context, _part(channel))
    for gateway in gateways:
        known = {"process": gateway.get("pid"), "host": gateway.get("host"), "count": gateway.get("people_and_groups")}
        leads = context.said("leads: process {process} on {host}, answers {count} people and groups", **known)
        helps = context.said("helps: process {process} on {host}, answers {count} people and groups", **known)
        yield context.said("gateway"), leads if gateway.get("leads") else helps
        for connection in rows(gateway.get("connections")):
            yield f"  {connection.get('name')}", _state(context, connection)
    inbox, outbox, usage = (_part(status.get(name)) for name in ("inbox", "outbox", "usage"))
    yield context.said("sessions"), str(status.get("sessions"))
    yield context.said("inbox"), context.said("{waiting} waiting, {unreadable} unreadable", **inbox)
    yield context.said("outbox"), context.said("{waiting} waiting, {failed} failed, {repeated} repeated", **outbox)
    for wait in rows(status.get("model_waits")):
        until = datetime.fromisoformat(str(wait.get("until"))).astimezone(reader.zone)
        asked = {"model": wait.get("model"), "time": f"{until:%H:%M:%S}"}
        yield context.said("waiting"), context.said("for {model} until {time}, as its server asks", **asked)
    used = {name: usage.get(name) for name in _USED}
    tokens = context.said("{input} tokens in, {output} out, {cache_read} from the cache", **used)
    yield context.said("today"), context.said("{calls} calls, {tokens}, ${cost_usd}", tokens=tokens, **used)
    for job in rows(status.get("jobs"))[:_JOBS_SHOWN]:
        yield context.said("next job"), f"{reader.moment(job.get('next_run'))}  {job.get('id')}"


def _state(context: CliContext, known: Mapping[str, Json]) -> str:
    trouble = f"  {known['last_error']}" if known.get("last_error") else ""
    return f"{context.said_of(Sentence(str(known.get('state'))))}{trouble}"


def _part(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, Mapping) else {}


def _show_usage(context: CliContext, answer: RpcAnswer) -> None:
    days = click.get_current_context().params["days"]
    used = answer.rows
    lines: list[list[object]] = [[row.get(name) for name in (*_WHAT, *_SUMMED)] for row in used]
    if len(used) > 1:
        sums = (sum(value for row in used if isinstance(value := row.get(name), int | float)) for name in _SUMMED)
        lines.append([context.said("total"), *[""] * (len(_WHAT) - 1), *(round(total, 6) for total in sums)])
    heads = context.heads(
        *(Sentence("day"), Sentence("purpose"), Sentence("session"), Sentence("model")),
        *(Sentence("calls"), Sentence("input"), Sentence("output"), Sentence("cache read"), Sentence("cache write")),
        Sentence("USD"),
    )
    print_table(heads, lines, context.said("No model was used in the last {days} days.", days=days))


usage_command = command_of(UsageOperations.usage, _show_usage)
