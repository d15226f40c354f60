"""What is forgotten while a turn runs is in no message that the turn sends afterwards."""

from __future__ import annotations

from agent.model.scripted import Call, Hold, Reply, ScriptedAnswer
from agent.values import ReplyText, StepCompleted, TextReset, TurnEvent
from gateway.turns.preview import StreamedReply
from tests.gateway.conftest import Daybook
from tests.gateway.turns.test_turns import settled

WORD = "Zanzibar"
MARK = "[forgotten 2026-11-21]"


async def forget(daybook: Daybook) -> None:
    daybook.chat.say(f"/forget {WORD}")
    await daybook.chat.wait_until(lambda: any("Delete" in text for text in daybook.chat.heard()))
    daybook.chat.say("yes")
    await daybook.chat.wait_until(lambda: any("Deleted from" in text for text in daybook.chat.heard()))


async def test_a_reply_that_waits_for_its_note_is_sent_without_what_was_forgotten(daybook: Daybook) -> None:
    """The reply is complete; the model is still asked to write down what it forgot to."""
    hold = Hold()
    answers: tuple[Reply, ...] = (f"A boat!\nIt lies in {WORD}.", ScriptedAnswer("NO_REPLY", hold=hold), "NO_REPLY")
    daybook.model.then(*answers)
    async with daybook.running():
        daybook.chat.say(f"Please remember that my boat lies in {WORD}")
        await hold.reached.wait()
        await forget(daybook)
        hold.released.set()
        await daybook.chat.wait_until(lambda: "A boat!" in daybook.chat.heard()[-1])
        assert daybook.chat.heard()[-1] == f"A boat!\n{MARK}"


async def test_a_turn_that_is_stopped_keeps_nothing_of_what_was_forgotten(daybook: Daybook) -> None:
    hold = Hold()
    daybook.model.then(
        ScriptedAnswer(f"It lies in {WORD}.", calls=(Call("memory_search", {"queries": ["boat"]}),)),
        ScriptedAnswer(("A moment", " please."), hold=hold, hold_at=1),
    )
    async with daybook.running() as gateway:
        daybook.chat.say(f"Where is my boat? In {WORD}?")
        await hold.reached.wait()
        await forget(daybook)
        daybook.chat.say("/stop")
        await settled(gateway)
        *_, stopped = daybook.chat.heard()
        assert stopped == "Stopped."
        assert not any(WORD in text for text in daybook.chat.heard()[2:])


def test_a_growing_reply_drops_what_was_said_and_the_rest_of_the_step_that_streams() -> None:
    reply = StreamedReply()

    def feed(*events: TurnEvent) -> str:
        for event in events:
            reply.feed(event)
        return reply.text

    assert feed(ReplyText("One."), StepCompleted(), ReplyText("Two")) == "One.\n\nTwo"
    reply.drop()
    assert feed(ReplyText(" and three.")) == ""
    assert feed(TextReset(), ReplyText("Four.")) == "Four."
    reply.drop()
    assert feed(ReplyText("Five."), StepCompleted(), ReplyText("Six.")) == "Six."
