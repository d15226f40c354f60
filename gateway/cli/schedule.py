"""`daybook schedule`: jobs and reminders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from zoneinfo import ZoneInfo

import click

from agent.languages.sentences import Sentence, joined
from agent.model.base import Json
from gateway.i18n import one_line
from gateway.recurrence import InvalidWhen, parse
from gateway.recurrence_in_words import in_words
from gateway.scheduling.builtins import does_by_itself
from gateway.scheduling.job import InvalidJob, JobKind, checked_id, checked_text, checked_to, checked_zone
from gateway.terminal.context import CliContext, print_json, show_time
from gateway.terminal.rpc import ask, rows
from gateway.terminal.table import print_table

_JSON = click.option("--json", "as_json", is_flag=True, help="One JSON document.")
_ID = click.argument("job", metavar="ID")
_SHOWN = 60


@click.group("schedule")
def schedule_command() -> None:
    """List and change reminders and jobs."""


@schedule_command.command("list")
@_JSON
@click.pass_obj
def list_jobs(context: CliContext, as_json: bool) -> None:
    """List all jobs with their next and last runs."""
    answer = ask(context, "schedule.list")
    if as_json:
        return print_json(answer.value)
    heads = context.heads(
        *(Sentence("id"), Sentence("kind"), Sentence("when"), Sentence("to")),
        *(Sentence("next run"), Sentence("last run"), Sentence("result"), Sentence("text")),
    )
    lines = [_line(context, row, answer.zone) for row in rows(answer.value)]
    return print_table(heads, lines, context.said("No jobs yet."))


@schedule_command.command()
@click.argument("text")
@click.option("--at", help="Once, in the job's time zone: 2026-11-22T15:00.")
@click.option("--every", help="Again and again: 30m, 2h, 1d, 1w.")
@click.option("--cron", help='Five fields: "0 8 * * 1-5".')
@click.option("--when", help='In words: "tomorrow 15:00", "every weekday at 8".')
@click.option("--kind", type=click.Choice(["message", "prompt"]), default="message", show_default=True)
@click.option("--to", help="Where it goes: owner (default) or a chat, channel:chat_id[:thread_id].")
@click.option("--timezone", help="IANA time zone; default: yours.")
@click.option("--id", help="Its name, of a-z, 0-9 and -; default: made from the text.")
@_JSON
@click.pass_obj
def add(context: CliContext, /, as_json: bool, **options: str | None) -> None:
    """Add a job: TEXT is sent as it is, or with --kind prompt, the assistant does what it says."""
    if sum(options[name] is not None for name in ("at", "every", "cron", "when")) != 1:
        raise click.UsageError(context.said("Say when with exactly one of --at, --every, --cron and --when."))
    try:
        _check(options)
    except (InvalidJob, InvalidWhen) as error:
        raise click.UsageError(context.said_of(error)) from error
    _say(ask(context, "schedule.add", **options).value, as_json)


def _check(options: Mapping[str, str | None]) -> None:
    """Checks the form of the arguments without a gateway. Raises `InvalidJob` and `InvalidWhen`."""
    checks = {"text": checked_text, "id": checked_id, "to": checked_to, "timezone": checked_zone}
    for name, check in checks.items():
        if (given := options[name]) is not None:
            check(given)
    if when := {name: given for name in ("at", "every", "cron") if (given := options[name]) is not None}:
        parse(when)


@schedule_command.command()
@_ID
@_JSON
@click.pass_obj
def remove(context: CliContext, job: str, as_json: bool) -> None:
    """Remove a job."""
    _say(ask(context, "schedule.remove", id=job).value, as_json)


@schedule_command.command()
@_ID
@_JSON
@click.pass_obj
def pause(context: CliContext, job: str, as_json: bool) -> None:
    """Pause a job."""
    _say(ask(context, "schedule.pause", id=job).value, as_json)


@schedule_command.command()
@_ID
@_JSON
@click.pass_obj
def resume(context: CliContext, job: str, as_json: bool) -> None:
    """Resume a paused job."""
    _say(ask(context, "schedule.resume", id=job).value, as_json)


@schedule_command.command()
@_ID
@_JSON
@click.pass_obj
def run(context: CliContext, job: str, as_json: bool) -> None:
    """Run a job now, even if it is paused."""
    _say(ask(context, "schedule.run", id=job).value, as_json)


@schedule_command.command()
@click.argument("job", metavar="[ID]", required=False)
@click.option("-n", "number", type=click.IntRange(min=1), default=50, show_default=True, help="Show at most this many.")
@_JSON
@click.pass_obj
def history(context: CliContext, job: str | None, number: int, as_json: bool) -> None:
    """List past runs, newest first."""
    answer = ask(context, "schedule.history", id=job, n=number)
    if as_json:
        return print_json(answer.value)
    heads = context.heads(
        *(Sentence("id"), Sentence("due"), Sentence("result"), Sentence("late")),
        *(Sentence("attempts"), Sentence("to"), Sentence("error")),
    )
    lines = [
        (
            row.get("id"),
            show_time(row.get("due"), answer.zone),
            _result(context, row.get("result")),
            context.said("late") if row.get("late") else "",
            row.get("attempts"),
            row.get("to"),
            one_line(str(row.get("error") or ""), _SHOWN),
        )
        for row in rows(answer.value)
    ]
    return print_table(heads, lines, context.said("No runs yet."))


def _say(value: Json, as_json: bool) -> None:
    if as_json:
        return print_json(value)
    return click.echo(value.get("message") if isinstance(value, dict) else "")


def _result(context: CliContext, state: Json) -> str:
    return context.said_of(Sentence(state)) if isinstance(state, str) else ""


def _line(context: CliContext, row: Mapping[str, Json], zone: ZoneInfo) -> Sequence[object]:
    kinds = {"message": Sentence("message"), "prompt": Sentence("task"), "built-in": Sentence("built-in")}
    resting = Sentence("off") if row.get("kind") == "built-in" else Sentence("paused")
    return (
        row.get("id"),
        context.said_of(kinds.get(str(row.get("kind")), row.get("kind"))),
        context.said_of(_when(row, zone)),
        row.get("to"),
        show_time(row.get("next_run"), zone) or context.said_of(Sentence("never") if row.get("enabled") else resting),
        show_time(row.get("last_run"), zone),
        _result(context, row.get("last_result")),
        one_line(context.said_of(row.get("last_error") or _task(row)), _SHOWN),
    )


def _task(row: Mapping[str, Json]) -> str:
    text = str(row.get("text") or "")
    return does_by_itself(str(row.get("id")), text) if row.get("kind") == JobKind.BUILT_IN else text


def _when(row: Mapping[str, Json], zone: ZoneInfo) -> str:
    """A job's time in the words of `/jobs`."""
    value = row.get("when")
    fields = {name: str(field) for name, field in value.items()} if isinstance(value, Mapping) else {}
    elsewhere = f" ({row.get('timezone')})" if row.get("timezone") != zone.key else ""
    return joined([in_words(parse(fields)), elsewhere], "") if fields else ""
