"""The pure parts, and answers that no server should send."""

from __future__ import annotations

import json
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.clock import Clock
from agent.model.anthropic.stream import AnswerAssembler
from agent.model.base import Block, Completed, InvalidRequest, Json, Message, ModelError, ModelEvent, TryLater
from agent.model.errors import ServerMessage, said_in
from agent.model.markup import MarkupFilter
from agent.model.openai.dialect import Dialect, api_root, learnt
from agent.model.openai.model import OpenAIModel
from agent.model.openai.request import body_of, call_id
from agent.model.openai.stream import ChunkReader
from tests.agent.model.asking import request, shown, user
from tests.fakes.anthropic_rules import FakeModelInfo, Rejected
from tests.fakes.openai_rules import check_completion
from tests.fakes.raw_http import RawServer, http, sse

BLOCKS: list[Block] = [
    {"type": "text", "text": "hello"},
    {"type": "text", "text": ""},
    {"type": "thinking", "thinking": "hm", "signature": "s"},
    {"type": "thinking", "thinking": "hm", "signature": "chat-completions:reasoning"},
    {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "tea"}},
    {"type": "hologram", "depth": 3},
]
_FIELDS = (
    *("choices", "delta", "message", "content", "tool_calls", "function", "name", "arguments", "id", "index"),
    *("finish_reason", "usage", "prompt_tokens", "reasoning", "type", "text", "thinking"),
)
odd = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(_FIELDS),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


def chunk(**delta: Json) -> dict[str, Json]:
    return {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}


def end(reason: str = "stop") -> dict[str, Json]:
    return {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}


def told(chunks: list[Any]) -> tuple[list[ModelEvent], Completed]:
    reader, answer = ChunkReader("m", 10), AnswerAssembler("m", MarkupFilter)
    events: list[ModelEvent] = []
    for one in chunks:
        for event in reader.feed(one):
            events += answer.feed(event)
    for event in reader.finish(is_over=True):
        events += answer.feed(event)
    events += answer.rest()
    return events, answer.completed()


@given(st.lists(st.dictionaries(st.sampled_from(["choices", "usage", "model", "x_groq"]), odd), max_size=6))
def test_no_chunk_however_odd_breaks_the_reader(chunks: list[dict[str, Json]]) -> None:
    try:
        told(chunks)
    except TryLater:
        pass


@given(st.lists(st.text(min_size=1), max_size=8))
def test_text_comes_out_as_it_went_in_however_it_was_cut(pieces: list[str]) -> None:
    events, done = told([*(chunk(content="." + piece) for piece in pieces), end()])
    whole = "".join("." + piece for piece in pieces)
    plain = not any(mark in whole for mark in "<[◁")
    assert shown(events) == done.text
    assert not plain or done.text == whole


@given(st.lists(st.lists(st.sampled_from(BLOCKS), max_size=4), min_size=1, max_size=7), st.booleans(), st.booleans())
def test_any_history_makes_a_body_that_may_be_sent(histories: list[list[Block]], tools: bool, system: bool) -> None:
    said = [Message(("user", "assistant")[at % 2], tuple(blocks)) for at, blocks in enumerate(histories)]
    asked = request(user("Hi"), Message("assistant", (BLOCKS[0],)), *said)
    body = json.loads(json.dumps(body_of(asked, Dialect(tools=tools, system=system))))
    check_completion(body, FakeModelInfo("m"), "reasoning")


def test_ids_are_short_different_and_the_same_again() -> None:
    ids = {call_id(f"toolu_{number}") for number in range(5_000)}
    assert len(ids) == 5_000 and all(len(one) == 9 and one.isalnum() for one in ids)
    assert call_id("toolu_1") == call_id("toolu_1")


@pytest.mark.parametrize(
    ("given", "root"),
    [
        (None, "https://api.openai.com/v1"),
        ("http://127.0.0.1:11434", "http://127.0.0.1:11434/v1"),
        ("http://127.0.0.1:11434/v1/", "http://127.0.0.1:11434/v1"),
        ("https://openrouter.ai/api", "https://openrouter.ai/api/v1"),
        ("https://api.z.ai/api/paas/v4", "https://api.z.ai/api/paas/v4"),
        ("https://g.test/v1beta/openai/", "https://g.test/v1beta/openai"),
    ],
)
def test_an_address_gets_its_version(given: str | None, root: str) -> None:
    assert api_root(given) == root


@pytest.mark.parametrize(
    "words",
    [
        "Invalid schema for function 'x': 'oneOf' is not supported",
        "messages.2: tool_call_id is not valid",
        "Unsupported value: 'temperature' does not support 0.2 with this model.",
        "The tool call id is missing",
    ],
)
def test_other_complaints_about_tools_take_none_away(words: str) -> None:
    changed = learnt(Dialect(), 400, ServerMessage(words), request())
    assert changed is None or changed.tools


_CALL = {"index": 0, "id": "c", "type": "function", "function": {"name": "memory_append", "arguments": '{"text": "un'}}
WHOLE = {"choices": [{"message": {"role": "assistant", "content": "Fine."}, "finish_reason": "stop"}]}
SECOND_FIRST = {"choices": [{"index": 1, "delta": {"content": "B"}}, {"index": 0, "delta": {"content": "A"}}]}
OVERLOADED = {"error": {"message": "overloaded", "code": 503}}
INVALID = {"error": {"message": "bad thing", "type": "invalid_request_error"}}


def stream(*chunks: dict[str, Json] | str) -> bytes:
    return http(sse(*chunks))


ANSWERS: list[tuple[str, bytes, str, int]] = [
    ("an emoji over two deltas", stream(chunk(content="hi \ud83d"), chunk(content="\ude00"), end()), "hi 😀", 0),
    ("no reason of the stop", stream(chunk(content="Fine."), "[DONE]"), "Fine.", 0),
    ("no end but the reason", stream(chunk(content="Fine."), end()), "Fine.", 0),
    ("two choices", stream(SECOND_FIRST, end()), "A", 0),
    ("arguments that are no JSON", stream(chunk(tool_calls=[_CALL]), end("tool_calls"), "[DONE]"), "", 1),
    ("a whole answer", http(WHOLE), "Fine.", 0),
    ("markup in the text", stream(chunk(content="<think>hm</think>Fine.<|im_end|>"), end()), "Fine.", 0),
]
ERRORS: list[tuple[str, bytes, type[ModelError]]] = [
    ("a web page", http("<html><title>Login</title></html>", kind="text/html"), InvalidRequest),
    ("nothing at all", http(sse()), TryLater),
    ("an error in the middle", stream(chunk(content="So"), OVERLOADED), TryLater),
    ("an error under status 200", http(INVALID), InvalidRequest),
    ("broken JSON", stream(chunk(content="So"), '{"choices": ['), TryLater),
    ("cut without an end", stream(chunk(content="So")), TryLater),
    ("the Messages API", http({"type": "message", "content": [{"type": "text", "text": "Hi"}]}), InvalidRequest),
]


async def asked_of(server: RawServer) -> list[ModelEvent]:
    model = OpenAIModel("", server.base_url, clock=Clock(ZoneInfo("Europe/Berlin")))
    try:
        return [event async for event in model.stream(request())]
    finally:
        await model.aclose()


@pytest.mark.parametrize(("sends", "text", "invalid"), [one[1:] for one in ANSWERS], ids=[one[0] for one in ANSWERS])
async def test_an_answer_is_read(sends: bytes, text: str, invalid: int) -> None:
    async with RawServer([sends]) as server:
        events = await asked_of(server)
    done = events[-1]
    assert isinstance(done, Completed)
    assert shown(events) == done.text == text
    assert len(done.invalid) == invalid


@pytest.mark.parametrize(("sends", "error"), [one[1:] for one in ERRORS], ids=[one[0] for one in ERRORS])
async def test_an_error_is_told(sends: bytes, error: type[ModelError]) -> None:
    async with RawServer([sends]) as server:
        with pytest.raises(ModelError) as caught:
            await asked_of(server)
    assert type(caught.value) is error, caught.value


def test_what_openai_says_is_read() -> None:
    said = said_in({"error": {"message": "No quota.", "type": "insufficient_quota", "code": "insufficient_quota"}})
    assert (said.text, said.kind) == ("No quota.", "insufficient_quota")


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"cache_control": {}}, "cache_control"),
        ({"messages": []}, "empty array"),
        ({"messages": [{"role": "tool", "tool_call_id": "c", "content": "x"}]}, "must be a response"),
        ({"messages": [{"role": "assistant", "content": None}]}, "got null"),
        ({"tools": []}, "empty array"),
        ({"max_tokens": 10**9}, "supports at most"),
    ],
)
def test_the_fake_refuses_what_openai_refuses(changes: dict[str, Any], says: str) -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "stream": True}
    check_completion(body, FakeModelInfo("m"))
    with pytest.raises(Rejected, match=says):
        check_completion(body | changes, FakeModelInfo("m"))


def _piece(number: int | None, id: str, name: str, arguments: Json) -> dict[str, Json]:
    return chunk(tool_calls=[{"index": number, "id": id, "function": {"name": name, "arguments": arguments}}])


_WHOLE = '{"text": "milk", "heading": "Shop"}'
_REPEATS: dict[str, list[dict[str, Json]]] = {
    "without arguments": [_piece(0, "a", "note", "")],
    "with none at all": [_piece(0, "a", "note", None)],
    "with an empty object": [_piece(0, "a", "note", "{}")],
    "with an empty object that is no text": [_piece(0, "a", "note", {})],
    "whole": [_piece(0, "a", "note", _WHOLE)],
    "whole, as an object": [_piece(0, "a", "note", json.loads(_WHOLE))],
    "whole, in other white space": [_piece(0, "a", "note", json.dumps(json.loads(_WHOLE), indent=1))],
    "whole, in named pieces": [_piece(0, "a", "note", _WHOLE[:9]), _piece(0, "a", "note", _WHOLE[9:])],
    "whole, in pieces": [
        _piece(0, "a", "note", _WHOLE[:9]),
        chunk(tool_calls=[{"index": 0, "function": {"arguments": _WHOLE[9:]}}]),
    ],
    "under another number": [_piece(1, "a", "note", _WHOLE)],
    "under another number, in pieces": [_piece(1, "a", "note", _WHOLE[:9]), _piece(1, "a", "note", _WHOLE[9:])],
    "under another number, cut off": [_piece(1, "a", "note", _WHOLE[:9])],
    "without a number": [_piece(None, "a", "note", _WHOLE)],
    "three times": [_piece(number, "a", "note", _WHOLE) for number in (0, 1, 0)],
}


@pytest.mark.parametrize(
    "begun", [[_WHOLE], [_WHOLE[:9], _WHOLE[9:]], list(_WHOLE)], ids=["whole", "halves", "letters"]
)
@pytest.mark.parametrize("repeat", _REPEATS.values(), ids=_REPEATS)
def test_a_call_that_is_sent_again_under_its_id_and_name_is_made_once(
    repeat: list[dict[str, Json]], begun: list[str]
) -> None:
    _, done = told([*(_piece(0, "a", "note", piece) for piece in begun), *repeat, end("tool_calls")])
    assert [(block["name"], block["input"]) for block in done.content] == [("note", json.loads(_WHOLE))]
    assert not done.invalid


@pytest.mark.parametrize("number", [0, 1, None])
def test_a_call_that_is_told_whole_after_its_beginning_is_that_call(number: int | None) -> None:
    _, done = told([_piece(0, "a", "note", _WHOLE[:9]), _piece(number, "a", "note", _WHOLE), end("tool_calls")])
    assert [block["input"] for block in done.content] == [json.loads(_WHOLE)]


@pytest.mark.parametrize(
    "second",
    [("a", "note", '{"text": "tea"}'), ("a", "look", _WHOLE), ("b", "note", _WHOLE), ("", "note", _WHOLE)],
    ids=["other arguments", "another name", "another id", "no id"],
)
@pytest.mark.parametrize("number", [0, 1])
def test_another_call_is_made_too(second: tuple[str, str, str], number: int) -> None:
    id, name, arguments = second
    cut = [_piece(number, id, name, arguments[:4]), _piece(number, id, "", arguments[4:])]
    for pieces in ([_piece(number, id, name, arguments)], cut if id else []):
        if pieces:
            _, done = told([_piece(0, "a", "note", _WHOLE), *pieces, end("tool_calls")])
            assert [(block["name"], block["input"]) for block in done.content] == [
                ("note", json.loads(_WHOLE)),
                (name, json.loads(arguments)),
            ]
