"""`daybook skills`: the agent's skills, and what they lack."""

from __future__ import annotations

import sys

import click

from agent.formats.exact import exactly
from agent.languages.sentences import Sentence
from agent.model.base import Json
from gateway.handlers.agents import SkillOperations
from gateway.terminal.confirm import confirm
from gateway.terminal.context import CliContext, print_json
from gateway.terminal.operations import YES, command_from, group_of
from gateway.terminal.rpc import ask


def _approve(context: CliContext, name: str, agent: str | None, yes: bool) -> None:
    shown = ask(context, "skills.show", name=name, agent=agent).fields
    if not shown.get("waits"):
        return click.echo(context.said("{name} waits for no yes.", name=name))
    click.echo(exactly(f"{shown.get('description')}\n\n{shown.get('text')}".strip()))
    if not yes:
        confirm(context.said("Every chat that may see it gets this text as a rule. In force?"))
    answer = ask(context, "skills.approve", name=name, sha=shown.get("sha"), agent=agent)
    return click.echo(answer.fields.get("message"))


@click.command()
@click.option("--agent", help="The agent's name; default: the main one.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.pass_obj
def check(context: CliContext, agent: str | None, as_json: bool) -> None:
    """List what is broken or missing. Exits with 1 if there is anything."""
    found = [row for row in ask(context, "skills.list", agent=agent).rows if _faults(row)]
    if as_json:
        print_json([*found])
    for row in found if not as_json else ():
        for fault in _faults(row):
            click.echo(f"{row['name']}: {context.said_of(fault)}")
    if found:
        sys.exit(1)
    if not as_json:
        click.echo(context.said("All skills are ready."))


def _faults(row: dict[str, Json]) -> list[str]:
    missing, remarks = row["missing"], row["remarks"]
    return [
        *([f"{row['problem']}"] if row["problem"] else []),
        *([Sentence("waits for your yes: `daybook skills approve {name}`", name=row["name"])] if row["waits"] else []),
        *(Sentence("missing: {what}", what=name) for name in (missing if isinstance(missing, list) else [])),
        *(str(remark) for remark in (remarks if isinstance(remarks, list) else [])),
    ]


skills_command = group_of(
    "skills",
    "See what Daybook has learned to do, and what is missing.",
    [SkillOperations],
    [command_from(SkillOperations.approve, _approve, YES), check],
)
