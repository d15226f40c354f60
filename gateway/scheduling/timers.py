"""A date job of APScheduler for each job that waits for its due time, in its memory store.

APScheduler compares wall clocks but sleeps by the monotonic one, and so too long when the clock leaps forward or a
laptop is suspended. Therefore `due` asks its store and wakes it: no job is later than the next call.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from agent.clock import Clock

if TYPE_CHECKING:
    from apscheduler.jobstores.memory import MemoryJobStore  # type: ignore[import-untyped]
    from apscheduler.schedulers.asyncio import AsyncIOScheduler  # type: ignore[import-untyped]

_SHORTEST = 0.001
"""Seconds."""
_AT_ONCE = 100
"""The number of date jobs that are added in one step of the loop, which takes some 10 ms."""


class JobTimers:
    """When each job is due. A job is to be planned, has a date job, or waits for ever; outside of `running` there is no
    `scheduler`, and each job is planned each time."""

    def __init__(self, clock: Clock) -> None:
        self.scheduler: AsyncIOScheduler | None = None
        self._store: MemoryJobStore | None = None
        self._clock = clock
        self._ahead = timedelta()
        """How far the clock is ahead of the computer's, which APScheduler reads; zero outside of tests."""
        self._due: set[str] = set()
        self._woken = asyncio.Event()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        # 0.1 s that only a gateway needs
        from apscheduler.executors.debug import DebugExecutor  # type: ignore[import-untyped]  # noqa: PLC0415
        from apscheduler.jobstores.memory import MemoryJobStore  # noqa: PLC0415
        from apscheduler.schedulers.asyncio import AsyncIOScheduler  # noqa: PLC0415

        logging.getLogger("apscheduler").setLevel(logging.WARNING)  # it notes each job that is added or due
        self._ahead = self._clock.instant() - datetime.now(UTC)
        self._store = MemoryJobStore()
        # that executor calls `_fire` in the loop, where all others would make a task or a thread
        self.scheduler = scheduler = AsyncIOScheduler(
            timezone=UTC, jobstores={"default": self._store}, executors={"default": DebugExecutor()}
        )
        scheduler.start()
        try:
            yield
        finally:
            self.scheduler = None
            scheduler.shutdown(wait=False)

    def wake(self) -> None:
        """Ends the present `sleep`, or the next one."""
        self._woken.set()

    async def sleep(self, most: float) -> None:
        """Waits until a job is due or `wake` is called, for `most` seconds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(max(most, _SHORTEST)):
                await self._woken.wait()
        self._woken.clear()

    def plan_again(self, ids: Iterable[str]) -> None:
        for id in ids:
            self._cancel(id)
            self._due.add(id)

    def remove(self, ids: Iterable[str]) -> None:
        for id in ids:
            self._cancel(id)
            self._due.discard(id)

    async def wait(self, until: Mapping[str, datetime | None]) -> None:
        """Makes each job wait until its moment; None: for ever."""
        scheduler = self.scheduler
        if scheduler is None:
            return
        for number, (id, due) in enumerate(until.items()):
            if number % _AT_ONCE == _AT_ONCE - 1:
                await asyncio.sleep(0)
            if due is None:
                self._cancel(id)
            else:
                scheduler.add_job(
                    self._fire,
                    "date",
                    run_date=due - self._ahead,
                    args=(id, due),
                    id=id,
                    replace_existing=True,
                    misfire_grace_time=None,
                )
            self._due.discard(id)

    def due(self) -> frozenset[str]:
        """The jobs to plan now."""
        if self.scheduler is not None and self._store is not None:
            self.plan_again(job.id for job in self._store.get_due_jobs(self._clock.instant() - self._ahead))
            self.scheduler.wakeup()
        return frozenset(self._due)

    def until(self, id: str) -> datetime | None:
        """When the job's wait ends; None: never."""
        job = self.scheduler.get_job(id) if self.scheduler is not None else None
        return job.next_run_time + self._ahead if job is not None else None

    def next(self) -> datetime | None:
        first = self._store.get_next_run_time() if self._store is not None else None
        return first + self._ahead if first is not None else None

    def _fire(self, id: str, due: datetime) -> None:
        self._due.add(id)
        if due <= self._clock.instant():  # not so where a test's clock stands still
            self.wake()

    def _cancel(self, id: str) -> None:
        if self.scheduler is not None and self.scheduler.get_job(id) is not None:
            self.scheduler.remove_job(id)
