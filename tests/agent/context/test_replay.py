"""From entries to what a model is sent."""

from __future__ import annotations

from agent.context.replay import context
from agent.model.base import Block, Message
from agent.session.entries import CompactionEntry, Entry, MarkEntry, MessageEntry, Meta

THOUGHT: Block = {"type": "thinking", "thinking": "hm", "signature": "s"}


def text(words: str) -> Block:
    return {"type": "text", "text": words}


def user(id: str, *content: Block) -> MessageEntry:
    return MessageEntry(id, "t", "user", content)


def answer(id: str, *content: Block, prefix: str = "", reason: str = "end_turn") -> MessageEntry:
    return MessageEntry(id, "t", "assistant", content, Meta(prefix=prefix, stop_reason=reason))


def thinking_answer(id: str, before: list[Entry], words: str = "a", basis: str = "b") -> MessageEntry:
    return answer(id, THOUGHT, text(words), prefix=context(before, basis).prefix)


def thoughts(entries: list[Entry], basis: str = "b") -> int:
    return sum(block.get("type") == "thinking" for m in context(entries, basis).messages for block in m.content)


def test_neighbours_of_one_role_are_one_message() -> None:
    talk = [user("1", text("a")), user("2", text("b")), answer("3", text("c")), answer("4", text("d"))]
    assert context(talk, "").messages == (
        Message("user", (text("a"), text("b"))),
        Message("assistant", (text("c"), text("d"))),
    )


def test_answers_that_cannot_stand_are_left_out() -> None:
    talk = [
        user("1", text("a")), answer("2"), answer("3", THOUGHT), answer("4", text(" ")),
        answer("5", text("I will not"), reason="refusal"), user("6", text("b")),
    ]  # fmt: skip
    assert context(talk, "").messages == (Message("user", (text("a"), text("b"))),)


def test_thinking_goes_back_where_the_same_is_before_it() -> None:
    talk: list[Entry] = [user("1", text("q"))]
    talk.append(thinking_answer("2", talk))
    talk.append(user("3", text("more")))
    talk.append(thinking_answer("4", talk))
    talk.append(user("5", text("and")))
    assert thoughts(talk) == 2


def test_thinking_is_left_out_after_another_model_or_other_tools() -> None:
    talk: list[Entry] = [user("1", text("q"))]
    talk += [thinking_answer("2", talk, basis="old"), user("3", text("more"))]
    talk += [thinking_answer("4", talk, basis="new"), user("5", text("and"))]
    assert thoughts(talk, basis="new") == 1
    assert thoughts(talk, basis="old") == 1
    assert thoughts(talk, basis="third") == 0


def test_thinking_is_left_out_behind_a_lost_line() -> None:
    talk: list[Entry] = [user("1", text("q")), user("2", text("lost"))]
    talk += [thinking_answer("3", talk), user("4", text("more"))]
    del talk[1]
    assert thoughts(talk) == 0
    talk += [thinking_answer("5", talk), user("6", text("and"))]
    assert thoughts(talk) == 1


def test_a_summary_stands_for_what_was_before_the_first_kept() -> None:
    talk: list[Entry] = [
        user("1", text("old")), answer("2", text("old answer")),
        user("3", text("kept")), answer("4", text("kept answer")),
        CompactionEntry("5", "t", "They spoke of old things.", first_kept="3"), user("6", text("new")),
    ]  # fmt: skip
    words = [str(block["text"]) for m in context(talk, "").messages for block in m.content]
    assert words[0].endswith("They spoke of old things.") and words[1:] == ["kept", "kept answer", "new"]
    talk.append(CompactionEntry("7", "t", "Everything so far.", first_kept="lost"))
    talk.append(user("8", text("newest")))
    words = [str(block["text"]) for m in context(talk, "").messages for block in m.content]
    assert words[0].endswith("Everything so far.") and words[1:] == ["newest"]


def test_a_reset_begins_anew_and_other_marks_change_nothing() -> None:
    talk: list[Entry] = [user("1", text("old")), MarkEntry("2", "t", "reset"), user("3", text("new"))]
    talk += [MarkEntry("4", "t", "flush"), MarkEntry("5", "t", "of the future"), answer("6", text("yes"))]
    assert context(talk, "").messages == (Message("user", (text("new"),)), Message("assistant", (text("yes"),)))
