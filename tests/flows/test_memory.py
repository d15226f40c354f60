"""Stories of memory: what was asked to be remembered, hand edits, second thoughts, forgetting."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.flows.story import ALICE, BOB, GROUP, story


async def test_remember_this_ends_on_disk_though_the_model_does_nothing(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        told.model.answer("Sure, I'll keep that in mind!")
        told.model.answer("NO_REPLY")
        told.say("Merk dir bitte, dass meine Katze Luna heißt.")
        await told.hears("keep that in mind")

        assert "Merk dir bitte, dass meine Katze Luna heißt." in told.log().read_text()
        assert told.heard() == ["Sure, I'll keep that in mind!"]
        told.no_request_was_refused()


async def test_a_forwarded_please_remember_is_nobodys_request(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        told.model.answer("A nice note.")
        told.say("What did she say about “please remember the milk”?")
        await told.hears("A nice note.")
        assert len(told.asked) == 1 and not told.log().exists()


async def test_undo_in_the_chat_and_the_model_is_told_once(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        told.write("MEMORY.md", "# Memory\n\n- tea\n")
        told.model.answer(tool=("memory_update", {"old_text": "- tea", "new_text": "- coffee"}))
        told.model.answer("Coffee it is.")
        told.say("I drink coffee now")
        await told.hears("Coffee it is.")
        assert "- coffee" in told.read("MEMORY.md")

        told.say("/undo")
        await told.hears("Undone (what lasts): changed to: coffee")
        assert told.read("MEMORY.md") == "# Memory\n\n- tea\n"
        told.say("/undo")
        await told.hears("There is no memory change")

        for reply in ("Tea.", "Still tea."):
            told.model.answer(reply)
            told.say("What do I drink?")
            await told.hears(reply)
        assert told.last_asked.count("daybook-changed name") == 1
        told.no_request_was_refused()


async def test_undo_after_midnight_strikes_out_yesterdays_entry_and_goes_on_to_older_ones(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        told.write("MEMORY.md", "# Memory\n\n- tea\n")
        told.moment = datetime(2026, 11, 21, 22, 58, tzinfo=UTC)
        told.model.answer(tool=("memory_update", {"old_text": "- tea", "new_text": "- coffee"}))
        told.model.answer("Coffee it is.")
        told.say("I drink coffee now")
        await told.hears("Coffee it is.")
        told.say("/remember the car is blue")
        await told.hears("Noted in")
        told.moment = datetime(2026, 11, 21, 23, 2, tzinfo=UTC)
        told.say("/undo")
        await told.hears("Undone (yesterday)")
        assert told.read("memory/2026-11-21.md") == "# 2026-11-21\n\n- 23:58 [undone 2026-11-22]\n"
        told.say("/undo")
        await told.hears("Undone (what lasts)")
        assert told.read("MEMORY.md") == "# Memory\n\n- tea\n"
        told.no_request_was_refused()


async def test_a_change_that_a_hand_wrote_over_blocks_no_older_one(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        told.write("MEMORY.md", "# Memory\n\n- tea\n")
        told.say("/remember the car is blue")
        await told.hears("Noted in")
        told.model.answer(tool=("memory_update", {"old_text": "- tea", "new_text": "- coffee"}))
        told.model.answer("Coffee it is.")
        told.say("I drink coffee now")
        await told.hears("Coffee it is.")
        told.write("MEMORY.md", "# Memory\n\n- coffee, by hand\n")
        told.say("/undo")
        refused = await told.hears("I couldn't undo")
        assert "coffee, by hand" in refused.text and "/undo again" in refused.text
        told.say("/undo")
        await told.hears("Undone (")
        assert told.read("MEMORY.md") == "# Memory\n\n- coffee, by hand\n" and not told.log().exists()


async def test_forget_shows_asks_removes_and_is_not_in_the_way_of_a_talk(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        told.write("MEMORY.md", "# Memory\n\n- Luna is a cat\n- tea\n")
        past = told.log(19)
        told.write(f"memory/{past.name}", f"# {past.stem}\n\n- 09:00 Luna ate\n")
        told.say("/forget luna")
        shown = await told.hears("I found this about")
        assert "What lasts Luna is a cat" in shown.text and "On Monday 9 November 09:00 Luna ate" in shown.text
        told.model.answer("Fine.")
        told.say("no wait, how are you?")
        await told.hears("Fine.")
        told.model.answer("Yes what?")
        told.say("yes")
        await told.hears("Yes what?")
        assert "Luna" in told.read("MEMORY.md")

        told.say("/forget luna")
        await told.telegram.wait_for(lambda: len([text for text in told.heard() if "I found this about" in text]) == 2)
        told.say("Ja!")
        await told.hears("Deleted from")
        assert told.read("MEMORY.md") == "# Memory\n\n- tea\n"
        assert f"- 09:00 [forgotten {told.log().stem}]" in past.read_text()

        told.say("/undo")
        await told.hears("Undone: what was forgotten is back (what lasts")
        assert "Luna ate" in past.read_text() and "Luna" in told.read("MEMORY.md")
        told.no_request_was_refused()


async def test_what_is_forgotten_is_gone_from_the_talks_too(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running() as gateway:
        told.write("MEMORY.md", "# Memory\n\n- tea\n- Luna is a cat\n")
        told.model.answer("Luna is a fine name.\nI noted tea.", thinking="a cat called Luna")
        told.say("My cat is called Luna.\nI drink tea.")
        await told.hears("fine name")
        told.model.answer(tool=("memory_append", {"text": "Luna saw the vet"}), thinking="hm")
        told.model.answer("Noted.")
        told.say("We went to the vet")
        await told.hears("Noted.")
        told.say("/new")
        await told.hears("Started a new conversation")
        told.model.answer("Hello.")
        told.say("hello")
        await told.hears("Hello.")
        told.say("/forget luna")
        asked = await told.hears("I found this about")
        assert "messages in our conversations" in asked.text
        told.say("yes")
        done = await told.hears("Deleted from")
        assert "messages in" in done.text and "records of our conversations" in done.text

        sessions: Any = await gateway.operations["sessions.list"]({})
        for session in sessions:
            assert "luna" not in str(await gateway.operations["sessions.show"]({"id": session["id"]})).lower()
        told.model.answer("So it is.", thinking="hm")
        told.say("is all well?")
        await told.hears("So it is.")
        assert "luna" not in told.last_asked.lower() and "- tea" in told.last_asked
        told.say(f"/switch {min(session['id'] for session in sessions)}")
        await told.hears("Back in the conversation")
        told.model.answer("Yes.", thinking="hm")
        told.say("and now?")
        await told.hears("Yes.")
        asked_now = next(one for one in reversed(told.asked) if "and now?" in one.last_user_text)
        assert "luna" not in json.dumps(asked_now.body).lower() and "I drink tea." in asked_now.text
        assert "[forgotten " in asked_now.text

        told.say("/undo")
        await told.hears("Undone: what was forgotten is back (")
        told.model.answer("She is back.")
        told.say("Who is my cat?")
        await told.hears("She is back.")
        assert "My cat is called Luna." in told.last_asked and "Luna saw the vet" in told.last_asked
        told.no_request_was_refused()


async def test_what_only_the_talks_know_can_be_forgotten_and_other_scopes_keep_theirs(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        for chat, name in ((ALICE, "Alice"), (BOB, "Bob")):
            told.model.answer(f"Aha, {name}.")
            told.say("The parcel holds marzipan", chat=chat, name=name)
            await told.hears("Aha", chat)
        told.say("/forget marzipan")
        await told.hears("1 message in our conversations")
        told.say("yes")
        await told.hears("Deleted from 1 message in a conversation.")
        for chat, name in ((ALICE, "Alice"), (BOB, "Bob")):
            told.model.answer(f"Hm, {name}.")
            told.say("what was in it?", chat=chat, name=name)
            await told.hears("Hm", chat)
            assert ("marzipan" in told.last_asked) == (chat == BOB)
        told.say("/forget marzipan")
        await told.hears("I found nothing about")
        told.no_request_was_refused()


async def test_an_index_that_still_has_what_was_forgotten_is_named(tmp_path: Path, store: str) -> None:
    async with story(tmp_path) as told:
        (told.home.index(is_shared=store == "postgresql") / "memory.db").mkdir(parents=True)
        async with told.running():
            told.write("MEMORY.md", "- Luna\n")
            told.say("/forget Luna")
            await told.hears("I found this about")
            told.say("/forget yes")
            said = await told.hears("Deleted from my notes (what lasts)")
            assert "search index still contains them" in said.text and "daybook memory index --force" in said.text


async def test_forgetting_waits_for_the_one_who_asked_and_stays_in_its_scope(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        told.write("MEMORY.md", "- Luna\n")
        told.write("people/telegram-22222/MEMORY.md", "- Luna\n")
        told.say("/forget Luna")
        await told.hears("I found this about")
        told.say("/forget yes", chat=BOB, name="Bob")
        await told.hears("There is nothing to confirm", BOB)
        told.call("/forget Luna", user=BOB, name="Bob")
        await told.hears("only my owner", GROUP)
        told.say("/forget yes")
        await told.hears("Deleted from my notes (what lasts)")
        assert told.read("MEMORY.md") == "" and told.read("people/telegram-22222/MEMORY.md") == "- Luna\n"


async def test_the_history_from_the_command_line(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running() as gateway:
        told.say("/remember the car is blue")
        await told.hears("Noted in")
        (entry,) = await gateway.operations["memory.log"]({})  # type: ignore[misc]
        assert isinstance(entry, dict)
        assert set(entry) == {"id", "ts", "scope", "path", "by", "summary"}
        assert (entry["scope"], entry["by"]) == ("owner", "/remember")
        diff = await gateway.operations["memory.diff"]({"id": entry["id"]})
        assert isinstance(diff, dict) and "the car is blue" in str(diff["diff"])
        await gateway.operations["memory.restore"]({"id": entry["id"]})
        assert not told.log().exists()


async def test_a_hand_edit_between_two_turns_is_kept_and_told_once(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        told.write("MEMORY.md", "# Memory\n\n- tea\n")
        told.model.answer("Hello.")
        told.say("hello")
        await told.hears("Hello.")
        told.write("MEMORY.md", "# Memory\n\n- tea\n- CANARY-HAND\n")
        for reply in ("First.", "Second."):
            told.model.answer(reply)
            told.say("and now?")
            await told.hears(reply)
        assert told.last_asked.count("CANARY-HAND") == 1
        assert told.read("MEMORY.md") == "# Memory\n\n- tea\n- CANARY-HAND\n"


async def test_a_conflicting_edit_of_the_model_is_refused_with_the_current_text(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        told.write("MEMORY.md", "# Memory\n\n- tea at four\n")
        told.model.answer("Hello.")
        told.say("hello")
        await told.hears("Hello.")
        told.write("MEMORY.md", "# Memory\n\n- tea at five\n")
        told.model.answer(tool=("memory_update", {"old_text": "- tea at four", "new_text": "- no tea"}))
        told.model.answer("You changed it yourself.")
        told.say("no more tea")
        await told.hears("You changed it yourself.")
        assert told.read("MEMORY.md") == "# Memory\n\n- tea at five\n"
        result = str(told.asked[-1].body["messages"][-1])
        assert "does not contain old_text" in result and "tea at five" in result


async def test_two_chats_of_one_person_write_at_once(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running() as gateway:
        for number in range(3):
            told.say(f"/remember telegram {number}")
            await gateway.terminal.say(f"/remember terminal {number}", "main", f"t{number}")
        await told.telegram.wait_for(lambda: told.log().exists() and told.log().read_text().count("- ") >= 6)
        log = told.log().read_text()
        for number in range(3):
            assert log.count(f"telegram {number}") == 1 and log.count(f"terminal {number}") == 1
        changes = await gateway.operations["memory.log"]({})
        assert isinstance(changes, list) and len(changes) == 6


@pytest.mark.parametrize("kind", ["2 MB", "not UTF-8", "read-only", "a folder"])
async def test_a_memory_file_of_any_kind_stops_no_talk(tmp_path: Path, kind: str) -> None:
    async with story(tmp_path) as told, told.running():
        index = told.workspace / "MEMORY.md"
        index.unlink()
        match kind:
            case "2 MB":
                index.write_text("- a line of memory\n" * 110_000)
            case "not UTF-8":
                index.write_bytes(b"- caf\xe9\n")
            case "read-only":
                index.write_text("- a rule\n")
                index.chmod(0o400)
            case _:
                index.mkdir()
        before = index.read_bytes() if index.is_file() else b""
        told.model.answer(tool=("memory_update", {"old_text": "", "new_text": "- tea"}))
        told.model.answer("Done what I could.")
        told.say("Remember that I like tea")
        refused = kind in ("read-only", "a folder")
        if refused:
            told.model.answer("NO_REPLY")
        await told.hears("Done what I could.")
        if refused:
            assert "I like tea" in told.log().read_text()
            assert not index.is_file() or index.read_bytes() == before
        else:
            assert index.read_bytes() == before + b"- tea\n"
        told.no_request_was_refused()


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="permissions do not bind this user")
async def test_a_read_only_workspace_is_told(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        memory = told.workspace / "memory"
        memory.mkdir(exist_ok=True)
        memory.chmod(0o500)
        try:
            told.model.answer("Sure!")
            told.model.answer("NO_REPLY")
            told.say("Remember that I like tea")
            await told.hears("I couldn't save what you asked")
        finally:
            memory.chmod(0o700)
