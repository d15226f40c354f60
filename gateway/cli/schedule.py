"""`daybook schedule`: jobs and reminders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click

from agent.model.base import Json
from gateway.cli.context import CliContext
from gateway.cli.render import print_json, print_table
from gateway.cli.rpc import ask, rows
from gateway.i18n import one_line
from gateway.recurrence import InvalidWhen, in_words, parse, shown
from gateway.scheduling.job import InvalidJob, checked_id, checked_text, checked_to, checked_zone

_JSON = click.option("--json", "as_json", is_flag=True, help="One JSON document.")
_ID = click.argument("job", metavar="ID")
_SHOWN = 60


@click.group("schedule")
def schedule_command() -> None:
    """Jobs and reminders."""


@schedule_command.command("list")
@_JSON
@click.pass_obj
def list_jobs(place: CliContext, as_json: bool) -> None:
    """All jobs with their next and last runs."""
    answer = ask(place, "schedule.list")
    if as_json:
        return print_json(answer.value)
    heads = ("id", "kind", "when", "to", "next run", "last run", "result", "text")
    return print_table(heads, [_line(row) for row in rows(answer.value)], "No jobs.")


@schedule_command.command()
@click.argument("text")
@click.option("--at", help="Once: 2026-11-22T15:00, in the job's zone.")
@click.option("--every", help="30m, 2h, 1d, 1w.")
@click.option("--cron", help='Five fields: "0 8 * * 1-5".')
@click.option("--when", help='In words: "tomorrow 15:00", "every weekday at 8".')
@click.option("--kind", type=click.Choice(["message", "prompt"]), default="message", show_default=True)
@click.option("--to", help="owner (default) or a chat address, channel:chat_id[:thread_id].")
@click.option("--timezone", help="IANA; default yours.")
@click.option("--id", help="a-z, 0-9 and -; default made from the text.")
@_JSON
@click.pass_obj
def add(place: CliContext, /, as_json: bool, **wish: str | None) -> None:
    """Add a job: TEXT is sent as it is, or (--kind prompt) worked on by the assistant."""
    if sum(wish[name] is not None for name in ("at", "every", "cron", "when")) != 1:
        raise click.UsageError("say when with exactly one of --at, --every, --cron, --when")
    try:
        _check(wish)
    except (InvalidJob, InvalidWhen) as error:
        raise click.UsageError(str(error)) from error
    _say(ask(place, "schedule.add", **wish).value, as_json)


def _check(wish: Mapping[str, str | None]) -> None:
    """Checks the form of the arguments without a gateway. Raises `InvalidJob` and `InvalidWhen`."""
    checks = {"text": checked_text, "id": checked_id, "to": checked_to, "timezone": checked_zone}
    for name, check in checks.items():
        if (given := wish[name]) is not None:
            check(given)
    if when := {name: given for name in ("at", "every", "cron") if (given := wish[name]) is not None}:
        parse(when)


@schedule_command.command()
@_ID
@_JSON
@click.pass_obj
def remove(place: CliContext, job: str, as_json: bool) -> None:
    """Remove a job."""
    _say(ask(place, "schedule.remove", id=job).value, as_json)


@schedule_command.command()
@_ID
@_JSON
@click.pass_obj
def pause(place: CliContext, job: str, as_json: bool) -> None:
    """Let a job rest."""
    _say(ask(place, "schedule.pause", id=job).value, as_json)


@schedule_command.command()
@_ID
@_JSON
@click.pass_obj
def resume(place: CliContext, job: str, as_json: bool) -> None:
    """Let a paused job go on."""
    _say(ask(place, "schedule.resume", id=job).value, as_json)


@schedule_command.command()
@_ID
@_JSON
@click.pass_obj
def run(place: CliContext, job: str, as_json: bool) -> None:
    """Run a job now, also one that is paused."""
    _say(ask(place, "schedule.run", id=job).value, as_json)


@schedule_command.command()
@click.argument("job", metavar="[ID]", required=False)
@click.option("-n", "number", type=click.IntRange(min=1), default=50, show_default=True, help="At most so many.")
@_JSON
@click.pass_obj
def history(place: CliContext, job: str | None, number: int, as_json: bool) -> None:
    """What became of each run, the newest first."""
    answer = ask(place, "schedule.history", id=job, n=number)
    if as_json:
        return print_json(answer.value)
    heads = ("id", "due", "result", "late", "attempts", "to", "error")
    lines = [
        (
            row.get("id"),
            shown(row.get("due"), str(row.get("timezone"))),
            row.get("result"),
            "late" if row.get("late") else "",
            row.get("attempts"),
            row.get("to"),
            one_line(str(row.get("error") or ""), _SHOWN),
        )
        for row in rows(answer.value)
    ]
    return print_table(heads, lines, "No run yet.")


def _say(value: Json, as_json: bool) -> None:
    if as_json:
        return print_json(value)
    return click.echo(value.get("message") if isinstance(value, dict) else "")


def _line(row: Mapping[str, Json]) -> Sequence[object]:
    zone = str(row.get("timezone"))
    return (
        row.get("id"),
        row.get("kind"),
        _when(row.get("when")),
        row.get("to"),
        shown(row.get("next_run"), zone) or ("never" if row.get("enabled") else _resting(row)),
        shown(row.get("last_run"), zone),
        row.get("last_result"),
        one_line(str(row.get("last_error") or row.get("text") or ""), _SHOWN),
    )


def _resting(row: Mapping[str, Json]) -> str:
    return "off" if row.get("kind") == "built-in" else "paused"


def _when(value: Json) -> str:
    """A job's time in the words of `/jobs`."""
    fields = {name: str(one) for name, one in value.items()} if isinstance(value, Mapping) else {}
    return in_words(parse(fields)) if fields else ""
