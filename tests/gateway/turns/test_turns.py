"""Which messages make a turn, what ends one early, and what a restart makes of it."""

from __future__ import annotations

import asyncio
import fcntl
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from agent.model.base import TryLater
from agent.model.scripted import Call, Hold, ScriptedAnswer, ScriptedModel
from channels.message import NotSent, OutcomeUnknown, PreviewStyle
from channels.scripted import ScriptedChannel, Sent
from gateway.messages.outbox import REPEAT_MARK
from gateway.server import Timeouts
from gateway.store import outbox_rows
from gateway.store.outbox_rows import OutboxRow
from gateway.turns.queue import LARGEST_ALBUM
from tests.gateway.conftest import ALICE, GROUP, OWNER, Daybook, Running, full_disk


async def taken_in(daybook: Daybook, *texts: str, chat: str = "1", sender: str = OWNER) -> None:
    """Say something and wait until the gateway has it on disk."""
    for text in texts:
        offered = daybook.chat.offered
        daybook.chat.say(text, chat=chat, sender=sender)
        await daybook.chat.wait_until(lambda offered=offered: daybook.chat.offered > offered)  # type: ignore[misc]
    daybook.chat.say("/whoami", chat="elsewhere")  # admitted after them, and answered at once
    await daybook.chat.wait_heard(chat="elsewhere")


async def settled(gateway: Running) -> None:
    """Wait until every message has its end and every reply its receipt."""
    while await gateway.status("inbox", "waiting") or await gateway.status("outbox", "waiting"):
        pass


async def until(reached: Callable[[], bool]) -> None:
    """Wait for something on disk, where nobody tells that it is there."""
    async with asyncio.timeout(120):
        while not reached():  # noqa: ASYNC110
            await asyncio.sleep(0.002)


async def on_its_way(daybook: Daybook, so_far: Callable[[OutboxRow], bool]) -> None:
    """Wait until a reply has come so far, as another process sees it."""
    with closing(sqlite3.connect(daybook.home.database)) as other:
        other.row_factory = sqlite3.Row
        await until(lambda: any(so_far(row) for row in outbox_rows.open_rows(other)))


def journal(daybook: Daybook) -> str:
    return "".join(path.read_text() for path in daybook.home.sessions.rglob("*.jsonl"))


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """As another process would lock it that writes there."""
    folder.mkdir(exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        yield
    finally:
        os.close(descriptor)


def sent(chat: ScriptedChannel) -> list[str]:
    return [act.message.text for act in chat.history if isinstance(act, Sent)]


# one end for every message -----------------------------------------------------------------------------------------


async def test_invariant_02_a_message_ends_in_a_reply(daybook: Daybook) -> None:
    daybook.model.then("Hello to you.")
    async with daybook.running() as gateway:
        daybook.chat.say("Hello")
        assert await daybook.chat.wait_heard() == ["Hello to you."]
        await settled(gateway)
    assert not daybook.chat.is_typing()


async def test_invariant_02_or_in_a_recorded_silence(daybook: Daybook) -> None:
    daybook.chat = ScriptedChannel("telegram", preview=PreviewStyle.DRAFT)
    daybook.model.then(ScriptedAnswer(("NO", "_REP", "LY")))
    async with daybook.running() as gateway:
        daybook.chat.say("Thanks")
        await daybook.chat.wait_until(lambda: bool(daybook.model.requests))
        await settled(gateway)
    assert daybook.chat.heard() == daybook.chat.drafts() == []
    assert not daybook.chat.is_typing()


@pytest.mark.parametrize(
    "answer",
    [
        TryLater("The model is overloaded. Please try again."),
        ScriptedAnswer(""),
        ScriptedAnswer("No.", stop_reason="refusal"),
    ],
)
async def test_invariant_02_or_in_a_text_that_says_what_to_do(
    daybook: Daybook, answer: TryLater | ScriptedAnswer
) -> None:
    daybook.model = ScriptedModel(otherwise=answer)
    async with daybook.running() as gateway:
        daybook.chat.say("Hello")
        (heard,) = await daybook.chat.wait_heard()
        await settled(gateway)
    assert "lease" in heard
    assert not daybook.chat.is_typing()


async def test_invariant_02_a_turn_that_fails_by_a_bug_says_so(
    daybook: Daybook, caplog: pytest.LogCaptureFixture
) -> None:
    def bug(_: object) -> str:
        raise ZeroDivisionError("a bug")

    daybook.model.then(bug, "Well again.")
    async with daybook.running() as gateway:
        daybook.chat.say("Hello")
        (heard,) = await daybook.chat.wait_heard()
        await settled(gateway)
        daybook.chat.say("And now?")
        assert (await daybook.chat.wait_heard(2))[1] == "Well again."
    assert "Something went wrong inside Daybook" in heard
    assert "a bug" not in heard
    assert "a bug" in caplog.text


async def test_invariant_02_an_answer_with_half_a_character_is_a_reply(daybook: Daybook) -> None:
    """What a model says beside our reading of it: nothing that comes later may fail on it for ever."""
    daybook.model.then(
        ScriptedAnswer(["smile \ud83d", " and more \ude00"]), Call("memory_append", {"text": "\ud83d"}), "Done."
    )
    async with daybook.running() as gateway:
        daybook.chat.say("Hello")
        assert await daybook.chat.wait_heard() == ["smile \ufffd and more \ufffd"]
        daybook.chat.say("Note it")
        assert (await daybook.chat.wait_heard(2))[1] == "Done."
        await settled(gateway)
    async with daybook.running() as gateway:
        assert await gateway.status("inbox", "waiting") == 0


class _NotSplitting(ScriptedChannel):
    """A channel with a bug that some texts, or all, bring out."""

    bad = "bad"

    def split(self, text: str) -> list[str]:
        if self.bad in text:
            raise ZeroDivisionError("a bug")
        return super().split(text)


async def test_invariant_02_an_end_that_cannot_be_written_ends_in_an_error_text(daybook: Daybook) -> None:
    daybook.chat = _NotSplitting("telegram")
    daybook.model.then("A bad answer.", "Well again.")
    async with daybook.running() as gateway:
        daybook.chat.say("Hello")
        (heard,) = await daybook.chat.wait_heard()
        await settled(gateway)
        daybook.chat.say("And now?")
        assert (await daybook.chat.wait_heard(2))[1] == "Well again."
    assert "Something went wrong inside Daybook" in heard
    async with daybook.running() as gateway:
        await settled(gateway)
    assert len(daybook.chat.heard()) == 2


async def test_invariant_02_a_message_that_nothing_can_answer_does_not_wait_for_ever(daybook: Daybook) -> None:
    daybook.chat = chat = _NotSplitting("telegram")
    chat.bad = ""
    daybook.model.then("An answer.", "Well again.")
    async with daybook.running() as gateway:
        chat.say("Hello")
        await chat.wait_until(lambda: bool(daybook.model.requests))
        await settled(gateway)
        chat.bad = "nothing"
        chat.say("And now?")
        assert await chat.wait_heard() == ["Well again."]


async def test_a_token_after_real_text_is_taken_off(daybook: Daybook) -> None:
    daybook.model.then("Noted.\n\nNO_REPLY")
    async with daybook.running():
        daybook.chat.say("Hello")
        assert await daybook.chat.wait_heard() == ["Noted."]


# order, bursts -----------------------------------------------------------------------------------------------------


async def test_a_text_that_the_client_has_cut_is_one_message(daybook: Daybook) -> None:
    daybook.timeouts = Timeouts(paste=600.0)
    daybook.model.then("Long.")
    async with daybook.running():
        daybook.chat.say("first half,", continues=True)
        await daybook.chat.wait_until(lambda: daybook.chat.offered == 1)
        daybook.chat.say("Bob's own", chat="1", sender=OWNER, continues=True)
        daybook.chat.say("second half")
        assert await daybook.chat.wait_heard() == ["Long."]
    assert all(part in daybook.asked() for part in ("first half,", "Bob's own", "second half"))
    assert len(daybook.model.requests) == 1


async def test_a_text_at_the_limit_without_a_rest_is_answered(daybook: Daybook) -> None:
    daybook.model.then("Well.")
    async with daybook.running():
        daybook.chat.say("exactly as long as it may be", continues=True)
        assert await daybook.chat.wait_heard() == ["Well."]


def album(daybook: Daybook, *captions: str, name: str = "a1", **said: Any) -> None:
    """Pictures sent together, each a message of its own."""
    for caption in captions:
        daybook.chat.say(caption, album=name, attachments=[daybook.chat.attach(b"x", kind="photo")], **said)


async def test_an_album_is_one_turn_however_it_arrives(daybook: Daybook) -> None:
    daybook.timeouts = Timeouts(paste=600.0)
    daybook.model.then("Nice cats.")
    async with daybook.running() as gateway:
        album(daybook, "")
        await daybook.chat.wait_until(lambda: daybook.chat.offered == 1)
        album(daybook, "Which cat is fatter?")
        await daybook.chat.wait_until(lambda: daybook.chat.offered == 2)
        album(daybook, *[""] * (LARGEST_ALBUM - 2))
        assert await daybook.chat.wait_heard() == ["Nice cats."]
        await settled(gateway)
    assert len(daybook.model.requests) == 1
    assert daybook.asked().count('<daybook-document name="photo"') == LARGEST_ALBUM


async def test_an_album_of_fewer_than_the_most_is_answered(daybook: Daybook) -> None:
    daybook.model.then("Nice cats.")
    async with daybook.running():
        album(daybook, "Which cat is fatter?", "")
        assert await daybook.chat.wait_heard() == ["Nice cats."]
    assert daybook.asked().count('<daybook-document name="photo"') == 2


async def test_albums_and_people_are_kept_apart(daybook: Daybook) -> None:
    daybook.group(mention="optional")
    daybook.model.then("To Bob.", "To Alice.", "To Bob again.")
    async with daybook.running() as gateway:
        group: dict[str, Any] = {"chat": GROUP, "group": True}
        album(daybook, "Bob's", sender="7", **group)
        album(daybook, "Alice's", name="a2", sender=ALICE, **group)
        album(daybook, "", sender="7", **group)
        album(daybook, "Bob's other", name="a3", sender="7", **group)
        assert await daybook.chat.wait_heard(3, chat=GROUP) == ["To Bob.", "To Alice.", "To Bob again."]
        await settled(gateway)
    assert [daybook.asked(number).count('<daybook-document name="photo"') for number in range(3)] == [2, 1, 1]


async def test_an_album_does_not_steer_a_running_turn_bit_by_bit(daybook: Daybook) -> None:
    hold = Hold()
    daybook.model.then(
        ScriptedAnswer(calls=(Call("memory_append", {"text": "tea"}),), hold=hold), "Noted.", "Two cats."
    )
    async with daybook.running() as gateway:
        daybook.chat.say("Note: tea")
        await hold.reached.wait()
        album(daybook, "How many cats?", "")
        await taken_in(daybook, "Be quick")
        hold.released.set()
        assert (await daybook.chat.wait_heard(2))[:2] == ["Noted.", "Two cats."]
        daybook.model.then("Yes.")
        await settled(gateway)
    assert "cats" not in daybook.asked(1)
    assert daybook.asked(2).count('<daybook-document name="photo"') == 2


async def test_an_album_that_was_cut_by_a_restart_is_one_turn(daybook: Daybook) -> None:
    daybook.timeouts = Timeouts(paste=600.0)
    async with daybook.running() as gateway:
        album(daybook, "Which cat is fatter?", "")
        await daybook.chat.wait_until(lambda: daybook.chat.offered == 1)
        await gateway.kill()
    daybook.model.then("The left one.")
    async with daybook.running() as gateway:
        album(daybook, *[""] * (LARGEST_ALBUM - 2))
        assert await daybook.chat.wait_heard() == ["The left one."]
        await settled(gateway)
    assert len(daybook.model.requests) == 1
    assert daybook.asked().count('<daybook-document name="photo"') == LARGEST_ALBUM


async def test_a_whole_album_is_not_waited_for(daybook: Daybook) -> None:
    daybook.timeouts = Timeouts(paste=600.0)
    daybook.model.then("Ten.")
    async with daybook.running() as gateway:
        album(daybook, "How many?", *[""] * (LARGEST_ALBUM - 1))
        assert await daybook.chat.wait_heard() == ["Ten."]
        await settled(gateway)
    assert daybook.asked().count('<daybook-document name="photo"') == LARGEST_ALBUM


async def test_in_a_group_others_do_not_join_a_paste(daybook: Daybook) -> None:
    daybook.group(mention="optional")
    daybook.queue("interrupt")
    daybook.model.then("To Bob.", "To Alice.")
    async with daybook.running():
        daybook.chat.say("part one", chat=GROUP, group=True, sender="7", continues=True)
        daybook.chat.say("hello", chat=GROUP, group=True, sender=ALICE)
        daybook.chat.say("part two", chat=GROUP, group=True, sender="7")
        await daybook.chat.wait_heard(2, chat=GROUP)
    assert "part two" in daybook.asked(0)
    assert "hello" not in daybook.asked(0)


async def test_what_comes_while_a_turn_runs_steers_it(daybook: Daybook) -> None:
    hold = Hold()
    daybook.model.then(ScriptedAnswer(calls=(Call("memory_append", {"text": "tea"}),), hold=hold), "Coffee it is.")
    async with daybook.running() as gateway:
        daybook.chat.say("Tea for me")
        await hold.reached.wait()
        await taken_in(daybook, "No, coffee")
        hold.released.set()
        assert await daybook.chat.wait_heard() == ["Coffee it is."]
        await settled(gateway)
    assert "No, coffee" in daybook.asked()
    assert len(daybook.model.requests) == 2


async def test_what_comes_too_late_to_steer_is_answered_next(daybook: Daybook) -> None:
    hold = Hold()
    daybook.model.then(ScriptedAnswer("Tea.", hold=hold), "Coffee.")
    async with daybook.running():
        daybook.chat.say("Tea for me")
        await hold.reached.wait()
        await taken_in(daybook, "No, coffee")
        hold.released.set()
        assert await daybook.chat.wait_heard(2) == ["Tea.", "Coffee."]


async def test_collect_answers_all_that_waited_at_once(daybook: Daybook) -> None:
    daybook.queue("collect")
    hold = Hold()
    daybook.model.then(ScriptedAnswer("One.", hold=hold), "Two to four.")
    async with daybook.running():
        daybook.chat.say("one")
        await hold.reached.wait()
        await taken_in(daybook, "two", "three", "four")
        hold.released.set()
        assert await daybook.chat.wait_heard(2) == ["One.", "Two to four."]
    assert all(word in daybook.asked() for word in ("two", "three", "four"))


async def test_collect_takes_no_more_than_the_cap_and_drops_nothing(daybook: Daybook) -> None:
    daybook.queue("collect", cap=2)
    hold = Hold()
    daybook.model.then(ScriptedAnswer("1", hold=hold), "2 and 3", "4")
    async with daybook.running():
        daybook.chat.say("one")
        await hold.reached.wait()
        await taken_in(daybook, "two", "three", "four")
        hold.released.set()
        assert await daybook.chat.wait_heard(3) == ["1", "2 and 3", "4"]


async def test_while_more_waits_than_the_cap_it_is_answered_together(daybook: Daybook) -> None:
    daybook.queue("steer", cap=2)
    hold = Hold()
    daybook.model.then(ScriptedAnswer("1", hold=hold), "2 and 3", "4", "5")
    async with daybook.running():
        daybook.chat.say("one")
        await hold.reached.wait()
        await taken_in(daybook, "two", "three", "four", "five")
        hold.released.set()
        assert await daybook.chat.wait_heard(4) == ["1", "2 and 3", "4", "5"]


async def test_interrupt_ends_the_running_turn_and_answers_both(daybook: Daybook) -> None:
    daybook.queue("interrupt")
    hold = Hold()
    daybook.model.then(ScriptedAnswer(("The history of tea ", "begins"), hold=hold, hold_at=1), "It is noon.")
    async with daybook.running() as gateway:
        daybook.chat.say("Tell me of tea")
        await hold.reached.wait()
        daybook.chat.say("What time is it?")
        assert await daybook.chat.wait_heard() == ["It is noon."]
        await settled(gateway)
    assert "Tell me of tea" in str(daybook.model.requests[1].messages)


async def test_what_was_interrupted_is_answered_though_the_process_dies_before_the_next_turn(daybook: Daybook) -> None:
    """The interrupting text may go on, so its turn waits for the rest, and the process dies meanwhile."""
    daybook.timeouts = Timeouts(paste=600.0)
    daybook.queue("interrupt")
    daybook.chat = ScriptedChannel("telegram", preview=PreviewStyle.EDIT)
    hold, late = Hold(), Hold()
    daybook.model.then(
        ScriptedAnswer(("The history of tea ", "begins"), hold=hold, hold_at=1), ScriptedAnswer("unsaid", hold=late)
    )
    async with daybook.running() as gateway:
        daybook.chat.say("Tell me of tea")
        await daybook.chat.wait_heard()
        daybook.chat.say("And what of coffee?", continues=True)
        await daybook.chat.wait_until(lambda: "Interrupted" in daybook.chat.heard()[0])
        await gateway.kill()
    daybook.model = ScriptedModel()
    daybook.model.then("Answered.", "Answered.")
    daybook.queue("steer")
    daybook.timeouts = Timeouts()
    async with daybook.running() as gateway:
        await settled(gateway)
    assert daybook.chat.heard()[-1] == "Answered."
    assert not [text for text in daybook.chat.heard() if "stopped" in text]
    assert "Tell me of tea" in str(daybook.model.requests[-1]) and "what of coffee" in str(daybook.model.requests[-1])


async def test_an_interrupted_preview_does_not_stay_half_written(daybook: Daybook) -> None:
    daybook.queue("interrupt")
    daybook.chat = ScriptedChannel("telegram", preview=PreviewStyle.EDIT)
    hold = Hold()
    daybook.model.then(ScriptedAnswer(("The history of tea ", "begins"), hold=hold, hold_at=1), "It is noon.")
    async with daybook.running():
        daybook.chat.say("Tell me of tea")
        await daybook.chat.wait_heard()
        daybook.chat.say("What time is it?")
        heard = await daybook.chat.wait_heard(2)
        await daybook.chat.wait_until(lambda: "Interrupted" in daybook.chat.heard()[0])
    assert heard[1] == "It is noon."


async def test_chats_do_not_wait_for_one_another(daybook: Daybook) -> None:
    daybook.settings["channels"] = {"telegram": {"allow": [ALICE]}}
    slow = Hold()
    daybook.model.then(ScriptedAnswer("slow", hold=slow), "quick")
    async with daybook.running():
        daybook.chat.say("think")
        await slow.reached.wait()
        daybook.chat.say("hi", chat="2", sender=ALICE)
        assert await daybook.chat.wait_heard(chat="2") == ["quick"]
        slow.released.set()
        await daybook.chat.wait_heard()


async def test_invariant_14_what_comes_at_the_very_end_of_a_turn_is_answered(daybook: Daybook) -> None:
    """While the reply of one turn is on its way, the next message arrives; twenty times over."""
    daybook.model = ScriptedModel(otherwise="Yes.")
    async with daybook.running() as gateway:
        for number in range(1, 21):
            daybook.chat.say(f"message {number}")
            await daybook.chat.wait_until(lambda number=number: len(daybook.model.requests) >= number)  # type: ignore[misc]
        await daybook.chat.wait_heard(20)
        await settled(gateway)


# /stop -------------------------------------------------------------------------------------------------------------


async def test_stop_ends_a_stream_and_keeps_what_was_written(daybook: Daybook) -> None:
    hold = Hold()
    daybook.model.then(ScriptedAnswer(("One, two, ", "three"), hold=hold, hold_at=1), "Four.")
    async with daybook.running() as gateway:
        daybook.chat.say("Count")
        await hold.reached.wait()
        daybook.chat.say("/stop")
        assert sorted(await daybook.chat.wait_heard(2)) == ["One, two,\n\n_Stopped._", "Stopped."]
        assert not daybook.chat.is_typing()
        daybook.chat.say("Go on")
        assert (await daybook.chat.wait_heard(3))[2] == "Four."
        await settled(gateway)
    assert "One, two," in str(daybook.model.requests[1].messages)


async def test_stop_before_the_first_word_leaves_only_its_own_answer(daybook: Daybook) -> None:
    hold = Hold()
    daybook.model.then(ScriptedAnswer("never said", hold=hold), "Yes?")
    async with daybook.running() as gateway:
        daybook.chat.say("Think")
        await hold.reached.wait()
        daybook.chat.say("/stop")
        assert await daybook.chat.wait_heard() == ["Stopped."]
        await settled(gateway)
        daybook.chat.say("Hello?")
        assert await daybook.chat.wait_heard(2) == ["Stopped.", "Yes?"]


async def test_stop_in_a_tool_leaves_a_valid_talk(daybook: Daybook) -> None:
    """The tool waits for a folder that somebody else has locked."""
    daybook.model.then(Call("memory_append", {"text": "Tea at four"}), "Yes?")
    async with daybook.running() as gateway:
        with locked(daybook.workspace / "memory"):
            daybook.chat.say("Note: tea at four")
            await until(lambda: '"tool_use"' in journal(daybook))
            daybook.chat.say("/stop")
            await daybook.chat.wait_until(lambda: "Stopped." in daybook.chat.heard())
            daybook.chat.say("Hello?")
            await daybook.chat.wait_until(lambda: "Yes?" in daybook.chat.heard())
        await settled(gateway)
    talk = daybook.model.requests[1].messages
    assert [message.role for message in talk] == ["user", "assistant", "user", "assistant", "user"]
    assert "Stopped by the person" in str(talk[2])


async def test_stop_sets_aside_what_waits(daybook: Daybook) -> None:
    daybook.queue("collect")
    hold = Hold()
    daybook.model.then(ScriptedAnswer("never said", hold=hold))
    async with daybook.running() as gateway:
        daybook.chat.say("one")
        await hold.reached.wait()
        await taken_in(daybook, "two", "three")
        daybook.chat.say("/stop")
        assert await daybook.chat.wait_heard() == ["Stopped. I skipped 2 waiting messages."]
        await settled(gateway)
    assert len(daybook.model.requests) == 1


async def test_stop_while_the_rest_of_a_paste_is_awaited(daybook: Daybook) -> None:
    daybook.timeouts = Timeouts(paste=600.0)
    async with daybook.running() as gateway:
        daybook.chat.say("first half,", continues=True)
        await daybook.chat.wait_until(lambda: daybook.chat.offered == 1)
        daybook.chat.say("/stop")
        assert await daybook.chat.wait_heard() == ["I skipped one waiting message."]
        await settled(gateway)
        await gateway.kill()  # in order it would wait for the rest of what was set aside
    assert daybook.model.requests == []


async def test_stop_with_nothing_to_stop(daybook: Daybook) -> None:
    async with daybook.running():
        daybook.chat.say("/stop")
        assert await daybook.chat.wait_heard() == ["Nothing is running."]


async def test_what_is_said_after_stop_is_answered_though_it_came_in_one_batch(daybook: Daybook) -> None:
    daybook.model.then("Hello.")
    daybook.chat.say("/stop")
    daybook.chat.say("Hello")
    async with daybook.running():
        assert sorted(await daybook.chat.wait_heard(2)) == ["Hello.", "Nothing is running."]


async def test_stop_after_an_interruption_ends_both(daybook: Daybook) -> None:
    daybook.queue("interrupt")
    hold = Hold()
    daybook.model.then(ScriptedAnswer("never said", hold=hold))
    async with daybook.running() as gateway:
        daybook.chat.say("one")
        await hold.reached.wait()
        daybook.chat.say("two")
        daybook.chat.say("/stop")
        await daybook.chat.wait_heard()
        await settled(gateway)


# /new --------------------------------------------------------------------------------------------------------------


async def test_new_while_a_turn_runs_ends_it_and_begins_afresh(daybook: Daybook) -> None:
    hold = Hold()
    daybook.model.then(ScriptedAnswer("never said", hold=hold), "A fresh start.")
    async with daybook.running() as gateway:
        daybook.chat.say("An old secret")
        await hold.reached.wait()
        daybook.chat.say("/new")
        (answer,) = await daybook.chat.wait_heard()
        daybook.chat.say("Hello")
        assert (await daybook.chat.wait_heard(2))[1] == "A fresh start."
        await settled(gateway)
    assert "I stopped what I was working on." in answer
    assert len(daybook.model.requests[1].messages) == 1


async def test_what_is_said_after_new_belongs_to_the_new_talk(daybook: Daybook) -> None:
    daybook.model.then("Hello.", "Fresh.")
    async with daybook.running() as gateway:
        daybook.chat.say("An old secret")
        await daybook.chat.wait_heard()
        daybook.chat.say("/new")
        daybook.chat.say("Hello again")
        await daybook.chat.wait_heard(3)
        await settled(gateway)
    before, answer, after = daybook.chat.heard()
    assert (before, after) == ("Hello.", "Fresh.") and answer.startswith("Started a new conversation.")
    assert "An old secret" not in str(daybook.model.requests[1].messages)


# restarts ----------------------------------------------------------------------------------------------------------


async def test_a_message_that_waited_is_answered_by_the_next_process(daybook: Daybook) -> None:
    hold = Hold()
    daybook.queue("collect")
    daybook.model.then(ScriptedAnswer("never said", hold=hold))
    async with daybook.running() as gateway:
        daybook.chat.say("one")
        await hold.reached.wait()
        await taken_in(daybook, "two")
        await gateway.kill()
    daybook.model.then("One.", "Two.")
    async with daybook.running() as gateway:
        assert await daybook.chat.wait_heard(2) == ["One.", "Two."]
        await settled(gateway)


async def test_an_unfinished_turn_goes_on_after_its_last_finished_step(daybook: Daybook) -> None:
    hold = Hold()
    daybook.model.then(Call("memory_append", {"text": "Tea at four"}), ScriptedAnswer("never said", hold=hold))
    async with daybook.running() as gateway:
        daybook.chat.say("Note: tea at four")
        await hold.reached.wait()
        await gateway.kill()
    daybook.model.then("Noted.")
    async with daybook.running() as gateway:
        assert await daybook.chat.wait_heard() == ["Noted."]
        await settled(gateway)
    (log,) = (daybook.workspace / "memory").glob("2*.md")
    assert log.read_text().count("Tea at four") == 1


async def test_a_written_reply_is_sent_once_by_the_next_process(daybook: Daybook) -> None:
    daybook.model.then("Hello.")
    daybook.chat.fail_next(NotSent("no route to host", retry_after=60.0))
    async with daybook.running() as gateway:
        daybook.chat.say("Hi")
        await on_its_way(daybook, lambda row: row.attempts == 1 and not row.sending)
        await gateway.kill()
    async with daybook.running() as gateway:
        assert await daybook.chat.wait_heard() == ["Hello."]
        await settled(gateway)
    assert sent(daybook.chat) == ["Hello."]
    assert len(daybook.model.requests) == 1


async def test_a_reply_cut_while_being_sent_is_sent_once_more_and_marked(daybook: Daybook) -> None:
    daybook.model.then("Hello.")
    with daybook.chat.hold():
        async with daybook.running() as gateway:
            daybook.chat.say("Hi")
            await on_its_way(daybook, lambda row: row.sending)
            await gateway.kill()
    async with daybook.running() as gateway:
        assert await daybook.chat.wait_heard() == [f"{REPEAT_MARK}Hello."]
        await settled(gateway)
        assert await gateway.status("outbox", "repeated") == 1
    assert len(daybook.model.requests) == 1


async def test_a_known_preview_becomes_the_reply_after_a_restart(daybook: Daybook) -> None:
    daybook.chat = ScriptedChannel("telegram", preview=PreviewStyle.EDIT)
    hold = Hold()
    daybook.model.then(ScriptedAnswer(("Hello ", "never said"), hold=hold, hold_at=1))
    async with daybook.running() as gateway:
        daybook.chat.say("Hi")
        await daybook.chat.wait_heard()
        await asyncio.wait_for(hold.reached.wait(), 120)
        await gateway.kill()
    assert daybook.chat.heard() == ["Hello"]
    daybook.model.then("Hello to you.")
    async with daybook.running() as gateway:
        await daybook.chat.wait_until(lambda: daybook.chat.heard() == ["Hello to you."])
        await settled(gateway)
    assert len(sent(daybook.chat)) == 1


async def test_after_a_preview_whose_id_is_unknown_the_reply_is_marked(daybook: Daybook) -> None:
    daybook.chat = ScriptedChannel("telegram", preview=PreviewStyle.EDIT)
    daybook.chat.fail_next(OutcomeUnknown("the connection ended"), delivered=True)
    hold = Hold()
    daybook.model.then(ScriptedAnswer(("Hello ", "to you."), hold=hold, hold_at=1))
    async with daybook.running() as gateway:
        daybook.chat.say("Hi")
        assert await daybook.chat.wait_heard() == ["Hello"]
        hold.released.set()
        assert await daybook.chat.wait_heard(2) == ["Hello", f"{REPEAT_MARK}Hello to you."]
        await settled(gateway)
        assert await gateway.status("outbox", "repeated") == 1


async def test_at_shutdown_a_turn_is_finished_and_its_reply_delivered(daybook: Daybook) -> None:
    daybook.timeouts = Timeouts(turn=600.0, send=600.0)
    hold = Hold()
    daybook.model.then(ScriptedAnswer("Hello.", hold=hold))
    async with daybook.running() as gateway:
        daybook.chat.say("Hi")
        await hold.reached.wait()
        gateway.stop.set()
        daybook.chat.say("Too late for this process")
        hold.released.set()
        await gateway.task
    assert daybook.chat.heard() == ["Hello."]


async def test_a_turn_that_outlasts_the_grace_goes_on_at_the_next_start(
    daybook: Daybook,
) -> None:
    daybook.timeouts = Timeouts(turn=0.0)
    hold = Hold()
    daybook.model.then(ScriptedAnswer("never said", hold=hold))
    async with daybook.running() as gateway:
        daybook.chat.say("Hi")
        await hold.reached.wait()
        await gateway.end()
    assert daybook.chat.heard() == []
    daybook.model.then("Hello.")
    async with daybook.running() as gateway:
        assert await daybook.chat.wait_heard() == ["Hello."]
        await settled(gateway)


def test_an_end_waits_less_than_the_thirty_seconds_it_has() -> None:
    """SPEC 10.6; what is not waiting takes a moment, so that this is shown on any machine."""
    assert Timeouts().turn + 3 * Timeouts().send <= 25


# platform and disk -------------------------------------------------------------------------------------------------


async def test_a_rate_limit_on_one_chat_lets_another_go_on(daybook: Daybook) -> None:
    daybook.settings["channels"] = {"telegram": {"allow": [ALICE]}}
    daybook.model.then("limited", "free")
    daybook.chat.fail_next(NotSent("Too Many Requests", retry_after=0.3))
    async with daybook.running():
        daybook.chat.say("Hi")
        await daybook.chat.wait_until(lambda: not daybook.chat.is_typing() and len(daybook.model.requests) == 1)
        daybook.chat.say("Hi", chat="2", sender=ALICE)
        assert await daybook.chat.wait_heard(chat="2") == ["free"]
        assert await daybook.chat.wait_heard() == ["limited"]


async def test_a_disk_that_fills_in_a_turn_is_told_and_the_message_answered_later(
    daybook: Daybook,
) -> None:
    daybook.timeouts = Timeouts(disk=0.05)
    hold = Hold()
    daybook.model.then(ScriptedAnswer("Hello.", hold=hold))
    daybook.model.then("Hello after all.")
    async with daybook.running() as gateway:
        daybook.chat.say("Hi")
        await hold.reached.wait()
        with full_disk():
            hold.released.set()
            (notice,) = await daybook.chat.wait_heard()
        assert (await daybook.chat.wait_heard(2))[1] == "Hello after all."
        await settled(gateway)
    assert "the disk is full" in notice
    assert len(daybook.chat.heard()) == 2
