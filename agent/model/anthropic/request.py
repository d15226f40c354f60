"""Builds the body of `POST /v1/messages`. Pure.

Tools, system and messages keep their order and bytes, for the server's cache and the signatures of thinking depend on
them; only cache marks move. `thinking` is not sent: current models think by themselves, older and foreign ones may
refuse the field. No sampling parameters: the API refuses them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from pydantic_core import to_json

from agent.model.base import THINKING, Block, Json, Message, ModelRequest

Body = dict[str, Json]


def body_of(request: ModelRequest) -> Body:
    """Everything but `stream`."""
    mark = _mark(request.cache)
    body: Body = {"model": request.model, "max_tokens": request.max_tokens}
    system = [{"type": "text", "text": text} for text in request.system if text.strip()]
    tools: list[Block] = [
        {"name": tool.name, "description": tool.description, "input_schema": tool.schema} for tool in request.tools
    ]
    if system:
        body["system"] = _marked_at_end(system, mark)
    if tools:
        body["tools"] = tools if system else _marked_at_end(tools, mark)
    body["messages"] = _messages(request.messages, mark, request.aside)
    if request.effort is not None:
        body["output_config"] = {"effort": request.effort}
    return body


def encoded(body: Body) -> bytes:
    """The bytes to send. Lone surrogates become question marks, always the same; numbers that JSON lacks become
    null."""
    try:
        # a third of the time of `json`, which for a long talk is milliseconds of the event loop
        return to_json(body, inf_nan_mode="null")
    except ValueError:
        text = json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode("utf-8", "replace")


def _mark(cache: str) -> Block | None:
    """The cache mark. 5 minutes is the server's default and not named, for servers that know only that."""
    match cache:
        case "off":
            return None
        case "1h":
            return {"type": "ephemeral", "ttl": "1h"}
        case _:
            return {"type": "ephemeral"}


def _messages(messages: tuple[Message, ...], mark: Block | None, aside: bool) -> list[Json]:
    """Marks the last message, which the next call reads from the cache, and the last user message before it, where the
    previous call ended: further apart than the 20 blocks that the server looks back. No later call reads an `aside`."""
    said = int(aside)
    last = len(messages) - 1
    kept = last if messages and len(messages[last].content) > said else max(0, last - 1)
    earlier = next((index for index in range(kept - 1, -1, -1) if messages[index].role == "user"), kept)
    return [
        {
            "role": message.role,
            "content": _marked_at_end(message.content, mark, said if index == last else 0)
            if index in (earlier, kept)
            else list(message.content),
        }
        for index, message in enumerate(messages)
    ]


def _marked_at_end(blocks: Iterable[Block], mark: Block | None, but: int = 0) -> list[Block]:
    """The blocks with a mark on the last one that can have it, without the last `but`."""
    marked = list(blocks)
    if mark is None:
        return marked
    for index in range(len(marked) - 1 - but, -1, -1):
        if _can_be_marked(marked[index]):
            marked[index] = {**marked[index], "cache_control": mark}
            break
    return marked


def _can_be_marked(block: Block) -> bool:
    kind = block.get("type")
    return kind not in THINKING and not (kind == "text" and not block.get("text"))
