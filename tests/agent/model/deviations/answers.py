"""Answers that are complete, in shapes of their own. Nothing of their text may be lost."""

from __future__ import annotations

import json

from tests.agent.model.deviations.deviation import Deviation
from tests.fakes.raw_http import call_block, ended, http, said, sse, started, text_block

_STOP = {"type": "message_stop"}
_GOT = {"text": "likes tea"}
_JSON = json.dumps(_GOT)
_PING = {"type": "ping"}


def _delta(text: str, index: int = 0) -> dict[str, object]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": "text_delta", "text": text}}


def _whole(content: object, **more: object) -> bytes:
    return http({"type": "message", "role": "assistant", "content": content, "stop_reason": "end_turn", **more})


def _cut(answer: bytes, behind: bytes) -> tuple[bytes, ...]:
    """In packets that end with those bytes."""
    *parts, last = answer.split(behind)
    return (*(part + behind for part in parts), last)


_RAW_CAFE = sse(*said("cafe")).replace(b"cafe", "café".encode())

DEVIATIONS = [
    # halves of characters
    Deviation("llama.cpp: a lone half of a character", http(sse(*said("smile \ud83d"))), text="smile \ufffd"),
    Deviation("llama.cpp: a lone second half", http(sse(*said("smile \ude00!"))), text="smile \ufffd!"),
    Deviation("vLLM: an emoji cut over two deltas", http(sse(*said("hi \ud83d", "\ude00 there"))), text="hi 😀 there"),
    Deviation("vLLM: halves with an empty delta between", http(sse(*said("\ud83d", "", "\ude00"))), text="😀"),
    Deviation("vLLM: two first halves", http(sse(*said("a\ud83d", "\ud83d", "\ude00b"))), text="a\ufffd😀b"),
    Deviation(
        "a mock: half a character in a whole message", _whole([{"type": "text", "text": "\ud83dx"}]), text="\ufffdx"
    ),
    Deviation(
        "vLLM: half a character in the input of a call",
        http(sse(started(), *call_block("memory_append", '{"text": "a\\ud83d"}'), *ended("tool_use"))),
        text="",
        calls=(("memory_append", {"text": "a\ufffd"}),),
    ),
    Deviation(
        "vLLM: an emoji cut over two pieces of an input",
        http(sse(started(), *call_block("memory_append", '{"text": "a\\ud83d', '\\ude00"}'), *ended("tool_use"))),
        text="",
        calls=(("memory_append", {"text": "a😀"}),),
    ),
    Deviation(
        "vLLM: half a character in a name of an argument, and in a tool's name",
        http(sse(started(), *call_block("memory_append\ud83d", '{"text\\ud83d": 1}'), *ended("tool_use"))),
        text="",
        calls=(("memory_append_", {"text\ufffd": 1}),),
    ),
    Deviation(
        "LM Studio: half a character in the text's beginning",
        http(
            sse(
                started(),
                {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "\ud83d"}},
                _delta("\ude00."),
                *ended(),
            )
        ),
        text="😀.",
    ),
    # a stream's end
    Deviation("vLLM: complete without a stop reason", http(sse(*said("Fine.", stop_reason=None))), text="Fine."),
    Deviation(
        "vLLM: calls without a stop reason",
        http(sse(started(), *call_block("memory_append", _JSON), *ended(None))),
        text="",
        calls=(("memory_append", _GOT),),
    ),
    Deviation(
        "a proxy: message_stop without message_delta", http(sse(started(), *text_block("Fine."), _STOP)), text="Fine."
    ),
    Deviation(
        "LiteLLM: [DONE] in place of message_stop", http(sse(started(), *text_block("Fine."), "[DONE]")), text="Fine."
    ),
    Deviation("LiteLLM: [DONE] behind message_stop", http(sse(*said("Fine."), "[DONE]")), text="Fine."),
    Deviation("a proxy: no empty line behind the last event", http(sse(*said("Fine.")).rstrip(b"\n")), text="Fine."),
    Deviation(
        "a proxy: nothing but the reason of the stop ends it",
        http(sse(started(), *text_block("Fine."), next(ended()))),
        text="Fine.",
    ),
    Deviation(
        "llama.cpp: end_turn where there are calls",
        http(sse(started(), *call_block("memory_append", _JSON), *ended("end_turn"))),
        text="",
        calls=(("memory_append", _GOT),),
    ),
    Deviation(
        "a mock: a whole message without a stop reason",
        http({"content": [{"type": "text", "text": "Hi."}]}),
        text="Hi.",
    ),
    Deviation(
        "LiteLLM: the other API's reason for a cut",
        http(sse(*said("So far", stop_reason="length"))),
        text="So far",
        stop="max_tokens",
    ),
    # blocks
    Deviation(
        "an old vLLM: deltas without content_block_start",
        http(sse(started(), _delta("He"), _delta("llo."), *ended())),
        text="Hello.",
    ),
    Deviation("a proxy: no message_start either", http(sse(_delta("Hello."), *ended())), text="Hello."),
    Deviation(
        "a proxy: deltas without a type",
        http(sse(started(), {"type": "content_block_delta", "index": 0, "delta": {"text": "Hello."}}, *ended())),
        text="Hello.",
    ),
    Deviation(
        "LiteLLM: text and call share an index",
        http(sse(started(), *text_block("Noting."), *call_block("memory_append", _JSON, index=0), *ended("tool_use"))),
        text="Noting.",
        calls=(("memory_append", _GOT),),
    ),
    Deviation(
        "LiteLLM: text goes on at the index of a call",
        http(sse(started(), *call_block("memory_append", _JSON, index=0), _delta("Noted."), *ended("tool_use"))),
        text="Noted.",
        calls=(("memory_append", _GOT),),
    ),
    Deviation(
        "LiteLLM: two texts at one index",
        http(sse(started(), *text_block("One. "), *text_block("Two."), *ended())),
        text="One. Two.",
    ),
    Deviation(
        "a proxy: the input comes at another index than its call",
        http(
            sse(
                started(),
                {
                    "type": "content_block_start",
                    "index": 1,
                    "content_block": {"type": "tool_use", "id": "t", "name": "memory_append"},
                },
                {
                    "type": "content_block_delta",
                    "index": 0,
                    "delta": {"type": "input_json_delta", "partial_json": _JSON},
                },
                *ended("tool_use"),
            )
        ),
        text="",
        calls=(("memory_append", _GOT),),
    ),
    Deviation("a mock: content that is a string", _whole("Hello."), text="Hello."),
    Deviation("a mock: content that holds strings", _whole(["Hel", "lo."]), text="Hello."),
    Deviation(
        "a mock: all of it in message_start",
        http(sse(started(content=[{"type": "text", "text": "Hello."}]), *ended())),
        text="Hello.",
    ),
    Deviation(
        "a mock: a text block that is a string",
        http(
            sse(started(), {"type": "content_block_start", "index": 0, "content_block": "Hel"}, _delta("lo."), *ended())
        ),
        text="Hello.",
    ),
    Deviation(
        "a proxy: JSON told as text/plain",
        http(
            json.dumps({"type": "message", "content": [{"type": "text", "text": "Hello."}], "stop_reason": "end_turn"}),
            kind="text/plain; charset=utf-8",
        ),
        text="Hello.",
    ),
    # bytes
    Deviation(
        "Ollama: a byte that is not UTF-8",
        http(sse(*said("Hello.")).replace(b"Hello", b"Hel\xfflo")),
        text="Hel\ufffdlo.",
    ),
    Deviation(
        "Ollama: a character cut by a byte",
        http(sse(*said("Hello.")).replace(b"Hello", b"Hel\xc3lo")),
        text="Hel\ufffdlo.",
    ),
    Deviation("a proxy: a character over two packets", _cut(http(_RAW_CAFE), b"\xc3"), text="café"),
    Deviation("a proxy: every line ends with CR LF", http(sse(*said("Hello.")).replace(b"\n", b"\r\n")), text="Hello."),
    Deviation(
        "a proxy: CR LF over two packets", _cut(http(sse(*said("Hi.")).replace(b"\n", b"\r\n")), b"\r"), text="Hi."
    ),
    Deviation(
        "a proxy: comments and pings between",
        http(b": keep-alive\n\n" + sse(started(), _PING) + b":\n\nretry: 3\n\n" + sse(*text_block("Hi."), *ended())),
        text="Hi.",
    ),
    Deviation(
        "a proxy: keep-alives as data",
        http(sse(started(), "ping", *text_block("Hi."), "keepalive", *ended())),
        text="Hi.",
    ),
    Deviation("a proxy: a byte order mark before the stream", http(b"\xef\xbb\xbf" + sse(*said("Hi."))), text="Hi."),
    # inputs of tools
    Deviation(
        "a local model: an input encoded twice",
        http(sse(started(), *call_block("memory_append", json.dumps(_JSON)), *ended("tool_use"))),
        text="",
        calls=(("memory_append", _GOT),),
    ),
    Deviation(
        "Ollama: partial_json that is an object",
        http(sse(started(), *call_block("memory_append", _GOT), *ended("tool_use"))),
        text="",
        calls=(("memory_append", _GOT),),
    ),
    Deviation(
        "a mock: the input as text in the block's beginning",
        http(sse(started(), *call_block("memory_append", given=_JSON), *ended("tool_use"))),
        text="",
        calls=(("memory_append", _GOT),),
    ),
    Deviation(
        "gpt-oss: the name has the name of its module",
        http(sse(started(), *call_block("functions.memory_append", _JSON), *ended("tool_use"))),
        text="",
        calls=(("memory_append", _GOT),),
    ),
    Deviation(
        "gpt-oss: the name has its channel behind it",
        http(sse(started(), *call_block("memory_append<|channel|>commentary", _JSON), *ended("tool_use"))),
        text="",
        calls=(("memory_append", _GOT),),
    ),
    Deviation(
        "a local model: a tool without a name",
        http(sse(started(), *call_block("", _JSON), *ended("tool_use"))),
        text="",
        calls=(("unknown", _GOT),),
    ),
    Deviation(
        "a local model: an input that is a text",
        http(sse(started(), *call_block("memory_append", '"likes tea"'), *ended("tool_use"))),
        text="",
        calls=(("memory_append", {}),),
        invalid=1,
    ),
    Deviation(
        "a mock: a whole message with an input that is text",
        _whole([{"type": "tool_use", "id": "t", "name": "memory_append", "input": _JSON}]),
        text="",
        calls=(("memory_append", _GOT),),
    ),
]
