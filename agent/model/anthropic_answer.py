"""The events of a streamed answer put together again as plain JSON, exactly as they were sent. Pure."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping

from agent.foreign import load_json
from agent.model.base import (
    Block,
    Completed,
    Json,
    ModelEvent,
    Started,
    TextDelta,
    ToolCallStarted,
    TryLater,
    Usage,
)

Event = Mapping[str, Json]
_GROWING = {"text_delta": "text", "thinking_delta": "thinking"}


class Assembly:
    """One answer in the making. Unknown events, deltas and block types are no error: blocks are kept as they came."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._blocks: dict[int, _Block] = {}
        self._usage: dict[str, int] = {}
        self._stop_reason = ""

    def feed(self, event: Event) -> Iterator[ModelEvent]:
        """Take one event; yields what it means to the caller."""
        match event.get("type"):
            case "message_start":
                yield self._start(_object(event.get("message")))
            case "content_block_start":
                block = _Block(_object(event.get("content_block")))
                self._blocks[_index(event)] = block
                yield from block.opening()
            case "content_block_delta":
                yield from self._grow(event)
            case "message_delta":
                self._stop_reason = _string(_object(event.get("delta")).get("stop_reason")) or self._stop_reason
                self._count(event.get("usage"))

    def completed(self) -> Completed:
        """The whole answer. Raises `TryLater` where the stream ended without the server having finished it: why it
        stopped is told behind the last block, and some servers tell nothing more."""
        if not self._stop_reason:
            raise TryLater("The model's answer broke off before its end.")
        invalid: dict[str, str] = {}
        content = tuple(self._blocks[index].finished(invalid) for index in sorted(self._blocks))
        return Completed(content, self._stop_reason, self._spent(), self._model, invalid)

    def _start(self, message: Event) -> Started:
        self._model = _string(message.get("model")) or self._model
        self._count(message.get("usage"))
        return Started(self._spent(), self._model)

    def _grow(self, event: Event) -> Iterator[ModelEvent]:
        block = self._blocks.get(_index(event))
        if block is None:
            return
        delta = _object(event.get("delta"))
        block.grow(delta)
        text = _string(delta.get("text"))
        if delta.get("type") == "text_delta" and text:
            yield TextDelta(text)

    def _count(self, usage: Json) -> None:
        """Numbers in later events replace earlier ones: the server sends totals."""
        for name, value in _object(usage).items():
            if isinstance(value, int) and not isinstance(value, bool):
                self._usage[name] = max(0, value)

    def _spent(self) -> Usage:
        count = self._usage.get
        return Usage(
            input=count("input_tokens", 0),
            output=count("output_tokens", 0),
            cache_read=count("cache_read_input_tokens", 0),
            cache_write=count("cache_creation_input_tokens", 0),
        )


def events_of(message: Json) -> Iterator[Event]:
    """A whole message, which some servers answer though a stream was asked for, as the events that it would be."""
    whole = _object(message)
    yield {"type": "message_start", "message": whole}
    content = whole.get("content")
    for index, block in enumerate(content if isinstance(content, list) else []):
        yield {"type": "content_block_start", "index": index, "content_block": block}
        yield {"type": "content_block_stop", "index": index}
    yield {"type": "message_delta", "delta": {"stop_reason": whole.get("stop_reason")}, "usage": whole.get("usage")}
    yield {"type": "message_stop"}


class _Block:
    """A content block that is being streamed."""

    def __init__(self, start: Event) -> None:
        self._block: dict[str, Json] = dict(start)
        self._input: list[str] = []
        if self._block.get("type") == "tool_use" and not self._block.get("id"):
            self._block["id"] = f"toolu_{uuid.uuid4().hex}"

    def opening(self) -> Iterator[ModelEvent]:
        if self._block.get("type") == "tool_use":
            yield ToolCallStarted(_string(self._block.get("name")))
        text = _string(self._block.get("text"))
        if self._block.get("type") == "text" and text:
            yield TextDelta(text)

    def grow(self, delta: Event) -> None:
        kind = _string(delta.get("type"))
        if kind in _GROWING:
            field = _GROWING[kind]
            self._block[field] = _string(self._block.get(field)) + _string(delta.get(field))
        elif kind == "input_json_delta":
            self._input.append(_string(delta.get("partial_json")))
        elif kind == "signature_delta":
            self._block["signature"] = _string(delta.get("signature"))
        elif kind == "citations_delta":
            so_far = self._block.get("citations")
            self._block["citations"] = [*(so_far if isinstance(so_far, list) else []), delta.get("citation")]

    def finished(self, invalid: dict[str, str]) -> Block:
        """The block; tool input that is no JSON object is noted in `invalid` under the call's id and sent on as {}."""
        text = "".join(self._input)
        if not text.strip():
            if self._block.get("type") == "tool_use" and not isinstance(self._block.get("input"), dict):
                self._block["input"] = {}
            return self._block
        given = _parsed(text)
        if given is None and self._block.get("type") == "tool_use":
            invalid[_string(self._block.get("id"))] = text
        self._block["input"] = given or {}
        return self._block


def _parsed(text: str) -> dict[str, Json] | None:
    try:
        given = load_json(text)
    except ValueError:
        return None
    return given if isinstance(given, dict) else None


def _object(value: Json) -> Event:
    return value if isinstance(value, Mapping) else {}


def _string(value: Json) -> str:
    return value if isinstance(value, str) else ""


def _index(event: Event) -> int:
    index = event.get("index")
    return index if isinstance(index, int) else 0
