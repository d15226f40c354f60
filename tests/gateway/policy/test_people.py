"""One person on several platforms: one talk, one memory, one order; each answer in the chat that asked."""

from __future__ import annotations

import pytest

from agent.model.scripted import Call, Hold, ScriptedAnswer
from channels.scripted import ScriptedChannel
from tests.gateway.conftest import ALICE, OWNER, Daybook

ON_DISCORD = "2"
ALICE_ON_DISCORD = "5"


@pytest.fixture
def discord(daybook: Daybook) -> ScriptedChannel:
    discord = ScriptedChannel("discord")
    daybook.others = (discord,)
    daybook.settings["people"] = {
        "ann": [f"telegram:{OWNER}", f"discord:{ON_DISCORD}"],
        "alice": [f"telegram:{ALICE}", f"discord:{ALICE_ON_DISCORD}"],
    }
    return discord


async def said_on(discord: ScriptedChannel, text: str, sender: str = ON_DISCORD, chat: str = "77") -> None:
    """Say something there and wait until it is on disk: a command after it was answered."""
    discord.say(text, chat=chat, sender=sender)
    count = len(discord.heard("elsewhere")) + 1
    discord.say("/whoami", chat="elsewhere", sender=sender)
    await discord.wait_heard(count, chat="elsewhere")


async def test_another_person_too_has_one_memory_over_platforms(daybook: Daybook, discord: ScriptedChannel) -> None:
    daybook.model.then(Call("memory_append", {"text": "likes figs"}), "Noted.", "Figs.")
    async with daybook.running():
        daybook.chat.say("Remember that I like figs", chat=ALICE, sender=ALICE)
        assert await daybook.chat.wait_heard(chat=ALICE) == ["Noted."]
        discord.say("What do I like?", chat="88", sender=ALICE_ON_DISCORD)
        assert await discord.wait_heard(chat="88") == ["Figs."]
    assert {request.session for request in daybook.model.requests} == {"main/person/alice"}
    assert list((daybook.workspace / "people").iterdir()) == [daybook.workspace / "people" / "alice"]
    assert daybook.chat.heard(ALICE) == ["Noted."]


async def test_what_is_said_in_two_chats_is_answered_in_order_where_it_was_said(
    daybook: Daybook, discord: ScriptedChannel
) -> None:
    hold = Hold()
    daybook.model.then(ScriptedAnswer("first", hold=hold), "second", "third")
    async with daybook.running():
        daybook.chat.say("one", chat=OWNER)
        await hold.reached.wait()
        await said_on(discord, "two")
        daybook.chat.say("three", chat=OWNER)
        hold.released.set()
        assert await daybook.chat.wait_heard(2, chat=OWNER) == ["first", "third"]
        assert await discord.wait_heard(chat="77") == ["second"]
    asked = [str(message) for message in daybook.model.requests[-1].messages]
    order = [next(at for at, text in enumerate(asked) if word in text) for word in ("one", "first", "two", "second")]
    assert order == sorted(order)


async def test_only_the_same_chat_steers_a_running_turn(daybook: Daybook, discord: ScriptedChannel) -> None:
    hold = Hold()
    daybook.model.then(
        ScriptedAnswer(calls=(Call("memory_append", {"text": "tea"}),), hold=hold), "Tea.", "Coffee, there."
    )
    async with daybook.running():
        daybook.chat.say("Tea for me", chat=OWNER)
        await hold.reached.wait()
        await said_on(discord, "No, coffee")
        hold.released.set()
        assert await daybook.chat.wait_heard(chat=OWNER) == ["Tea."]
        assert await discord.wait_heard(chat="77") == ["Coffee, there."]
    assert "No, coffee" not in str(daybook.model.requests[1].messages)


async def test_only_the_same_chat_interrupts_a_running_turn(daybook: Daybook, discord: ScriptedChannel) -> None:
    daybook.queue("interrupt")
    hold = Hold()
    daybook.model.then(ScriptedAnswer("Tea has a long history.", hold=hold), "It is noon.")
    async with daybook.running():
        daybook.chat.say("Tell me of tea", chat=OWNER)
        await hold.reached.wait()
        await said_on(discord, "What time is it?")
        hold.released.set()
        assert await daybook.chat.wait_heard(chat=OWNER) == ["Tea has a long history."]
        assert await discord.wait_heard(chat="77") == ["It is noon."]


async def test_what_an_interruption_carries_on_is_answered_in_its_own_chat(
    daybook: Daybook, discord: ScriptedChannel
) -> None:
    daybook.queue("interrupt")
    hold = Hold()
    daybook.model.then(ScriptedAnswer("Tea has a long history.", hold=hold), "In short: leaves.", "It is noon.")
    async with daybook.running():
        daybook.chat.say("Tell me of tea", chat=OWNER)
        await hold.reached.wait()
        await said_on(discord, "What time is it?")
        daybook.chat.say("In short, please", chat=OWNER)
        assert await daybook.chat.wait_heard(chat=OWNER) == ["In short: leaves."]
        assert await discord.wait_heard(chat="77") == ["It is noon."]
    assert daybook.model.left == 0


async def test_a_turn_goes_on_in_its_chat_after_a_restart(daybook: Daybook, discord: ScriptedChannel) -> None:
    hold = Hold()
    daybook.model.then(ScriptedAnswer("never", hold=hold))
    async with daybook.running() as gateway:
        await said_on(discord, "one", chat="77")
        await hold.reached.wait()
        daybook.chat.say("two", chat=OWNER)
        daybook.chat.say("/whoami", chat="elsewhere")
        await daybook.chat.wait_heard(chat="elsewhere")
        await gateway.kill()
    daybook.model.then("first", "second")
    async with daybook.running():
        assert await discord.wait_heard(chat="77") == ["first"]
        assert await daybook.chat.wait_heard(chat=OWNER) == ["second"]


async def test_a_command_of_one_chat_is_about_the_talk_of_both(daybook: Daybook, discord: ScriptedChannel) -> None:
    hold = Hold()
    daybook.model.then(ScriptedAnswer("never", hold=hold))
    async with daybook.running():
        daybook.chat.say("Think", chat=OWNER)
        await hold.reached.wait()
        discord.say("/stop", chat="77", sender=ON_DISCORD)
        assert await discord.wait_heard(chat="77") == ["Stopped."]
    assert all("never" not in text for text in daybook.chat.heard(OWNER))
