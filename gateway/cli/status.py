"""`daybook status` and `usage`: the running gateway at a glance."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import datetime

import click

from agent.model.base import Json
from gateway.cli.context import CliContext, print_json, show_time
from gateway.cli.rpc import ask, rows
from gateway.cli.table import print_table

_JOBS_SHOWN = 5
_WHAT = ("day", "purpose", "session", "model")
_SUMMED = ("calls", "input", "output", "cache_read", "cache_write", "cost_usd")


@click.command("status")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.pass_obj
def status_command(context: CliContext, as_json: bool) -> None:
    """Show what Daybook is doing."""
    answer = ask(context, "status")
    status = dict(_part(answer.value))
    if not answer.running:
        others = [one for one in rows(status.get("gateways")) if one.get("pid") != os.getpid()]
        status["gateways"] = list(others)
        where = " on this computer" if others else ""
        click.echo(f"Daybook isn't running{where}; this is what is stored. `daybook gateway` starts it.", err=True)
    if as_json:
        return print_json(status)
    troubles = status.get("troubles")
    for trouble in troubles if isinstance(troubles, list) else ():
        click.echo(f"{'trouble':<10} {trouble}")
    gateways = rows(status.get("gateways"))
    shared = {part.get("name") for one in gateways for part in rows(one.get("connections"))}
    for name, channel in _part(status.get("channels")).items():
        if name not in shared:
            _echo_state(name, _part(channel))
    for one in gateways:
        role = "leads" if one.get("leads") else "helps"
        part = f"answers {one.get('people_and_groups')} people and groups"
        click.echo(f"{'gateway':<10} {role}: process {one.get('pid')} on {one.get('host')}, {part}")
        for connection in rows(one.get("connections")):
            _echo_state(f"  {connection.get('name')}", connection)
    inbox, outbox, usage = (_part(status.get(name)) for name in ("inbox", "outbox", "usage"))
    click.echo(f"{'sessions':<10} {status.get('sessions')}")
    click.echo(f"{'inbox':<10} {inbox.get('waiting')} waiting, {inbox.get('unreadable')} unreadable")
    sent = f"{outbox.get('waiting')} waiting, {outbox.get('failed')} failed, {outbox.get('repeated')} repeated"
    click.echo(f"{'outbox':<10} {sent}")
    for wait in rows(status.get("model_waits")):
        until = datetime.fromisoformat(str(wait.get("until"))).astimezone(answer.zone)
        click.echo(f"{'waiting':<10} for {wait.get('model')} until {until:%H:%M:%S}, as its server asks")
    tokens = f"{usage.get('input')} tokens in, {usage.get('output')} out, {usage.get('cache_read')} from the cache"
    click.echo(f"{'today':<10} {usage.get('calls')} calls, {tokens}, ${usage.get('cost_usd')}")
    for job in rows(status.get("jobs"))[:_JOBS_SHOWN]:
        click.echo(f"{'next job':<10} {show_time(job.get('next_run'), answer.zone)}  {job.get('id')}")
    return None


def _echo_state(name: str, known: Mapping[str, Json]) -> None:
    trouble = f"  {known['last_error']}" if known.get("last_error") else ""
    click.echo(f"{name:<10} {known.get('state')}{trouble}")


def _part(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, Mapping) else {}


@click.command("usage")
@click.option("--days", type=click.IntRange(min=1), default=7, show_default=True, help="How many days back.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.pass_obj
def usage_command(context: CliContext, days: int, as_json: bool) -> None:
    """Show tokens and cost."""
    answer = ask(context, "usage", days=days)
    if as_json:
        return print_json(answer.value)
    used = rows(answer.value)
    lines: list[list[object]] = [[row.get(name) for name in (*_WHAT, *_SUMMED)] for row in used]
    if len(used) > 1:
        sums = (sum(value for row in used if isinstance(value := row.get(name), int | float)) for name in _SUMMED)
        lines.append(["total", *[""] * (len(_WHAT) - 1), *(round(one, 6) for one in sums)])
    return print_table((*_WHAT, *_SUMMED), lines, f"No model was used in the last {days} days.")
