"""Jobs: the operations behind `daybook schedule`, and the jobs in `status`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from datetime import date, timedelta
from typing import TypeVar

from agent.languages.sentences import Sentence, joined
from agent.model.base import Json
from gateway import recurrence as when_
from gateway.recurrence import InvalidWhen, iso
from gateway.rpc.protocol import Operation, OperationError, Params, number, required
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

T = TypeVar("T")

_UNCLEAR = Sentence(
    "I don't understand when that is. Say when and what, as in “tomorrow 15:00 call Ann” "
    "or “every weekday at 8 vitamins”."
)
_WHENS: tuple[str, ...] = ("at", "every", "cron")
_EARLIEST, _LATEST = date(2000, 1, 1), date(2200, 1, 1)
"""Days between which the first day of a week must be."""


class ScheduleOperations:
    def __init__(self, jobs: JobService, schedule: ScheduleService) -> None:
        self._jobs = jobs
        self._schedule = schedule

    def table(self) -> Mapping[str, Operation]:
        return {
            "schedule.list": self.list,
            "schedule.week": self.week,
            "schedule.add": self.add,
            "schedule.remind": self.remind,
            "schedule.edit": self.edit,
            "schedule.remove": self.remove,
            "schedule.pause": self.pause,
            "schedule.resume": self.resume,
            "schedule.run": self.run,
            "schedule.history": self.history,
        }

    async def list(self, _: Params) -> Json:
        """A list of `{id, kind, when, to, enabled, next_run, last_run, last_result, last_error, text, timezone}`."""
        return [job_json(row) for row in await self._jobs.rows(OPERATOR)]

    async def week(self, parameters: Params) -> Json:
        """`{from?}`, a date, else today: `{timezone, today, from, days: [{day, entries: [{id, at, kind, text, state,
        often}]}]}`; `state` is empty where it is to come, `often`: there are more of this job on that day."""
        clock, schedule = self._schedule.clock, self._schedule
        first = _date(parameters, "from") or clock.today()
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

    async def add(self, parameters: Params) -> Json:
        """`{text, at | every | cron | when, kind?, to?, timezone?, id?}`, with `when` in the words of `/remind`: the
        job and a `message`."""
        fields = {name: str(value) for name, value in parameters.items() if value is not None}
        when: dict[str, str] = {name: fields[name] for name in (*_WHENS, "from", "until") if name in fields}
        if "when" in fields:
            when.update(self._read_phrase(fields["when"]))
        request = JobRequest(
            text=fields.get("text", ""),
            when=when,
            kind=fields.get("kind", "message"),
            to=fields.get("to", ""),
            timezone=fields.get("timezone", ""),
            id=fields.get("id", ""),
        )
        receipt = await _or_operation_error(self._jobs.add(OPERATOR, request))
        message = _with_next(Sentence("Added {id}.", id=receipt.job.id), receipt)
        return {**await self._row(receipt.job.id), "message": message}

    async def remind(self, parameters: Params) -> Json:
        """`{text}`: a reminder in the words of `/remind`, with the time at the beginning or the end; as `add`."""
        text, now = required(parameters, "text"), self._schedule.clock.now()
        try:
            phrase = await asyncio.to_thread(phrases.read, text, now)
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
        return await self.add({"text": phrase.rest, "timezone": phrase.time.zone or None, **when})

    async def edit(self, parameters: Params) -> Json:
        """`{id, text?, at | every | cron | when?, until?, seen?}`, `when` as in `add`: the job and a `message`. `seen`:
        `{text, when}` of the job when the person began; where it is another by now, nothing is changed."""
        fields = {name: str(value) for name, value in parameters.items() if isinstance(value, str)}
        when = {name: fields[name] for name in (*_WHENS, "until") if fields.get(name)}
        if fields.get("when"):
            when.update(self._read_phrase(fields["when"]))
        text, seen = fields.get("text", ""), _seen(parameters)
        change = self._jobs.change(OPERATOR, required(parameters, "id"), text=text, when=when, seen=seen)
        receipt = await _or_operation_error(change)
        message = _with_next(Sentence("Changed {id}.", id=receipt.job.id), receipt)
        return {**await self._row(receipt.job.id), "message": message}

    def _read_phrase(self, text: str) -> Mapping[str, str]:
        try:
            phrase = phrases.read(text, self._schedule.clock.now())
        except InvalidWhen as error:
            raise OperationError(str(error)) from error
        if phrase is None or phrase.rest or not isinstance(phrase.time, Timed) or phrase.time.zone:
            raise OperationError(Sentence("I don't understand {text}. Use --at, --every or --cron.", text=repr(text)))
        return when_.fields(phrase.time.when)

    async def remove(self, parameters: Params) -> Json:
        job = await _or_operation_error(self._jobs.remove(OPERATOR, required(parameters, "id")))
        return {"id": job.id, "message": Sentence("Removed {id}.", id=job.id)}

    async def pause(self, parameters: Params) -> Json:
        job = await _or_operation_error(self._jobs.switch(OPERATOR, required(parameters, "id"), enabled=False))
        return {**await self._row(job.id), "message": Sentence("Paused {id}.", id=job.id)}

    async def resume(self, parameters: Params) -> Json:
        job = await _or_operation_error(self._jobs.switch(OPERATOR, required(parameters, "id"), enabled=True))
        return {
            **await self._row(job.id),
            "message": joined([Sentence("Resumed {id}.", id=job.id), _next(self._jobs.next_run(job))], " "),
        }

    async def run(self, parameters: Params) -> Json:
        job = await _or_operation_error(self._jobs.run(OPERATOR, required(parameters, "id")))
        return {"id": job.id, "message": await self._running(job.id)}

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

    async def history(self, parameters: Params) -> Json:
        """`{id?, n?}`: a list of `{id, due, timezone, result, late, attempts, started, ended, to, error}`, the newest
        first."""
        id = parameters.get("id")
        most = number(parameters, "n") or DEFAULT_HISTORY
        runs = await _or_operation_error(self._jobs.history(OPERATOR, str(id) if id else None, most))
        return [self._run_json(run) for run in runs]

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


def _seen(parameters: Params) -> SeenJob | None:
    value = parameters.get("seen")
    if not isinstance(value, Mapping):
        return None
    when = value.get("when")
    fields = when.items() if isinstance(when, Mapping) else ()
    return SeenJob(str(value.get("text", "")), {name: str(field) for name, field in fields})


def _date(parameters: Params, name: str) -> date | None:
    text = parameters.get(name)
    if not text:
        return None
    try:
        return date.fromisoformat(str(text))
    except ValueError as error:
        raise OperationError(
            Sentence("{text} is not a date; write it as 2026-11-23.", text=repr(str(text)[:40]))
        ) from error


async def _or_operation_error(work: Awaitable[T]) -> T:
    try:
        return await work
    except JobRefused as error:
        raise OperationError(str(error)) from error
