"""Jobs: the operations behind `daybook schedule`, and the jobs in `status`."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from agent.languages.sentences import Sentence, joined
from agent.model.base import Json
from gateway import recurrence as when_
from gateway.i18n import one_line
from gateway.operations import (
    Argument,
    Day,
    Id,
    Most,
    OperationGroup,
    Parameters,
    ResultReader,
    ResultTable,
    Row,
    Text,
    moment_cell,
    operation,
)
from gateway.recurrence import InvalidWhen, iso, parse
from gateway.recurrence_in_words import in_words
from gateway.rpc.protocol import OperationError
from gateway.scheduling.builtins import does_by_itself
from gateway.scheduling.job import JobKind, checked_id, checked_text, checked_to, checked_zone
from gateway.scheduling.job_access import OPERATOR
from gateway.scheduling.requests import (
    DEFAULT_HISTORY,
    JobListing,
    JobReceipt,
    JobRefused,
    JobRequest,
    JobService,
    SeenJob,
)
from gateway.scheduling.service import ScheduleService
from gateway.scheduling.week import DAYS, WeekEntry, midnight, week
from gateway.scheduling.words import phrases
from gateway.scheduling.words.meaning import HourMissing, Timed
from gateway.store.run_rows import Run

_UNCLEAR = Sentence(
    "I don't understand when that is. Say when and what, as in “tomorrow 15:00 call Ann” "
    "or “every weekday at 8 vitamins”."
)
_EARLIEST, _LATEST = date(2000, 1, 1), date(2200, 1, 1)
"""Days between which the first day of a week must be."""
_SHOWN = 60


class _JobTime(Parameters):
    at: str = Field("", description="Once, in the job's time zone: 2026-11-22T15:00.")
    every: str = Field("", description="Again and again: 30m, 2h, 1d, 1w.")
    cron: str = Field("", description='Five fields: "0 8 * * 1-5".')
    when: str = Field("", description='In words: "tomorrow 15:00", "every weekday at 8".')
    from_: str = ""
    until: str = ""

    @property
    def fields(self) -> dict[str, str]:
        """What is given, for `recurrence.parse`."""
        known = {"at": self.at, "every": self.every, "cron": self.cron, "from": self.from_, "until": self.until}
        return {name: value for name, value in known.items() if value}


class _NewJob(_JobTime):
    text: Annotated[str, Argument(), AfterValidator(checked_text)]
    kind: Literal["message", "prompt"] = Field("message", description="")
    to: Annotated[str, AfterValidator(checked_to)] = Field(
        "", description="Where it goes: owner (default) or a chat, channel:chat_id[:thread_id]."
    )
    timezone: Annotated[str, AfterValidator(checked_zone)] = Field("", description="IANA time zone; default: yours.")
    id: Annotated[str, AfterValidator(checked_id)] = Field(
        "", description="Its name, of a-z, 0-9 and -; default: made from the text."
    )

    @model_validator(mode="after")
    def _comes_at_a_time(self) -> Self:
        if sum(map(bool, (self.at, self.every, self.cron, self.when))) != 1:
            raise ValueError(Sentence("Say when with exactly one of --at, --every, --cron and --when."))
        if not self.when:
            parse(self.fields)
        return self


class _ChangedJob(_JobTime):
    id: Text
    text: str = ""
    seen: SeenJob | None = None


def _state(value: Json) -> str:
    return Sentence(value) if isinstance(value, str) else ""


def _kind(row: Row, _: ResultReader) -> object:
    kinds = {"message": Sentence("message"), "prompt": Sentence("task"), "built-in": Sentence("built-in")}
    return kinds.get(str(row.get("kind")), row.get("kind"))


def _when(row: Row, reader: ResultReader) -> str:
    """A job's time in the words of `/jobs`."""
    value = row.get("when")
    fields = {name: str(field) for name, field in value.items()} if isinstance(value, Mapping) else {}
    elsewhere = f" ({row.get('timezone')})" if row.get("timezone") != reader.zone.key else ""
    return joined([in_words(parse(fields)), elsewhere], "") if fields else ""


def _next_run(row: Row, reader: ResultReader) -> str:
    resting = Sentence("off") if row.get("kind") == JobKind.BUILT_IN else Sentence("paused")
    return reader.moment(row.get("next_run")) or (Sentence("never") if row.get("enabled") else resting)


def _task(row: Row, reader: ResultReader) -> str:
    text = str(row.get("text") or "")
    task = does_by_itself(str(row.get("id")), text) if row.get("kind") == JobKind.BUILT_IN else text
    return one_line(reader.said_of(row.get("last_error") or task), _SHOWN)


_JOBS = ResultTable(
    {
        Sentence("id"): "id",
        Sentence("kind"): _kind,
        Sentence("when"): _when,
        Sentence("to"): "to",
        Sentence("next run"): _next_run,
        Sentence("last run"): moment_cell("last_run"),
        Sentence("result"): lambda row, _: _state(row.get("last_result")),
        Sentence("text"): _task,
    },
    Sentence("No jobs yet."),
)
_RUNS = ResultTable(
    {
        Sentence("id"): "id",
        Sentence("due"): moment_cell("due"),
        Sentence("result"): lambda row, _: _state(row.get("result")),
        Sentence("late"): lambda row, _: Sentence("late") if row.get("late") else "",
        Sentence("attempts"): "attempts",
        Sentence("to"): "to",
        Sentence("error"): lambda row, _: one_line(str(row.get("error") or ""), _SHOWN),
    },
    Sentence("No runs yet."),
)


class ScheduleOperations(OperationGroup):
    refusals = (JobRefused, InvalidWhen)

    def __init__(self, jobs: JobService, schedule: ScheduleService) -> None:
        self._jobs = jobs
        self._schedule = schedule

    @operation("schedule.list", shown=_JOBS)
    async def list(self) -> Json:
        """List all jobs with their next and last runs.

        A list of `{id, kind, when, to, enabled, next_run, last_run, last_result, last_error, text, timezone}`."""
        return [job_json(row) for row in await self._jobs.rows(OPERATOR)]

    @operation("schedule.week")
    async def week(self, from_: Day = None) -> Json:
        """The 7 days from `from`, else today: `{timezone, today, from, days: [{day, entries: [{id, at, kind, text,
        state, often}]}]}`; `state` is empty where it is to come, `often`: there are more of this job on that day."""
        clock, schedule = self._schedule.clock, self._schedule
        first = from_ or clock.today()
        if not _EARLIEST <= first <= _LATEST:
            raise OperationError(Sentence("{day} is too far away.", day=first))
        rows = await self._jobs.rows(OPERATOR)
        start, end = (midnight(first + timedelta(days=days), clock.zone) for days in (0, DAYS))
        runs = await schedule.run_state.begun_between(start, end)
        days = await asyncio.to_thread(week, first, clock.zone, rows, schedule.timing, runs)
        return {
            "timezone": clock.zone.key,
            "today": clock.today().isoformat(),
            "from": first.isoformat(),
            "days": [{"day": day.day.isoformat(), "entries": [*map(self._entry_json, day.entries)]} for day in days],
        }

    def _entry_json(self, entry: WeekEntry) -> Json:
        return {
            "id": entry.job,
            "at": iso(entry.at, self._schedule.clock.zone),
            "kind": entry.kind,
            "text": entry.text,
            "state": entry.state or "",
            "often": entry.is_often,
        }

    @operation("schedule.add", shown="message", on_page=True)
    async def add(self, job: _NewJob) -> Json:
        """Add a job: TEXT is sent as it is, or with --kind prompt, the assistant does what it says.

        Returns the job and a `message`."""
        request = JobRequest(job.text, self._when(job), job.kind, job.to, job.timezone, job.id)
        receipt = await self._jobs.add(OPERATOR, request)
        message = _with_next(Sentence("Added {id}.", id=receipt.job.id), receipt)
        return {**await self._row(receipt.job.id), "message": message}

    @operation("schedule.remind", on_page=True)
    async def remind(self, text: Text) -> Json:
        """A reminder in the words of `/remind`, with the time at the beginning or the end; returns what `add` does."""
        try:
            phrase = await asyncio.to_thread(phrases.read, text, self._schedule.clock.now())
        except InvalidWhen as error:
            raise OperationError(Sentence("{why}.", why=str(error))) from error
        if phrase is not None and isinstance(phrase.time, HourMissing):
            raise OperationError(Sentence("At what time? Say the hour, too, as in `tomorrow 15:00 call Ann`."))
        if phrase is None or not isinstance(phrase.time, Timed):
            raise OperationError(_UNCLEAR)
        if not phrase.rest:
            raise OperationError(
                Sentence("What should I remind you of? Say it with the time, as in “tomorrow 15:00 call Ann”.")
            )
        when = when_.fields(phrase.time.when)
        return await self.add(_NewJob.read({"text": phrase.rest, "timezone": phrase.time.zone or None, **when}))

    @operation("schedule.edit", on_page=True)
    async def edit(self, job: _ChangedJob) -> Json:
        """Changes text and time; what is empty stays. `seen`: `{text, when}` of the job when the person began; where it
        is another by now, nothing is changed. Returns the job and a `message`."""
        receipt = await self._jobs.change(OPERATOR, job.id, text=job.text, when=self._when(job), seen=job.seen)
        message = _with_next(Sentence("Changed {id}.", id=receipt.job.id), receipt)
        return {**await self._row(receipt.job.id), "message": message}

    def _when(self, job: _JobTime) -> Mapping[str, str]:
        """The fields of a time, those that are given in words among them."""
        if not job.when:
            return job.fields
        phrase = phrases.read(job.when, self._schedule.clock.now())
        if phrase is None or phrase.rest or not isinstance(phrase.time, Timed) or phrase.time.zone:
            why = Sentence("I don't understand {text}. Use --at, --every or --cron.", text=repr(job.when))
            raise OperationError(why)
        return {**job.fields, **when_.fields(phrase.time.when)}

    @operation("schedule.remove", shown="message", on_page=True)
    async def remove(self, id: Id) -> Json:
        """Remove a job."""
        removed = await self._jobs.remove(OPERATOR, id)
        return {"id": removed.id, "message": Sentence("Removed {id}.", id=removed.id)}

    @operation("schedule.pause", shown="message", on_page=True)
    async def pause(self, id: Id) -> Json:
        """Pause a job."""
        paused = await self._jobs.switch(OPERATOR, id, enabled=False)
        return {**await self._row(paused.id), "message": Sentence("Paused {id}.", id=paused.id)}

    @operation("schedule.resume", shown="message", on_page=True)
    async def resume(self, id: Id) -> Json:
        """Resume a paused job."""
        resumed = await self._jobs.switch(OPERATOR, id, enabled=True)
        message = joined([Sentence("Resumed {id}.", id=resumed.id), _next(self._jobs.next_run(resumed))], " ")
        return {**await self._row(resumed.id), "message": message}

    @operation("schedule.run", shown="message", on_page=True)
    async def run(self, id: Id) -> Json:
        """Run a job now, even if it is paused."""
        running = await self._jobs.run(OPERATOR, id)
        return {"id": running.id, "message": await self._running(running.id)}

    async def _running(self, id: str) -> str:
        """Says how a run went that was just started by hand."""
        if self._schedule.is_running:
            return Sentence("{id} is running now.", id=id)
        (run,) = await self._schedule.run_state.history(id, 1)
        if run.ended_at:
            return Sentence("{id} has run: {state}.", id=id, state=Sentence(str(run.state)))
        if run.error:
            return Sentence(
                "{id} failed: {why}. It is tried again once Daybook runs (`daybook gateway`).",
                id=id,
                why=run.error.rstrip("."),
            )
        return Sentence("{id} will run once Daybook runs (`daybook gateway`).", id=id)

    @operation("schedule.history", shown=_RUNS)
    async def history(self, id: Annotated[str, Argument()] = "", n: Most = DEFAULT_HISTORY) -> Json:
        """List past runs, newest first.

        A list of `{id, due, timezone, result, late, attempts, started, ended, to, error}`."""
        return [self._run_json(run) for run in await self._jobs.history(OPERATOR, id or None, n)]

    async def _row(self, id: str) -> Mapping[str, Json]:
        return next((job_json(row) for row in await self._jobs.rows(OPERATOR) if row.job.id == id), {"id": id})

    def _run_json(self, run: Run) -> Json:
        return {
            "id": run.job,
            "due": iso(run.moment, self._schedule.clock.zone),
            "timezone": self._schedule.clock.zone.key,
            "result": str(run.state),
            "late": run.late,
            "attempts": run.attempts,
            "started": run.started_at,
            "ended": run.ended_at,
            "to": str(run.address) if run.address is not None else "",
            "error": run.error,
        }


def _next(moment: str) -> Sentence:
    return Sentence("Next: {moment}.", moment=moment or Sentence("never"))


def _with_next(done: Sentence, receipt: JobReceipt) -> str:
    return joined([joined([done, _next(receipt.spoken)], " "), receipt.remark], "")


def job_json(row: JobListing) -> Mapping[str, Json]:
    job, last = row.job, row.last
    return {
        "id": job.id,
        "kind": str(job.kind),
        "when": when_.fields(job.when),
        "to": job.to,
        "enabled": job.enabled,
        "next_run": iso(row.next_run, row.zone),
        "last_run": iso(last.moment, row.zone) if last is not None else None,
        "last_result": str(last.state) if last is not None else None,
        "last_error": last.error if last is not None else "",
        "text": job.text,
        "timezone": row.zone.key,
    }


def jobs_json(rows: Sequence[JobListing], most: int) -> Json:
    """The next jobs, for `status`."""
    due = sorted(
        (row for row in rows if row.job.enabled and row.next_run is not None),
        key=lambda row: (row.next_run, row.job.id),
    )
    return [job_json(row) for row in due[:most]]
