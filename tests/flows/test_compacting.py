"""`/compact`: stopped, killed, with nothing to do. Where it stands is forced by holding the model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gateway.messages.outbox import REPEAT_MARK
from tests.fakes.anthropic import FakeAnthropic, Held
from tests.fakes.telegram import FakeTelegram
from tests.flows.process import START_S, GatewayProcess
from tests.flows.story import ALICE, Story, story
from tests.flows.test_forgetting import KEEP, SMALL, Careful, _server, say
from tests.strength import matrix

BEGUN = "I'm shortening the earlier part of this conversation. I'll tell you when it's done."
STOPPED = "Stopped. The conversation is unchanged."


async def filled(told: Story) -> None:
    for number in range(5):
        await say(told, f"Fact {number}: K-{number}-XY{' filler' * 260}")


def compactions(told: Story) -> int:
    files = (told.home.path / "state" / "sessions").rglob("*.jsonl")
    return sum(json.loads(line)["type"] == "compaction" for file in files for line in file.read_bytes().splitlines())


async def begun(told: Story, at: str) -> Held:
    """A `/compact` that stands at its flush or at its summary."""
    if at == "compaction":
        passed = told.model.hold()
        told.say("/compact")
        await told.model.held(passed)
        held = told.model.hold()
        passed.release()
    else:
        held = told.model.hold()
        told.say("/compact")
    await told.model.held(held)
    return held


@matrix(at=["flush", "compaction"], command=["/stop", "/new"])
async def test_a_command_ends_the_work_behind_compact_and_the_talk_stays_as_it_was(
    tmp_path: Path, at: str, command: str
) -> None:
    async with story(tmp_path) as told:
        told.model.reply = Careful()
        told.configure(model=_server(told) | SMALL, session=KEEP)
        async with told.running():
            await filled(told)
            held = await begun(told, at)
            told.say(command)
            await told.hears(STOPPED)  # while the model still stands
            await told.hears(
                "Stopped." if command == "/stop" else "Started a new conversation. I stopped what I was working on."
            )
            held.release()
            assert compactions(told) == 0
            await say(told, "and on we go")
            if command == "/stop":
                assert "Fact 0" in told.last_asked
        assert told.heard().count(STOPPED) == 1 and told.heard().count(BEGUN) == 1


async def test_what_waits_for_a_turn_is_stopped_with_it_and_a_later_one_is_made(tmp_path: Path) -> None:
    async with story(tmp_path) as told:
        told.model.reply = Careful()
        told.configure(model=_server(told) | SMALL, session=KEEP)
        async with told.running():
            await filled(told)
            turn = told.model.hold(after=0)
            told.say("a long one")
            await told.model.held(turn)
            told.say("/compact")
            await told.hears(BEGUN)
            told.say("/stop")
            await told.hears(STOPPED)
            turn.release()
            await told.idle()
            told.say("/compact")
            await told.hears("the conversation went from about")
        assert compactions(told) == 1


async def test_where_nothing_is_to_be_shortened_it_is_one_message_and_no_request(tmp_path: Path) -> None:
    async with story(tmp_path) as told:
        told.configure(model=_server(told) | SMALL, session=KEEP)
        async with told.running():
            await say(told, "/compact")
            await say(told, "hello")
            before = len(told.asked)
            await say(told, "/compact")
            await told.idle()
            nothing = "There is nothing to shorten yet."
            assert told.heard().count(nothing) == 2 and len(told.heard()) == 3
            assert len(told.asked) == before


@pytest.mark.parametrize("at", ["flush", "compaction", "receipt"])
async def test_killed_within_compact_the_next_process_makes_it_and_tells_once(
    telegram: FakeTelegram, model: FakeAnthropic, at: str
) -> None:
    model.reply = Careful()
    settings = {"model": SMALL, "session": KEEP}

    def heard(part: str) -> list[str]:
        return [message.text for message in telegram.messages(ALICE) if part in message.text]

    async with GatewayProcess(telegram, model, settings) as gateway:
        for number in range(5):
            telegram.say(f"Fact {number}: K-{number}-XY{' filler' * 260}", chat=ALICE)
            await gateway.while_alive(telegram.wait_for(lambda number=number: len(heard("Heard")) > number))  # type: ignore[misc]
        held = model.hold()
        telegram.say("/compact", chat=ALICE)
        await gateway.while_alive(telegram.wait_for(lambda: heard(BEGUN)))
        await model.held(held)
        if at == "compaction":
            second = model.hold()
            held.release()
            await model.held(second)
        elif at == "receipt":
            sending = telegram.hold("sendMessage")
            held.release()
            await gateway.while_alive(telegram.wait_for(lambda: sending.waiting))
        await gateway.kill()
        if at == "receipt":
            sending.release()
        await gateway.start()
        await gateway.while_alive(telegram.wait_for(lambda: heard("the conversation went from about"), START_S))
        telegram.say("the last question", chat=ALICE)
        await gateway.while_alive(telegram.wait_for(lambda: len(heard("Heard")) > 5))
        for part in (
            BEGUN,
            "the conversation went from about",
        ):  # one that was killed in the act is sent again, and says so
            assert len([text for text in heard(part) if not text.startswith(REPEAT_MARK)]) <= 1
        assert len(heard("the conversation went from about")) == 1 or at == "receipt"
        entries = [entry for entry in gateway.transcripts() if entry["type"] == "compaction"]
        assert len(entries) == 1 and entries[0]["asked"].startswith("command:telegram:")
