"""Repair, against a checker as strict as the API."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from agent.context.repair import LOST_RESULT, repair
from agent.model.base import Block, Message, result_block
from tests.strength import examples


def as_text(words: str) -> Block:
    return {"type": "text", "text": words}


ids = st.sampled_from(["a", "b", "c", "d"])
words = st.sampled_from(["hi", "  ", "", "ends in space ", "\n", "ok"])
blocks = st.one_of(
    words.map(lambda text: as_text(text)),
    st.builds(lambda id: {"type": "tool_use", "id": id, "name": "look", "input": {}}, ids),
    st.builds(lambda id, text: {"type": "tool_result", "tool_use_id": id, "content": text}, ids, words),
    st.builds(lambda id, text: {"type": "tool_result", "tool_use_id": id, "content": [as_text(text)]}, ids, words),
    st.just({"type": "thinking", "thinking": "hm", "signature": "s"}),
    st.just({"type": "redacted_thinking", "data": "x"}),
    st.just({"type": "text"}),
    st.just({"type": "tool_use", "id": "", "name": "look", "input": {}}),
    st.just({"type": "tool_result", "content": "to nothing"}),
    st.just({"type": "image", "source": {}}),
)  # fmt: skip
messages = st.builds(
    Message, st.sampled_from(["user", "assistant", "assistant", "system"]), st.lists(blocks, max_size=4).map(tuple)
)
talks = st.lists(messages, max_size=8)


def check(talk: Sequence[Message]) -> None:
    """What a request must be, or the server refuses it (PLATFORMS: the rules of the Messages API)."""
    used: set[str] = set()
    for at, message in enumerate(talk):
        assert message.role == ("user", "assistant")[at % 2], "roles alternate, the first is user"
        assert message.content, "no empty message"
        kinds = [block.get("type") for block in message.content]
        for block in message.content:
            if block.get("type") == "text":
                assert str(block.get("text") or "").strip(), "no blank text"
            content = block.get("content")
            if isinstance(content, list):
                assert all(str(part["text"]).strip() for part in content), "no blank text in a result"
        if message.role == "assistant":
            assert not {"tool_result", "image"} & set(kinds)
            assert kinds[-1] not in ("thinking", "redacted_thinking"), "thinking is never the last block"
            calls = [str(block["id"]) for block in message.content if block.get("type") == "tool_use"]
            assert all(calls) and not used.intersection(calls) and len(set(calls)) == len(calls), "ids are unique"
            used.update(calls)
            if calls:
                assert at + 1 < len(talk), "a call is answered"
                follow = talk[at + 1].content[: len(calls)]
                assert sorted(str(block.get("tool_use_id")) for block in follow) == sorted(calls), "right after, first"
        else:
            assert not {"tool_use", "thinking", "redacted_thinking"} & set(kinds)
            results = [block.get("tool_use_id") for block in message.content if block.get("type") == "tool_result"]
            asked = [b.get("id") for b in talk[at - 1].content if b.get("type") == "tool_use"] if at else []
            assert sorted(map(str, results)) == sorted(map(str, asked)), "no orphan, no duplicate"
    if talk and talk[-1].role == "assistant" and talk[-1].content[-1].get("type") == "text":
        text = str(talk[-1].content[-1]["text"])
        assert text == text.rstrip(), "a prefill does not end in white space"


@settings(max_examples=examples(500))
@given(talks)
def test_invariant_04_any_history_becomes_a_valid_request(talk: list[Message]) -> None:
    fixed = repair(talk)
    check(fixed)
    assert repair(fixed) == fixed
    if fixed != tuple(talk):
        assert not any(block.get("type") in ("thinking", "redacted_thinking") for m in fixed for block in m.content)


@settings(max_examples=examples(300))
@given(talks)
def test_what_is_valid_already_is_not_touched(talk: list[Message]) -> None:
    try:
        check(talk)
    except (AssertionError, KeyError):
        return
    fixed = repair(talk)
    assert all(ours is theirs for ours, theirs in zip(fixed, talk, strict=True))


@settings(max_examples=examples(300))
@given(talks)
def test_no_word_of_a_person_is_lost(talk: list[Message]) -> None:
    def said(some: Sequence[Message]) -> list[str]:
        texts = (
            str(b.get("text") or "") for m in some if m.role == "user" for b in m.content if b.get("type") == "text"
        )
        return [text for text in texts if text.strip()]

    kept = said(repair(talk))
    assert kept[-len(said(talk)) :] == said(talk) if said(talk) else True


def test_a_missing_result_says_that_the_call_was_interrupted() -> None:
    call: Block = {"type": "tool_use", "id": "a", "name": "look", "input": {}}
    talk = [
        Message("user", (as_text("q"),)),
        Message("assistant", (call,)),
        Message("user", (as_text("still there?"),)),
    ]
    assert repair(talk)[2].content == (result_block("a", LOST_RESULT, error=True), as_text("still there?"))


def test_a_real_result_that_comes_late_in_the_same_message_counts() -> None:
    call: Block = {"type": "tool_use", "id": "a", "name": "look", "input": {}}
    late = Message("user", (as_text("and"), result_block("a", "42")))
    fixed = repair(
        [Message("user", (as_text("q"),)), Message("assistant", (call,)), Message("user", (as_text("x"),)), late]
    )
    assert fixed[2].content == (result_block("a", "42"), as_text("x"), as_text("and"))
