"""Commands: answered at once, and never with what the chat may not know."""

from __future__ import annotations

import re

import pytest

from agent.model.scripted import Call, Hold, ScriptedAnswer, ScriptedModel
from channels.scripted import ScriptedChannel
from tests.gateway.conftest import ALICE, GROUP, OWNER, Daybook

SECRET = "the safe's number is 7-3-9"


async def ask(daybook: Daybook, *commands: str, chat: str = "1", sender: str = OWNER, group: bool = False) -> str:
    """The answer to the last of some commands, given one after the other."""
    for command in commands:
        count = len(texts(daybook, chat))
        daybook.chat.say(command, chat=chat, sender=sender, group=group)
        await daybook.chat.wait_until(lambda count=count: len(texts(daybook, chat)) > count)  # type: ignore[misc]
    return texts(daybook, chat)[-1]


def texts(daybook: Daybook, chat: str) -> list[str]:
    """What stands in a chat, without files."""
    return [text for text in daybook.chat.heard(chat) if text]


def sessions_to_press(daybook: Daybook, chat: str = "1") -> list[str]:
    """The conversations behind the buttons of the last message."""
    last = list(daybook.chat.standing(chat).values())[-1]
    return [button.data.removeprefix("/switch ") for row in last.buttons for button in row]


async def test_help_lists_what_this_chat_may_ask(daybook: Daybook) -> None:
    daybook.group()
    async with daybook.running():
        private = await ask(daybook, "/help")
        public = await ask(daybook, "/help", chat=GROUP, group=True)
    assert {"help", "new", "stop", "usage", "model", "pair", "remember"} <= set(re.findall(r"`/([a-z]+)", private))
    assert set(re.findall(r"`/([a-z]+)", private)) - set(re.findall(r"`/([a-z]+)", public)) == {
        "usage",
        "model",
        "pair",
        "approvals",
        "timezone",
    }


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("/hlep", "I don't know /hlep. Did you mean /help? See /help."),
        ("/frobnicate now", "I don't know /frobnicate. See /help."),
    ],
)
async def test_an_unknown_command_is_told_and_not_sent_to_the_model(daybook: Daybook, typed: str, answer: str) -> None:
    async with daybook.running():
        assert await ask(daybook, typed) == answer
    assert daybook.model.requests == []


@pytest.mark.parametrize("typed", ["/stop!", "  /STOP  ", "/Stop...", "/stop。", "/stop \n"])
async def test_a_command_is_one_however_it_is_typed(daybook: Daybook, typed: str) -> None:
    async with daybook.running():
        assert await ask(daybook, typed) == "Nothing is running."
    assert daybook.model.requests == []


async def test_a_path_is_no_command(daybook: Daybook) -> None:
    daybook.model.then("That is the list of users.")
    async with daybook.running():
        assert await ask(daybook, "/etc/passwd: what is it?") == "That is the list of users."


async def test_a_command_is_answered_while_a_turn_runs(daybook: Daybook) -> None:
    hold = Hold()
    daybook.model.then(ScriptedAnswer("Done.", hold=hold))
    async with daybook.running():
        daybook.chat.say("Think")
        await hold.reached.wait()
        assert "answering now" in await ask(daybook, "/status")
        hold.released.set()
        await daybook.chat.wait_heard(2)
        assert len(daybook.model.requests) == 1


async def test_a_command_that_was_not_answered_is_answered_by_the_next_process(daybook: Daybook) -> None:
    with daybook.chat.hold():
        async with daybook.running() as gateway:
            daybook.chat.say("/whoami")
            await daybook.chat.wait_until(lambda: daybook.chat.offered == 1)
            await gateway.kill()
    async with daybook.running() as gateway:
        await daybook.chat.wait_heard()
        while await gateway.status("outbox", "waiting") or await gateway.status("inbox", "waiting"):
            pass
    assert len(daybook.chat.heard()) == 1


# privacy -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["/usage", "/pair", "/pair ABCDEFGH", "/model", "/model other"])
@pytest.mark.parametrize(("chat", "sender", "group"), [(GROUP, OWNER, True), ("2", ALICE, False)])
async def test_invariant_08_the_owners_affairs_are_for_the_owner_in_private(
    daybook: Daybook, command: str, chat: str, sender: str, group: bool
) -> None:
    rules = {"groups": {GROUP: {}}, "allow": [ALICE]}
    daybook.settings["channels"] = {"telegram": rules}
    async with daybook.running():
        answer = await ask(daybook, command, chat=chat, sender=sender, group=group)
    assert answer == f"{command.split()[0]} works only for my owner, in a private chat."


@pytest.mark.parametrize(("chat", "sender", "group"), [(GROUP, OWNER, True), ("2", ALICE, False)])
async def test_invariant_08_no_command_tells_others_of_the_owners_talks_or_memory(
    daybook: Daybook, chat: str, sender: str, group: bool
) -> None:
    daybook.settings["channels"] = {"telegram": {"groups": {GROUP: {}}, "allow": [ALICE]}}
    daybook.model = ScriptedModel(Call("memory_append", {"text": SECRET}), "Noted.", otherwise="Hello.")
    async with daybook.running():
        await ask(daybook, f"Remember: {SECRET}")
        (daybook.workspace / "MEMORY.md").write_text(f"- {SECRET}\n")
        await ask(daybook, "/sessions")
        (private_talk,) = sessions_to_press(daybook)
        await ask(daybook, "hi", chat=chat, sender=sender, group=group)
        commands = ["/help", "/status", "/context", "/why", "/sessions", "/whoami", "/export", "/remember tea", "/new"]
        await ask(daybook, *commands, f"/switch {private_talk}", chat=chat, sender=sender, group=group)
        answers = texts(daybook, chat)
    assert len(answers) == len(commands) + 2
    assert not any(SECRET in answer for answer in answers)
    assert not any(private_talk in answer for answer in answers[:-1])
    assert "There is no conversation" in answers[-1]
    other = [request for request in daybook.model.requests if request.session != "main/owner"]
    assert other
    assert SECRET not in str(other)


async def test_invariant_08_what_a_group_remembers_goes_to_the_group(daybook: Daybook) -> None:
    daybook.group()
    async with daybook.running():
        answer = await ask(daybook, "/remember We meet at noon", chat=GROUP, group=True)
    assert answer == "Noted in today's log."
    assert "We meet at noon" in (daybook.workspace / "groups/telegram--100123/memory/2026-11-21.md").read_text()
    assert not (daybook.workspace / "memory/2026-11-21.md").exists()


# what they do ------------------------------------------------------------------------------------------------------


async def test_remember_writes_the_owners_log_without_a_model(daybook: Daybook) -> None:
    async with daybook.running():
        assert await ask(daybook, "/remember Buy milk\nand bread") == "Noted in today's log."
        assert "What should I remember?" in await ask(daybook, "/remember")
    log = (daybook.workspace / "memory/2026-11-21.md").read_text()
    assert log.startswith("# 2026-11-21\n")
    assert "Buy milk" in log
    assert "bread" in log
    assert daybook.model.requests == []


async def test_sessions_and_switch_lead_back_to_an_earlier_talk(daybook: Daybook) -> None:
    daybook.model.then("Noted.", "42.")
    async with daybook.running():
        await ask(daybook, "The number is 42", "/new")
        listed = await ask(daybook, "/sessions")
        first, new = sorted(sessions_to_press(daybook))
        assert ". a new conversation, 0 messages" in listed and new not in listed and first not in listed
        assert ". The number is 42, 2 messages, last today at 08:30" in listed
        assert (await ask(daybook, f"/switch {first}")).startswith("Back in the conversation that began today at 08:30")
        await ask(daybook, "Which number?")
    assert "The number is 42" in str(daybook.model.requests[1].messages)


async def test_new_keeps_the_old_talk_and_notes_it_in_the_log(daybook: Daybook) -> None:
    daybook.model.then("Blue is nice.", "Hello.")
    async with daybook.running():
        await ask(daybook, "My colour is blue", "/new", "Hi")
    assert "My colour is blue" in (daybook.workspace / "memory/2026-11-21.md").read_text()
    assert len(daybook.model.requests[1].messages) == 1


async def test_a_model_is_chosen_for_this_talk_only_and_outlives_a_restart(daybook: Daybook) -> None:
    daybook.settings["channels"] = {"telegram": {"allow": [ALICE]}}
    daybook.settings["model"] = {"provider": "anthropic", "name": "claude-sonnet-5-5"}
    daybook.model = ScriptedModel(otherwise="Yes.")
    async with daybook.running():
        assert "claude-sonnet-5-5" in await ask(daybook, "/model")
        await ask(daybook, "/model claude-opus-9")
        await ask(daybook, "hi")
        await ask(daybook, "hi", chat="2", sender=ALICE)
    async with daybook.running():
        await ask(daybook, "hi", "/model default", "hi")
    names = [request.model for request in daybook.model.requests]
    assert names == ["claude-opus-9", "claude-sonnet-5-5", "claude-opus-9", "claude-sonnet-5-5"]


async def test_whoami_names_the_id_that_access_goes_by(daybook: Daybook) -> None:
    async with daybook.running():
        answer = await ask(daybook, "/whoami")
    assert "my owner" in answer
    assert f"`telegram:{OWNER}`" in answer
    assert "`main/owner`" in answer


async def test_status_tells_the_owner_of_the_house_and_others_of_their_talk(daybook: Daybook) -> None:
    daybook.group()
    async with daybook.running():
        private = await ask(daybook, "/status")
        public = await ask(daybook, "/status", chat=GROUP, group=True)
    assert "telegram ok" in private
    assert "Spent today" in private
    assert "Spent today" not in public
    assert "Channels" not in public


async def test_context_and_why_tell_what_the_reply_was_made_from(daybook: Daybook) -> None:
    daybook.model.then(Call("memory_append", {"text": "tea"}), "Noted.")
    async with daybook.running():
        assert await ask(daybook, "/why") == "There is no reply to explain yet."
        await ask(daybook, "Note: tea")
        why = await ask(daybook, "/why")
        context = await ask(daybook, "/context")
    assert "`memory_append`" in why
    assert "MEMORY.md" in why
    (fixed,) = re.findall(r"The same in every request: ([\d,]+) tokens", context)
    assert 0 < int(fixed.replace(",", "")) <= 4000


async def test_export_writes_the_talk_into_the_workspace(daybook: Daybook) -> None:
    daybook.model.then("Hello to you.")
    async with daybook.running():
        await ask(daybook, "Good morning")
        answer = await ask(daybook, "/export")
    (path,) = re.findall(r"`([^`]+)`", answer)
    text = (daybook.workspace / path).read_text()
    assert "Good morning" in text
    assert "Hello to you." in text


@pytest.mark.parametrize(("chat", "group", "folder"), [("1", False, "."), (GROUP, True, f"groups/telegram-{GROUP}")])
async def test_an_export_comes_as_a_file_too_and_stays_in_its_own_folder(
    daybook: Daybook, chat: str, group: bool, folder: str
) -> None:
    daybook.group()
    daybook.model.then("Hello to you.")
    async with daybook.running():
        answer = await ask(daybook, "Good morning", "/export", chat=chat, group=group)
        await daybook.chat.wait_heard(3, chat=chat)
        await ask(daybook, "/remember tea", "/export", chat=chat, group=group)
    (path,) = re.findall(r"`([^`]+)`", answer)
    assert (daybook.workspace / path).parent == daybook.workspace / folder / "exports"
    file = next(one.file for one in daybook.chat.standing(chat).values() if one.file)
    assert file.name == (daybook.workspace / path).name
    assert "Hello to you." in file.path.read_text()
    assert daybook.home.outgoing in file.path.parents


async def test_a_chat_that_takes_no_files_is_told_where_the_export_is(daybook: Daybook) -> None:
    daybook.chat = ScriptedChannel("telegram", largest_file=0)
    daybook.model.then("Hello to you.")
    async with daybook.running():
        assert "Saved this conversation as" in await ask(daybook, "Good morning", "/export")
    assert all(one.file is None for one in daybook.chat.standing().values())


async def test_usage_says_when_nothing_was_called(daybook: Daybook) -> None:
    async with daybook.running():
        assert await ask(daybook, "/usage") == "I didn't use a model in the last seven days."


async def test_a_wrong_code_lets_nobody_in(daybook: Daybook) -> None:
    async with daybook.running():
        assert await ask(daybook, "/pair") == "No one is waiting. `/pair CODE` approves someone."
        assert "That code isn't valid" in await ask(daybook, "/pair ABCDEFGH")
