"""`daybook skills`: the agent's skills, and what they lack."""

from __future__ import annotations

import sys

import click

from agent.model.base import Json
from gateway.cli.context import CliContext, print_json
from gateway.cli.rpc import ask, rows
from gateway.cli.table import print_table

_AGENT = click.option("--agent", help="The agent's name; default: the main one.")


@click.group("skills")
def skills_command() -> None:
    """See what Daybook has learned to do, and what is missing."""


@skills_command.command("list")
@_AGENT
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.pass_obj
def list_skills(context: CliContext, agent: str | None, as_json: bool) -> None:
    """List all skills; a workspace's own replace built-in ones of the same name."""
    answer = ask(context, "skills.list", agent=agent)
    if as_json:
        return print_json(answer.value)
    lines = [
        (
            row["name"],
            row["origin"],
            "broken" if row["problem"] else "missing something" if row["missing"] else "ready",
            row["description"],
        )
        for row in rows(answer.value)
    ]
    return print_table(("name", "from", "state", "description"), lines, "No skills yet.")


@skills_command.command()
@click.argument("name")
@_AGENT
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.pass_obj
def show(context: CliContext, name: str, agent: str | None, as_json: bool) -> None:
    """Print a skill's text."""
    value = ask(context, "skills.show", name=name, agent=agent).value
    if as_json:
        return print_json(value)
    return click.echo(value["text"] if isinstance(value, dict) else value)


@skills_command.command()
@_AGENT
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.pass_obj
def check(context: CliContext, agent: str | None, as_json: bool) -> None:
    """List what is broken or missing. Exits with 1 if there is anything."""
    found = [row for row in rows(ask(context, "skills.list", agent=agent).value) if _faults(row)]
    if as_json:
        print_json([*found])
    for row in found if not as_json else ():
        for fault in _faults(row):
            click.echo(f"{row['name']}: {fault}")
    if found:
        sys.exit(1)
    if not as_json:
        click.echo("All skills are ready.")


def _faults(row: dict[str, Json]) -> list[str]:
    missing, remarks = row["missing"], row["remarks"]
    return [
        *([f"{row['problem']}"] if row["problem"] else []),
        *(f"missing: {one}" for one in (missing if isinstance(missing, list) else [])),
        *(str(one) for one in (remarks if isinstance(remarks, list) else [])),
    ]
