"""Chunks of a chat completion as the events of the Messages API, which `AnswerAssembler` reads. Pure.

Servers differ in how they number calls, name reasoning and count tokens; nothing that they send is lost for it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from agent.languages.sentences import Sentence
from agent.model.anthropic.stream import Event
from agent.model.base import CUT, OTHER_THINKING, REFUSED, Json, TryLater
from agent.model.tokens import estimate
from agent.model.written_calls import input_of

_REASONING = ("reasoning_content", "reasoning", "thinking")
_STOPS = {
    "content_filter": REFUSED,
    "sensitive": REFUSED,  # GLM
    "max_output": CUT,  # MiniMax
    "eos": "end_turn",
    "eos_token": "end_turn",
}
"""Reasons that the assembler does not know."""
_BROKEN = {"error", "network_error", "insufficient_system_resource", "abort"}
"""OpenRouter, GLM, DeepSeek, SGLang: an answer ends without its end."""


class ChunkReader:
    """`estimated`: tokens of the request, reported where the server counts none."""

    def __init__(self, model: str, estimated: int) -> None:
        self._model = model
        self._estimated = estimated
        self._has_begun = False
        self._index = -1
        self._kind = ""
        self._calls: list[_CallPart] = []
        self._written: list[str] = []
        self._is_counted = False
        self._reason = ""

    def feed(self, chunk: Event) -> Iterator[Event]:
        """Raises `TryLater` for an answer that the server gave up."""
        if not self._has_begun:
            self._has_begun = True
            yield self._start()
        choice = _first_choice(chunk)
        yield from self._grow(_object(choice.get("delta")) or _object(choice.get("message")))
        if isinstance(reason := choice.get("finish_reason"), str) and reason:
            self._reason = reason
        if self._reason in _BROKEN:
            raise TryLater(Sentence("The model's server broke its answer off."), overloaded=True)
        if usage := _usage_in(chunk):
            self._is_counted = True
            yield {"type": "message_delta", "delta": {}, "usage": usage}

    def finish(self, *, is_over: bool) -> Iterator[Event]:
        """`is_over`: the server said that the stream ends. A reason of the stop says so, too."""
        if not self._has_begun:
            return
        yield from self._close()
        for call in self._calls:
            if call.told is not None and not call.told.text.startswith(call.text) and call.input is None:
                yield from self._tell_apart(call, call.told)
            if call.told is None:
                yield {"type": "content_block_stop", "index": call.index}
        usage: Json = {} if self._is_counted else {"output_tokens": sum(map(estimate, self._written))}
        reason = _STOPS.get(self._reason, self._reason)
        yield {"type": "message_delta", "delta": {"stop_reason": reason or None}, "usage": usage}
        if is_over or reason:
            yield {"type": "message_stop"}

    def _start(self) -> Event:
        # the name that was asked for, which has the price in `model.prices`: servers report files, dates, other names
        return {"type": "message_start", "message": {"model": self._model, "usage": {"input_tokens": self._estimated}}}

    def _grow(self, delta: Event) -> Iterator[Event]:
        for field in _REASONING:
            if (thought := delta.get(field)) and isinstance(thought, str):
                yield from self._add("thinking", thought, field)
                break
        yield from self._say(delta.get("content"))
        if isinstance(refusal := delta.get("refusal"), str):
            yield from self._add("text", refusal)
        given = delta.get("tool_calls")
        calls = list(given) if isinstance(given, list) else [given] if given else []
        if (legacy := delta.get("function_call")) is not None:
            calls.append({"index": 0, "function": legacy})
        for part in calls:
            if isinstance(part, Mapping):
                yield from self._call(part)

    def _say(self, content: Json) -> Iterator[Event]:
        if isinstance(content, str):
            yield from self._add("text", content)
        for part in content if isinstance(content, list) else ():
            if isinstance(part, str):
                yield from self._add("text", part)
            elif isinstance(part, Mapping) and part.get("type") == "thinking":
                yield from self._add("thinking", _texts(part.get("thinking")), "")
            elif isinstance(part, Mapping):
                yield from self._add("text", _texts([part]))

    def _add(self, kind: str, text: str, field: str = "") -> Iterator[Event]:
        if not text:
            return
        if self._kind != kind:
            yield from self._close()
            self._index, self._kind = self._index + 1, kind
            start: dict[str, Json] = {"type": kind, kind: ""}
            if kind == "thinking":
                start["signature"] = f"{OTHER_THINKING}{field}"
            yield {"type": "content_block_start", "index": self._index, "content_block": start}
        self._written.append(text)
        yield {"type": "content_block_delta", "index": self._index, "delta": {"type": f"{kind}_delta", kind: text}}

    def _close(self) -> Iterator[Event]:
        if self._kind:
            self._kind = ""
            yield {"type": "content_block_stop", "index": self._index}

    def _call(self, part: Event) -> Iterator[Event]:
        function = _object(part.get("function"))
        name, arguments = _string(function.get("name")), function.get("arguments")
        call = self._known(part, name)
        if call is None:
            id = _string(part.get("id"))
            told = next((earlier for earlier in self._calls if id and (earlier.id, earlier.name) == (id, name)), None)
            call = _CallPart(part.get("index"), id, name, told)
            self._calls.append(call)
            if told is None:
                yield from self._begin_call(call)
        if not arguments:
            return
        if call.told is None:
            yield from self._grow_call(call, arguments, is_named=bool(name))
            return
        call.arguments.append(arguments)
        whole = call.input
        if whole and whole != call.told.input:
            yield from self._tell_apart(call, call.told)

    def _begin_call(self, call: _CallPart) -> Iterator[Event]:
        yield from self._close()
        self._index += 1
        call.index = self._index
        start: dict[str, Json] = {"type": "tool_use", "id": "", "name": call.name}  # ids of servers are not unique
        yield {"type": "content_block_start", "index": call.index, "content_block": start}

    def _grow_call(self, call: _CallPart, arguments: Json, *, is_named: bool = False) -> Iterator[Event]:
        """Adds a piece to a call. A named piece that is whole and begins with all pieces so far replaces them."""
        before = call.text
        if is_named and before and isinstance(arguments, str) and arguments.startswith(before):
            arguments = arguments.removeprefix(before) if input_of(arguments) is not None else arguments
        if not arguments:
            return
        call.arguments.append(arguments)
        self._written.append(str(arguments))
        delta = {"type": "input_json_delta", "partial_json": arguments}
        yield {"type": "content_block_delta", "index": call.index, "delta": delta}

    def _tell_apart(self, call: _CallPart, told: _CallPart) -> Iterator[Event]:
        """Reads a call that came under an earlier one's id and name, with other arguments: the rest of the earlier
        one's where those are not whole, else another call."""
        if told.input is None and call.text.startswith(told.text):
            rest, call.arguments = call.text.removeprefix(told.text), []
            yield from self._grow_call(told, rest)
            return
        held, call.arguments, call.told = call.arguments, [], None
        yield from self._begin_call(call)
        for arguments in held:
            yield from self._grow_call(call, arguments)

    def _known(self, part: Event, name: str) -> _CallPart | None:
        """The call that a delta goes on with: by id, by index, else the newest. A name after whole arguments begins
        another, however they are numbered."""
        id, number = _string(part.get("id")), part.get("index")
        newest_first = self._calls[::-1]
        found = next((call for call in newest_first if id and call.id == id and call.number == number), None)
        if found is None and id and name:
            return None
        if found is None and isinstance(number, int):
            found = next((call for call in newest_first if call.number == number), None)
        if found is None and self._calls and not (isinstance(number, int) and (id or name)):
            found = self._calls[-1]
        return None if found is not None and name and found.is_complete else found


class _CallPart:
    """A call as it grows. `told`: the earlier call whose id and name it repeats; it is held back until its arguments
    are whole and differ, so that a call that a server sends twice is made once."""

    def __init__(self, number: Json, id: str, name: str, told: _CallPart | None) -> None:
        self.index = -1
        self.number = number
        self.id = id
        self.name = name
        self.told = told
        self.arguments: list[Json] = []

    @property
    def text(self) -> str:
        return "".join(piece if isinstance(piece, str) else json.dumps(piece) for piece in self.arguments)

    @property
    def input(self) -> Mapping[str, Json] | None:
        """The arguments if they are whole; {} if there are none."""
        return input_of(self.text)

    @property
    def is_complete(self) -> bool:
        return bool(self.arguments) and self.input is not None


def _first_choice(chunk: Event) -> Event:
    choices = chunk.get("choices")
    listed = [choice for choice in choices if isinstance(choice, Mapping)] if isinstance(choices, list) else []
    return next((choice for choice in listed if choice.get("index") in (0, None)), {})


def _usage_in(chunk: Event) -> Mapping[str, Json]:
    usage = _object(chunk.get("usage")) or _object(_object(chunk.get("x_groq")).get("usage"))
    read, written = _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))
    if not read:
        return {}
    details = _object(usage.get("prompt_tokens_details"))
    cached = min(read, _count(details.get("cached_tokens")) or _count(usage.get("prompt_cache_hit_tokens")))
    return {"input_tokens": read - cached, "cache_read_input_tokens": cached, "output_tokens": written}


def _texts(parts: Json) -> str:
    if isinstance(parts, str):
        return parts
    listed = parts if isinstance(parts, list) else []
    return "".join(_string(part.get("text")) for part in listed if isinstance(part, Mapping))


def _count(value: Json) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _object(value: Json) -> Event:
    return value if isinstance(value, Mapping) else {}


def _string(value: Json) -> str:
    return value if isinstance(value, str) else ""
