"""A request without its thinking blocks, for a model that did not make them. Pure."""

from __future__ import annotations

import dataclasses

from agent.model.base import THINKING, Message, ModelRequest


def has_thinking(request: ModelRequest) -> bool:
    return any(block.get("type") in THINKING for message in request.messages for block in message.content)


def without_thinking(request: ModelRequest) -> ModelRequest:
    """All thinking left out. A message that was nothing else goes; neighbours of one role become one message."""
    kept: list[Message] = []
    for message in request.messages:
        content = tuple(block for block in message.content if block.get("type") not in THINKING)
        if not content:
            continue
        if kept and kept[-1].role == message.role:
            kept[-1] = Message(message.role, kept[-1].content + content)
        else:
            kept.append(Message(message.role, content))
    return dataclasses.replace(request, messages=tuple(kept))
