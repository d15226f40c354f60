"""The flush that a message would set off is made behind the answer before it: nobody waits for it."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from agent.compaction.flush import PROMPT
from agent.compaction.summary import PARTS
from tests.fakes.anthropic import FakeAnthropic, Held, Received, last_user_text
from tests.fakes.telegram import FakeTelegram
from tests.flows.process import START_S, GatewayProcess
from tests.flows.story import ALICE, Story, story
from tests.flows.test_forgetting import KEEP, SMALL, Careful, _server, say
from tests.strength import first

FILLER = " filler" * 260


def fact(number: int) -> str:
    return f"Fact {number}: locker {number} opens with K-{number}-XY{FILLER}"


def is_flush(body: dict[str, Any]) -> bool:
    return PROMPT in last_user_text(body)


def purposes(asked: Sequence[Received]) -> list[str]:
    return [
        "flush" if is_flush(one.body) else "compaction" if PARTS[0] in one.last_user_text else "turn"
        for one in asked
        if "save_memory" not in one.text
    ]


def flushes(home: Path, state: str = "done") -> list[dict[str, Any]]:
    lines = (line for file in (home / "state").rglob("*.jsonl") for line in file.read_bytes().splitlines())
    return [entry for line in lines if (entry := json.loads(line)).get("state") == state and entry["type"] == "flush"]


def is_owed(home: Path) -> bool:
    return any((home / "state").rglob("*.owed"))


async def all_said(told: Story) -> None:
    """Until everything is answered, and what follows from it is owed."""
    assert told.gateway is not None
    await told.idle()
    status: Any = told.gateway.operations["status"]
    while (await status({}))["running"]:
        pass


async def all_done(told: Story) -> None:
    await all_said(told)
    async with asyncio.timeout(START_S):
        while is_owed(told.home.path):  # noqa: ASYNC110 - files ring no bell
            await asyncio.sleep(0.01)


async def until_a_flush(told: Story, held: Held) -> int:
    """Talks until a flush stands behind an answer; returns how many messages that took."""
    number = 0
    while not held.reached_at.done():
        await say(told, fact(number))
        number += 1
        await all_said(told)
        if is_owed(told.home.path):
            await told.model.held(held)
    return number


async def test_no_message_waits_for_a_flush_and_each_cycle_has_one(tmp_path: Path) -> None:
    async with story(tmp_path) as told:
        told.model.reply = Careful()
        told.configure(model=_server(told) | SMALL, session=KEEP)
        asked: list[list[str]] = []
        async with told.running():
            for number in range(24):
                before = len(told.asked)
                await say(told, fact(number))
                await all_done(told)
                asked.append(purposes(told.asked[before:]))
        assert {tuple(one) for one in asked} == {("turn",), ("turn", "flush"), ("compaction", "turn")}
        made = [purpose for one in asked for purpose in one if purpose != "turn"]
        assert len(made) >= 3 and made == (["flush", "compaction"] * len(made))[: len(made)]
        assert "K-0-XY" in told.all_logs
        told.no_request_was_refused()


async def test_what_comes_while_it_goes_on_is_answered_and_waits_only_where_it_must(tmp_path: Path) -> None:
    async with story(tmp_path) as told:
        told.model.reply = Careful()
        told.configure(model=_server(told) | SMALL, session=KEEP)
        async with told.running():
            held = told.model.hold(after=0, when=is_flush)
            number = await until_a_flush(told, held)
            await say(told, "and what is new?")
            assert purposes(told.asked)[-2:] == ["flush", "turn"] and not flushes(told.home.path)
            for more in range(4):  # the first of them finds no room, and waits
                told.say(fact(number + more))
            await told.telegram.wait_for(lambda: not told.telegram.pending)
            held.release()
            await all_done(told)
            asked = Counter(purposes(told.asked))
            assert asked["flush"] == len(flushes(told.home.path, "started")) == asked["compaction"] == 1
        facts = [heard for heard in told.heard() if heard.startswith("Heard")]
        assert number + 2 <= len(facts) <= number + 5
        told.no_request_was_refused()


@pytest.mark.parametrize("command", ["/stop", "/new", "/compact"])
async def test_a_command_meets_the_flush_behind_an_answer(tmp_path: Path, command: str) -> None:
    async with story(tmp_path) as told:
        told.model.reply = Careful()
        told.configure(model=_server(told) | SMALL, session=KEEP)
        async with told.running():
            held = told.model.hold(after=0, when=is_flush)
            await until_a_flush(told, held)
            told.say(command)
            answered = {"/stop": "Nothing is running.", "/new": "Started a new conversation.", "/compact": "shortening"}
            await told.hears(answered[command])  # while the flush stands
            held.release()
            await all_done(told)
            if command == "/compact":
                await told.hears("the conversation went from about")
            await say(told, "and on we go")
        assert [entry["reason"] for entry in flushes(told.home.path)] == ["threshold"]
        assert purposes(told.asked).count("flush") == 1
        told.no_request_was_refused()


@pytest.mark.parametrize("end", first("kill", "terminate"))
async def test_ended_within_the_flush_behind_an_answer_the_next_process_makes_it(
    telegram: FakeTelegram, model: FakeAnthropic, end: str
) -> None:
    model.reply = Careful()
    async with GatewayProcess(telegram, model, {"model": SMALL, "session": KEEP}) as gateway:
        held = model.hold(after=0, when=is_flush)
        number = 0
        while not held.reached_at.done():
            telegram.say(fact(number), chat=ALICE)
            number += 1
            await gateway.while_alive(telegram.wait_for(lambda number=number: answered(telegram) == number))  # type: ignore[misc]
            await gateway.until_status(lambda status: not status["running"])
            if is_owed(gateway.home):
                await model.held(held)
        await (gateway.kill() if end == "kill" else gateway.terminate())
        assert not flushes(gateway.home)
        held.release()
        await gateway.start()
        telegram.say("and what is new?", chat=ALICE)
        await gateway.while_alive(telegram.wait_for(lambda: answered(telegram) == number + 1))
        await gateway.until_status(lambda status: not status["running"] and not is_owed(gateway.home))
        assert [purpose for purpose in purposes(model.requests) if purpose != "turn"] == ["flush", "flush"]
        assert len(flushes(gateway.home, "started")) == 2 and len(flushes(gateway.home)) == 1
        (log,) = (gateway.workspace / "memory").glob("2*.md")
        assert log.read_text("utf-8").count("Fact 0: ") == 1


def answered(telegram: FakeTelegram) -> int:
    return len(telegram.messages(ALICE))
