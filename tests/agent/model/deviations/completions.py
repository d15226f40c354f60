"""The same deviations of servers that speak chat completions. What has the same name in the other tables has the same
outcome here; only what is sent differs, where it does."""

from __future__ import annotations

import dataclasses
import json
from urllib.parse import unquote

from tests.agent.model.deviations import answers, errors, limits, markup, refusals
from tests.agent.model.deviations.deviation import Deviation
from tests.fakes.raw_http import Event, Reply, http, sse

_GOT = {"text": "likes tea"}
_JSON = json.dumps(_GOT)
_STOPS = {"end_turn": "stop", "max_tokens": "length", "stop_sequence": "stop", None: None}


def _chunk(reason: str | None = None, **delta: object) -> Event:
    return {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}


def _call(name: str, *pieces: object, index: int = 0, id: str = "call_1") -> list[Event]:
    """`pieces` as arguments, whatever they are."""
    begin = {"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": ""}}
    more = [{"index": index, "function": {"arguments": piece}} for piece in pieces]
    return [_chunk(role="assistant", content=None, tool_calls=[begin]), *(_chunk(tool_calls=[one]) for one in more)]


def _said(*pieces: str, reason: str | None = "stop") -> bytes:
    return sse(*(_chunk(content=piece) for piece in pieces), _chunk(reason), "[DONE]")


def _called(name: str, *pieces: object, reason: str | None = "tool_calls") -> bytes:
    return http(sse(*_call(name, *pieces), _chunk(reason), "[DONE]"))


def _whole(content: object, reason: str | None = "stop", **more: object) -> bytes:
    message = {"role": "assistant", "content": content, **more}
    return http({"object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": reason}]})


def _cut(answer: bytes, behind: bytes) -> tuple[bytes, ...]:
    *parts, last = answer.split(behind)
    return (*(part + behind for part in parts), last)


def _moved(status: str, to: str) -> bytes:
    return http("", status, headers={"location": to})


_HELLO = _said("Hello.")
_CAFE = _said("cafe").replace(b"cafe", "café".encode())
_SENDS: dict[str, Reply] = {
    # answers
    "llama.cpp: a lone half of a character": http(_said("smile \ud83d")),
    "llama.cpp: a lone second half": http(_said("smile \ude00!")),
    "vLLM: an emoji cut over two deltas": http(_said("hi \ud83d", "\ude00 there")),
    "vLLM: halves with an empty delta between": http(_said("\ud83d", "", "\ude00")),
    "vLLM: two first halves": http(_said("a\ud83d", "\ud83d", "\ude00b")),
    "a mock: half a character in a whole message": _whole("\ud83dx"),
    "vLLM: half a character in the input of a call": _called("memory_append", '{"text": "a\\ud83d"}'),
    "vLLM: an emoji cut over two pieces of an input": _called("memory_append", '{"text": "a\\ud83d', '\\ude00"}'),
    "vLLM: half a character in a name of an argument, and in a tool's name": _called(
        "memory_append\ud83d", '{"text\\ud83d": 1}'
    ),
    "LM Studio: half a character in the text's beginning": http(
        sse(_chunk(role="assistant", content="\ud83d"), _chunk(content="\ude00."), _chunk("stop"), "[DONE]")
    ),
    "vLLM: complete without a stop reason": http(_said("Fine.", reason=None)),
    "vLLM: calls without a stop reason": _called("memory_append", _JSON, reason=None),
    "a proxy: message_stop without message_delta": http(sse(_chunk(content="Fine."), "[DONE]")),
    "LiteLLM: [DONE] in place of message_stop": http(sse(_chunk(content="Fine."), _chunk(), "[DONE]")),
    "LiteLLM: [DONE] behind message_stop": http(_said("Fine.") + sse("[DONE]")),
    "a proxy: no empty line behind the last event": http(_said("Fine.").rstrip(b"\n")),
    "a proxy: nothing but the reason of the stop ends it": http(sse(_chunk(content="Fine."), _chunk("stop"))),
    "llama.cpp: end_turn where there are calls": _called("memory_append", _JSON, reason="stop"),
    "a mock: a whole message without a stop reason": http({"choices": [{"message": {"content": "Hi."}}]}),
    "LiteLLM: the other API's reason for a cut": http(_said("So far", reason="max_tokens")),
    "an old vLLM: deltas without content_block_start": http(
        sse({"choices": [{"delta": {"content": "He"}}]}, {"choices": [{"delta": {"content": "llo."}}]}, "[DONE]")
    ),
    "a proxy: no message_start either": http(sse({"choices": [{"delta": {"content": "Hello."}}]}, "[DONE]")),
    "a proxy: deltas without a type": http(
        sse({"choices": [{"message": {"content": "Hello."}, "finish_reason": "stop"}]}, "[DONE]")
    ),
    "LiteLLM: text and call share an index": http(
        sse(_chunk(content="Noting."), *_call("memory_append", _JSON), _chunk("tool_calls"), "[DONE]")
    ),
    "LiteLLM: text goes on at the index of a call": http(
        sse(*_call("memory_append", _JSON), _chunk(content="Noted."), _chunk("tool_calls"), "[DONE]")
    ),
    "LiteLLM: two texts at one index": http(_said("One. ", "Two.")),
    "a proxy: the input comes at another index than its call": http(
        sse(
            *_call("memory_append", index=1),
            _chunk(tool_calls=[{"index": 0, "function": {"arguments": _JSON}}]),
            _chunk("tool_calls"),
            "[DONE]",
        )
    ),
    "a mock: content that is a string": _whole("Hello."),
    "a mock: content that holds strings": _whole(["Hel", "lo."]),
    "a mock: all of it in message_start": http(sse(_chunk("stop", role="assistant", content="Hello."))),
    "a mock: a text block that is a string": http(
        sse(_chunk(content=["Hel"]), _chunk(content=[{"type": "text", "text": "lo."}]), _chunk("stop"), "[DONE]")
    ),
    "a proxy: JSON told as text/plain": http(
        json.dumps({"choices": [{"message": {"content": "Hello."}, "finish_reason": "stop"}]}),
        kind="text/plain; charset=utf-8",
    ),
    "Ollama: a byte that is not UTF-8": http(_HELLO.replace(b"Hello", b"Hel\xfflo")),
    "Ollama: a character cut by a byte": http(_HELLO.replace(b"Hello", b"Hel\xc3lo")),
    "a proxy: a character over two packets": _cut(http(_CAFE), b"\xc3"),
    "a proxy: every line ends with CR LF": http(_HELLO.replace(b"\n", b"\r\n")),
    "a proxy: CR LF over two packets": _cut(http(_said("Hi.").replace(b"\n", b"\r\n")), b"\r"),
    "a proxy: comments and pings between": http(
        b": OPENROUTER PROCESSING\n\n" + sse(_chunk(role="assistant")) + b":\n\nretry: 3\n\n" + _said("Hi.")
    ),
    "a proxy: keep-alives as data": http(sse(_chunk(), "ping", _chunk(content="Hi."), "keepalive", _chunk("stop"))),
    "a proxy: a byte order mark before the stream": http(b"\xef\xbb\xbf" + _said("Hi.")),
    "a local model: an input encoded twice": _called("memory_append", json.dumps(_JSON)),
    "Ollama: partial_json that is an object": _called("memory_append", _GOT),
    "a mock: the input as text in the block's beginning": http(
        sse(
            _chunk(tool_calls=[{"index": 0, "id": "c", "function": {"name": "memory_append", "arguments": _JSON}}]),
            _chunk("tool_calls"),
        )
    ),
    "gpt-oss: the name has the name of its module": _called("functions.memory_append", _JSON),
    "gpt-oss: the name has its channel behind it": _called("memory_append<|channel|>commentary", _JSON),
    "a local model: a tool without a name": _called("", _JSON),
    "a local model: an input that is a text": _called("memory_append", '"likes tea"'),
    "a mock: a whole message with an input that is text": _whole(
        None, "tool_calls", tool_calls=[{"id": "t", "function": {"name": "memory_append", "arguments": _JSON}}]
    ),
    "vLLM: a raw call beside a real one": http(
        sse(
            _chunk(content='<tool_call>\n{"name": "memory_search", "arguments": {"query": "tea"}}\n</tool_call>'),
            *_call("memory_append", '{"text": "x"}'),
            _chunk("tool_calls"),
            "[DONE]",
        )
    ),
    # errors
    "LiteLLM: an error within the stream": http(
        sse(_chunk(content="So"), {"error": {"message": "litellm.APIError: upstream is gone", "code": "500"}})
    ),
    "LM Studio: an error event without an error": http(
        sse(_chunk()) + b'event: error\ndata: {"message": "The model has crashed"}\n\n'
    ),
    "a proxy: an error event that is plain text": http(sse(_chunk()) + b"event: error\ndata: upstream timed out\n\n"),
    "a proxy: a null error is none": http(sse({**_chunk(), "error": None}) + _said("Fine.")),
    "OpenAI's API: an answer of another kind": http({"type": "message", "content": [{"type": "text", "text": "Hi"}]}),
    "a proxy: a redirect": _moved("308 Permanent Redirect", "https://llm.example/v1/chat/completions"),
    "a proxy: a redirect within the server": _moved("301 Moved", "/api/v1/chat/completions?key=1"),
    "a proxy: a redirect with a password": _moved(
        "307 Temporary Redirect", "http://ann:hunter22@llm.example/v1/chat/completions"
    ),
    "a server: a clean end without an end": http(sse(_chunk(content="So far"))),
    "a server: JSON that is cut": http(sse(_chunk()) + b'data: {"choices": [\n\n'),
}
_ONLY_THERE = {
    "a proxy: no cache marks": "the marks are not sent here",
    "a proxy: no cache marks, and none were sent": "the marks are not sent here",
}
_FINE = http(_said("Fine."))


def _here(one: Deviation) -> Deviation:
    sends, is_window = one.sends, one.error is None and one.text is None  # what is assumed where nobody says it
    if one.raw:
        reason = one.stop if one.stop in _STOPS else "end_turn"
        sends = http(_said(one.raw, reason=_STOPS[reason or "end_turn"]))
    return dataclasses.replace(
        one,
        sends=_SENDS.get(one.name, sends),
        then=_FINE if one.then is not None else None,
        says=one.says.replace("no Messages API", "no chat completions API").replace(
            r"llm\.example\.", r"llm\.example/v1\."
        ),
        window=32_768 if is_window and one.window is None else one.window,
        pages={unquote(path): page for path, page in one.pages.items()},
    )


THERE = [*answers.DEVIATIONS, *errors.DEVIATIONS, *limits.DEVIATIONS, *refusals.DEVIATIONS, *markup.DEVIATIONS]
DEVIATIONS = [_here(one) for one in THERE if one.name not in _ONLY_THERE]
assert {*_SENDS, *_ONLY_THERE} <= {one.name for one in THERE}
