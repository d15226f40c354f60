"""What the fake Messages API says and how it breaks: the values that a test writes, and their server-sent events."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

JsonObject = dict[str, Any]
_MOST_PIECES = 8


@dataclass(frozen=True, slots=True)
class Thinking:
    """A thinking block that the server signs when it answers."""

    text: str


@dataclass(frozen=True, slots=True)
class Say:
    """A text block in the pieces in which it streams."""

    pieces: tuple[str, ...]

    @property
    def text(self) -> str:
        return "".join(self.pieces)


@dataclass(frozen=True, slots=True)
class Use:
    """A tool call; `input` as text is streamed as it is, also where it is not JSON. An empty `id`: numbered."""

    name: str
    input: Mapping[str, Any] | str
    id: str = ""


Part = Thinking | Say | Use | JsonObject
"""A block of an answer; a plain JSON object is streamed whole, in its content_block_start."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer. `usage` replaces single numbers of the computed usage; `stop_reason` the one that fits the parts."""

    parts: tuple[Part, ...]
    stop_reason: str = ""
    usage: Mapping[str, int] | None = None

    @property
    def searches(self) -> int:
        """Searches of the web by the server, which it counts."""
        uses = [part for part in self.parts if isinstance(part, dict) and part["type"] == "server_tool_use"]
        return sum(use["name"] == "web_search" for use in uses)

    @property
    def ends_with(self) -> str:
        return self.stop_reason or ("tool_use" if any(isinstance(part, Use) for part in self.parts) else "end_turn")


Tool = tuple[str, Mapping[str, Any] | str]


def compose(
    text: str | Sequence[str] = "",
    *,
    tool: Tool | None = None,
    tools: Sequence[Tool] = (),
    thinking: str = "",
    blocks: Sequence[JsonObject] = (),
    stop_reason: str = "",
    usage: Mapping[str, int] | None = None,
) -> Answer:
    """An answer of thinking, raw blocks, text, tool calls, in this order. `text` as a sequence: its pieces."""
    parts: list[Part] = [Thinking(thinking)] if thinking else []
    parts += blocks
    if text:
        parts.append(Say(in_pieces(text) if isinstance(text, str) else tuple(text)))
    parts += [Use(name, given) for name, given in ([tool] if tool else []) + list(tools)]
    return Answer(tuple(parts), stop_reason, usage)


def in_pieces(text: str) -> tuple[str, ...]:
    """Cut between words into a few pieces."""
    words = re.findall(r"\S+\s*|\s+", text)
    size = -(-len(words) // _MOST_PIECES)
    return tuple("".join(words[start : start + size]) for start in range(0, len(words), size))


@dataclass(frozen=True, slots=True)
class Refuse:
    """An error status before any event."""

    status: int
    kind: str
    message: str
    retry_after: str | None = None


@dataclass(frozen=True, slots=True)
class Break:
    """The stream ends wrongly after `after` text deltas (or at its end): cut (TCP reset), eof (clean end without
    message_stop), stall (nothing more comes), error (an SSE error event of `kind`), unstopped (message_stop without a
    stop_reason)."""

    how: str
    after: int | None = None
    kind: str = "overloaded_error"
    message: str = "Overloaded"


class Held:
    """A stream, of a body that fits `when`, that stands still after `after` text deltas until `release`."""

    def __init__(self, after: int, when: Callable[[JsonObject], bool] = lambda _: True) -> None:
        self.after = after
        self.when = when
        self.reached_at: Future[None] = Future()
        self.released_at: Future[None] = Future()

    def release(self) -> None:
        if not self.released_at.done():
            self.released_at.set_result(None)


def block_events(index: int, part: Part, signed: str, call_id: str) -> Iterator[JsonObject]:
    """content_block_start, its deltas, content_block_stop."""

    def delta(value: JsonObject) -> JsonObject:
        return {"type": "content_block_delta", "index": index, "delta": value}

    def start(block: JsonObject) -> JsonObject:
        return {"type": "content_block_start", "index": index, "content_block": block}

    match part:
        case Thinking(text=text):
            yield start({"type": "thinking", "thinking": "", "signature": ""})
            for piece in in_pieces(text):
                yield delta({"type": "thinking_delta", "thinking": piece})
            yield delta({"type": "signature_delta", "signature": signed})
        case Say(pieces=pieces):
            yield start({"type": "text", "text": ""})
            for piece in pieces:
                yield delta({"type": "text_delta", "text": piece})
        case Use(name=name, input=given):
            yield start({"type": "tool_use", "id": call_id, "name": name, "input": {}})
            raw = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False) if given else ""
            third = max(1, -(-len(raw) // 3))
            for begin in range(0, max(1, len(raw)), third):
                yield delta({"type": "input_json_delta", "partial_json": raw[begin : begin + third]})
        case _:
            yield start(part)
    yield {"type": "content_block_stop", "index": index}


def finished_block(part: Part, signed: str, call_id: str) -> JsonObject:
    """The block as a transcript keeps it (and as an answer without streaming holds it)."""
    match part:
        case Thinking(text=text):
            return {"type": "thinking", "thinking": text, "signature": signed}
        case Say():
            return {"type": "text", "text": part.text}
        case Use(name=name, input=given):
            return {"type": "tool_use", "id": call_id, "name": name, "input": {} if isinstance(given, str) else given}
        case _:
            return part
