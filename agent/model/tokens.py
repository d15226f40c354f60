"""Estimates how many tokens a text takes, without a tokenizer."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import lru_cache

from agent.model.base import Block, Json, ModelRequest, ToolSpec

IMAGE_TOKENS = 1_600
"""A picture at the size servers scale it to (about 1.15 megapixels)."""
_MESSAGE_TOKENS = 4
_NOT_LEADING = bytes(range(0xE0))
"""Every byte that does not begin a character of three or four bytes in UTF-8."""


def estimate(text: str) -> int:
    """A quarter of the UTF-8 bytes, and one for each character of three bytes or more: rather too high."""
    data = text.encode("utf-8", "replace")
    wide = 0 if len(data) == len(text) else len(data.translate(None, delete=_NOT_LEADING))
    return (len(data) + wide + 3) // 4


def estimate_request(request: ModelRequest) -> int:
    fixed = sum(map(estimate, request.system)) + estimate_tools(request.tools)
    return fixed + sum(estimate_blocks(message.content) for message in request.messages)


def estimate_blocks(content: Iterable[Block]) -> int:
    return _MESSAGE_TOKENS + sum(_estimate_block(block) for block in content)


def estimate_tools(tools: Sequence[ToolSpec]) -> int:
    return sum(estimate_tool(tool) for tool in tools)


@lru_cache(maxsize=256)
def estimate_tool(tool: ToolSpec) -> int:
    return estimate(tool.name + tool.description + json.dumps(tool.schema, ensure_ascii=False))


def _estimate_block(block: Block) -> int:
    match block.get("type"):
        case "image":
            return IMAGE_TOKENS
        case "text":
            return estimate(str(block.get("text") or ""))
        case "tool_result":
            return _MESSAGE_TOKENS + _estimate_json(block.get("content"))
        case "tool_use":
            return _MESSAGE_TOKENS + estimate(str(block.get("name"))) + _estimate_json(block.get("input"))
        case _:
            return _estimate_json(block)


def _estimate_json(value: Json) -> int:
    return estimate(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
