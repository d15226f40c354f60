"""How far each job is, and its unfinished runs: in memory and on disk, for one process owns a home.

Each change is on disk when its method returns. All methods raise `StoreUnavailable`, and then nothing has changed.
"""

from __future__ import annotations

import dataclasses
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime

from agent.clock import Clock, utc_stamp
from gateway.scheduling.policy import PAUSE_AFTER, RETRIES
from gateway.store import outbox_rows, run_rows
from gateway.store.database import Database
from gateway.store.outbox_rows import Draft
from gateway.store.run_rows import JobRow, Run, RunStatus

Says = Callable[[Sequence[Run]], Sequence[Draft]]


def _nothing(_: Sequence[Run]) -> Sequence[Draft]:
    return ()


class RunState:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._jobs: dict[str, JobRow] = {}
        self._ailing: dict[str, JobRow] = {}
        """Those of them that failed last, or are paused: few, and asked for with every look at the clock."""
        self._open: dict[tuple[str, str], Run] = {}

    async def load(self) -> None:
        """Reads what the last process left."""
        self._jobs, self._ailing = {}, {}
        self._note((await self._database.run(run_rows.jobs)).values())
        self._open = {(run.job, run.due): run for run in await self._database.run(run_rows.open_runs)}
        await self.follow_clock()

    # jobs ------------------------------------------------------------------------------------------------------

    def job(self, id: str) -> JobRow | None:
        return self._jobs.get(id)

    @property
    def known(self) -> frozenset[str]:
        return frozenset(self._jobs)

    @property
    def paused(self) -> Sequence[str]:
        return [row.id for row in self._ailing.values() if row.paused]

    def failing(self, times: int) -> Sequence[JobRow]:
        """Jobs that failed so often in a row."""
        return [row for row in self._ailing.values() if row.failures >= times]

    def settled(self, id: str) -> datetime:
        return datetime.fromisoformat(self._jobs[id].settled)

    async def follow_clock(self) -> None:
        """After the clock was put back, lets due times come that are settled ahead of the present. Those already run
        are known by their runs."""
        now = utc_stamp(self._clock.now())
        await self.put(dataclasses.replace(row, settled=now) for row in self._jobs.values() if row.settled > now)

    async def put(self, rows: Iterable[JobRow]) -> None:
        rows = tuple(rows)
        if rows:
            await self._database.run(run_rows.put, rows)
            self._note(rows)

    def _note(self, rows: Iterable[JobRow]) -> None:
        for row in rows:
            self._jobs[row.id] = row
            if row.failures or row.paused:
                self._ailing[row.id] = row
            else:
                self._ailing.pop(row.id, None)

    # runs ------------------------------------------------------------------------------------------------------

    @property
    def open(self) -> Sequence[Run]:
        return tuple(self._open.values())

    @property
    def busy(self) -> frozenset[str]:
        """Jobs with an unfinished run: no other run of theirs begins meanwhile. An early run does not count."""
        now = self._clock.instant()
        return frozenset(run.job for run in self._open.values() if not run.is_early(now))

    async def take_up(self, runs: Sequence[Run], *, settles: bool = True, says: Says = _nothing) -> list[Run]:
        """Claims due times, with the messages of `says`, in one commit. Returns those that were not claimed before;
        only these may run."""
        now = utc_stamp(self._clock.now())

        def write(connection: sqlite3.Connection) -> list[Run]:
            claimed = ((run, run_rows.take_up(connection, run, self._settled_by(run, settles))) for run in runs)
            taken = [dataclasses.replace(run, seq=seq) for run, seq in claimed if seq is not None]
            outbox_rows.add(connection, says(taken), now)
            return taken

        taken = await self._database.run(write)
        if settles:
            self._note(dataclasses.replace(self._jobs[run.job], settled=run.due) for run in runs)
        self._open.update(((run.job, run.due), run) for run in taken if run.state.is_open)
        return taken

    def _settled_by(self, run: Run, settles: bool) -> str:
        return run.due if settles else self._jobs[run.job].settled

    async def change(self, runs: Sequence[Run], drafts: Sequence[Draft] = ()) -> None:
        """Commits changes of runs, with the messages that they send."""
        if runs or drafts:
            await self._write(runs, drafts=drafts)

    async def ended(self, ends: Sequence[tuple[Run, RunStatus]], note: str = "") -> list[Run]:
        """Commits the end of runs; those that succeeded clear the failures of their jobs."""
        now = utc_stamp(self._clock.now())
        over = [dataclasses.replace(run, state=state, error=note, next_try="", ended_at=now) for run, state in ends]
        well = {run.job for run in over if run.state is not RunStatus.STOPPED}
        jobs = [dataclasses.replace(row, failures=0) for row in self.failing(1) if row.id in well]
        if over:
            await self._write(over, jobs)
        return over

    def failure(self, run: Run, reason: str, *, again: bool) -> tuple[Run, JobRow | None]:
        """The run and its job after a failed attempt; nothing is written yet. `again`: another attempt can help."""
        now = self._clock.instant()
        job = self._jobs.get(run.job)
        failures = job.failures + 1 if job is not None else 1
        if again and 0 < run.attempts <= len(RETRIES) and failures < PAUSE_AFTER:
            next_try = utc_stamp(now + RETRIES[run.attempts - 1])
            failed = dataclasses.replace(run, state=RunStatus.WAITING, error=reason, next_try=next_try)
        else:
            stamp = utc_stamp(now)
            failed = dataclasses.replace(run, state=RunStatus.FAILED, error=reason, next_try="", ended_at=stamp)
        return failed, dataclasses.replace(job, failures=failures) if job is not None else None

    async def failed(self, run: Run, job: JobRow | None, drafts: Sequence[Draft]) -> None:
        """Commits a failure, with its messages."""
        await self._write([run], [job] if job is not None else [], drafts)

    async def _write(self, runs: Sequence[Run], jobs: Sequence[JobRow] = (), drafts: Sequence[Draft] = ()) -> None:
        now = utc_stamp(self._clock.now())

        def write(connection: sqlite3.Connection) -> None:
            for run in runs:
                run_rows.update(connection, run)
            run_rows.put(connection, jobs)
            outbox_rows.add(connection, drafts, now)

        await self._database.run(write)
        for run in runs:
            self._remember(run)
        self._note(jobs)

    def _remember(self, run: Run) -> None:
        if run.state.is_open:
            self._open[run.job, run.due] = run
        else:
            self._open.pop((run.job, run.due), None)

    async def last_runs(self) -> Mapping[str, Run]:
        return await self._database.run(run_rows.last_runs)

    async def numbered(self, seq: int) -> Run | None:
        return await self._database.run(run_rows.numbered, seq)

    async def history(self, job: str | None, most: int) -> Sequence[Run]:
        return await self._database.run(run_rows.history, job, most)
