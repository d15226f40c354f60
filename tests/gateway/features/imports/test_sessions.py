"""Conversations out of the sessions of OpenClaw and nanobot: what was said comes, and nothing that nobody said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.features.imports import nanobot, openclaw
from gateway.features.imports.values import SessionLine
from tests.gateway.conftest import Daybook, Moment, Running
from tests.gateway.features.imports.conftest import bring, refused, tree
from tests.gateway.features.imports.made import KEY, from_telegram, jsonl, oc_header, oc_message, openclaw_home
from tests.gateway.features.imports.test_trees import ANYTHING, LIKELY

OC = "memory/imported/openclaw"
SESSIONS = "agents/main/sessions"


def day(daybook: Daybook, name: str) -> str:
    return (daybook.workspace / name).read_text()


def skipped(report: dict[str, Any]) -> list[str]:
    return [f"{one['what']} {one['why']}" for one in report["skipped"]]


async def test_a_session_of_openclaw_is_in_the_log_of_its_day(
    gateway: Running, daybook: Daybook, tmp_path: Path
) -> None:
    report = await bring(gateway, "openclaw", openclaw_home(tmp_path / ".openclaw"))
    assert (report["conversations"], report["messages"], report["skipped"]) == (1, 2, [])
    assert day(daybook, f"{OC}/2026-02-04.md") == (
        "# 2026-02-04\n\n## When does the ferry leave? (from: OpenClaw import)\n"
        "<!-- imported openclaw 7d1a 2026-02-04T15:12:09Z -->\n"
        "- 16:12 User: When does the ferry leave? (from: OpenClaw import)\n"
        "- 16:12 OpenClaw: At **19:40**. (from: OpenClaw import)\n"
    )
    assert "Mia is my daughter" in day(daybook, "MEMORY.md"), "the workspace comes with it"
    for scope, found in (("owner", True), ("person:bob", False), ("group:telegram:-100123", False)):
        assert bool(await gateway.ask("memory.search", query="when does the ferry leave", scope=scope)) is found


async def test_a_session_that_went_on_brings_what_is_new(gateway: Running, daybook: Daybook, tmp_path: Path) -> None:
    home = openclaw_home(tmp_path / "theirs")
    await bring(gateway, "openclaw", home)
    before = tree(daybook)
    again = await bring(gateway, "openclaw", home)
    assert (again["id"], again["files"]) == ("", []) and tree(daybook) == before
    session = home / SESSIONS / "7d1a.jsonl"
    with session.open("a") as file:
        file.write(json.dumps(oc_message("user", "And back?", "2026-02-04T16:00:00.000Z")) + "\n")
    # `/new`, since: the file has a name of its own, and the conversation is the same
    session.rename(session.with_name("7d1a.jsonl.reset.2026-02-05T03-00-00.000Z"))
    report = await bring(gateway, "openclaw", home)
    assert (report["conversations"], report["messages"]) == (1, 1)
    assert "And back?" in day(daybook, f"{OC}/2026-02-04-openclaw.md")


async def test_what_openclaw_writes_to_itself_is_left_out_and_counted(
    gateway: Running, daybook: Daybook, tmp_path: Path
) -> None:
    home = openclaw_home(tmp_path / "theirs")
    jsonl(
        home / SESSIONS / "aa.jsonl",
        oc_header("aa", "2026-02-05T08:00:00.000Z"),
        oc_message("user", "A new session was started via /new or /reset. Greet.", "2026-02-05T08:00:00.000Z"),
        oc_message("assistant", "Morning!", "2026-02-05T08:00:01.000Z"),
        oc_message("user", "Read HEARTBEAT.md if it exists.", "2026-02-05T08:30:00.000Z"),
        oc_message("assistant", "HEARTBEAT_OK", "2026-02-05T08:30:01.000Z"),
        oc_message("user", "[Thu 2026-02-05 09:00 GMT+1] Tea?\n[message_id: 77]", "2026-02-05T09:00:00.000Z"),
        oc_message("assistant", "Tea.", "2026-02-05T09:00:01.000Z"),
        oc_message("assistant", "Tea.", "2026-02-05T09:00:02.000Z", provider="openclaw", model="delivery-mirror"),
        oc_message("user", [{"type": "image", "data": "xx"}, {"type": "hologram"}], "2026-02-05T09:01:00.000Z"),
        {"type": "quantum", "id": "q"},
        "{broken",
        '{"type": "message", "id": "torn", "mess',
    )
    jsonl(home / SESSIONS / "cron.jsonl", oc_message("user", "Water the plants", "2026-02-05T09:00:00.000Z"))
    for name in ("d.jsonl.deleted.2026-02-05T03-00-00.000Z", "z.jsonl.reset.2026-02-05T03-00-00Z.zst"):
        (home / SESSIONS / name).write_text("")
    jsonl(home / SESSIONS / "aa.checkpoint.0f0f0f0f-0f0f-4f0f-8f0f-0f0f0f0f0f0f.jsonl", oc_header("aa", "x"))
    (home / "agents/main/agent").mkdir()
    (home / "agents/main/agent/openclaw-agent.sqlite").write_bytes(b"SQLite")
    index = {"agent:main:main": {"sessionId": "aa", "label": "Tea time"}, "cron:plants": {"sessionId": "cron"}}
    (home / SESSIONS / "sessions.json").write_text(json.dumps(index))
    report = await bring(gateway, "openclaw", home)
    text = day(daybook, f"{OC}/2026-02-05.md")
    said = [line[8:].removesuffix(" (from: OpenClaw import)") for line in text.splitlines() if line.startswith("- ")]
    assert said == ["OpenClaw: Morning!", "User: Tea?", "OpenClaw: Tea.", "User: [a picture]"]
    assert "## Tea time (from" in text
    assert sorted(skipped(report)) == [
        "1 file of sessions are copies of others",
        "1 file of sessions are of jobs and helpers",
        "1 file of sessions are packed with zstd: unpack them with `zstd -d`, then import again",
        "1 file of sessions were deleted there",
        "agents/main/agent/openclaw-agent.sqlite may hold newer conversations: databases are not read",
        f"{SESSIONS}/aa.jsonl has 2 lines that cannot be read",
        "“hologram” in sessions (1) is not known",
        "“quantum” in sessions (1) is not known",
    ]
    assert any(one.startswith("3 messages that OpenClaw wrote itself") for one in report["remarks"])


async def test_in_a_group_everyone_has_their_name(gateway: Running, daybook: Daybook, tmp_path: Path) -> None:
    home = openclaw_home(tmp_path / "theirs")
    about = {"is_group_chat": True, "group_subject": "Crew"}
    jsonl(
        home / SESSIONS / "crew-topic-7.jsonl",
        oc_header("crew", "2026-02-06T08:00:00.000Z"),
        oc_message("user", from_telegram("I can't eat nuts", **about), "2026-02-06T08:00:00.000Z"),
        oc_message("user", "unnamed", "2026-02-06T08:01:00.000Z"),
    )
    index = {"agent:main:telegram:group:-100:topic:7": {"sessionId": "crew", "chatType": "group", "subject": "Crew"}}
    (home / SESSIONS / "sessions.json").write_text(json.dumps(index))
    await bring(gateway, "openclaw", home)
    text = day(daybook, f"{OC}/2026-02-06.md")
    assert "Ann: I can't eat nuts" in text and "Somebody: unnamed" in text and "User:" not in text


async def test_what_a_compacted_session_repeats_comes_once(gateway: Running, daybook: Daybook, tmp_path: Path) -> None:
    home = openclaw_home(tmp_path / "theirs")
    kept = oc_message("user", "The boat is blue", "2026-02-07T08:00:00.000Z", id="k1")
    jsonl(home / SESSIONS / "zz.jsonl", oc_header("zz", "2026-02-07T07:00:00.000Z"), kept)
    later = oc_message("user", "And it leaks", "2026-02-07T09:00:00.000Z", id="k2")
    jsonl(home / SESSIONS / "00.jsonl", oc_header("00", "2026-02-07T08:30:00.000Z"), kept, later)
    await bring(gateway, "openclaw", home)
    text = day(daybook, f"{OC}/2026-02-07.md")
    assert text.count("User: The boat is blue") == 1 and "And it leaks" in text
    assert "imported openclaw zz" in text.partition("User: The boat")[0], "in the file that had it first"


async def test_conversations_come_without_a_workspace_and_are_named_beside_one(
    gateway: Running, daybook: Daybook, tmp_path: Path
) -> None:
    home = openclaw_home(tmp_path / "theirs")
    report = await bring(gateway, "openclaw", home / "workspace")
    assert report["conversations"] == 0 and any("conversations are beside it" in one for one in report["remarks"])
    (home / "workspace").rename(tmp_path / "elsewhere")
    report = await bring(gateway, "openclaw", home)
    assert [one["path"] for one in report["files"]] == [f"{OC}/2026-02-04.md"] and report["skipped"] == []


async def test_sessions_of_nanobot_come_from_both_of_its_folders(
    gateway: Running, daybook: Daybook, tmp_path: Path
) -> None:
    home = tmp_path / ".nanobot"
    (home / "workspace/memory").mkdir(parents=True)
    (home / "workspace/memory/MEMORY.md").write_text("# Long-term Memory\n\n- Tea at four\n")
    head = {"_type": "metadata", "key": "telegram:12", "created_at": "2026-01-02T03:04:05.1", "metadata": {}}
    old = {"role": "user", "content": "Old words", "timestamp": "2026-01-02T00:30:00"}
    jsonl(home / "sessions/telegram_12.jsonl", head, old)
    aim = "[Runtime Context — metadata only, not instructions]\nGoal (active):\nShip\n[/Runtime Context]"
    jsonl(
        home / "workspace/sessions/telegram_12.jsonl",
        head,
        {"_type": "provider_state", "state": {"kind": "x"}},
        {"role": "user", "content": "olá\n[image: /home/u/1.png]", "timestamp": "2026-01-03T03:04:05.124001"},
        {"role": "assistant", "content": "", "tool_calls": [{"id": "1"}], "timestamp": "2026-01-03T03:04:06"},
        {"role": "tool", "content": "two files", "tool_call_id": "1", "timestamp": "2026-01-03T03:04:07"},
        {"role": "assistant", "content": "Two files.", "timestamp": "2026-01-03T03:04:08", "latency_ms": 8},
        {"role": "user", "content": "Continue the task", "timestamp": "2026-01-03T03:05:00", "_hidden_history": True},
        {"role": "user", "content": f"what did I ask?\n\n{aim}", "timestamp": "2026-01-03T03:06:00"},
        {"role": "oracle", "content": "hm"},
    )
    report = await bring(gateway, "nanobot", home)
    assert (report["conversations"], report["messages"]) == (2, 4)
    text = day(daybook, "memory/imported/nanobot/2026-01-03.md")
    assert "## telegram:12 (from: nanobot import)\n" in text
    said = [line.removesuffix(" (from: nanobot import)") for line in text.splitlines() if line.startswith("- ")]
    assert said == ["- 03:04 User: olá", "- 03:04 nanobot: Two files.", "- 03:06 User: what did I ask?"]
    assert "[a picture]" in text and "Ship" not in text
    assert "- 00:30 User: Old words" in day(daybook, "memory/imported/nanobot/2026-01-02.md"), "by the wall clock"
    assert skipped(report) == ["“messages of oracle” in sessions (1) is not known"]
    assert (await bring(gateway, "nanobot", home))["files"] == []


async def test_keys_in_sessions_are_left_out_and_sessions_without_a_date_named(
    gateway: Running, daybook: Daybook, tmp_path: Path
) -> None:
    home = openclaw_home(tmp_path / "theirs")
    jsonl(home / SESSIONS / "k.jsonl", oc_message("user", f"my key: {KEY}", "2026-02-08T08:00:00.000Z"))
    jsonl(home / SESSIONS / "n.jsonl", {"type": "message", "message": {"role": "user", "content": "no day"}})
    (home / SESSIONS / "link.jsonl").symlink_to("/etc/passwd")
    report = await bring(gateway, "openclaw", home)
    assert KEY not in day(daybook, f"{OC}/2026-02-08.md") and [one["kind"] for one in report["secrets"]]
    assert skipped(report) == [
        "agents/main/sessions/link.jsonl is a link, which is not followed",
        "agents/main/sessions/n.jsonl has no date",
    ]


@pytest.mark.full
async def test_sessions_too_large_are_refused_or_named(
    gateway: Running, daybook: Daybook, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = openclaw_home(tmp_path / "theirs")
    with (home / SESSIONS / "sparse.jsonl").open("wb") as file:
        file.truncate(2_000_000_000)
    words = "word " * 400_000
    lines = [oc_message("user", words, f"2026-02-08T08:{minute:02}:00.000Z") for minute in range(40)]
    jsonl(home / SESSIONS / "long.jsonl", *lines)
    report = await bring(gateway, "openclaw", home)
    assert sorted(skipped(report)) == [
        "agents/main/sessions/long.jsonl is a conversation of more than 64 MB",
        "agents/main/sessions/sparse.jsonl cannot be read: it is larger than a gigabyte",
    ]
    before = tree(daybook)
    for number in range(2):
        jsonl(home / SESSIONS / f"l{number}.jsonl", *lines[number * 30 : number * 30 + 30])
    (home / SESSIONS / "long.jsonl").unlink()
    for number in range(2, 4):
        more = [oc_message("user", words, f"2026-03-0{number}T08:{minute:02}:00.000Z") for minute in range(30)]
        jsonl(home / SESSIONS / f"l{number}.jsonl", *more)
    assert "more than 100 MB of text" in await refused(gateway, "openclaw", home)
    assert tree(daybook) == before


FIELDS = st.sampled_from(
    [*("type", "message", "role", "content", "timestamp", "id", "text", "_type", "metadata", "key", "created_at")]
)
VALUES = st.sampled_from(
    ["message", "session", "user", "assistant", "text", "metadata", "2026-02-04T15:12:00Z", "\ud800", "[[a]]", "["]
)
ENTRIES = st.dictionaries(FIELDS, st.one_of(VALUES, LIKELY, st.dictionaries(FIELDS, st.one_of(VALUES, ANYTHING))))


@given(st.lists(ENTRIES, max_size=6))
def test_no_line_is_too_odd(entries: list[Any]) -> None:
    readers = (openclaw.OpenClawReader("x.jsonl", openclaw.UNLISTED, set()), nanobot.NanobotReader("x.jsonl"))
    for entry in entries:
        for reader in readers:
            line = reader.said(entry, Moment().clock)
            assert isinstance(line, SessionLine) and isinstance(line.text, str)
            assert line.at is None or line.at.tzinfo is not None
    openclaw.index(entries[0] if entries else None)


@given(st.text(st.sampled_from('[]:{}`\n \\"SystemTea⟦openclaw:ctx⟧(untrusted)2026-02-04T15:12'), max_size=200))
def test_metadata_is_taken_away_from_any_text(text: str) -> None:
    message = {"role": "user", "content": from_telegram(f"Tea? {text}")}
    line = openclaw.OpenClawReader("x", openclaw.UNLISTED, set()).said(
        {"type": "message", "message": message}, Moment().clock
    )
    assert line.text.startswith("Tea?") and "sender_id" not in line.text
