"""The connections of a channel run where they are claimed, each listed meanwhile."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence

import pytest

from agent.formats.sqlite import StorageUnavailable
from channels.message import Event, Health, Receive, SourceFailed
from gateway.source_parts import SourceParts
from gateway.store.claims import SOLE, SoleProcess
from gateway.store.connection import Connection
from gateway.store.database import Database
from gateway.supervisor import SupervisedSource


class Part:
    def __init__(self, number: int, failure: SourceFailed | None = None) -> None:
        self.name = f"discord:shard:{number}/2"
        self.up, self.over = asyncio.Event(), asyncio.Event()
        self._failure = failure

    async def run(self, receive: Receive) -> None:
        self.up.set()
        try:
            if self._failure is not None:
                raise self._failure
            await asyncio.Event().wait()
        finally:
            self.over.set()


async def receive(events: Sequence[Event]) -> None:
    raise AssertionError(f"nothing is offered here: {events}")


class Claimed(SoleProcess):
    """Beside other gateways, which leave it what `ours` names."""

    is_shared = True

    def __init__(self) -> None:
        self.ours: set[str] = set()
        self.is_broken = False
        self.released: list[str] = []
        self.slots: list[str] = []
        self.waits: list[float] = []

    def claim_part(self, connection: Connection, name: str, parts: int) -> bool:
        if self.is_broken:
            raise StorageUnavailable("the disk of PostgreSQL is full")
        return name in self.ours

    def take_slot(self, connection: Connection, key: str, seconds: float) -> float:
        if self.is_broken:
            raise StorageUnavailable("the disk of PostgreSQL is full")
        self.slots.append(f"asked for {key}")
        return self.waits.pop(0) if self.waits else 0.0

    def leave_slot(self, connection: Connection, key: str, seconds: float) -> None:
        self.slots.append(f"left {key}")

    def release_part(self, connection: Connection, name: str) -> None:
        self.released.append(name)


async def test_a_part_is_listed_as_long_as_its_channel_runs_also_when_it_is_off(database: Database) -> None:
    listed: list[SupervisedSource] = []
    parts = SourceParts(listed, database, SOLE)
    dead, live = Part(0, SourceFailed("the token is wrong", fatal=True)), Part(1)
    tasks = [asyncio.create_task(parts.run(part, receive)) for part in (dead, live)]
    await live.up.wait()
    assert [source.status.state for source in listed] == [Health.DOWN, Health.OK]
    assert not tasks[0].done() and all(source.is_part for source in listed)
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    assert listed == []


async def test_a_part_runs_while_it_is_ours_and_is_given_back(database: Database) -> None:
    listed: list[SupervisedSource] = []
    claims, first, second = Claimed(), Part(0), Part(1)
    claims.ours = {first.name}
    parts = SourceParts(listed, database, claims)
    tasks = [asyncio.create_task(parts.run(part, receive)) for part in (first, second)]
    await first.up.wait()
    assert [supervised.source for supervised in listed] == [first] and not second.up.is_set()
    claims.ours = {second.name}
    await first.over.wait()
    await second.up.wait()
    assert [supervised.source for supervised in listed] == [second]
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    assert listed == [] and sorted(claims.released) == [first.name, second.name]


@pytest.mark.parametrize("runs", [True, False])
async def test_a_database_that_fails_for_a_moment_changes_nothing(
    database: Database, caplog: pytest.LogCaptureFixture, runs: bool
) -> None:
    claims, part = Claimed(), Part(0)
    claims.ours, claims.is_broken = {part.name}, not runs
    task = asyncio.create_task(SourceParts([], database, claims).run(part, receive))
    if runs:
        await part.up.wait()
        claims.is_broken = True
    async with asyncio.timeout(60):
        while "whether discord:shard:0/2 runs here is not known: the disk" not in caplog.text:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    assert part.up.is_set() is runs and not part.over.is_set()
    claims.is_broken = False
    await part.up.wait()
    assert not part.over.is_set()
    task.cancel()
    await asyncio.wait([task])


async def test_a_slot_is_asked_for_until_it_is_free_also_while_the_database_fails(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    claims, begun = Claimed(), asyncio.Event()
    claims.is_broken, claims.waits = True, [0.01]

    async def begin() -> None:
        async with SourceParts([], database, claims).slot("login", 5.0):
            begun.set()

    task = asyncio.create_task(begin())
    async with asyncio.timeout(60):
        while "whether another gateway connects is not known: the disk" not in caplog.text:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    assert not begun.is_set()
    claims.is_broken = False
    await task
    assert begun.is_set() and claims.slots == ["asked for login", "asked for login", "left login"]


async def test_a_slot_that_was_taken_while_its_connection_was_stopped_is_left(database: Database) -> None:
    asked, gate = threading.Event(), threading.Event()

    class Slow(Claimed):
        def take_slot(self, connection: Connection, key: str, seconds: float) -> float:
            asked.set()
            assert gate.wait(60)
            return super().take_slot(connection, key, seconds)

    claims = Slow()

    async def begin() -> None:
        async with SourceParts([], database, claims).slot("login", 5.0):
            raise AssertionError("it was stopped before")

    task = asyncio.create_task(begin())
    assert await asyncio.to_thread(asked.wait, 60)
    task.cancel()
    gate.set()
    await asyncio.wait([task])
    assert task.cancelled() and claims.slots == ["asked for login", "left login"]
