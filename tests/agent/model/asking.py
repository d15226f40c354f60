"""Requests to a model's server, and what comes of them."""

from __future__ import annotations

import pytest

from agent.model.base import (
    Block,
    Completed,
    Message,
    Model,
    ModelError,
    ModelEvent,
    ModelRequest,
    TakenBack,
    TextDelta,
    ToolSpec,
)

MODEL = "claude-sonnet-5-5"
APPEND = ToolSpec(
    "memory_append", "Add to today's log.", {"type": "object", "properties": {"text": {"type": "string"}}}
)


def text(said: str) -> Block:
    return {"type": "text", "text": said}


def user(*blocks: Block | str) -> Message:
    return Message("user", tuple(text(block) if isinstance(block, str) else block for block in blocks))


def request(*messages: Message, **changes: object) -> ModelRequest:
    fields: dict[str, object] = {
        "model": MODEL,
        "system": ("You are Daybook.",),
        "messages": messages or (user("Hello"),),
        "tools": (APPEND,),
        "max_tokens": 1000,
    }
    return ModelRequest(**(fields | changes))  # type: ignore[arg-type]


async def events_of(model: Model, asked: ModelRequest) -> list[ModelEvent]:
    return [event async for event in model.stream(asked)]


async def answer_of(model: Model, asked: ModelRequest) -> Completed:
    last = (await events_of(model, asked))[-1]
    assert isinstance(last, Completed)
    return last


async def refused(model: Model, asked: ModelRequest | None = None) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await events_of(model, asked or request())
    return caught.value


def shown(events: list[ModelEvent]) -> str:
    """The text that is seen in the end."""
    taken_back = max((at for at, event in enumerate(events) if isinstance(event, TakenBack)), default=-1)
    return "".join(event.text for event in events[taken_back + 1 :] if isinstance(event, TextDelta))
