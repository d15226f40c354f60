"""The body of `POST /v1/messages`. Pure.

Tools, system and messages keep their order and bytes, for the server's cache and signed thinking. `thinking` and
sampling parameters are not sent: models and servers may refuse them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from pydantic_core import to_json

from agent.model.base import (
    THINKING,
    Block,
    Json,
    Message,
    ModelRequest,
    ToolSpec,
    is_other_thinking,
    without_blocks,
)

Body = dict[str, Json]


def body_of(request: ModelRequest) -> Body:
    """The body without `stream`."""
    mark = _mark(request.cache)
    body: Body = {"model": request.model, "max_tokens": request.max_tokens}
    system = [{"type": "text", "text": text} for text in request.system if text.strip()]
    tools = [_tool(tool) for tool in request.tools]
    if system:
        body["system"] = _marked_at_end(system, mark)
    if tools:
        body["tools"] = tools if system else _marked_at_end(tools, mark)
    body["messages"] = _messages(_own(request.messages), mark, request.aside)
    if request.effort is not None:
        body["output_config"] = {"effort": request.effort}
    return body


def _tool(tool: ToolSpec) -> Block:
    if tool.server:
        return {"type": tool.server, "name": tool.name, "max_uses": 1}
    return {"name": tool.name, "description": tool.description, "input_schema": tool.schema}


def encoded(body: Body) -> bytes:
    """The body as JSON. Lone surrogates become question marks; numbers that JSON lacks, null."""
    try:
        # a third of the time of `json`, which for a long conversation is milliseconds of the event loop
        return to_json(body, inf_nan_mode="null")
    except ValueError:
        text = json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode("utf-8", "replace")


def _own(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """The messages without thinking of another provider's model, which has no signature."""
    if any(is_other_thinking(block) for message in messages for block in message.content):
        return without_blocks(messages, is_other_thinking)
    return messages


def _mark(cache: str) -> Block | None:
    """5 minutes is the default and not named, for servers that know only that."""
    match cache:
        case "off":
            return None
        case "1h":
            return {"type": "ephemeral", "ttl": "1h"}
        case _:
            return {"type": "ephemeral"}


def _messages(messages: tuple[Message, ...], mark: Block | None, aside: bool) -> list[Json]:
    """Marks the last message, which the next call reads from the cache, and the user message before it, where the
    previous call ended: they may be further apart than the 20 blocks that the server looks back. No later call reads an
    `aside`."""
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
    """A mark on the last block that can have it, except the last `but`."""
    marked = list(blocks)
    if mark is None:
        return marked
    for index in range(len(marked) - 1 - but, -1, -1):
        block = marked[index]
        kind = block.get("type")
        if kind not in THINKING and not (kind == "text" and not block.get("text")):
            marked[index] = {**marked[index], "cache_control": mark}
            break
    return marked


def key_headers(key: str, host: str) -> dict[str, str]:
    """Some other servers read the key only as a bearer token, some only as x-api-key; Anthropic's takes just one."""
    if not key:
        return {}
    is_anthropics = host == "anthropic.com" or host.endswith(".anthropic.com")
    return {"X-Api-Key": key} if is_anthropics else {"Authorization": f"Bearer {key}", "X-Api-Key": key}
