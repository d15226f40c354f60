"""The way in: judged, written down, passed on."""

from __future__ import annotations

import dataclasses
import re
from datetime import timedelta

import pytest

from agent.formats.sqlite import connect_read_only
from agent.languages.examples import ABILITIES
from agent.model.scripted import Hold, ScriptedAnswer, ScriptedModel
from channels.message import Attachment, Health, UnreadableEvent
from channels.scripted import ScriptedChannel, Typing
from gateway.app import open_gateway
from gateway.store import inbox_rows
from tests import strength
from tests.gateway.conftest import ALICE, GROUP, OWNER, STRANGER, Daybook, full_disk, moved

MANY = 500 if strength.is_full else 150


async def test_invariant_01_a_batch_is_on_disk_before_the_platform_is_told(daybook: Daybook) -> None:
    """Killed as soon as the platform was told, the next process still has all of it."""
    daybook.model.then("one", "two")
    async with daybook.running() as gateway:
        daybook.chat.say("first", chat="1")
        daybook.chat.say("second", chat="2", sender=OWNER)
        await daybook.chat.wait_until(lambda: daybook.chat.offered == 1)
        await gateway.kill()
    if not daybook.chat.heard("1"):
        async with daybook.running():
            await daybook.chat.wait_heard(chat="1")
    assert "first" in daybook.everything_asked()


async def test_only_what_nothing_stands_before_is_bound_to_its_turn_as_it_comes(daybook: Daybook) -> None:
    """What waits is not: it may be reworded, steer a turn, or be answered together with something else."""
    hold = Hold()
    daybook.model.then(ScriptedAnswer("one", hold=hold), "two", "three")
    daybook.queue("collect")
    async with daybook.running():
        daybook.chat.say("first")
        await hold.reached.wait()
        daybook.chat.say("second")
        await daybook.chat.wait_until(lambda: daybook.chat.offered == 2)
        with connect_read_only(daybook.home.database) as other:
            waiting = inbox_rows.open_rows(other)
        assert [(row.message.text, bool(row.turn), row.attempts) for row in waiting] == [
            ("first", True, 1),
            ("second", False, 0),
        ]
        hold.released.set()
        await daybook.chat.wait_heard(2)


async def test_a_repeat_is_answered_once(daybook: Daybook) -> None:
    daybook.model.then("Hello.")
    async with daybook.running():
        message = daybook.chat.say("Hi")
        daybook.chat.push(message)
        await daybook.chat.wait_heard()
        daybook.chat.push(message)
        daybook.chat.say("/whoami")
        heard = await daybook.chat.wait_heard(2)
    assert heard[0] == "Hello."
    assert len(daybook.model.requests) == 1


async def test_a_repeat_after_a_restart_is_not_answered_again(daybook: Daybook) -> None:
    daybook.model.then("Hello.")
    async with daybook.running():
        message = daybook.chat.say("Hi")
        await daybook.chat.wait_heard()
    async with daybook.running() as gateway:
        daybook.chat.push(message)
        await daybook.chat.wait_until(lambda: daybook.chat.offered >= 2)
        daybook.chat.say("/whoami")
        await daybook.chat.wait_heard(2)
        assert await gateway.status("inbox", "waiting") == 0
    assert len(daybook.model.requests) == 1


async def test_an_edit_of_a_waiting_message_is_what_is_answered(daybook: Daybook) -> None:
    daybook.queue("collect")
    hold = Hold()
    daybook.model.then(ScriptedAnswer("first", hold=hold), "second")
    async with daybook.running():
        daybook.chat.say("Hi")
        await hold.reached.wait()
        waiting = daybook.chat.say("Bay milk")
        offered = daybook.chat.offered
        await daybook.chat.wait_until(lambda: daybook.chat.offered > offered)
        daybook.chat.say("Buy milk", edit_of=waiting.platform_id)
        daybook.chat.say("/whoami")
        await daybook.chat.wait_heard(1)
        hold.released.set()
        await daybook.chat.wait_heard(3)
    assert "Buy milk" in daybook.asked()
    assert "Bay milk" not in daybook.everything_asked()


async def test_an_edit_in_the_same_batch_is_not_lost(daybook: Daybook) -> None:
    """After a night offline the platform offers a message and its edit together."""
    daybook.model.then("Noted.")
    message = daybook.chat.say("Mlik for me")
    daybook.chat.say("Milk for me", edit_of=message.platform_id)
    async with daybook.running():
        assert await daybook.chat.wait_heard() == ["Noted."]
    assert "Milk for me" in daybook.asked()
    assert "Mlik for me" not in daybook.asked()


# strangers ---------------------------------------------------------------------------------------------------------


async def test_a_stranger_gets_one_answer_with_a_code_and_no_model(daybook: Daybook) -> None:
    async with daybook.running() as gateway:
        daybook.chat.say("Hello?", chat="5", sender=STRANGER)
        (answer,) = await daybook.chat.wait_heard(chat="5")
        daybook.chat.say("Anybody?", chat="5", sender=STRANGER)
        daybook.chat.say("/status", chat="5", sender=STRANGER)
        daybook.chat.say("/whoami")
        await daybook.chat.wait_heard()
        assert daybook.chat.heard("5") == [answer]
        codes = await gateway.codes()
    assert daybook.model.requests == []
    assert set(re.findall(r"\b[A-Z2-9]{8}\b", answer)) == set(codes)
    assert len(codes) == 1


async def test_the_log_tells_that_somebody_asked_and_not_the_code(
    daybook: Daybook, caplog: pytest.LogCaptureFixture
) -> None:
    """A log is shown to others, when something does not work."""
    with caplog.at_level("DEBUG"):
        async with daybook.running() as gateway:
            daybook.chat.say("Hello?", chat="5", sender=STRANGER)
            await daybook.chat.wait_heard(chat="5")
            (code,) = await gateway.codes()
    assert "asks for access" in caplog.text
    assert code not in caplog.text
    assert "Hello?" not in caplog.text


async def test_a_fourth_stranger_is_not_answered(daybook: Daybook) -> None:
    async with daybook.running():
        for number in range(4):
            daybook.chat.say("Hello?", chat=f"5{number}", sender=f"5{number}")
        daybook.chat.say("/whoami")
        await daybook.chat.wait_heard()
        for number in range(3):
            await daybook.chat.wait_heard(chat=f"5{number}")
    assert daybook.chat.heard("53") == []


async def test_an_approved_stranger_is_answered_in_a_talk_of_their_own(daybook: Daybook) -> None:
    daybook.model.then("Nice to meet you.")
    async with daybook.running() as gateway:
        daybook.chat.say("Hello?", chat="5", sender=STRANGER)
        await daybook.chat.wait_heard(chat="5")
        (code,) = await gateway.codes()
        answer = await gateway.approve(code)
        daybook.chat.say("Me again", chat="5", sender=STRANGER)
        heard = await daybook.chat.wait_heard(3, chat="5")
    assert heard[1:] == [f"You're approved.\n{ABILITIES}", "Nice to meet you."]
    assert daybook.model.requests[0].session == f"main/person/telegram-{STRANGER}"
    assert answer["role"] == "person"


async def test_the_first_one_approved_is_told_to_be_the_owner(daybook: Daybook) -> None:
    daybook.settings = {}
    daybook.model.then("At your service.")
    async with daybook.running() as gateway:
        daybook.chat.say("Hello?")
        await daybook.chat.wait_heard()
        (code,) = await gateway.codes()
        answer = await gateway.approve(code)
        daybook.chat.say("It's me")
        heard = await daybook.chat.wait_heard(3)
    assert "is the owner now" in str(answer["message"])
    assert heard[1].startswith("You're approved, and you are my owner now.")
    assert daybook.model.requests[0].session == "main/owner"


async def test_the_owner_lets_somebody_in_from_the_chat(daybook: Daybook) -> None:
    async with daybook.running():
        daybook.chat.say("Hello?", chat="5", sender=STRANGER, name="Bob")
        (offer,) = await daybook.chat.wait_heard(chat="5")
        code = re.findall(r"\b[A-Z2-9]{8}\b", offer)[0]
        daybook.chat.say("/pair")
        daybook.chat.say(f"/pair {code.lower()}")
        listed, done = sorted(await daybook.chat.wait_heard(2), key=lambda text: "can talk" in text)
    assert code in listed
    assert done == f"Bob (telegram:{STRANGER}) can talk to me now."


async def test_who_is_revoked_is_told_where_they_were_heard_last(daybook: Daybook) -> None:
    discord = ScriptedChannel("discord")
    daybook.others = (discord,)
    daybook.model.then("Nice to meet you.")
    async with daybook.running() as gateway:
        discord.say("Hello?", chat="777", sender=STRANGER)
        await discord.wait_heard(chat="777")
        await gateway.approve((await gateway.codes())[0])
        discord.say("Me again", chat="778", sender=STRANGER)
        await discord.wait_heard(chat="778")
        await gateway.ask("pair.revoke", id=f"discord:{STRANGER}")
        assert "removed your access" in (await discord.wait_heard(2, chat="778"))[1]
    assert len(discord.heard("777")) == 2
    assert len(daybook.model.requests) == 1


async def test_what_is_decided_while_the_gateway_is_down_is_told_when_it_is_up(daybook: Daybook) -> None:
    async with daybook.running() as gateway:
        daybook.chat.say("Hello?", chat="5", sender=STRANGER)
        await daybook.chat.wait_heard(chat="5")
        (code,) = await gateway.codes()
    async with open_gateway(daybook.home, daybook.config, channels=False, clock=daybook.moment.clock) as alone:
        await alone.operations["pair.approve"]({"code": code})
    assert len(daybook.chat.heard("5")) == 1
    async with daybook.running():
        assert "You're approved" in (await daybook.chat.wait_heard(2, chat="5"))[1]


async def test_after_an_hour_a_stranger_gets_a_new_code(daybook: Daybook) -> None:
    async with daybook.running() as gateway:
        daybook.chat.say("Hello?", chat="5", sender=STRANGER)
        (first,) = await daybook.chat.wait_heard(chat="5")
        daybook.moment.pass_(timedelta(hours=1))
        daybook.chat.say("Hello?", chat="5", sender=STRANGER)
        second = (await daybook.chat.wait_heard(2, chat="5"))[1]
        assert len(await gateway.codes()) == 1
    assert first != second


async def test_a_bot_is_not_answered(daybook: Daybook) -> None:
    daybook.group()
    async with daybook.running():
        daybook.chat.say("@bot beep", chat=GROUP, sender="777", group=True, is_bot=True)
        daybook.chat.say("beep", chat="5", sender="777", is_bot=True)
        daybook.chat.say("/whoami")
        await daybook.chat.wait_heard()
    assert daybook.chat.heard(GROUP) == daybook.chat.heard("5") == []
    assert daybook.model.requests == []


# groups ------------------------------------------------------------------------------------------------------------


async def test_a_group_is_answered_when_it_calls_with_what_it_said_before(daybook: Daybook) -> None:
    daybook.group()
    daybook.model.then("Pizza it is.", "Yes?")
    async with daybook.running():
        daybook.chat.say("I'd like pizza", chat=GROUP, sender=ALICE, name="Alice", group=True, calls_bot=False)
        daybook.chat.say("@bot what do we eat?", chat=GROUP, sender=STRANGER, name="Bob", group=True)
        assert await daybook.chat.wait_heard(chat=GROUP) == ["Pizza it is."]
        daybook.chat.say("@bot sure?", chat=GROUP, sender=STRANGER, name="Bob", group=True)
        await daybook.chat.wait_heard(2, chat=GROUP)
    assert "I'd like pizza" in daybook.asked(0)
    assert "Alice" in daybook.asked(0)
    assert "I'd like pizza" not in daybook.asked(1)


async def test_an_unlisted_group_hears_nothing(daybook: Daybook) -> None:
    daybook.group()
    async with daybook.running():
        daybook.chat.say("@bot hi", chat="-999", sender=OWNER, group=True)
        daybook.chat.say("/whoami")
        await daybook.chat.wait_heard()
    assert daybook.chat.heard("-999") == []
    assert not any(isinstance(act, Typing) and act.address.chat_id == "-999" for act in daybook.chat.history)


async def test_two_topics_answer_side_by_side(daybook: Daybook) -> None:
    daybook.group()
    slow = Hold()
    daybook.model.then(ScriptedAnswer("slow", hold=slow), "quick")
    async with daybook.running():
        daybook.chat.say("@bot think", chat=GROUP, group=True, thread="7")
        await slow.reached.wait()
        daybook.chat.say("@bot quick", chat=GROUP, group=True, thread="8")
        assert await daybook.chat.wait_heard(chat=GROUP, thread="8") == ["quick"]
        assert daybook.chat.heard(GROUP, "7") == []
        slow.released.set()
        assert await daybook.chat.wait_heard(chat=GROUP, thread="7") == ["slow"]


async def test_a_group_that_moves_goes_on_with_its_talk(daybook: Daybook) -> None:
    daybook.group("-1")
    daybook.model.then("Noted.", "A picnic.", "Still a picnic.")
    async with daybook.running():
        daybook.chat.say("@bot we plan a picnic", chat="-1", group=True)
        await daybook.chat.wait_heard(chat="-1")
        daybook.chat.push(moved(ScriptedChannel("telegram"), "-1", "-1001"))
        daybook.chat.say("@bot what do we plan?", chat="-1001", group=True)
        assert await daybook.chat.wait_heard(chat="-1001") == ["A picnic."]
    async with daybook.running():
        daybook.chat.say("@bot and now?", chat="-1001", group=True)
        await daybook.chat.wait_heard(2, chat="-1001")
    assert {request.session for request in daybook.model.requests} == {"main/group/telegram--1"}
    assert "picnic" in str(daybook.model.requests[1].messages[0])


# people over platforms ---------------------------------------------------------------------------------------------


async def test_a_talk_begun_in_one_place_goes_on_in_another(daybook: Daybook) -> None:
    discord = ScriptedChannel("discord")
    daybook.others = (discord,)
    daybook.settings["people"] = {"ann": [f"telegram:{OWNER}", "discord:2"]}
    daybook.model.then("Noted.", "42.")
    async with daybook.running():
        daybook.chat.say("The number is 42")
        await daybook.chat.wait_heard()
        discord.say("Which number?", sender="2")
        assert await discord.wait_heard() == ["42."]
    assert daybook.model.requests[0].session == daybook.model.requests[1].session == "main/owner"
    assert "The number is 42" in str(daybook.model.requests[1].messages)


async def test_equal_ids_of_two_platforms_are_two_messages(daybook: Daybook) -> None:
    discord = ScriptedChannel("discord")
    daybook.others = (discord,)
    daybook.settings["owners"] = [f"telegram:{OWNER}", "discord:2"]
    daybook.model.then("one", "two")
    async with daybook.running():
        daybook.chat.say("Hello", id="5")
        await daybook.chat.wait_heard()
        discord.say("Hello", sender="2", id="5")
        assert await discord.wait_heard() == ["two"]


# bad input ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["", "   ", "\n\t\n"])
async def test_an_empty_message_is_answered_with_a_sentence(daybook: Daybook, text: str) -> None:
    async with daybook.running() as gateway:
        daybook.chat.say(text)
        (answer,) = await daybook.chat.wait_heard()
        assert await gateway.status("inbox", "waiting") == 0
    assert "empty" in answer
    assert daybook.model.requests == []


async def test_attachments_alone_are_a_message(daybook: Daybook) -> None:
    daybook.model.then("Please send them again.")
    async with daybook.running():
        daybook.chat.say("", attachments=[Attachment("photo"), Attachment("document", "tax.pdf", 1000)])
        assert await daybook.chat.wait_heard() == ["Please send them again."]
    assert "photo came with this message; it was not opened" in daybook.asked()
    assert "document tax.pdf" in daybook.asked()


async def test_the_text_that_came_with_a_photo_is_used(daybook: Daybook) -> None:
    daybook.model.then("Lovely.")
    async with daybook.running():
        daybook.chat.say("My cat", attachments=[Attachment("photo")])
        assert await daybook.chat.wait_heard() == ["Lovely."]
    assert "My cat" in daybook.asked()
    assert "photo" in daybook.asked()


@pytest.mark.parametrize("text", ["a\0b", "a \ud83d b", "‏‮abc", "x" * 1_000_000])
async def test_odd_text_is_answered(daybook: Daybook, text: str) -> None:
    daybook.model.then("Well.")
    async with daybook.running() as gateway:
        daybook.chat.say(text)
        assert len(await daybook.chat.wait_heard()) == 1
        assert await gateway.status("channels", "telegram", "state") == "ok"


async def test_an_unreadable_event_is_counted_and_stops_nothing(daybook: Daybook) -> None:
    daybook.model.then("Hello.")
    async with daybook.running() as gateway:
        daybook.chat.push(UnreadableEvent("update:1", "telegram", '{"bad": "\ud83d"}', "it has no chat"))
        daybook.chat.say("Hi")
        assert await daybook.chat.wait_heard() == ["Hello."]
        assert await gateway.status("inbox", "unreadable") == 1


async def test_a_flood_loses_none_and_keeps_order(daybook: Daybook) -> None:
    daybook.settings["channels"] = {"telegram": {"dm_policy": "open"}}
    daybook.model = ScriptedModel(otherwise="Yes.")
    for number in range(MANY):
        daybook.chat.say(f"message <{number}>", chat=str(number % 50), sender=str(number % 50))
    async with daybook.running() as gateway:
        for chat in range(50):
            await daybook.chat.wait_heard(chat=str(chat))
        while await gateway.status("inbox", "waiting"):
            pass
    for chat in range(50):
        (*_, last) = (
            request for request in daybook.model.requests if request.session == f"main/person/telegram-{chat}"
        )
        said = re.findall(r"message <(\d+)>", str(last.messages))
        assert [int(number) for number in said] == list(range(chat, MANY, 50))


async def test_a_full_disk_is_told_once_and_the_message_is_taken_later(daybook: Daybook) -> None:
    daybook.model.then("Hello.")
    async with daybook.running():
        daybook.chat.say("/whoami")
        await daybook.chat.wait_heard()
        with full_disk():
            daybook.chat.say("Hi")
            (_, notice) = await daybook.chat.wait_heard(2)
            await daybook.chat.wait_until(lambda: daybook.chat.status.state is Health.DOWN)
        heard = await daybook.chat.wait_heard(3)
    assert "the disk is full" in notice
    assert heard[2:] == ["Hello."]


async def test_unlike_ids_name_unlike_messages(daybook: Daybook) -> None:
    """The same platform id in another chat is another message: an edit there touches nothing here."""
    daybook.model.then("Noted.")
    message = daybook.chat.say("Milk for me")
    daybook.chat.push(dataclasses.replace(message, id="other", text="Wine for me", edit=True, platform_id="999"))
    async with daybook.running():
        assert await daybook.chat.wait_heard() == ["Noted."]
    assert "Milk for me" in daybook.asked()
