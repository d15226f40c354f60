"""One at a time for a key, whoever comes and goes meanwhile."""

from __future__ import annotations

import asyncio

import pytest

from gateway.messages.lanes import KeyedLocks


async def soon() -> None:
    """Let every task that can go on do so."""
    for _ in range(10):
        await asyncio.sleep(0)


class Room:
    """Where tasks are with one key, until they are told to leave."""

    def __init__(self) -> None:
        self.locks: KeyedLocks[str] = KeyedLocks()
        self.inside: list[str] = []

    def enter(self, name: str, leave: asyncio.Event, key: str = "room") -> asyncio.Task[None]:
        async def stay() -> None:
            async with self.locks.alone(key):
                self.inside.append(name)
                await leave.wait()
                self.inside.remove(name)

        return asyncio.create_task(stay())


async def test_who_comes_when_one_has_left_waits_for_the_next_in_line() -> None:
    room, leave = Room(), {name: asyncio.Event() for name in "abc"}
    tasks = [room.enter("a", leave["a"]), room.enter("b", leave["b"])]
    await soon()
    leave["a"].set()
    await soon()
    tasks.append(room.enter("c", leave["c"]))
    await soon()
    assert room.inside == ["b"]
    leave["b"].set()
    await soon()
    assert room.inside == ["c"]
    leave["c"].set()
    await asyncio.gather(*tasks)
    assert "room" not in room.locks


async def test_other_keys_are_not_waited_for() -> None:
    room, leave = Room(), asyncio.Event()
    tasks = [room.enter(name, leave, key=name) for name in "ab"]
    await soon()
    assert room.inside == ["a", "b"]
    leave.set()
    await asyncio.gather(*tasks)


async def test_who_gives_up_waiting_leaves_nothing_behind() -> None:
    room, leave = Room(), asyncio.Event()
    first, second = room.enter("a", leave), room.enter("b", leave)
    await soon()
    second.cancel()
    await soon()
    assert "room" in room.locks
    leave.set()
    await first
    assert "room" not in room.locks


async def test_what_breaks_inside_frees_the_key() -> None:
    locks: KeyedLocks[str] = KeyedLocks()
    with pytest.raises(RuntimeError):
        async with locks.alone("room"):
            raise RuntimeError
    assert "room" not in locks
