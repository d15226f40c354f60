"""A stream of a model, closed on every way out: that is what ends the call."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, AsyncIterator

from agent.model.base import ModelEvent


@contextlib.asynccontextmanager
async def closing(stream: AsyncIterator[ModelEvent]) -> AsyncIterator[AsyncIterator[ModelEvent]]:
    """Close `stream` on leaving, whatever was the reason. An iterator that cannot be closed is left as it is."""
    try:
        yield stream
    finally:
        if isinstance(stream, AsyncGenerator):
            await stream.aclose()
