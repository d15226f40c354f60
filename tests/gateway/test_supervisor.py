"""A source that dies is reported and started again; the others live."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence

import pytest

from channels.message import Event, Health, Receive, SourceFailed
from channels.scripted import ScriptedChannel
from gateway.supervisor import SupervisedSource
from tests.gateway.conftest import Daybook, Gate, Sleeps

Run = Callable[[Receive], Coroutine[None, None, None]]


class Source:
    """Runs through its script, one step per start; after the last it stays up."""

    def __init__(self, *script: Exception | None) -> None:
        self.starts = 0
        self.up = asyncio.Event()
        self._script = list(script)

    @property
    def name(self) -> str:
        return "telegram"

    async def run(self, receive: Receive) -> None:
        self.starts += 1
        if not self._script:
            self.up.set()
            await asyncio.get_running_loop().create_future()
        if (error := self._script.pop(0)) is not None:
            raise error


async def receive(events: Sequence[Event]) -> None:
    raise AssertionError(f"nothing is offered here: {events}")


async def cancelled(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.wait({task})


@pytest.mark.parametrize("death", [SourceFailed("connection lost"), ZeroDivisionError("a bug"), None])
async def test_invariant_13_a_source_that_dies_is_started_again(death: Exception | None) -> None:
    source, sleeps = Source(death, death), Sleeps()
    supervised = SupervisedSource(source, sleeps)
    task = asyncio.create_task(supervised.run(receive))
    await source.up.wait()
    assert source.starts == 3
    assert len(sleeps.asked) == 2
    assert supervised.status.state is Health.OK
    await cancelled(task)


async def test_invariant_13_the_others_live() -> None:
    dying, living, gate = Source(SourceFailed("connection lost")), Source(), Gate()
    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(SupervisedSource(dying, gate).run(receive)),
            group.create_task(SupervisedSource(living).run(receive)),
        ]
        await living.up.wait()
        await gate.reached.wait()
        assert not tasks[1].done()
        for task in tasks:
            task.cancel()


async def test_while_it_is_down_status_says_why() -> None:
    source, gate = Source(ZeroDivisionError("a bug")), Gate()
    supervised = SupervisedSource(source, gate)
    task = asyncio.create_task(supervised.run(receive))
    await gate.reached.wait()
    status = supervised.status
    assert status.state is Health.DOWN
    assert status.last_error == "ZeroDivisionError: a bug"
    gate.opened.set()
    await source.up.wait()
    assert supervised.status.state is Health.OK
    await cancelled(task)


async def test_a_fatal_failure_stays_and_nothing_is_tried_again() -> None:
    source, sleeps = Source(SourceFailed("the token is wrong", fatal=True)), Sleeps()
    supervised = SupervisedSource(source, sleeps)
    await supervised.run(receive)
    assert source.starts == 1
    assert sleeps.asked == []
    assert supervised.status.last_error == "the token is wrong"


async def test_the_waits_grow_and_end_at_a_minute() -> None:
    source, sleeps = Source(*[SourceFailed("no network")] * 10), Sleeps()
    task = asyncio.create_task(SupervisedSource(source, sleeps).run(receive))
    await source.up.wait()
    assert 0.5 <= sleeps.asked[0] <= 1.0
    assert sleeps.asked[3] > sleeps.asked[1] > sleeps.asked[0]
    assert max(sleeps.asked) <= 60.0
    assert min(sleeps.asked[7:]) >= 30.0
    await cancelled(task)


class _Dead(ScriptedChannel):
    async def run(self, receive: Receive) -> None:
        raise SourceFailed("the token is wrong", fatal=True)


async def test_invariant_13_a_channel_that_is_off_leaves_the_others_to_talk(daybook: Daybook) -> None:
    daybook.others = (_Dead("discord"),)
    daybook.model.then("Hello.")
    async with daybook.running() as gateway:
        daybook.chat.say("Hi")
        assert await daybook.chat.wait_heard() == ["Hello."]
        assert await gateway.status("channels", "discord") == {"state": "down", "last_error": "the token is wrong"}
        assert await gateway.status("channels", "telegram", "state") == "ok"


async def test_invariant_13_everything_is_closed_in_the_end(daybook: Daybook) -> None:
    before = asyncio.all_tasks()
    daybook.model.then("Hello.")
    async with daybook.running():
        daybook.chat.say("Hi")
        await daybook.chat.wait_heard()
    assert asyncio.all_tasks() == before
    assert daybook.model.closed
    assert daybook.chat.status.state is Health.OFF
