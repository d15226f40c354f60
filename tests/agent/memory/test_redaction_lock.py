"""No reading outlives a forgetting, and nothing is written in the midst of one."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agent.memory.redaction_lock import ReadEpoch, RedactionLock, StaleRead
from agent.model.base import ModelError
from tests.agent.places import owner, person


async def test_what_was_read_before_is_not_written_after(tmp_path: Path) -> None:
    redaction_lock = RedactionLock()
    mine, theirs = (redaction_lock.reading(scope) for scope in (owner(tmp_path), person(tmp_path)))
    async with redaction_lock.forgetting(owner(tmp_path)):
        halfway = redaction_lock.reading(owner(tmp_path))
        assert mine.is_current()  # nobody was told yet that it is forgotten
    for reading in (mine, halfway):
        assert not reading.is_current()
        with pytest.raises(StaleRead):
            async with reading.writing():
                raise AssertionError("written")
    async with theirs.writing(), redaction_lock.reading(owner(tmp_path)).writing():
        pass


async def test_a_forgetting_that_failed_halfway_counts(tmp_path: Path) -> None:
    redaction_lock = RedactionLock()
    reading = redaction_lock.reading(owner(tmp_path))
    with pytest.raises(OSError, match="full"):
        async with redaction_lock.forgetting(owner(tmp_path)):
            raise OSError("full")
    assert not reading.is_current()


async def test_a_forgetting_waits_for_a_write_that_nobody_waits_for_any_more(tmp_path: Path) -> None:
    redaction_lock, order = RedactionLock(), list[str]()
    begun, may_end = asyncio.Event(), asyncio.Event()

    async def write() -> None:
        begun.set()
        await may_end.wait()
        order.append("written")

    async def forget() -> None:
        async with redaction_lock.forgetting(owner(tmp_path)):
            order.append("forgotten")

    waiting = asyncio.create_task(redaction_lock.write(owner(tmp_path), write))
    await begun.wait()
    waiting.cancel()
    async with redaction_lock.reading(owner(tmp_path)).writing():
        order.append("a message came")
    async with asyncio.TaskGroup() as group:
        group.create_task(forget())
        for _ in range(5):
            await asyncio.sleep(0)
        order.append("it may end")
        may_end.set()
    assert waiting.cancelled() and order == ["a message came", "it may end", "written", "forgotten"]


async def test_a_forgetting_waits_for_what_is_being_written_and_what_comes_then_waits_for_it(tmp_path: Path) -> None:
    redaction_lock = RedactionLock()
    order: list[str] = []

    async def forget() -> None:
        async with redaction_lock.forgetting(owner(tmp_path)):
            order.append("forgotten")

    async def write(reading: ReadEpoch) -> None:
        try:
            async with reading.writing():
                order.append("written")
        except StaleRead:
            order.append("refused")

    async with asyncio.TaskGroup() as group, redaction_lock.reading(owner(tmp_path)).writing():
        group.create_task(forget())
        group.create_task(write(redaction_lock.reading(owner(tmp_path))))
        for _ in range(5):
            await asyncio.sleep(0)
        order.append("the first is written")
    assert order == ["the first is written", "forgotten", "refused"]


@pytest.mark.parametrize("outcome", ["made", "failed"])
async def test_it_is_made_anew_until_nothing_was_forgotten_meanwhile(tmp_path: Path, outcome: str) -> None:
    redaction_lock = RedactionLock()
    tries = 0

    async def make(reading: ReadEpoch) -> str:
        nonlocal tries
        tries += 1
        if tries < 3:
            async with redaction_lock.forgetting(owner(tmp_path)):
                pass
            if outcome == "failed":
                raise ModelError("not sent")
        return f"try {tries}"

    assert await redaction_lock.until_current(owner(tmp_path), make) == "try 3"


async def test_what_fails_of_itself_fails(tmp_path: Path) -> None:
    async def make(reading: ReadEpoch) -> str:
        raise ModelError("overloaded")

    with pytest.raises(ModelError, match="overloaded"):
        await RedactionLock().until_current(owner(tmp_path), make)
