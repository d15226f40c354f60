"""What a channel does beside its main path: how it waits, and how it is ended."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager

log = logging.getLogger(__name__)

Pause = Callable[[float], Awaitable[None]]
"""Waits so many seconds."""


async def end(task: asyncio.Task[None], redacted: Callable[[BaseException], str]) -> None:
    """Cancel a task of ours and wait for it. What went wrong in it is told by its name, in the words of `redacted`."""
    task.cancel()
    await asyncio.wait([task])
    if not task.cancelled() and (error := task.exception()) is not None:
        log.error("%s failed: %s", task.get_name(), redacted(error))


@asynccontextmanager
async def beside(
    work: Coroutine[object, object, None], name: str, redacted: Callable[[BaseException], str]
) -> AsyncIterator[None]:
    """Work that goes on inside and is cut off behind it. What went wrong in it is told as `end` tells it."""
    task = asyncio.create_task(work, name=name)
    try:
        yield
    finally:
        await end(task, redacted)
