"""A date job for each job that waits, though the clock leaps and timers stand still."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

from agent.clock import Clock
from gateway.scheduling.timers import JobTimers
from gateway.server import Timeouts
from tests.gateway.conftest import BERLIN, Moment

REAL = Clock(BERLIN)
HOUR = timedelta(hours=1)


def dates(timers: JobTimers) -> list[str]:
    assert timers.scheduler is not None
    return [job.id for job in timers.scheduler.get_jobs()]


async def test_a_job_is_planned_when_its_time_comes_and_has_one_date_until_then() -> None:
    timers = JobTimers(REAL)
    timers.plan_again(["tea", "milk", "never"])
    async with asyncio.timeout(120), timers.running():
        soon = REAL.instant() + HOUR
        await timers.wait({"tea": soon + HOUR, "milk": soon + HOUR, "never": None})
        await timers.wait({"tea": soon})
        assert dates(timers) == ["tea", "milk"] and timers.due() == frozenset()
        assert timers.until("tea") == timers.next() == soon and timers.until("never") is None
        due = REAL.instant() + timedelta(milliseconds=50)
        await timers.wait({"tea": due})
        await timers.sleep(3600)
        assert REAL.instant() >= due and timers.due() == {"tea"}
        assert dates(timers) == ["milk"] and timers.until("tea") is None


async def test_a_clock_that_leaps_hides_nothing_from_the_next_look(moment: Moment) -> None:
    """As it does while a laptop sleeps; the library's own timer stands still."""
    timers = JobTimers(moment.clock)
    async with timers.running():
        await timers.wait({"tea": moment.now + 8 * HOUR, "milk": moment.now + 9 * HOUR})
        assert timers.scheduler is not None
        timers.scheduler.pause()
        moment.pass_(8 * HOUR)
        assert timers.due() == {"tea"}
        moment.pass_(-4 * HOUR)
        timers.plan_again(["tea", "milk"])
        assert timers.due() == {"tea", "milk"} and dates(timers) == []


def test_a_suspended_laptop_is_noticed_within_a_minute() -> None:
    assert Timeouts().tick < 60


async def test_a_wake_ends_a_sleep_and_one_that_has_not_begun() -> None:
    timers = JobTimers(REAL)
    async with asyncio.timeout(120), timers.running():
        timers.wake()
        await timers.sleep(3600)
        sleeping = asyncio.create_task(timers.sleep(3600))
        await asyncio.sleep(0)
        timers.wake()
        await sleeping
        await timers.sleep(-1)


async def test_the_farthest_due_time_is_one_like_others() -> None:
    timers = JobTimers(REAL)
    far = datetime(9999, 12, 31, 23, tzinfo=UTC)
    async with asyncio.timeout(120), timers.running():
        await timers.wait({"far": far})
        await timers.sleep(0.01)
        assert timers.due() == frozenset() and dates(timers) == ["far"] and timers.next() == far


async def test_hundreds_at_one_moment_need_no_task_each() -> None:
    timers = JobTimers(REAL)
    ids = {f"j{number}" for number in range(500)}
    async with asyncio.timeout(120), timers.running():
        await timers.wait(dict.fromkeys(ids, REAL.instant()))
        while timers.next() is not None:
            await timers.sleep(3600)
            assert asyncio.all_tasks() == {asyncio.current_task()}
        assert timers.due() == ids
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_what_comes_early_by_our_clock_ends_no_sleep(moment: Moment) -> None:
    """Ours stands still here and the computer's goes on: planned again and again, it would leave no time for others."""
    timers = JobTimers(moment.clock)
    async with asyncio.timeout(120), timers.running():
        await timers.wait({"tea": moment.now + timedelta(milliseconds=1)})
        loop = asyncio.get_running_loop()
        begin = loop.time()
        await timers.sleep(0.2)
        assert loop.time() - begin >= 0.19 and timers.due() == {"tea"}


async def test_without_a_scheduler_all_is_planned_each_time(moment: Moment) -> None:
    timers = JobTimers(moment.clock)
    timers.plan_again(["tea"])
    await timers.wait({"tea": moment.now + HOUR})
    assert timers.due() == {"tea"} and timers.until("tea") is None
    timers.remove(["tea"])
    assert timers.due() == frozenset()
