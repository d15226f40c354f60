"""Wakes the schedule at the next due time, and every few seconds to look for changes.

APScheduler is the clock only: one job, in memory. It follows the wall clock, so it would oversleep when the clock is
put back or a laptop was suspended; here neither lasts longer than one interval.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from apscheduler.schedulers.asyncio import AsyncIOScheduler  # type: ignore[import-untyped]


import heapq
from collections.abc import Iterable, Sequence

LONGEST_WAIT = 1.5
"""So many intervals after which we go on though the clock did not ring."""
_SHORTEST = timedelta(milliseconds=1)


class ScheduleClock:
    """Made by `open_schedule_clock`. `interval`: seconds."""

    def __init__(self, scheduler: AsyncIOScheduler, interval: float) -> None:
        self._scheduler = scheduler
        self._interval = interval
        self._rung = asyncio.Event()

    def ring(self) -> None:
        """Ends the present or the next wait at once."""
        self._rung.set()

    async def wait(self, most: timedelta | None) -> None:
        """Waits until `most` from now, for at most one interval, or until `ring`."""
        usual = timedelta(seconds=self._interval)
        pause = usual if most is None else max(_SHORTEST, min(most, usual))
        self._scheduler.add_job(
            self._ring,
            "date",
            run_date=datetime.now(UTC) + pause,
            id="tick",
            replace_existing=True,
            misfire_grace_time=None,
        )
        try:
            async with asyncio.timeout(pause.total_seconds() + self._interval * (LONGEST_WAIT - 1)):
                await self._rung.wait()
        except TimeoutError:
            pass
        self._rung.clear()

    async def _ring(self) -> None:
        self._rung.set()


@asynccontextmanager
async def open_schedule_clock(interval: float) -> AsyncIterator[ScheduleClock]:
    """A clock that runs inside the block."""
    from apscheduler.schedulers.asyncio import AsyncIOScheduler  # noqa: PLC0415  0.1 s that only a gateway needs

    logging.getLogger("apscheduler").setLevel(logging.CRITICAL)  # its one job cannot fail, only be cut off at the end
    scheduler = AsyncIOScheduler(timezone=UTC)
    scheduler.start()
    try:
        yield ScheduleClock(scheduler, interval)
    finally:
        scheduler.shutdown(wait=False)


class WaitQueue:
    """Until when each job waits. A job is due for a look from `meet` on, until `put` makes it wait; asking costs only
    what is over."""

    def __init__(self) -> None:
        self._until: dict[str, datetime | None] = {}
        self._over: set[str] = set()
        self._heap: list[tuple[datetime, str]] = []
        """Every wait that has an end, and some that hold no longer."""

    def __getitem__(self, id: str) -> datetime | None:
        """When the job's wait ends; None: it is due for a look, or waits for ever."""
        return self._until.get(id)

    def meet(self, id: str) -> None:
        """A job is new or has changed: it is due for a look."""
        self._until.pop(id, None)
        self._over.add(id)

    def put(self, id: str, until: datetime | None) -> None:
        """Makes a job wait; None: for ever."""
        self._over.discard(id)
        self._until[id] = until
        if until is not None:
            heapq.heappush(self._heap, (until, id))
        if len(self._heap) > 2 * len(self._until) + 64:
            self._build()

    def drop(self, ids: Iterable[str]) -> None:
        """Removes jobs."""
        for id in ids:
            self._until.pop(id, None)
            self._over.discard(id)

    def end(self) -> None:
        """Ends all waits."""
        self._over.update(self._until)
        self._until.clear()
        self._heap.clear()

    def over(self, now: datetime) -> Sequence[str]:
        """The jobs that are due for a look now, in no order."""
        while self._heap and self._heap[0][0] <= now:
            until, id = heapq.heappop(self._heap)
            if self._until.get(id) == until:
                self.meet(id)
        return tuple(self._over)

    def next(self) -> datetime | None:
        """When the first wait ends."""
        while self._heap and self._until.get(self._heap[0][1]) != self._heap[0][0]:
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def _build(self) -> None:
        self._heap = [(until, id) for id, until in self._until.items() if until is not None]
        heapq.heapify(self._heap)
