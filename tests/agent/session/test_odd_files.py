"""A talk is flushed, shortened and ended over files of any kind: replies come, and nothing that was there is lost."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.model.scripted import Call, Reply, ScriptedAnswer
from agent.values import ResultKind
from tests import strength
from tests.agent.long_conversation import OWNER, LongTalk, in_turn

LINES = b"- likes tea\n- lives in Kiel\n- works as a nurse\n- has two sons\n"
BIG = b"".join(b"- line %d of a long memory\n" % number for number in range(70_000 if strength.is_full else 14_000))
KINDS: dict[str, bytes | None] = {
    "large": LINES + BIG,
    "latin-1": b"- caf\xe9\n" + LINES,
    "CRLF": LINES.replace(b"\n", b"\r\n"),
    "BOM": b"\xef\xbb\xbf" + LINES,
    "no last line end": LINES[:-1],
    "empty": b"",
    "missing": None,
}
CLOSED = ("read-only", "a folder", "UTF-16", "binary")


def save(*edits: tuple[str, str]) -> Reply:
    update = [{"old_text": old, "new_text": new} for old, new in edits]
    return ScriptedAnswer(
        calls=(Call("save_memory", {"history_entry": "They spoke of a boat.", "memory_update": update}),)
    )


def put(file: Path, kind: str) -> bytes | None:
    file.parent.mkdir(exist_ok=True)
    if kind == "a folder":
        file.mkdir()
        (file / "inside.txt").write_text("kept")
        return None
    data = {"UTF-16": LINES.decode().encode("utf-16"), "binary": b"\0\1" + LINES, "read-only": LINES}.get(kind)
    data = KINDS.get(kind, data)
    if data is not None:
        file.write_bytes(data)
    if kind == "read-only":
        file.chmod(0o400)
    return data


def bytes_of(file: Path) -> bytes | None:
    return file.read_bytes() if file.is_file() else None


async def lived_through(talk: LongTalk) -> None:
    """A talk long enough for a flush and a compaction, and its end."""
    async with talk.behind_it():
        while not talk.entries("compaction"):
            assert (await talk.say("more", size=600)).kind is ResultKind.REPLY
        assert (await talk.say("and on")).text == "Fine."
        await talk.agent.new_session(OWNER, talk.scope)
        assert (await talk.say("hello")).text == "Fine."


def flushed(text: str) -> Iterator[Reply]:
    yield ScriptedAnswer(
        calls=(
            Call("memory_append", {"text": text}),
            Call("memory_update", {"old_text": "", "new_text": f"- {text}"}),
        )
    )
    yield "NO_REPLY"


@pytest.mark.parametrize("kind", KINDS)
async def test_only_what_is_edited_changes_in_a_memory_file(tmp_path: Path, kind: str) -> None:
    talk = LongTalk(tmp_path, consolidation=save(("likes tea", "likes coffee"), ("", "- boat: Luna")))
    talk.behind["flush"] = in_turn(*flushed("Alice sails."))
    index = talk.workspace / "MEMORY.md"
    before = put(index, kind) or b""
    await lived_through(talk)
    end = b"\r\n" if kind == "CRLF" else b"\n"
    start = before + end if before and not before.endswith(b"\n") else before
    expected = start.replace(b"likes tea", b"likes coffee") + b"- Alice sails." + end + b"- boat: Luna" + end
    assert index.read_bytes() == expected
    assert "They spoke of a boat." in talk.read("memory/HISTORY.md")


@pytest.mark.parametrize("kind", CLOSED)
async def test_a_memory_file_that_takes_nothing_stays_and_the_change_is_proposed(
    tmp_path: Path, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    talk = LongTalk(tmp_path, consolidation=save(("", "- boat: Luna")))
    talk.behind["flush"] = in_turn(*flushed("Alice sails."))
    index = talk.workspace / "MEMORY.md"
    before = put(index, kind)
    with caplog.at_level(logging.WARNING):
        await lived_through(talk)
    assert bytes_of(index) == before
    assert "Alice sails." in talk.read("memory/2026-11-21.md")
    assert "They spoke of a boat." in talk.read("memory/HISTORY.md")
    (proposal,) = (talk.workspace / "memory/proposals").iterdir()
    assert "- boat: Luna" in proposal.read_text() and "MEMORY.md" in proposal.read_text()
    assert str(index) in caplog.text


@pytest.mark.parametrize("kind", ["latin-1", "CRLF", "BOM", "no last line end", "empty", "large"])
async def test_a_daily_log_of_any_kind_only_grows(tmp_path: Path, kind: str) -> None:
    talk = LongTalk(tmp_path)
    talk.behind["flush"] = in_turn(*flushed("Alice sails."))
    log = talk.workspace / "memory/2026-11-21.md"
    before = put(log, kind) or b""
    await lived_through(talk)
    now = log.read_bytes()
    assert now.startswith(before) and b"\n- 08:30 Alice sails.\n" in now and b"## 08:30 talk-" in now


@pytest.mark.parametrize("kind", CLOSED)
async def test_a_daily_log_that_takes_nothing_stops_no_talk(
    tmp_path: Path, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    talk = LongTalk(tmp_path, consolidation=save(("", "- boat: Luna")))
    talk.behind["flush"] = in_turn(*flushed("Alice sails."))
    log = talk.workspace / "memory/2026-11-21.md"
    before = put(log, kind)
    await lived_through(talk)
    assert bytes_of(log) == before
    assert "2026-11-21.md" in caplog.text and "They spoke of a boat." in talk.read("memory/HISTORY.md")
    assert "- boat: Luna" in talk.read("MEMORY.md")
    begun = await talk.agent.new_session(OWNER, talk.scope)
    assert "2026-11-21.md" in begun.unnoted


async def test_an_idle_reset_over_a_log_that_takes_nothing_answers(tmp_path: Path) -> None:
    talk = LongTalk(tmp_path, idle=60)
    put(talk.workspace / "memory/2026-11-21.md", "a folder")
    await talk.say("first")
    talk.watch.later(hours=2)
    assert (await talk.say("second")).text == "Fine."
    assert len(await talk.agent.sessions(OWNER)) == 2


async def test_front_matter_broken_by_hand_is_not_overwritten(tmp_path: Path) -> None:
    talk = LongTalk(tmp_path)
    note = talk.workspace / "memory/notes/luna.md"
    note.parent.mkdir(parents=True)
    broken = "---\nname: [Luna\ndescription: the cat\n---\nGrey, by hand.\n"
    note.write_text(broken)
    fields = {"name": "Luna", "description": "a boat", "type": "user", "content": "A yawl."}
    talk.behind["flush"] = in_turn(Call("memory_save", fields), "NO_REPLY")
    await lived_through(talk)
    assert note.read_text() == broken
    assert all(talk.flushes()), "the flush is done"
