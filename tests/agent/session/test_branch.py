"""Branches of a transcript: the newest version counts, the file keeps all, and both read the same from disk."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from agent.context.prompt import FixedPart
from agent.context.replay import context
from agent.forget import redact
from agent.session.entries import (
    CompactionEntry,
    Entry,
    Header,
    MarkEntry,
    MessageEntry,
    Meta,
    RedactionEntry,
    branch_mark,
    newest_version,
)
from agent.session.export import markdown
from agent.session.transcript import Transcript
from tests.agent.places import morning
from tests.strength import examples

CLOCK = morning().clock
AT = "2026-11-21T08:30:00.000Z"
HEADER = Header("20261121-083000-000-abcd", "owner", "main", AT, ("rules",))


def said(id: str, text: str = "") -> MessageEntry:
    return MessageEntry(id, AT, "user", ({"type": "text", "text": text or id},), Meta(said=(id,), sender="Alice"))


def answered(id: str, text: str = "") -> MessageEntry:
    return MessageEntry(id, AT, "assistant", ({"type": "text", "text": text or id},), Meta(stop_reason="end_turn"))


def branch(id: str, first: str) -> MarkEntry:
    return branch_mark(id, AT, said(first))


def ids(entries: Sequence[Entry]) -> list[str]:
    return [entry.id for entry in entries if not isinstance(entry, MarkEntry)]


def sent(entries: Sequence[Entry]) -> list[str]:
    return [
        str(block["text"]) for message in context(newest_version(entries), "").messages for block in message.content
    ]


def test_what_was_said_since_the_replaced_message_counts_no_more() -> None:
    talk = [said("q1"), answered("a1"), said("q2"), answered("a2"), branch("b1", "q2"), said("q3"), answered("a3")]
    assert ids(newest_version(talk)) == ["q1", "a1", "q3", "a3"]
    assert ids(newest_version([*talk, branch("b2", "q3"), said("q4")])) == ["q1", "a1", "q4"]
    assert ids(newest_version([*talk, branch("b2", "q1"), said("q4")])) == ["q4"]
    assert ids(newest_version([*talk, branch("b2", "q2"), branch("b3", "gone")])) == ["q1", "a1", "q3", "a3"]


def test_a_summary_counts_as_long_as_all_that_it_covers_does() -> None:
    covers_one = CompactionEntry("c", AT, "they met", "q2")
    talk = [said("q1"), answered("a1"), said("q2"), answered("a2"), said("q3"), covers_one, answered("a3")]
    assert sent([*talk, branch("b", "q3"), said("q4")])[1:] == ["q2", "a2", "q4"], "it stays"
    assert sent([*talk, branch("b", "q1"), said("q4")]) == ["q4"]
    assert sent([*talk, branch("b", "q2"), said("q4")]) == ["q1", "a1", "q4"], "no gap where its first entry is gone"


def test_what_was_forgotten_is_forgotten_in_every_version(tmp_path: Path) -> None:
    async def scenario() -> None:
        transcript = Transcript.create(tmp_path / "t.jsonl", HEADER)
        await transcript.append(said("e000001", "my Luna"), answered("e000002", "Luna it is"))
        await transcript.append(branch("e000003", "e000001"), said("e000004", "my cat"), answered("e000005", "A cat."))
        await redact([transcript], lambda line: "Luna" in line, CLOCK, "change", FixedPart((), {}))
        for one in (transcript, Transcript.read(transcript.path)):
            assert "Luna" not in str(one.all_entries) and "Luna" not in markdown(one, CLOCK)
            assert ids(one.entries)[:2] == ["e000004", "e000005"]

    asyncio.run(scenario())


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.tuples(st.sampled_from("qabcr"), st.integers(0, 30)), max_size=30))
def test_a_running_session_and_its_file_agree(steps: list[tuple[str, int]]) -> None:
    async def scenario(folder: Path) -> None:
        transcript = Transcript.create(folder / "t.jsonl", HEADER)
        for kind, pick in steps:
            id, known = transcript.new_id(), [one.id for one in transcript.entries if isinstance(one, MessageEntry)]
            target = known[pick % len(known)] if known else ""
            entry: Entry
            match kind:
                case "q":
                    entry = said(id)
                case "a":
                    entry = answered(id)
                case "b" if target:
                    entry = branch(id, target)
                case "c" if target:
                    entry = CompactionEntry(id, AT, "summary", target)
                case _:
                    entry = RedactionEntry(id, AT, "2026-11-21", {target: [(0, 0)]})
            before = ids(transcript.entries)
            await transcript.append(entry)
            if kind == "b" and target:
                assert set(ids(transcript.entries)) < set(before) and target not in ids(transcript.entries)
        read = Transcript.read(transcript.path)
        assert list(read.entries) == list(transcript.entries)
        assert list(read.all_entries) == list(transcript.all_entries)
        assert context(read.entries, "x") == context(transcript.entries, "x")

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(scenario(Path(folder)))
