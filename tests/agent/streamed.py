"""A turn's events one by one, for tests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from agent.agent import Agent
from agent.values import TurnEvent, TurnRequest, TurnResult


async def streamed(agent: Agent, request: TurnRequest) -> AsyncGenerator[TurnEvent | TurnResult, None]:
    """A turn's events and then its result. The turn waits for its reader, and is cancelled when the reader ends."""
    events: asyncio.Queue[TurnEvent | None] = asyncio.Queue()

    async def emit(event: TurnEvent) -> None:
        events.put_nowait(event)
        await events.join()

    turn = asyncio.create_task(agent.turn(request, emit))
    turn.add_done_callback(lambda _: events.put_nowait(None))
    try:
        while (event := await events.get()) is not None:
            yield event
            events.task_done()
        yield turn.result()
    finally:
        turn.cancel()
        await asyncio.wait([turn])


async def ignored(event: TurnEvent) -> None:
    """For a turn of which only the result counts."""
