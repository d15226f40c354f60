"""Order within a lane, independence between lanes, and nothing stranded between two servings."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.messages.lanes import Lane, Lanes
from tests.gateway.conftest import Gate

Serve = Callable[[Lane[str, int]], Awaitable[None]]


@asynccontextmanager
async def running(lanes: Lanes[str, int]) -> AsyncIterator[None]:
    task = asyncio.create_task(lanes.run())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait({task})


async def test_a_lane_is_served_in_order() -> None:
    served: list[int] = []

    async def serve(lane: Lane[str, int]) -> None:
        await asyncio.sleep(0)
        served.append(lane.take())

    lanes = Lanes[str, int](serve)
    async with running(lanes):
        for number in range(50):
            lanes.post("a", number)
        await asyncio.sleep(0)
        await lanes.idle()
    assert served == list(range(50))
    assert lanes.busy == 0


async def test_lanes_do_not_wait_for_one_another() -> None:
    gate, served = Gate(), asyncio.Event()

    async def serve(lane: Lane[str, int]) -> None:
        lane.take()
        if lane.key == "slow":
            await gate()
        else:
            served.set()

    lanes = Lanes[str, int](serve)
    async with running(lanes):
        lanes.post("slow", 1)
        await gate.reached.wait()
        lanes.post("quick", 1)
        await served.wait()
        assert not gate.opened.is_set()


async def test_one_serving_at_a_time_per_lane() -> None:
    inside = most = 0

    async def serve(lane: Lane[str, int]) -> None:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        await asyncio.sleep(0)
        lane.take()
        inside -= 1

    lanes = Lanes[str, int](serve)
    async with running(lanes):
        for number in range(20):
            lanes.post("a", number)
            await asyncio.sleep(0)
        await lanes.idle()
    assert most == 1


@given(pauses=st.lists(st.integers(0, 4), min_size=1, max_size=30), work=st.integers(0, 3))
async def test_invariant_14_nothing_is_stranded_between_two_servings(pauses: list[int], work: int) -> None:
    """Items posted at every possible moment relative to the end of a serving are all served."""
    served: list[int] = []

    async def serve(lane: Lane[str, int]) -> None:
        served.append(lane.take())
        for _ in range(work):
            await asyncio.sleep(0)

    lanes = Lanes[str, int](serve)
    async with running(lanes):
        for number, pause in enumerate(pauses):
            lanes.post("a", number)
            for _ in range(pause):
                await asyncio.sleep(0)
        await asyncio.sleep(0)
        await lanes.idle()
    assert served == list(range(len(pauses)))


async def test_what_was_posted_before_the_start_is_served() -> None:
    served = asyncio.Event()

    async def serve(lane: Lane[str, int]) -> None:
        lane.take()
        served.set()

    lanes = Lanes[str, int](serve)
    lanes.post("a", 1)
    async with running(lanes):
        await served.wait()


async def test_a_bug_loses_one_item_and_no_lane(caplog: pytest.LogCaptureFixture) -> None:
    served: list[int] = []

    async def serve(lane: Lane[str, int]) -> None:
        if next(iter(lane)) == 1:
            raise ZeroDivisionError("a bug")
        served.append(lane.take())

    lanes = Lanes[str, int](serve)
    async with running(lanes):
        for number in range(3):
            lanes.post("a", number)
        await asyncio.sleep(0)
        await lanes.idle()
    assert served == [0, 2]
    assert "a bug" in caplog.text


async def test_a_held_house_starts_nothing_and_finishes_what_runs() -> None:
    gate = Gate()
    served: list[int] = []

    async def serve(lane: Lane[str, int]) -> None:
        number = lane.take()
        await gate()
        served.append(number)

    lanes = Lanes[str, int](serve)
    async with running(lanes):
        lanes.post("a", 1)
        lanes.post("a", 2)
        await gate.reached.wait()
        lanes.hold()
        lanes.post("b", 3)
        gate.opened.set()
        await lanes.idle()
        assert served == [1]
        assert lanes.waiting == 2


async def test_what_is_put_back_comes_first_in_its_order() -> None:
    lane = Lane[str, int]("a")
    for number in range(4):
        lane.post(number)
    taken = lane.take_where(lambda number: number < 2)
    assert list(lane) == [2, 3]
    lane.put_back(taken)
    assert list(lane) == [0, 1, 2, 3]


async def test_what_is_put_back_from_outside_is_served() -> None:
    served = asyncio.Event()

    async def serve(lane: Lane[str, int]) -> None:
        lane.take()
        served.set()

    lanes = Lanes[str, int](serve)
    async with running(lanes):
        await asyncio.sleep(0)
        lanes.put_back("a", [1])
        await served.wait()


def test_taking_some_leaves_the_others_in_order() -> None:
    lane = Lane[str, int]("a")
    for number in range(10):
        lane.post(number)
    assert lane.take_where(lambda number: number % 2 == 0, most=3) == [0, 2, 4]
    assert list(lane) == [1, 3, 5, 6, 7, 8, 9]
