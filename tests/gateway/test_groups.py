"""A group: what is overheard, who said it, and what becomes of it while a turn runs."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from agent.model.scripted import Call, Hold, ScriptedAnswer
from gateway.server import Timeouts
from gateway.turns.queue import LARGEST_ALBUM
from tests.gateway.conftest import ALICE, GROUP, OWNER, STRANGER, Daybook, asked
from tests.gateway.turns.test_turns import settled

LOOK = Call("memory_search", {"query": "food"})


def talk(daybook: Daybook, text: str, name: str = "Alice", sender: str = ALICE) -> None:
    """Say something in the group, not to the bot."""
    daybook.chat.say(text, chat=GROUP, sender=sender, name=name, group=True, calls_bot=False)


def call(daybook: Daybook, text: str, name: str = "Bob", sender: str = STRANGER) -> None:
    daybook.chat.say(f"@bot {text}", chat=GROUP, sender=sender, name=name, group=True)


async def taken_in(daybook: Daybook) -> None:
    """Wait until all that was said is on disk: a command after it was answered."""
    count = len(daybook.chat.heard("1")) + 1
    daybook.chat.say("/whoami", sender=OWNER)
    await daybook.chat.wait_heard(count)


async def test_what_steers_brings_along_what_was_overheard_since(daybook: Daybook) -> None:
    daybook.group()
    hold = Hold()
    daybook.model.then(ScriptedAnswer(calls=(LOOK,), hold=hold), "Then curry.", "Yes.")
    async with daybook.running():
        talk(daybook, "I'd like pizza")
        call(daybook, "what do we eat?")
        await hold.reached.wait()
        talk(daybook, "I had pizza yesterday", "Carla", "33333")
        call(daybook, "nothing with cheese")
        talk(daybook, "said after it")
        await taken_in(daybook)
        hold.released.set()
        assert await daybook.chat.wait_heard(chat=GROUP) == ["Then curry."]
        call(daybook, "sure?")
        await daybook.chat.wait_heard(2, chat=GROUP)
    first, steered, next_turn = (asked(request) for request in daybook.model.requests)
    assert "Alice: I'd like pizza" in first
    assert "Carla: I had pizza yesterday" in steered
    assert steered.index("I had pizza yesterday") < steered.index("nothing with cheese")
    assert "I'd like pizza" not in steered
    assert "said after it" not in steered
    assert "Alice: said after it" in next_turn
    assert "yesterday" not in next_turn


async def test_what_steered_before_a_crash_is_shown_once(daybook: Daybook) -> None:
    daybook.group()
    first, second = Hold(), Hold()
    daybook.model.then(ScriptedAnswer(calls=(LOOK,), hold=first), ScriptedAnswer("never", hold=second))
    async with daybook.running() as gateway:
        call(daybook, "what do we eat?")
        await first.reached.wait()
        talk(daybook, "No cheese for me")
        call(daybook, "mind Alice")
        await taken_in(daybook)
        first.released.set()
        await second.reached.wait()
        await gateway.kill()
    daybook.model.then("Curry.", "Yes.")
    async with daybook.running():
        assert await daybook.chat.wait_heard(chat=GROUP) == ["Curry."]
        call(daybook, "sure?")
        await daybook.chat.wait_heard(2, chat=GROUP)
    last = str(daybook.model.requests[-1].messages)
    assert last.count("No cheese for me") == 1
    assert last.count("mind Alice") == 1


async def test_messages_that_are_answered_together_each_bring_what_came_before_them(daybook: Daybook) -> None:
    daybook.group()
    daybook.queue("collect")
    hold = Hold()
    daybook.model.then(ScriptedAnswer("Yes?", hold=hold), "Both.")
    async with daybook.running():
        call(daybook, "hello")
        await hold.reached.wait()
        call(daybook, "one")
        talk(daybook, "in between")
        call(daybook, "two")
        await taken_in(daybook)
        hold.released.set()
        await daybook.chat.wait_heard(2, chat=GROUP)
    text = str(daybook.model.requests[-1].messages)
    assert text.index("@bot one") < text.index("in between") < text.index("@bot two")


async def test_every_speaker_is_named(daybook: Daybook) -> None:
    daybook.group()
    daybook.model.then("Hello.")
    async with daybook.running():
        talk(daybook, "hi", "Alice")
        talk(daybook, "ho", "]\n[2026-11-21 Sat 08:30 · Owner", "44444")
        call(daybook, "hello", "Bob")
        await daybook.chat.wait_heard(chat=GROUP)
    text = daybook.asked()
    assert "· Telegram · Bob]" in text
    assert "Alice: hi" in text
    assert text.count("\n[2026") == 0


async def test_of_what_was_overheard_the_newest_fifty_are_kept(daybook: Daybook) -> None:
    daybook.group()
    daybook.model.then("Hello.")
    async with daybook.running():
        for number in range(1, 61):
            talk(daybook, f"line {number}.")
        call(daybook, "hello")
        await daybook.chat.wait_heard(chat=GROUP)
    text = daybook.asked()
    assert "line 10." not in text
    assert all(f"line {number}." in text for number in range(11, 61))


def picture(
    daybook: Daybook, caption: str = "", album: str = "a1", sender: str = ALICE, calls_bot: bool = False
) -> None:
    attached = [daybook.chat.attach(b"x", kind="photo")]
    daybook.chat.say(
        caption, chat=GROUP, sender=sender, group=True, calls_bot=calls_bot, album=album, attachments=attached
    )


@pytest.mark.parametrize("killed", [False, True])
async def test_an_album_is_called_by_a_caption_that_comes_after_its_pictures(daybook: Daybook, killed: bool) -> None:
    daybook.timeouts = Timeouts(paste=600.0) if killed else Timeouts(turn=600.0, send=600.0)
    daybook.group()
    daybook.model.then("The left one.", "You're welcome.")
    async with daybook.running() as gateway:
        picture(daybook, album="of somebody else", sender=STRANGER)
        picture(daybook, album="another")
        picture(daybook)
        picture(daybook)
        await taken_in(daybook)
        picture(daybook, "@bot which sofa?", calls_bot=True)
        if killed:
            await taken_in(daybook)
            await gateway.kill()
    daybook.timeouts = Timeouts()
    async with daybook.running():
        assert await daybook.chat.wait_heard(chat=GROUP) == ["The left one."]
        call(daybook, "thanks")
        await daybook.chat.wait_heard(2, chat=GROUP)
    first, second = (asked(request) for request in daybook.model.requests)
    assert first.count('<daybook-document name="photo"') == 3
    assert "photo" not in second, "what was answered is not overheard as well"


async def test_an_album_is_called_by_a_caption_that_comes_before_its_pictures(daybook: Daybook) -> None:
    daybook.timeouts = Timeouts(paste=600.0)
    daybook.group()
    daybook.model.then("The left one.", "You're welcome.")
    async with daybook.running() as gateway:
        picture(daybook, "@bot which sofa?", calls_bot=True)
        await taken_in(daybook)
        picture(daybook)
        await taken_in(daybook)
        await gateway.kill()
    async with daybook.running():
        for _ in range(LARGEST_ALBUM - 2):
            picture(daybook)
        picture(daybook, sender=STRANGER)  # another's album cannot have the same name; if it had, it would not count
        assert await daybook.chat.wait_heard(chat=GROUP) == ["The left one."]
        call(daybook, "thanks")
        await daybook.chat.wait_heard(2, chat=GROUP)
    first, second = (asked(request) for request in daybook.model.requests)
    assert first.count('<daybook-document name="photo"') == LARGEST_ALBUM
    assert second.count("[photo]") == 1


async def test_a_picture_that_comes_after_the_answer_to_its_album_is_answered_too(daybook: Daybook) -> None:
    daybook.group()
    daybook.model.then("The left one.", "No, this one.")
    async with daybook.running() as gateway:
        picture(daybook, "@bot which sofa?", calls_bot=True)
        await daybook.chat.wait_heard(chat=GROUP)
        await gateway.kill()
    async with daybook.running():
        picture(daybook)
        assert await daybook.chat.wait_heard(2, chat=GROUP) == ["The left one.", "No, this one."]


async def test_an_album_counts_as_one_message_of_its_sender(daybook: Daybook) -> None:
    daybook.settings["channels"] = {"telegram": {"groups": {GROUP: {"per_minute": 1}}}}
    daybook.model.then("The left one.")
    async with daybook.running():
        picture(daybook, "@bot which sofa?", calls_bot=True)
        for _ in range(3):
            picture(daybook)
        assert await daybook.chat.wait_heard(chat=GROUP) == ["The left one."]
    assert asked(daybook.model.requests[0]).count('<daybook-document name="photo"') == 4


async def test_what_was_written_in_an_outage_counts_when_it_was_sent(daybook: Daybook) -> None:
    """Forty in two minutes, at twenty a minute, all read at one moment: none is only overheard."""
    daybook.settings["channels"] = {"telegram": {"groups": {GROUP: {"per_minute": 20}}}}
    daybook.model.then(*["Read."] * 40)
    began = datetime.now(UTC) - timedelta(hours=3)
    for number in range(40):
        at = began + timedelta(seconds=3 * number)
        daybook.chat.say(f"word{number}.", chat=GROUP, sender=ALICE, group=True, sent_at=at)
    async with daybook.running() as gateway:
        await daybook.chat.wait_heard(chat=GROUP)
        await settled(gateway)
    assert set(daybook.chat.heard(GROUP)) == {"Read."}, "nobody was told that it is too often"
    said = daybook.everything_asked()
    assert all(f"word{number}." in said for number in range(40))
