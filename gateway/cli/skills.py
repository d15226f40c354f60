"""`daybook skills`: the agent's skills, and what they lack."""

from __future__ import annotations

import sys

import click

from agent.model.base import Json
from gateway.cli.context import CliContext
from gateway.cli.render import print_json, print_table
from gateway.cli.rpc import ask, rows

_AGENT = click.option("--agent", help="Of that agent; without it, the one that answers where no route says otherwise.")


@click.group("skills")
def skills_command() -> None:
    """What it has learnt to do, and what is missing for it."""


@skills_command.command("list")
@_AGENT
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.pass_obj
def list_skills(place: CliContext, agent: str | None, as_json: bool) -> None:
    """All skills; a workspace's own come before the built-in ones of their name."""
    answer = ask(place, "skills.list", agent=agent)
    if as_json:
        return print_json(answer.value)
    lines = [(row["name"], row["origin"], _state(row), row["description"]) for row in rows(answer.value)]
    return print_table(("name", "from", "state", "description"), lines, "No skills.")


@skills_command.command()
@click.argument("name")
@_AGENT
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.pass_obj
def show(place: CliContext, name: str, agent: str | None, as_json: bool) -> None:
    """Print a skill's text."""
    value = ask(place, "skills.show", name=name, agent=agent).value
    if as_json:
        return print_json(value)
    return click.echo(value["text"] if isinstance(value, dict) else value)


@skills_command.command()
@_AGENT
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.pass_obj
def check(place: CliContext, agent: str | None, as_json: bool) -> None:
    """Name what is broken and what is missing; exit 1 where there is any."""
    found = [row for row in rows(ask(place, "skills.list", agent=agent).value) if _faults(row)]
    if as_json:
        print_json([*found])
    for row in found if not as_json else ():
        for fault in _faults(row):
            click.echo(f"{row['name']}: {fault}")
    if found:
        sys.exit(1)
    if not as_json:
        click.echo("All skills can be used.")


def _state(row: dict[str, Json]) -> str:
    return "broken" if row["problem"] else "missing something" if row["missing"] else "ready"


def _faults(row: dict[str, Json]) -> list[str]:
    missing, remarks = row["missing"], row["remarks"]
    return [
        *([f"{row['problem']}"] if row["problem"] else []),
        *(f"missing: {one}" for one in (missing if isinstance(missing, list) else [])),
        *(str(one) for one in (remarks if isinstance(remarks, list) else [])),
    ]
