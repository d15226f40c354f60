"""The search index, kept up to date behind the answers."""

from __future__ import annotations

import asyncio
import logging
import time

from agent.clock import Clock
from agent.memory.embedding.encoder import NoEmbedding
from agent.memory.index.database import NotStored
from agent.memory.index.engine import MemoryIndex
from agent.memory.scope import Scope

_log = logging.getLogger(__name__)

_EMBED_FOR = 0.5
_EMBED_AGAIN = 2.0
"""Seconds between two looks for texts that are not embedded."""


async def keep_indexed(index: MemoryIndex, scope: Scope, clock: Clock, *, embeds: bool) -> None:
    """Index what changed in a scope while nobody was here, in small steps, so that it can be cancelled; then, where the
    index `embeds`, embed what searches find changed, until cancelled."""
    stale = 1
    while stale:
        stale = (await asyncio.to_thread(index.refresh, scope, clock, time.monotonic() + 1)).stale
    while embeds:
        pause = 0.0 if await _embed(index) else _EMBED_AGAIN
        await asyncio.sleep(pause)


async def _embed(index: MemoryIndex) -> bool:
    """Some of what is not yet; whether there may be more."""
    try:
        return await asyncio.to_thread(index.embed, _EMBED_FOR)
    except (NoEmbedding, NotStored) as problem:
        _log.info("nothing is embedded now: %s", problem)
        return False
