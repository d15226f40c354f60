"""Deferred work says where it goes on, so that another process keeps away."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path

from agent.compaction.deferred import DeferredStore, DeferredTask, DeferredWork, RetryLater
from agent.compaction.flush_state import ContextLossReason
from agent.memory.scope import Audience, Scope


async def until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not is_so():  # noqa: ASYNC110
            await asyncio.sleep(0)


async def test_what_was_put_off_and_is_tried_again_is_at_work(tmp_path: Path) -> None:
    has_model, begun, goes_on = False, asyncio.Event(), asyncio.Event()

    async def do(_: DeferredTask) -> None:
        if not has_model:
            raise RetryLater("no model")
        begun.set()
        await goes_on.wait()

    work = DeferredWork(DeferredStore(tmp_path / "sessions", tmp_path), do)
    running = asyncio.create_task(work.run())
    bob = Scope(Audience.PERSON, tmp_path, "bob")
    await work.defer(DeferredTask("person/bob", "s", bob, ContextLossReason.NEW, "e1"))
    assert work.active_paths == {"person/bob"}
    await until(lambda: not work.active_paths)
    assert work.paths == {"person/bob"}, "put off, and not forgotten"
    has_model = True
    work.again()
    assert work.active_paths == {"person/bob"}
    await begun.wait()
    assert work.active_paths == {"person/bob"}
    goes_on.set()
    await work.idle()
    assert not work.paths
    running.cancel()
    await asyncio.wait({running})


async def test_what_is_deferred_while_the_disk_is_read_is_done_once(tmp_path: Path) -> None:
    done: list[DeferredTask] = []

    async def do(task: DeferredTask) -> None:
        done.append(task)

    class ReadLast(DeferredStore):
        """What is noted is on disk before it is read, and both have ended before either is told."""

        noted, both = threading.Event(), threading.Event()

        def note(self, task: DeferredTask) -> None:
            super().note(task)
            self.noted.set()
            assert self.both.wait(60)

        def all(self) -> list[DeferredTask]:
            assert self.noted.wait(60)
            return super().all()

    store = ReadLast(tmp_path / "sessions", tmp_path)
    work = DeferredWork(store, do)
    task = DeferredTask("person/bob", "s", Scope(Audience.PERSON, tmp_path, "bob"), ContextLossReason.NEW, "e1")
    running = asyncio.create_task(work.run())
    deferring = asyncio.create_task(work.defer(task))
    await work.idle()
    store.both.set()
    await deferring
    await work.idle()
    assert done == [task]
    running.cancel()
    await asyncio.wait({running})
