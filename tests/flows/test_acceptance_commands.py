"""Commands as people use them: answered at once, to those whose business it is, and nothing told to others."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.flows.story import ALICE, BOB, GROUP, Story, story


async def command(told: Story, text: str, chat: int = ALICE, name: str = "Alice") -> str:
    """Send a command; what is answered."""
    before = len(texts(told, chat))
    user = BOB if name == "Bob" else ALICE
    told.say(text, chat=chat, user=user, name=name)
    await told.idle()
    heard = texts(told, chat)
    assert len(heard) == before + 1, heard
    return heard[-1]


def texts(told: Story, chat: int) -> list[str]:
    """What stands in a chat, without files."""
    return [text for text in told.heard(chat) if text]


async def talk(told: Story, text: str, answer: str, chat: int = ALICE) -> None:
    told.model.answer(answer)
    told.say(text, chat=chat, name="Alice" if chat == ALICE else "Bob")
    await told.hears(answer, chat)


async def test_every_command_answers_the_owner_without_a_model(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        for text in (
            "/help",
            "/status",
            "/context",
            "/stop",
            "/model",
            "/remember tea",
            "/usage",
            "/sessions",
            "/switch",
            "/export",
            "/whoami",
            "/pair",
            "/why",
            "/new",
        ):
            answer = await command(told, text)
            assert answer.strip() and "broke" not in answer, (text, answer)
        assert "/remember" in await command(told, "/rember milk")
        assert "what" in (await command(told, "/remember")).lower()
        assert told.asked == []


async def test_every_command_of_the_contract_that_is_built_is_in_help(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        text = await command(told, "/help")
        for name in (
            "new",
            "status",
            "context",
            "compact",
            "stop",
            "model",
            "remember",
            "forget",
            "memory",
            "undo",
            "usage",
            "sessions",
            "switch",
            "export",
            "whoami",
            "pair",
            "why",
            "remind",
            "jobs",
            "daily",
            "done",
        ):
            assert f"/{name}" in text


async def test_commands_are_answered_while_a_turn_runs(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        hold = told.model.hold(after=1)
        told.model.answer("A long answer.")
        told.say("go")
        await told.model.held(hold)
        for text, part in (
            ("/status", "answering now"),
            ("/whoami", "telegram:11111"),
            ("/context", "The same in every"),
        ):
            told.say(text)
            await told.hears(part)
        hold.release()
        await told.hears("A long answer.")


async def test_new_ends_the_talk_notes_it_in_the_log_and_switch_returns(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        await talk(told, "The garden needs CANARY-TULIPS", "Tulips it is.")
        assert "new conversation" in await command(told, "/new")
        log = told.log().read_text()
        assert "CANARY-TULIPS" in log and "Tulips it is." in log
        assert re.search(r"^## .*garden", log, re.MULTILINE)

        await talk(told, "hello again", "Hello.")
        assert "CANARY-TULIPS" not in str(told.asked_with("hello again").body["messages"][:-1])
        listed = await command(told, "/sessions")
        assert len(re.findall(r"messages, last", listed)) == 2
        assert "Back in the conversation" in await command(told, "/switch The garden")
        await talk(told, "where were we?", "At the tulips.")
        assert "CANARY-TULIPS" in str(told.asked_with("where were we?").body["messages"][0])
        assert "no conversation" in (await command(told, "/switch nonsense")).lower()
        told.no_request_was_refused()


async def test_new_in_an_unused_talk_writes_nothing(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        await command(told, "/new")
        await command(told, "/new")
        assert not told.log().exists()


async def test_remember_writes_to_the_log_of_who_asks(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        await command(told, "/remember CANARY-ALICE likes tea")
        await command(told, "/remember CANARY-BOB likes milk", BOB, "Bob")
        await command(told, f"/remember@{told.telegram.username} CANARY-GROUP meets at nine", GROUP, "Bob")
        assert "CANARY-ALICE" in told.log().read_text() and "CANARY-BOB" not in told.log().read_text()
        assert "CANARY-BOB" in told.log(folder=f"people/telegram-{BOB}/memory").read_text()
        assert "CANARY-GROUP" in told.log(folder=f"groups/telegram-{GROUP}/memory").read_text()
        assert re.search(r"^- \d\d:\d\d CANARY-ALICE likes tea$", told.log().read_text(), re.MULTILINE)


async def test_model_changes_this_talk_only_and_stays_over_a_restart(tmp_path: Path) -> None:
    async with story(tmp_path) as told:
        async with told.running():
            await talk(told, "hello", "Hi.")
            await command(told, "/model claude-opus-5-5")
            await talk(told, "and now?", "Opus here.")
            await talk(told, "me too?", "Hi Bob.", BOB)
            assert [request.body["model"] for request in told.asked] == [
                "claude-sonnet-5-5",
                "claude-opus-5-5",
                "claude-sonnet-5-5",
            ]
        async with told.running():
            await talk(told, "still?", "Still Opus.")
            assert told.asked[-1].body["model"] == "claude-opus-5-5"
            assert "claude-opus-5-5" in await command(told, "/status")
            assert "claude-opus-5-5" in await command(told, "/context")
        told.no_request_was_refused()


@pytest.mark.parametrize("where", ["group", "person"])
async def test_commands_tell_others_nothing_of_the_owner(tmp_path: Path, where: str) -> None:
    async with story(tmp_path) as told:
        told.write("MEMORY.md", "# CANARY-MEMORY\n")
        told.write("memory/notes/CANARY-NOTE.md", "---\nname: x\n---\n")
        async with told.running():
            await talk(told, "CANARY-TALK is my secret", "Kept, CANARY-TALK.")
            mine = told.transcripts[0].stem
            chat = GROUP if where == "group" else BOB
            at = f"@{told.telegram.username}" if where == "group" else ""
            told.model.answer("Hi there.")
            told.say(f"{at} hello", chat=chat, user=BOB, name="Bob")
            await told.hears("Hi there.", chat)
            for text in (
                "help",
                "status",
                "context",
                "why",
                "sessions",
                "usage",
                "model",
                "pair",
                "pair ABCDEFGH",
                "export",
                "whoami",
                f"switch {mine}",
                "model claude-opus-5-5",
            ):
                name, _, words = text.partition(" ")
                answer = await command(told, f"/{name}{at} {words}".strip(), chat, "Bob")
                assert "CANARY" not in answer and (name == "switch" or mine not in answer), (text, answer)
                assert "Back in" not in answer
                assert "$" not in answer and "broke" not in answer, (text, answer)
            assert "CANARY" not in str([message.text for message in told.telegram.messages(chat)])
            exports = [file.read_text() for file in told.workspace.rglob("exports/*.md")]
            assert len(exports) == 1 and "CANARY" not in exports[0] and "Hi there." in exports[0]


async def test_an_owner_in_a_group_gets_nothing_private_there(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        await talk(told, "CANARY-TALK", "Kept.")
        for text in ("usage", "pair", "model claude-opus-5-5", "sessions", "export", "why", "status"):
            name, _, words = text.partition(" ")
            answer = await command(told, f"/{name}@{told.telegram.username} {words}".strip(), GROUP)
            assert "CANARY" not in answer and "$" not in answer and "Waiting:" not in answer


async def test_why_names_files_lines_and_tools(tmp_path: Path) -> None:
    async with story(tmp_path) as told:
        told.write("MEMORY.md", "# Memory\n\n- tea\n")
        async with told.running():
            told.model.answer(tool=("memory_search", {"query": "tea"}))
            await talk(told, "what do I drink?", "Tea.")
            answer = await command(told, "/why")
            assert "MEMORY.md:1-3" in answer and "memory_search" in answer and "today" in answer


async def test_stop_in_a_tool_and_in_the_queue(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running() as gateway:
        hold = told.model.hold(after=1)
        told.model.answer("never shown in full")
        told.say("first")
        await told.model.held(hold)
        told.say("second, waiting")
        await told.telegram.wait_for(lambda: not told.telegram.pending)
        told.say("/stop")
        await told.hears("Stopped.")
        await told.idle()
        status: Any = await gateway.operations["status"]({})
        assert status["inbox"]["waiting"] == 0 and status["running"] == 0
        hold.release()
        await talk(told, "third", "Third answered.")
        assert not any(text == "never shown in full" for text in told.heard())
        assert "Nothing is running" in await command(told, "/stop")
        told.no_request_was_refused()


async def test_a_pairing_code_belongs_to_a_stranger_and_three_are_open_at_most(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        for stranger in range(5):
            told.say("let me in", chat=40_000 + stranger, name=f"Stranger {stranger}")
        await told.idle()
        answered = [stranger for stranger in range(5) if told.heard(40_000 + stranger)]
        assert answered == [0, 1, 2]
        codes = [re.search(r"\b([A-Z0-9]{8})\b", told.heard(40_000 + stranger)[0]) for stranger in answered]
        assert all(codes) and len({code[1] for code in codes if code}) == 3
        assert codes[0] is not None
        told.say(f"/pair {codes[0][1]}", chat=40_000, name="Stranger 0")
        told.say(f"/pair {codes[0][1]}", chat=BOB, name="Bob")
        await told.idle()
        assert len(told.heard(40_000)) == 1 and "owner" in told.heard(BOB)[-1]
        assert "Stranger 0" in await command(told, "/pair")
        assert "Stranger 0" in await command(told, f"/pair {codes[0][1].lower()}")
        assert "That code isn't valid" in await command(told, f"/pair {codes[0][1]}")
        assert told.asked == []
