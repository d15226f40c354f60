"""What wakes the schedule, though the clock leaps and timers stand still."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from gateway.scheduling.clock import LONGEST_WAIT, open_schedule_clock
from gateway.server import Timeouts

TICK = 0.02


async def test_however_far_the_next_due_time_it_looks_again_soon() -> None:
    """So a clock that leaps over a due time, as it does while a laptop sleeps, hides nothing for longer than a look."""
    async with open_schedule_clock(TICK) as bell, asyncio.timeout(120):
        for most in (timedelta(hours=8), None, timedelta(days=-1)):
            await bell.wait(most)


def test_a_suspended_laptop_is_noticed_within_a_minute() -> None:
    assert Timeouts().tick * LONGEST_WAIT < 60


async def test_what_rings_ends_a_wait_and_one_that_has_not_begun() -> None:
    async with open_schedule_clock(3600) as bell, asyncio.timeout(120):
        bell.ring()
        await bell.wait(None)
        waiting = asyncio.create_task(bell.wait(None))
        await asyncio.sleep(0)
        bell.ring()
        await waiting


async def test_it_goes_on_when_the_library_s_clock_does_not_ring() -> None:
    """It reckons by the wall clock, which may be put back for hours while we wait."""
    async with open_schedule_clock(TICK) as bell, asyncio.timeout(120):
        bell._scheduler.pause()
        await bell.wait(None)
