"""Sessions on disk."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.clock import Clock, utc_stamp
from agent.session.archive import Archive, NoSuchSession, new_id
from agent.session.entries import Header, MessageEntry, RedactionEntry
from agent.session.redaction import places
from agent.session.transcript import Transcript
from agent.session.turn_record import TurnRecord
from agent.values import SessionKey

OWNER = SessionKey("main", "owner")
TOPIC = SessionKey("main", "group/telegram--100/7")
DAY = datetime(2026, 11, 21, 8, 30, tzinfo=UTC)
moments = st.integers(0, 10**12).map(lambda ms: DAY + timedelta(milliseconds=ms))


def start(archive: Archive, key: SessionKey, at: datetime, messages: int = 1) -> str:
    id = new_id(at)
    transcript = Transcript.create(archive.path(key, id), Header(id, key.path, key.agent, utc_stamp(at)))
    content = ({"type": "text", "text": "hi"},)
    entries = [
        MessageEntry(transcript.new_id(), utc_stamp(at + timedelta(minutes=n + 1)), "user", content)
        for n in range(messages)
    ]
    asyncio.run(transcript.append(*entries))
    archive.make_current(key, id)
    return id


@given(st.lists(moments, min_size=2))
def test_ids_sort_by_time(times: list[datetime]) -> None:
    milliseconds = sorted({moment.replace(microsecond=moment.microsecond // 1000 * 1000) for moment in times})
    ids = [new_id(moment) for moment in milliseconds]
    assert ids == sorted(ids) and len(set(ids)) == len(ids)


def test_what_is_listed(tmp_path: Path) -> None:
    archive = Archive(tmp_path, "main")
    assert archive.sessions() == () and archive.current(OWNER) is None
    first = start(archive, OWNER, DAY, messages=2)
    topic = start(archive, TOPIC, DAY + timedelta(hours=1))
    second = start(archive, OWNER, DAY + timedelta(hours=2), messages=3)
    assert [(info.id, info.key, info.messages) for info in archive.sessions()] == [
        (second, OWNER, 3),
        (topic, TOPIC, 1),
        (first, OWNER, 2),
    ]
    assert archive.sessions(OWNER)[1].started == DAY
    assert archive.sessions(OWNER)[1].last == DAY + timedelta(minutes=2)
    assert archive.current(OWNER) == second


def test_another_agent_s_sessions_are_not_ours(tmp_path: Path) -> None:
    start(Archive(tmp_path, "other"), SessionKey("other", "owner"), DAY)
    assert Archive(tmp_path, "main").sessions() == ()
    with pytest.raises(ValueError):
        Archive(tmp_path, "main").path(SessionKey("other", "owner"), "x")


@pytest.mark.parametrize("path", ["", "..", "a/../b", "/etc", "a//b", "a\\b", "a\0b"])
def test_a_key_never_leads_out(tmp_path: Path, path: str) -> None:
    with pytest.raises(ValueError):
        Archive(tmp_path, "main").current(SessionKey("main", path))


@pytest.mark.parametrize("damage", [None, b"", b"../../x", b"\xff\xff", b"20200101-000000-000-0000"])
def test_without_a_usable_choice_the_newest_is_current(tmp_path: Path, damage: bytes | None) -> None:
    archive = Archive(tmp_path, "main")
    start(archive, OWNER, DAY)
    newest = start(archive, OWNER, DAY + timedelta(days=1))
    choice = archive.path(OWNER, newest).parent / "current"
    choice.unlink() if damage is None else choice.write_bytes(damage)
    assert archive.current(OWNER) == newest


def test_a_session_is_found_by_part_of_its_id(tmp_path: Path) -> None:
    archive = Archive(tmp_path, "main")
    first, second = start(archive, OWNER, DAY), start(archive, TOPIC, DAY + timedelta(days=1))
    assert archive.find(first).key == OWNER
    assert archive.find(second[:8]).id == second
    assert archive.find(f" {first[-4:]} ").id == first
    for wrong in ("nothing", "", "   ", "2026"):
        with pytest.raises(NoSuchSession):
            archive.find(wrong)
    with pytest.raises(NoSuchSession):
        archive.find(second, OWNER)


def test_prune_keeps_what_is_in_use(tmp_path: Path) -> None:
    archive = Archive(tmp_path, "main")
    old, current = start(archive, OWNER, DAY), start(archive, OWNER, DAY + timedelta(days=1))
    assert [info.id for info in archive.prune(DAY + timedelta(days=30))] == [old]
    assert [info.id for info in archive.sessions()] == [current]


def test_prune_takes_old_tasks_and_no_others(tmp_path: Path) -> None:
    archive, task = Archive(tmp_path, "main"), SessionKey("main", "owner/tasks/3f2a")
    current, named = start(archive, OWNER, DAY), start(archive, SessionKey("main", "owner/tasks"), DAY)
    old, new = start(archive, task, DAY), start(archive, task, DAY + timedelta(days=40))
    assert [info.id for info in archive.prune(DAY + timedelta(days=30))] == [old]
    assert {info.id for info in archive.sessions()} == {current, named, new}


def test_junk_among_the_transcripts_is_left_alone(tmp_path: Path) -> None:
    archive = Archive(tmp_path, "main")
    good = start(archive, OWNER, DAY)
    junk = archive.path(OWNER, "20260101-000000-000-beef")
    junk.write_bytes(b"no transcript")
    (junk.parent / "notes.jsonl").write_text("mine")
    assert [info.id for info in archive.sessions()] == [good]
    assert junk.exists()


async def said(archive: Archive, text: str) -> Transcript:
    id = new_id(DAY)
    transcript = Transcript.create(archive.path(OWNER, id), Header(id, OWNER.path, OWNER.agent, utc_stamp(DAY)))
    record = TurnRecord(transcript, "t1", Clock(ZoneInfo("UTC"), lambda: DAY))
    await record.said([text], ["m1"], "Alice")
    await record.said(["something else"], ["m2"], "Alice")
    return transcript


async def test_the_title_is_the_first_thing_that_was_said(tmp_path: Path) -> None:
    archive = Archive(tmp_path, "main")
    await said(archive, "Where shall we go in May?\n\nI thought of a boat, " + "and another one, " * 10)
    (info,) = archive.sessions()
    assert info.title == "Where shall we go in May? I thought of a boat, and another…"


async def test_the_title_says_nothing_that_was_forgotten(tmp_path: Path) -> None:
    archive = Archive(tmp_path, "main")
    transcript = await said(archive, "My boat lies in Zanzibar")
    lines = places(transcript.entries, lambda line: "Zanzibar" in line)
    await transcript.append(RedactionEntry(transcript.new_id(), utc_stamp(DAY), "2026-11-21", lines))
    assert archive.sessions()[0].title == "[forgotten 2026-11-21]"
