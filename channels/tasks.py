"""Background tasks of a channel."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager

log = logging.getLogger(__name__)

Pause = Callable[[float], Awaitable[None]]
"""Waits for a number of seconds."""


def backoff(tries: int, first: float, longest: float) -> float:
    """Seconds to wait after failed tries: doubled each time, and spread so that callers do not come at once."""
    most = min(longest, first * 2 ** min(tries - 1, 10))
    return random.uniform(most / 2, most)


async def end(task: asyncio.Task[None], redacted: Callable[[BaseException], str]) -> None:
    """Cancels a task and waits. Its error is logged, formatted by `redacted`."""
    task.cancel()
    await asyncio.wait([task])
    if not task.cancelled() and (error := task.exception()) is not None:
        log.error("%s failed: %s", task.get_name(), redacted(error))


@asynccontextmanager
async def in_background(
    work: Coroutine[object, object, None], name: str, redacted: Callable[[BaseException], str]
) -> AsyncIterator[None]:
    """Runs `work` while inside. Its error is logged like in `end`."""
    task = asyncio.create_task(work, name=name)
    try:
        yield
    finally:
        await end(task, redacted)
