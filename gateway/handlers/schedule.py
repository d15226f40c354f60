"""Jobs: the operations behind `daybook schedule`, and the jobs in `status`."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from typing import TypeVar

from agent.model.base import Json
from gateway import recurrence as when_
from gateway.handlers.parameters import number, required
from gateway.recurrence import InvalidWhen, iso
from gateway.rpc.protocol import Operation, OperationError, Params
from gateway.scheduling import phrases
from gateway.scheduling.requests import DEFAULT_HISTORY, OPERATOR, JobListing, JobRefused, JobRequest, JobService
from gateway.scheduling.service import ScheduleService
from gateway.store.run_rows import Run

T = TypeVar("T")

_WHENS: tuple[str, ...] = ("at", "every", "cron")


class ScheduleOperations:
    def __init__(self, book: JobService, schedule: ScheduleService) -> None:
        self._book = book
        self._schedule = schedule

    def table(self) -> Mapping[str, Operation]:
        return {
            "schedule.list": self.list,
            "schedule.add": self.add,
            "schedule.remove": self.remove,
            "schedule.pause": self.pause,
            "schedule.resume": self.resume,
            "schedule.run": self.run,
            "schedule.history": self.history,
        }

    async def list(self, _: Params) -> Json:
        """A list of `{id, kind, when, to, enabled, next_run, last_run, last_result, last_error, text, timezone}`."""
        return [job_json(row) for row in await self._book.rows(OPERATOR)]

    async def add(self, parameters: Params) -> Json:
        """`{text, at | every | cron | when, kind?, to?, timezone?, id?}`, with `when` in the words of `/remind`: the
        job and a `message`."""
        fields = {name: str(value) for name, value in parameters.items() if value is not None}
        when: dict[str, str] = {name: fields[name] for name in _WHENS if name in fields}
        if "when" in fields:
            when.update(self._said(fields["when"]))
        wish = JobRequest(
            text=fields.get("text", ""),
            when=when,
            kind=fields.get("kind", "message"),
            to=fields.get("to", ""),
            timezone=fields.get("timezone", ""),
            id=fields.get("id", ""),
        )
        booked = await _done(self._book.add(OPERATOR, wish))
        return {**await self._row(booked.job.id), "message": f"{booked.job.id} is added; next: {booked.said}."}

    def _said(self, text: str) -> Mapping[str, str]:
        try:
            understood = phrases.read(text, self._schedule.clock.now())
        except InvalidWhen as error:
            raise OperationError(str(error)) from error
        if understood is None or understood.rest:
            raise OperationError(f"{text!r} is not understood; write --at, --every or --cron")
        return when_.fields(understood.when)

    async def remove(self, parameters: Params) -> Json:
        job = await _done(self._book.remove(OPERATOR, required(parameters, "id")))
        return {"id": job.id, "message": f"{job.id} is removed."}

    async def pause(self, parameters: Params) -> Json:
        job = await _done(self._book.switch(OPERATOR, required(parameters, "id"), enabled=False))
        return {**await self._row(job.id), "message": f"{job.id} is paused."}

    async def resume(self, parameters: Params) -> Json:
        job = await _done(self._book.switch(OPERATOR, required(parameters, "id"), enabled=True))
        return {
            **await self._row(job.id),
            "message": f"{job.id} goes on; next: {self._book.next_run(job) or 'never'}.",
        }

    async def run(self, parameters: Params) -> Json:
        job = await _done(self._book.run(OPERATOR, required(parameters, "id")))
        return {"id": job.id, "message": f"{job.id} {await self._running(job.id)}."}

    async def _running(self, id: str) -> str:
        """The state of a run that was just started by hand."""
        if self._schedule.is_running:
            return "runs now"
        (run,) = await self._schedule.ledger.history(id, 1)
        if run.ended_at:
            return f"has run: {run.state}"
        if run.error:
            return f"failed: {run.error.rstrip('.')}; it is tried again as soon as the gateway runs (`daybook gateway`)"
        return "runs as soon as the gateway runs (`daybook gateway`)"

    async def history(self, parameters: Params) -> Json:
        """`{id?, n?}`: a list of `{id, due, timezone, result, late, attempts, started, ended, to, error}`, the newest
        first."""
        id = parameters.get("id")
        most = number(parameters, "n") or DEFAULT_HISTORY
        runs = await _done(self._book.history(OPERATOR, str(id) if id else None, most))
        return [self._run_json(run) for run in runs]

    async def _row(self, id: str) -> Mapping[str, Json]:
        return next((job_json(row) for row in await self._book.rows(OPERATOR) if row.job.id == id), {"id": id})

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


async def _done(work: Awaitable[T]) -> T:
    try:
        return await work
    except JobRefused as error:
        raise OperationError(str(error)) from error
