"""Keeps the search index up to date."""

from __future__ import annotations

import asyncio
import logging
import time

from agent.clock import Clock
from agent.formats.sqlite import StorageUnavailable
from agent.memory.scope import Scope
from agent.search.engine import MemoryIndex
from agent.search.vectors.encoder import NoEmbedding
from agent.search.vectors.protocol import CHANGED_SIZE

_log = logging.getLogger(__name__)

_EMBED_FOR = 0.5
_TRIED_FOR = 10.0
_AGAIN = 2.0
"""Seconds between two looks for unindexed and unembedded texts."""


async def keep_indexed(index: MemoryIndex, scope: Scope, clock: Clock) -> None:
    """Index and embed in the background until cancelled."""
    await _catch_up(index, scope, clock)
    if index.embeds and await asyncio.to_thread(index.embedder_problem, scope, _TRIED_FOR) == CHANGED_SIZE:
        _log.warning("memory is searched by words only: %s", CHANGED_SIZE)  # the embedder logs other problems
    while True:
        for other in index.behind():
            await _catch_up(index, other, clock)
        pause = 0.0 if index.embeds and await _embed(index) else _AGAIN
        await asyncio.sleep(pause)


async def _catch_up(index: MemoryIndex, scope: Scope, clock: Clock) -> None:
    """Index in small steps, so that it can be cancelled."""
    stale = 1
    while stale:
        stale = (await asyncio.to_thread(index.refresh, scope, clock, time.monotonic() + 1)).stale


async def _embed(index: MemoryIndex) -> bool:
    """True if more may be left."""
    try:
        return await asyncio.to_thread(index.embed, _EMBED_FOR)
    except (NoEmbedding, StorageUnavailable) as problem:
        _log.info("embedding failed for now: %s", problem)
        return False
