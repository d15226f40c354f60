"""Wakes the schedule: at the next due time, and every few seconds to look whether something has changed.

APScheduler is the clock only: one job, in memory. It reckons by the wall clock, so a clock that is put back would make
it sleep for as long; and timers stand still while a laptop is suspended. Neither lasts longer than one interval here.
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

LONGEST_WAIT = 1.5
"""So many intervals after which we go on though the clock did not ring."""
_SHORTEST = timedelta(milliseconds=1)


class Clockwork:
    """Made by `clockwork`. `interval`: seconds."""

    def __init__(self, scheduler: AsyncIOScheduler, interval: float) -> None:
        self._scheduler = scheduler
        self._interval = interval
        self._rung = asyncio.Event()

    def ring(self) -> None:
        """End the present or the next wait at once."""
        self._rung.set()

    async def wait(self, most: timedelta | None) -> None:
        """Until `most` from now has passed, but for no longer than an interval, or until it rings."""
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
async def clockwork(interval: float) -> AsyncIterator[Clockwork]:
    """A clockwork that runs inside the block."""
    from apscheduler.schedulers.asyncio import AsyncIOScheduler  # noqa: PLC0415  0.1 s that only a gateway needs

    logging.getLogger("apscheduler").setLevel(logging.CRITICAL)  # its one job cannot fail, only be cut off at the end
    scheduler = AsyncIOScheduler(timezone=UTC)
    scheduler.start()
    try:
        yield Clockwork(scheduler, interval)
    finally:
        scheduler.shutdown(wait=False)
