"""How far each job is, and its unfinished runs.

Each change is on disk when its method returns. All methods raise `StorageUnavailable`, and then nothing has changed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime

from agent.clock import Clock, utc_stamp
from gateway.scheduling.policy import PAUSE_AFTER, RETRIES
from gateway.store import outbox_rows, run_rows
from gateway.store.connection import Connection
from gateway.store.database import Database
from gateway.store.outbox_rows import Draft
from gateway.store.run_rows import JobRow, Run, RunStatus

DraftsFor = Callable[[Sequence[Run]], Sequence[Draft]]


class RunState:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._jobs: dict[str, JobRow] = {}
        self._troubled: dict[str, JobRow] = {}
        """The jobs that failed last, or are paused: few, and needed with every tick."""
        self._open: dict[tuple[str, str], Run] = {}

    async def load(self) -> None:
        self._jobs, self._troubled = {}, {}
        self._note((await self._database.run(run_rows.jobs)).values())
        self._open = {(run.job, run.due): run for run in await self._database.run(run_rows.open_runs)}
        await self.follow_clock()

    async def follow_others(self) -> None:
        """Adds the jobs and runs that other processes of the home have stored."""
        self._note((await self._database.run(run_rows.jobs)).values())
        for run in await self._database.run(run_rows.open_runs):
            self._open.setdefault((run.job, run.due), run)

    # jobs ------------------------------------------------------------------------------------------------------

    def job(self, id: str) -> JobRow | None:
        return self._jobs.get(id)

    @property
    def known(self) -> frozenset[str]:
        return frozenset(self._jobs)

    @property
    def paused(self) -> frozenset[str]:
        return frozenset(row.id for row in self._troubled.values() if row.paused)

    def failing(self, times: int) -> Sequence[JobRow]:
        """Jobs that failed at least `times` times in a row."""
        return [row for row in self._troubled.values() if row.failures >= times]

    def settled(self, id: str) -> datetime:
        return datetime.fromisoformat(self._jobs[id].settled)

    async def follow_clock(self) -> None:
        """After the clock was put back, opens due times ahead of it again; what ran is known by its runs."""
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
                self._troubled[row.id] = row
            else:
                self._troubled.pop(row.id, None)

    # runs ------------------------------------------------------------------------------------------------------

    @property
    def open(self) -> Sequence[Run]:
        return tuple(self._open.values())

    @property
    def busy(self) -> frozenset[str]:
        """Jobs with an unfinished run that is not early: no other run begins meanwhile."""
        now = self._clock.instant()
        return frozenset(run.job for run in self._open.values() if not run.is_early(now))

    async def claim(
        self, runs: Sequence[Run], *, settles: bool = True, drafts_for: DraftsFor = lambda _: ()
    ) -> list[Run]:
        """Claims due times, with the messages of `drafts_for`, in one commit. Returns the runs that may begin: those
        that were not claimed before."""
        now = utc_stamp(self._clock.now())

        def write(connection: Connection) -> list[Run]:
            taken = []
            for run in runs:
                settled = run.due if settles else self._jobs[run.job].settled
                if (seq := run_rows.claim(connection, run, settled)) is not None:
                    taken.append(dataclasses.replace(run, seq=seq))
            outbox_rows.add(connection, drafts_for(taken), now)
            return taken

        taken = await self._database.run(write)
        if settles:
            self._note(dataclasses.replace(self._jobs[run.job], settled=run.due) for run in runs)
        self._open.update(((run.job, run.due), run) for run in taken if run.state.is_open)
        return taken

    async def change(self, runs: Sequence[Run], drafts: Sequence[Draft] = ()) -> None:
        if runs or drafts:
            await self._write(runs, drafts=drafts)

    async def ended(self, ends: Sequence[tuple[Run, RunStatus]], note: str = "") -> list[Run]:
        """Commits the ends of runs; a success clears its job's failures."""
        now = utc_stamp(self._clock.now())
        over = [dataclasses.replace(run, state=state, error=note, next_try="", ended_at=now) for run, state in ends]
        succeeded = {run.job for run in over if run.state is not RunStatus.STOPPED}
        jobs = [dataclasses.replace(row, failures=0) for row in self.failing(1) if row.id in succeeded]
        if over:
            await self._write(over, jobs)
        return over

    def failure(self, run: Run, reason: str, *, again: bool) -> tuple[Run, JobRow | None]:
        """The run and its job as they are after a failure, not written yet. `again`: another attempt can help."""
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
        await self._write([run], [job] if job is not None else [], drafts)

    async def _write(self, runs: Sequence[Run], jobs: Sequence[JobRow] = (), drafts: Sequence[Draft] = ()) -> None:
        now = utc_stamp(self._clock.now())

        def write(connection: Connection) -> None:
            for run in runs:
                run_rows.update(connection, run)
            run_rows.put(connection, jobs)
            outbox_rows.add(connection, drafts, now)

        await self._database.run(write)
        for run in runs:
            self._open.pop((run.job, run.due), None)
            if run.state.is_open:
                self._open[run.job, run.due] = run
        self._note(jobs)

    async def last_runs(self) -> Mapping[str, Run]:
        return await self._database.run(run_rows.last_runs)

    async def numbered(self, seq: int) -> Run | None:
        return await self._database.run(run_rows.numbered, seq)

    async def begun_between(self, start: datetime, end: datetime) -> Sequence[Run]:
        return await self._database.run(run_rows.begun_between, utc_stamp(start), utc_stamp(end))

    async def history(self, job: str | None, most: int) -> Sequence[Run]:
        return await self._database.run(run_rows.history, job, most)
