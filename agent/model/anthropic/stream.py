"""Assembles a streamed answer into plain JSON: as sent where it follows the API, and without losing text where not.
Pure.

Lines that are no event are kept, so that they can be quoted.
"""

from __future__ import annotations

import codecs
import json
import re
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from agent.formats.parsing import load_json
from agent.formats.plain_text import repair_surrogates
from agent.languages.sentences import Sentence
from agent.model.base import (
    CUT,
    Block,
    Completed,
    Json,
    ModelEvent,
    Started,
    TakenBack,
    TextDelta,
    ToolCallStarted,
    TryLater,
    Usage,
)
from agent.model.markup import MarkupFilter
from agent.model.written_calls import RawCall, input_of

Event = Mapping[str, Json]
_GROWING = {"text_delta": "text", "thinking_delta": "thinking"}
"""Kinds of deltas, with the type of block that they add to and its field."""
_FIELDS = {"text": "text_delta", "thinking": "thinking_delta", "partial_json": "input_json_delta"}
"""Kinds by the field that they bring, for servers that name none."""
_STOPS = {"": "end_turn", "stop": "end_turn", "length": CUT, "tool_calls": "tool_use", "function_call": "tool_use"}
"""Stop reasons of the other API, which some servers pass on."""
_NO_NAME = re.compile(r"[^A-Za-z0-9_-]++")
_LONGEST_NAME = 64


class AnswerAssembler:
    """Unknown events, deltas and block types are kept as they came. `markup` is None for makers' own servers, else
    reads thoughts, calls and end tokens out of each text."""

    def __init__(self, model: str, markup: Callable[[], MarkupFilter] | None = None) -> None:
        self._model = model
        self._markup = markup
        self._blocks: list[_Block] = []
        self._open: dict[int, _Block] = {}
        self._usage: dict[str, int] = {}
        self._stop_reason = ""
        self._is_over = False
        self._at_start: Json = None

    def feed(self, event: Event) -> Iterator[ModelEvent]:
        match event.get("type"):
            case "message_start":
                yield self._start(_object(event.get("message")))
            case "content_block_start":
                yield from self._begin(_index(event), event.get("content_block"))
            case "content_block_delta":
                yield from self._grow(_index(event), _object(event.get("delta")))
            case "content_block_stop":
                if (block := self._open.pop(_index(event), None)) is not None:
                    yield from block.end()
            case "message_delta":
                self._stop_reason = _string(_object(event.get("delta")).get("stop_reason")) or self._stop_reason
                self._count(event.get("usage"))
            case "message_stop":
                self._is_over = True

    def rest(self) -> Iterator[ModelEvent]:
        """What was held back, at the stream's end."""
        if not self._blocks:
            for event in _blocks_as_events(self._at_start):
                yield from self.feed(event)
        for block in self._blocks:
            yield from block.end()

    def completed(self) -> Completed:
        """The whole answer, after `rest`. Raises `TryLater` without a last event or a stop reason; some servers send
        only one."""
        if not self._stop_reason and not self._is_over:
            raise TryLater(Sentence("The model's answer was cut off."))
        invalid: dict[str, str] = {}
        content = list(_made_once(block.finished(invalid) for block in self._blocks if not block.was_markup))
        if not any(block.get("type") == "tool_use" for block in content):
            content += self._raw_calls(invalid)
        reason = _STOPS.get(self._stop_reason, repair_surrogates(self._stop_reason))
        if reason in ("end_turn", "stop_sequence") and any(block.get("type") == "tool_use" for block in content):
            reason = "tool_use"
        return Completed(tuple(content), reason, self._spent(), self._model, invalid)

    def _start(self, message: Event) -> Started:
        self._model = repair_surrogates(_string(message.get("model"))) or self._model
        self._at_start = message.get("content")
        self._count(message.get("usage"))
        return Started(self._spent(), self._model)

    def _begin(self, index: int, start: Json) -> Iterator[ModelEvent]:
        """Begins a block. One still open at its index was never ended by the server."""
        if (before := self._open.pop(index, None)) is not None:
            yield from before.end()
        begun = {"type": "text", "text": start} if isinstance(start, str) else _object(start)
        block = self._open[index] = _Block(begun, self._markup)
        self._blocks.append(block)
        yield from block.opening()

    def _grow(self, index: int, delta: Event) -> Iterator[ModelEvent]:
        """Adds a delta to its block; else text begins a block, and a call's input goes to the newest call."""
        kind = _string(delta.get("type")) or next((_FIELDS[field] for field in _FIELDS if field in delta), "")
        block = self._open.get(index)
        if kind in _GROWING and (block is None or block.kind != _GROWING[kind]):
            yield from self._begin(index, {"type": _GROWING[kind]})
            block = self._open[index]
        if kind == "input_json_delta" and (block is None or not block.is_call):
            block = next((call for call in reversed(self._blocks) if call.is_call), None)
        if block is not None:
            yield from block.grow(kind, delta)

    def _raw_calls(self, invalid: dict[str, str]) -> Iterator[Block]:
        """Calls at the text's end, where the server does not parse them."""
        last = next((block for block in reversed(self._blocks) if block.kind == "text"), None)
        for call in last.written_calls if last else ():
            id = _new_id()
            if call.garbage:
                invalid[id] = repair_surrogates(call.garbage)
            yield _whole_block({"type": "tool_use", "id": id, "name": _tool_name(call.name), "input": call.input})

    def _count(self, usage: Json) -> None:
        """Later numbers replace earlier ones: the server sends totals."""
        for name, value in _object(usage).items():
            if isinstance(value, int) and not isinstance(value, bool):
                self._usage[name] = max(0, value)
            elif name == "server_tool_use":
                self._count(value)

    def _spent(self) -> Usage:
        count = self._usage.get
        return Usage(
            input=count("input_tokens", 0),
            output=count("output_tokens", 0),
            cache_read=count("cache_read_input_tokens", 0),
            cache_write=count("cache_creation_input_tokens", 0),
            searches=count("web_search_requests", 0),
        )


def _made_once(blocks: Iterable[Block]) -> Iterator[Block]:
    """Leaves out a call that a server sends again under the same id and name, with no arguments or the same ones."""
    told: dict[tuple[Json, Json], Json] = {}
    for block in blocks:
        if block.get("type") == "tool_use":
            key = (block.get("id"), block.get("name"))
            if key in told and block.get("input") in ({}, told[key]):
                continue
            told[key] = block.get("input")
        yield block


def events_of(message: Json) -> Iterator[Event]:
    """A whole message, sent instead of a stream, as events."""
    whole_message = _object(message)
    yield {"type": "message_start", "message": {**whole_message, "content": None}}
    yield from _blocks_as_events(whole_message.get("content"))
    delta = {"stop_reason": whole_message.get("stop_reason")}
    yield {"type": "message_delta", "delta": delta, "usage": whole_message.get("usage")}
    yield {"type": "message_stop"}


def _blocks_as_events(content: Json) -> Iterator[Event]:
    for index, block in enumerate(content if isinstance(content, list) else [content] if content else []):
        yield {"type": "content_block_start", "index": index, "content_block": block}
        yield {"type": "content_block_stop", "index": index}


class _Block:
    def __init__(self, start: Event, markup: Callable[[], MarkupFilter] | None) -> None:
        self._block: dict[str, Json] = dict(start)
        self._input: list[str] = []
        self._texts: list[str] = []
        self._thoughts: list[str] = []
        self._half = ""
        self.kind = _string(start.get("type"))
        self._markup = markup() if markup is not None and self.kind == "text" else None
        if self.kind == "tool_use":
            self._block["id"] = self._block.get("id") or _new_id()
            self._block["name"] = _tool_name(_string(self._block.get("name")))

    @property
    def is_call(self) -> bool:
        return self.kind.endswith("tool_use")

    @property
    def written_calls(self) -> Sequence[RawCall]:
        return self._markup.calls if self._markup else ()

    @property
    def was_markup(self) -> bool:
        return self._markup is not None and self._markup.took_all

    def opening(self) -> Iterator[ModelEvent]:
        if self.kind == "tool_use":
            yield ToolCallStarted(_string(self._block.get("name")))
        if self.kind == "text":
            yield from self._told(_string(self._block.get("text")))

    def grow(self, kind: str, delta: Event) -> Iterator[ModelEvent]:
        if kind == "text_delta":
            yield from self._told(_string(delta.get("text")))
        elif kind == "thinking_delta":
            self._thoughts.append(_string(delta.get("thinking")))
        elif kind == "input_json_delta":
            piece = delta.get("partial_json")
            self._input.append(piece if isinstance(piece, str) else json.dumps(piece) if piece else "")
        elif kind == "signature_delta":
            self._block["signature"] = _string(delta.get("signature"))
        elif kind == "citations_delta":
            so_far = self._block.get("citations")
            self._block["citations"] = [*(so_far if isinstance(so_far, list) else []), delta.get("citation")]

    def end(self) -> Iterator[ModelEvent]:
        half, self._half = repair_surrogates(self._half), ""
        if self._markup is None:
            yield from self._tell(half)
            return
        yield from self._tell(self._markup.feed(half))
        yield from self._tell(self._markup.finish())

    def finished(self, invalid: dict[str, str]) -> Block:
        """Tool input that is no JSON object is noted in `invalid` under the call's id and becomes {}."""
        if self.kind == "text":
            self._block["text"] = "".join(self._texts)
        if self._thoughts:
            self._block["thinking"] = _string(self._block.get("thinking")) + "".join(self._thoughts)
        if self.is_call:
            self._read_input(invalid)
        return _whole_block(self._block)

    def _read_input(self, invalid: dict[str, str]) -> None:
        streamed = "".join(self._input)
        if not streamed.strip() and isinstance(self._block.get("input"), Mapping):
            return
        given = streamed if streamed.strip() else self._block.get("input")
        read = input_of(given)
        if read is None and self.kind == "tool_use":
            invalid[_string(self._block.get("id"))] = repair_surrogates(
                given if isinstance(given, str) else json.dumps(given)
            )
        self._block["input"] = read or {}

    def _told(self, text: str) -> Iterator[ModelEvent]:
        """Text without half a character at its end."""
        text = self._half + text
        self._half = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
        text = repair_surrogates(text[:-1] if self._half else text)
        yield from self._tell(text if self._markup is None else self._markup.feed(text))

    def _tell(self, text: str) -> Iterator[ModelEvent]:
        if self._markup is not None and self._markup.took_back:
            self._texts.clear()
            yield TakenBack()
        if text:
            self._texts.append(text)
            yield TextDelta(text)


def _whole_block(block: Block) -> Block:
    written = json.dumps(block, ensure_ascii=False)
    kept = repair_surrogates(written)
    mended: Block = load_json(kept) if kept != written else block
    return mended


def _tool_name(name: str) -> str:
    """A valid tool name: some models write a module before it, or a token after it."""
    name = name.strip().removeprefix("functions.").partition("<|")[0]
    return _NO_NAME.sub("_", name)[:_LONGEST_NAME] or "unknown"


def _new_id() -> str:
    return f"toolu_{uuid.uuid4().hex}"


def _object(value: Json) -> Event:
    return value if isinstance(value, Mapping) else {}


def _string(value: Json) -> str:
    return value if isinstance(value, str) else ""


def _index(event: Event) -> int:
    index = event.get("index")
    return index if isinstance(index, int) else 0


_MOST_OTHER = 16_000
"""Characters kept of what is no event."""


@dataclass(frozen=True, slots=True)
class ServerEvent:
    name: str
    data: str


class EventReader:
    """Reads server-sent events from bytes. `other`: lines that belong to no event."""

    def __init__(self) -> None:
        self.other = ""
        self._name = ""
        self._data: list[str] = []
        self._begun: list[bytes] = []
        self._after_cr = False
        self._is_first = True

    def feed(self, chunk: bytes) -> Iterator[ServerEvent]:
        for line in self._lines(chunk):
            if line:
                self._take(line.decode("utf-8", "replace"))
            else:
                yield from self._finished()

    def finish(self) -> Iterator[ServerEvent]:
        if self._begun:
            self._take(b"".join(self._begun).decode("utf-8", "replace"))
        yield from self._finished()

    def _lines(self, chunk: bytes) -> Iterator[bytes]:
        """Lines by LF, CR LF or CR, each as soon as it is whole."""
        if self._after_cr and chunk.startswith(b"\n"):
            chunk, self._after_cr = chunk[1:], False
        if not chunk:
            return
        self._after_cr = chunk.endswith(b"\r")
        *ended, rest = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        for part in ended:
            line = b"".join((*self._begun, part))
            self._begun.clear()
            yield line.removeprefix(codecs.BOM_UTF8) if self._is_first else line
            self._is_first = False
        if rest:
            self._begun.append(rest)

    def _take(self, line: str) -> None:
        field, colon, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            self._data.append(value)
        elif field == "event":
            self._name = value
        elif field not in ("", "id", "retry") or not colon:
            self.other = f"{self.other}{line}\n"[:_MOST_OTHER]

    def _finished(self) -> Iterator[ServerEvent]:
        name, data = self._name, "\n".join(self._data)
        self._name, self._data = "", []
        if data:
            yield ServerEvent(name, data)
