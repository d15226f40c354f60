"""Ending what was begun beside the main path."""

from __future__ import annotations

import asyncio
import logging

from channels.telegram.errors import redacted

log = logging.getLogger(__name__)


async def end(task: asyncio.Task[None]) -> None:
    """Cancel a task of ours and wait for it; what went wrong in it is told."""
    task.cancel()
    await asyncio.wait([task])
    if not task.cancelled() and (error := task.exception()) is not None:
        log.error("a task of Telegram's channel failed: %s", redacted(error))
