"""What was forgotten is not read any more, whatever an entry is made of."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from agent.context.replay import context
from agent.model.base import Block
from agent.session.entries import CompactionEntry, Entry, Header, MarkEntry, MessageEntry, Meta, RedactionEntry
from agent.session.jsonl import entry_line, read_entry
from agent.session.redaction import open_redactions, places, redacted
from agent.session.transcript import Transcript

TS = "2026-11-21T07:30:00.000Z"


def message(id: str, role: str, *content: Block, **meta: str) -> MessageEntry:
    return MessageEntry(id, TS, role, content, Meta(turn="t", **meta))  # type: ignore[arg-type]


def text(words: str) -> Block:
    return {"type": "text", "text": words}


TALK: list[Entry] = [
    message("e1", "user", text("[2026-11-21 Sat 08:30 Europe/Berlin · Luna]\nmy cat Luna\nand tea")),
    message("e2", "assistant", {"type": "thinking", "thinking": "hm", "signature": "s"}, text("Luna!")),
    message("e3", "assistant", {"type": "tool_use", "id": "Luna", "name": "Luna", "input": {"a": ["x", "of Luna"]}}),
    message("e4", "user", {"type": "tool_result", "tool_use_id": "Luna", "content": "1\n2 Luna\n3"}),
    message("e5", "user", {"type": "tool_result", "tool_use_id": "b", "content": [text("Luna"), text("dog")]}),
    message("e6", "assistant", {"type": "thinking", "thinking": "Luna, surely", "signature": "s"}, text("No.")),
    message("e7", "user", text("tea")),
    CompactionEntry("e8", TS, "of Luna\nand tea", "e7"),
    MarkEntry("e9", TS, "flush", {"why": "Luna"}),
]


def forgotten(entries: list[Entry], word: str = "Luna") -> RedactionEntry:
    return RedactionEntry("r1", TS, "2026-11-22", places(entries, lambda line: word in line), change="c1")


def test_every_line_that_speaks_of_it_is_a_mark_and_nothing_else() -> None:
    mark = forgotten(TALK)
    assert set(mark.lines) == {"e1", "e2", "e3", "e4", "e5", "e6", "e8"}
    assert "Luna" not in entry_line(mark).decode()
    shown = redacted([*TALK, mark])
    struck = "[forgotten 2026-11-22]"
    contents = [entry.content for entry in shown if isinstance(entry, MessageEntry)]
    assert contents == [
        (text(f"[2026-11-21 Sat 08:30 Europe/Berlin · Luna]\n{struck}\nand tea"),),
        (text(struck),),
        ({"type": "tool_use", "id": "Luna", "name": "Luna", "input": {"a": ["x", struck]}},),
        ({"type": "tool_result", "tool_use_id": "Luna", "content": f"1\n{struck}\n3"},),
        ({"type": "tool_result", "tool_use_id": "b", "content": [text(struck), text("dog")]},),
        (text("No."),),
        (text("tea"),),
    ]
    assert shown[6:9] == [TALK[6], CompactionEntry("e8", TS, f"{struck}\nand tea", "e7"), TALK[8]]
    assert not places(shown, lambda line: "Luna" in line)


def test_an_undone_forgetting_is_none() -> None:
    mark = forgotten(TALK)
    lift = RedactionEntry("r2", TS, lifts="r1")
    assert open_redactions([*TALK, mark], "c1") == [mark]
    assert redacted([*TALK, mark, lift])[: len(TALK)] == TALK
    assert open_redactions([*TALK, mark, lift], "c1") == [] == open_redactions([*TALK, mark], "c2")


def test_thinking_from_before_is_not_sent_any_more() -> None:
    question = message("e1", "user", text("Luna"))
    prefix = context([question], "basis").prefix
    answer = message("e2", "assistant", {"type": "thinking", "thinking": "hm", "signature": "s"}, text("yes"))
    talk: list[Entry] = [question, MessageEntry("e2", TS, "assistant", answer.content, Meta(prefix=prefix))]
    assert "thinking" in str(context(talk, "basis").messages)
    mark = forgotten([question])
    after = context(redacted([*talk, mark]), "basis")
    assert "thinking" not in str(after.messages) and "Luna" not in str(after.messages)


async def test_it_is_the_same_when_read_back_and_the_file_only_grows(tmp_path: Path) -> None:
    header = Header("20261121-073000-000-aaaa", "owner", "main", TS)
    transcript = Transcript.create(tmp_path / "x.jsonl", header)
    await transcript.append(*TALK)
    before = transcript.path.read_bytes()
    await transcript.append(forgotten(TALK))
    await transcript.append(message("e10", "user", text("a new talk of Luna")))
    again = Transcript.read(transcript.path)
    assert list(again.entries) == list(transcript.entries) and transcript.path.read_bytes().startswith(before)
    assert places(again.entries, lambda line: "Luna" in line) == {"e10": [(0, 0)]}


_json = st.recursive(
    st.text(max_size=12) | st.integers() | st.none() | st.booleans(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(st.tuples(_json, st.text(max_size=30)), max_size=4), st.sampled_from(["a", "\n", " ", "0", "é"]))
def test_whatever_is_found_is_gone_and_the_rest_stays(parts: list[tuple[object, str]], word: str) -> None:
    talk: list[Entry] = [
        message(f"e{at}", "assistant", {"type": "tool_use", "id": "x", "name": "n", "input": given}, text(words))  # type: ignore[dict-item]
        for at, (given, words) in enumerate(parts)
    ]
    mark = RedactionEntry("r", TS, "-", places(talk, lambda line: word in line))
    assert read_entry(entry_line(mark)) == mark
    shown = redacted([*talk, mark])[: len(talk)]
    assert not places(shown, lambda line: word in line and "[forgotten" not in line)
    untouched = [entry for entry in talk if entry.id not in mark.lines]
    assert [entry for entry in shown if entry.id not in mark.lines] == untouched
    assert json.dumps([str(entry) for entry in shown])
