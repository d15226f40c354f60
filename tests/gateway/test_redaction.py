"""What /forget does to the records that keep words of a chat, and what the house deletes by itself."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import re
import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agent.media.reader import Reader
from agent.media.store import Store
from channels.message import Address, Attachment, OutboundFile, Quote
from channels.web.record import ChatEntry, MessageAuthor, ShownFile
from gateway.messages.active_work import ActiveWork
from gateway.messages.inbox import AdmittedMessage, Inbox
from gateway.messages.outbound_files import OutboundFiles
from gateway.routines.housekeeping import Housekeeping
from gateway.store import outbox_rows, question_rows, redaction_rows, run_rows, web_rows
from gateway.store.connection import Connection
from gateway.store.database import Database
from gateway.store.outbox_rows import Draft
from gateway.store.question_rows import StoredQuestion
from gateway.store.run_rows import Run, RunStatus
from gateway.store.schema import STEPS
from gateway.turns.attachments import AttachmentIntake
from tests.gateway.conftest import ALICE, GROUP, OWNER, Daybook, Gate, Moment, Say, on_sqlite

MARK = "[forgotten 2026-11-21]"


def without_luna(text: str) -> str:
    return "\n".join("MARK" if "luna" in line.lower() else line for line in text.split("\n"))


async def strike(database: Database, place: str = "") -> tuple[redaction_rows.RedactedText, ...]:
    fields = [
        field
        for field in await database.run(redaction_rows.fields, redaction_rows.COLUMNS)
        if place in str(field.place)
    ]
    return await database.run(redaction_rows.write, redaction_rows.struck(fields, without_luna))


def words(daybook: Daybook) -> dict[str, list[str]]:
    """By chat, what the inbox and the outbox hold of it."""
    with sqlite3.connect(daybook.home.database) as db:
        found: dict[str, list[str]] = {}
        for chat, text in db.execute(
            "SELECT chat_id, json_extract(message, '$.text') FROM inbox UNION ALL SELECT chat_id, text FROM outbox"
        ):
            found.setdefault(chat, []).append(text)
    return found


async def told(daybook: Daybook, text: str, answer: str, chat: str, user: str, group: bool = False) -> None:
    daybook.model.then(answer)
    count = len(daybook.chat.heard(chat))
    daybook.chat.say(text, chat, user, group=group)
    await daybook.chat.wait_heard(count + 1, chat=chat)


async def test_what_is_forgotten_stays_in_no_row_of_its_scope_and_in_those_of_others(daybook: Daybook) -> None:
    daybook.settings["channels"] = {
        "telegram": {"allow": [ALICE], "groups": {GROUP: {"mention": "required", "allow": []}}}
    }
    daybook.workspace.mkdir(parents=True)
    (daybook.workspace / "MEMORY.md").write_text("- The cat is Luna\n- The dog is Rex\n")
    async with daybook.running():
        await told(daybook, "Luna is my cat.\nRex is my dog.", "Luna and Rex!", "1", OWNER)
        await told(daybook, "Luna is mine, too.", "Is Luna?", ALICE, ALICE)
        await told(daybook, "Who is Luna?", "Luna?", GROUP, OWNER, group=True)
        count = len(daybook.chat.heard())
        daybook.chat.say("/forget luna")
        await daybook.chat.wait_heard(count + 1)
        daybook.chat.say("yes")
        await daybook.chat.wait_until(lambda: "Deleted from" in daybook.chat.heard()[-1])
        held = words(daybook)
        assert not [text for text in held["1"] if "luna" in text.lower()]
        assert f"{MARK}\nRex is my dog." in held["1"] and MARK in held["1"]
        assert "Luna is mine, too." in held[ALICE] and "Is Luna?" in held[ALICE]
        assert "Luna?" in held[GROUP]

        daybook.chat.say("/undo")
        await daybook.chat.wait_until(lambda: "Undone" in daybook.chat.heard()[-1])
        assert "Luna is my cat.\nRex is my dog." in words(daybook)["1"]


async def test_after_ten_minutes_nothing_is_left_to_bring_back(daybook: Daybook) -> None:
    daybook.workspace.mkdir(parents=True)
    (daybook.workspace / "MEMORY.md").write_text("- The cat is Luna\n")
    async with daybook.running():
        await told(daybook, "Luna is my cat.", "Fine.", "1", OWNER)
        daybook.chat.say("/forget luna")
        await daybook.chat.wait_heard(2)
        daybook.chat.say("yes")
        await daybook.chat.wait_heard(3)
        daybook.moment.pass_(timedelta(minutes=10))
        daybook.chat.say("/undo")
        await daybook.chat.wait_heard(4)
        assert "Luna is my cat." not in words(daybook)["1"]


async def test_people_hear_where_the_words_still_are(daybook: Daybook) -> None:
    (daybook.workspace / "memory" / "notes").mkdir(parents=True)
    (daybook.workspace / "memory" / "notes" / "luna.md").write_text("---\nname: Luna\ndescription: a cat\n---\nGrey.\n")
    (daybook.workspace / "exports").mkdir()
    (daybook.workspace / "exports" / "2026-01-01-owner.md").write_text("me: Luna!\n")
    (daybook.workspace / "exports" / "2026-01-02-owner.md").write_text("me: Rex!\n")
    async with daybook.running():
        daybook.chat.say("/forget luna")
        await daybook.chat.wait_heard(1)
        daybook.chat.say("yes")
        answer = (await daybook.chat.wait_heard(2))[-1]
    assert "Still in: `2026-01-01-owner.md`" in answer
    assert "2026-01-02" not in answer and "luna" not in answer.lower()


async def test_a_file_that_became_unreadable_before_the_yes_still_has_the_words(daybook: Daybook) -> None:
    (daybook.workspace / "memory" / "notes").mkdir(parents=True)
    note = daybook.workspace / "memory" / "notes" / "luna.md"
    note.write_text("---\nname: Luna\ndescription: a cat\n---\nGrey.\n")
    memory = daybook.workspace / "MEMORY.md"
    memory.write_text("- The cat is Luna\n")
    async with daybook.running():
        daybook.chat.say("/forget luna")
        await daybook.chat.wait_heard(1)
        for path in (memory, note):
            path.write_text(path.read_text(), encoding="utf-16")
            path.chmod(0o400)
        daybook.chat.say("yes")
        answer = (await daybook.chat.wait_heard(2))[-1]
    assert answer.startswith("I couldn't delete that.") and "I couldn't remove these words everywhere" in answer
    assert answer.count("What I noted (what lasts) was not written: its owner has made it read-only") == 1
    assert ".md" not in answer and "luna" not in answer.lower()
    assert "already gone" not in answer


async def test_every_field_loses_its_words_and_gets_them_back(database: Database, moment: Moment, say: Say) -> None:
    inbox = Inbox(database, moment.clock)
    address = Address("telegram", "1")
    message = dataclasses.replace(
        say("Luna"),
        quote=Quote("Bob", "about Luna"),
        attachments=(Attachment("photo", "luna.png", words="Luna's"),),
    )
    admitted = await inbox.admit([AdmittedMessage(message, "main/owner")])
    (waiting,) = await inbox.admit([AdmittedMessage(dataclasses.replace(say("Luna waits"), id="w"), "main/owner")])
    await inbox.finish(admitted, "reply")
    file = OutboundFile(Path("/f"), "luna.txt")
    await database.run(outbox_rows.add, [Draft("a:0", address, "Luna"), Draft("a:1", address, "", file=file)], "t")
    for state, ended in ((RunStatus.DELIVERED, "t"), (RunStatus.WAITING, "")):
        run = Run("luna", ended, "reminder", "Feed Luna", address, False, True, state, "t", ended_at=ended)
        await database.run(run_rows.claim, run, "t")
    entry = ChatEntry(
        0, "a" * 32, "main", MessageAuthor.PERSON, "Luna", "t", files=(ShownFile("luna.png", "image/png", handle="h"),)
    )
    await database.run(web_rows.keep, entry)
    await database.run(question_rows.add_outcome, "Q", "main/owner", "Your owner said yes: Luna is told.", "t", "")

    def dump(connection: Connection) -> str:
        tables = re.findall(r"CREATE TABLE (\w+)", "".join(STEPS))
        return "\n".join(
            sorted(str([*row]) for table in tables for row in connection.execute(f"SELECT * FROM {table}"))
        )

    before = await database.run(dump)
    struck = await strike(database)
    after = await database.run(dump)
    left = [line for line in after.splitlines() if "Luna" in line or "luna." in line]
    still_to_come = [any(part in line for line in left) for part in ("Luna waits", "Feed Luna")]
    assert len(left) == 2 and all(still_to_come), left
    assert waiting.message.text == "Luna waits" and "'h'" not in after and '"handle":"h"' in after
    assert await strike(database) == ()
    back = redaction_rows.back(struck)
    assert await database.run(redaction_rows.write, back) == tuple(back)
    assert await database.run(dump) == before


async def test_what_was_changed_since_is_not_brought_back(database: Database) -> None:
    await database.run(web_rows.keep, ChatEntry(0, "a" * 32, "main", MessageAuthor.DAYBOOK, "Forget Luna?", "t"))
    struck = await strike(database)
    await database.run(web_rows.change, "a" * 32, "Forgotten.", ())
    assert await database.run(redaction_rows.write, redaction_rows.back(struck)) == ()
    entry = await database.run(web_rows.find, "a" * 32)
    assert entry is not None and entry.text == "Forgotten."


@on_sqlite
async def test_a_purge_leaves_no_bytes_of_what_was_overwritten(database: Database, tmp_path: Path) -> None:
    await database.run(web_rows.keep, ChatEntry(0, "a" * 32, "main", MessageAuthor.DAYBOOK, "Luna", "t"))
    database.purge()
    await database.run(_count, "web_message")
    await strike(database)
    assert b"Luna" in _bytes(tmp_path / "daybook.db"), "or this test shows nothing"
    database.purge()
    await database.run(_count, "web_message")
    assert b"Luna" not in _bytes(tmp_path / "daybook.db")


def _bytes(path: Path) -> bytes:
    return b"".join(file.read_bytes() for file in path.parent.glob(f"{path.name}*"))


async def test_what_is_old_goes_every_day_while_it_runs(database: Database, moment: Moment, tmp_path: Path) -> None:
    day_over = Gate()
    intake = AttachmentIntake({}, Store(tmp_path), Reader(1_000, 10), None, 1_000, ActiveWork(tmp_path), moment.clock)
    outgoing = OutboundFiles(tmp_path / "outgoing")
    house = Housekeeping(database, moment.clock, outgoing, intake, tmp_path / "sessions", day_over)
    async with asyncio.timeout(120), asyncio.TaskGroup() as group:
        running = group.create_task(house.run())
        await day_over.reached.wait()
        address = Address("telegram", "1")
        old = (datetime.now(UTC) - timedelta(days=31)).isoformat()
        await database.run(outbox_rows.add, [Draft("a:0", address, "old"), Draft("b:0", address, "waits")], old)
        await database.run(outbox_rows.receipt, 1, "7", old)
        await database.run(question_rows.add, StoredQuestion("Q", "forget", address, OWNER, "Luna", old))
        kept = outgoing.keep_text("plan.txt", "the plan")
        os.utime(kept.path, (0, 0))
        day_over.opened.set()
        while kept.path.exists():  # noqa: ASYNC110  a disk rings no bell
            await asyncio.sleep(0.01)
        running.cancel()
    assert [row.text for row in await database.run(outbox_rows.open_rows)] == ["waits"]
    assert (await database.run(_count, "outbox"), await database.run(_count, "question")) == (1, 0)


def _count(connection: Connection, table: str) -> int:
    (count,) = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
    return int(count)


@pytest.mark.parametrize("chat", ["1", GROUP])
async def test_what_was_overheard_is_context_no_more(database: Database, moment: Moment, say: Say, chat: str) -> None:
    inbox = Inbox(database, moment.clock)
    message = dataclasses.replace(say("Luna ate\nRex slept"), address=Address("telegram", chat))
    await inbox.admit([AdmittedMessage(message, f"main/group/telegram-{chat}", overheard=True)])
    await strike(database, GROUP)
    (row,) = await inbox.overheard(f"main/group/telegram-{chat}", 99)
    assert row.message.text == ("MARK\nRex slept" if chat == GROUP else "Luna ate\nRex slept")
