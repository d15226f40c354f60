"""The pure parts: body, answer, errors."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.model.anthropic.request import body_of, encoded
from agent.model.anthropic.stream import AnswerAssembler
from agent.model.base import Block, Json, Message, ModelRequest, TextDelta, ToolSpec, TryLater
from agent.model.errors import quoted
from agent.model.transport import retry_after
from tests.fakes.anthropic_rules import without_marks
from tests.fakes.raw_http import call_block, ended, started

TOOL = ToolSpec("memory_get", "Read.", {"type": "object", "properties": {}})
BLOCKS: list[Block] = [
    {"type": "text", "text": "hello"},
    {"type": "text", "text": ""},
    {"type": "thinking", "thinking": "hm", "signature": "s"},
    {"type": "tool_use", "id": "t", "name": "memory_get", "input": {"path": "x"}},
    {"type": "tool_result", "tool_use_id": "t", "content": "x"},
]
block = st.sampled_from(BLOCKS)
histories = st.lists(st.lists(block, min_size=1, max_size=4), min_size=1, max_size=9).map(
    lambda contents: tuple(Message(("user", "assistant")[at % 2], tuple(c)) for at, c in enumerate(contents))
)


def request(
    messages: tuple[Message, ...], cache: str = "5m", system: tuple[str, ...] = ("a", "b"), *, aside: bool = False
) -> ModelRequest:
    return ModelRequest("claude-sonnet-5-5", system, messages, (TOOL,), 100, cache=cache, aside=aside)


def marks(value: object) -> list[Block]:
    if isinstance(value, dict):
        own = [value] if "cache_control" in value else []
        return own + [found for part in value.values() for found in marks(part)]
    return [found for part in value for found in marks(part)] if isinstance(value, list) else []


@given(histories)
def test_invariant_09_marks_move_and_nothing_else_changes(messages: tuple[Message, ...]) -> None:
    """Whatever is marked, the bytes that the cache and signatures hang on are those of the request before."""
    marked = json.loads(json.dumps(body_of(request(messages))))
    plain = json.loads(json.dumps(body_of(request(messages, cache="off"))))
    assert without_marks(marked) == plain
    assert [list(message["content"]) for message in plain["messages"]] == [list(m.content) for m in messages]
    longer = json.loads(json.dumps(body_of(request((*messages, Message("user", ({"type": "text", "text": "x"},)))))))
    assert without_marks(longer)["messages"][:-1] == plain["messages"]
    assert (without_marks(longer)["system"], longer["tools"]) == (plain["system"], plain["tools"])


@given(histories)
def test_what_is_said_aside_is_not_kept_and_what_is_before_it_is(messages: tuple[Message, ...]) -> None:
    aside: Block = {"type": "text", "text": "between us"}
    own = (*messages, Message("user", (aside,)))
    joined = (*messages[:-1], Message(messages[-1].role, (*messages[-1].content, aside)))
    for said in (own, joined):
        body = json.loads(json.dumps(body_of(request(said, aside=True))))
        plain = json.loads(json.dumps(body_of(request(messages))))
        assert marks(body["messages"]) == marks(plain["messages"])
        assert without_marks(body) == json.loads(json.dumps(body_of(request(said, cache="off"))))
    assert not marks(body_of(request((Message("user", (aside,)),), aside=True))["messages"])


@given(histories, st.sampled_from(["5m", "1h", "off"]))
def test_marks_are_few_and_only_where_they_may_stand(messages: tuple[Message, ...], cache: str) -> None:
    marked = marks(json.loads(json.dumps(body_of(request(messages, cache)))))
    assert len(marked) <= 4
    assert all(one["type"] in ("text", "tool_use", "tool_result") and one.get("text") != "" for one in marked)
    assert bool(marked) == (cache != "off")


def test_without_a_system_the_tools_are_marked() -> None:
    body = body_of(request((Message("user", ({"type": "text", "text": "x"},)),), system=()))
    assert "system" not in body
    assert marks(body["tools"])


@given(
    st.recursive(
        st.text() | st.integers() | st.none(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_a_body_can_always_be_sent_and_says_what_it_said(value: Json) -> None:
    said = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace").decode()
    assert json.loads(encoded({"said": value})) == {"said": json.loads(said)}
    assert json.loads(encoded({"said": "caf\u00e9 \U0001f44b"})) == {"said": "caf\u00e9 \U0001f44b"}
    assert json.loads(encoded({"said": ["\ud800x"]})) == {"said": ["?x"]}


def test_numbers_that_json_has_not_do_not_lock_a_talk() -> None:
    """Python reads them in a model's call of a tool, which is sent again with every request."""
    assert encoded({"input": {"share": float("nan"), "most": float("inf"), "least": 1.5}}) == (
        b'{"input":{"share":null,"most":null,"least":1.5}}'
    )


def test_what_lies_deep_goes_out_as_it_is() -> None:
    deep: Json = "end"
    for _ in range(400):
        deep = [deep]
    assert json.loads(encoded({"input": deep})) == {"input": deep}


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)
events = st.fixed_dictionaries(
    {"type": st.sampled_from(["message_start", "content_block_start", "content_block_delta", "message_delta", "odd"])},
    optional={"message": junk, "content_block": junk, "delta": junk, "index": junk, "usage": junk},
)


@given(st.lists(events, max_size=8))
def test_no_event_however_odd_breaks_the_assembly(stream: list[dict[str, Json]]) -> None:
    assembly = AnswerAssembler("m")
    for event in stream:
        list(assembly.feed(event))
    with pytest.raises(TryLater):
        assembly.completed()


@given(st.lists(st.text(min_size=1), max_size=6))
def test_text_comes_out_as_it_went_in_however_it_was_cut(pieces: list[str]) -> None:
    assembly = AnswerAssembler("m")
    stream: list[dict[str, Json]] = [
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    ]
    stream += [
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}} for piece in pieces
    ]
    stream += [{"type": "message_delta", "delta": {"stop_reason": "end_turn"}}, {"type": "message_stop"}]
    shown = [told.text for event in stream for told in assembly.feed(event) if isinstance(told, TextDelta)]
    assert shown == pieces
    assert assembly.completed().content == ({"type": "text", "text": "".join(pieces)},)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "12"}, 12.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "Sat, 21 Nov 2026 08:01:00 GMT", "date": "Sat, 21 Nov 2026 08:00:00 GMT"}, 60.0),
        ({"retry-after": "Sat, 21 Nov 2026 08:01:00 GMT"}, None),
    ],
)
def test_the_servers_delay(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


def test_a_quote_is_short_and_shows_no_key() -> None:
    said = quoted("bad key hush-hush\n and sk-ant-api03-abcdef " + "x" * 1000, "hush-hush")
    assert said.startswith("bad key *** and *** xxx")
    assert len(said) == 300


@pytest.mark.parametrize("given", [{}, {"text": "milk"}])
def test_a_call_that_is_sent_twice_under_its_id_and_name_is_made_once(given: dict[str, Json]) -> None:
    first = call_block("note", json.dumps({"text": "milk"}), index=0, id="a")
    answer = AnswerAssembler("m")
    for event in (started(), *first, *call_block("note", index=1, id="a", given=given), *ended("tool_use")):
        list(answer.feed(event))
    assert [block["input"] for block in answer.completed().content] == [{"text": "milk"}]


@pytest.mark.parametrize(("id", "name"), [("b", "note"), ("a", "look"), ("a", "note")])
def test_two_calls_are_two(id: str, name: str) -> None:
    answer = AnswerAssembler("m")
    text = "milk" if (id, name) != ("a", "note") else "tea"
    second = call_block(name, index=1, id=id, given={"text": text})
    for event in (started(), *call_block("note", index=0, id="a", given={"text": "milk"}), *second, *ended("tool_use")):
        list(answer.feed(event))
    assert [block["name"] for block in answer.completed().content] == ["note", name]
