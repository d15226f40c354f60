"""`daybook usage`: tokens and cost."""

from __future__ import annotations

import click

from gateway.cli.context import CliContext
from gateway.cli.render import print_json, print_table
from gateway.cli.rpc import ask, rows


@click.command("usage")
@click.option("--days", type=click.IntRange(min=1), default=7, show_default=True, help="How many days back.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.pass_obj
def usage_command(place: CliContext, days: int, as_json: bool) -> None:
    """Tokens and cost per day, purpose and session."""
    answer = ask(place, "usage", days=days)
    if as_json:
        return print_json(answer.value)
    names = ("day", "purpose", "session", "model", "calls", "input", "output", "cache_read", "cache_write", "cost_usd")
    lines = [[row.get(name) for name in names] for row in rows(answer.value)]
    return print_table(names, lines, f"No model was called in the last {days} days.")
