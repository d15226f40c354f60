"""Deferred work says where it goes on, so that another process keeps away."""

from __future__ import annotations

import asyncio
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
