"""`daybook status`: the running gateway at a glance."""

from __future__ import annotations

from collections.abc import Mapping

import click

from agent.model.base import Json
from gateway.cli.context import CliContext
from gateway.cli.render import print_json
from gateway.cli.rpc import ask, rows
from gateway.recurrence import shown

_JOBS_SHOWN = 5


@click.command("status")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.pass_obj
def status_command(place: CliContext, as_json: bool) -> None:
    """Channels, sessions, queue, tokens and cost today."""
    answer = ask(place, "status")
    if not answer.running:
        click.echo("No gateway is running; this is what is on disk. `daybook gateway` starts one.", err=True)
    if as_json:
        return print_json(answer.value)
    status = _part(answer.value)
    for name, channel in _part(status.get("channels")).items():
        known = _part(channel)
        trouble = f"  {known['last_error']}" if known.get("last_error") else ""
        click.echo(f"{name:<10} {known.get('state')}{trouble}")
    inbox, outbox, usage = (_part(status.get(name)) for name in ("inbox", "outbox", "usage"))
    click.echo(f"{'sessions':<10} {status.get('sessions')}")
    click.echo(f"{'inbox':<10} {inbox.get('waiting')} waiting, {inbox.get('unreadable')} unreadable")
    sent = f"{outbox.get('waiting')} waiting, {outbox.get('failed')} failed, {outbox.get('repeated')} repeated"
    click.echo(f"{'outbox':<10} {sent}")
    tokens = f"{usage.get('input')} tokens in, {usage.get('output')} out, {usage.get('cache_read')} from the cache"
    click.echo(f"{'today':<10} {usage.get('calls')} calls, {tokens}, ${usage.get('cost_usd')}")
    for job in rows(status.get("jobs"))[:_JOBS_SHOWN]:
        click.echo(f"{'next job':<10} {shown(job.get('next_run'), str(job.get('timezone')))}  {job.get('id')}")
    return None


def _part(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, Mapping) else {}
