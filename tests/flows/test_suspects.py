"""Messages that kill the process, or bring its event loop to a standstill, and kills from outside that are nobody's
fault. Processes are real, and die for real."""

from __future__ import annotations

import asyncio
import os
import random
import re
import signal
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager

import pytest

from gateway.messages.outbox import REPEAT_MARK
from gateway.messages.suspects import SKIPPED, TRIED_ALONE_AFTER
from tests import strength
from tests.fakes.anthropic import FakeAnthropic, JsonObject, last_user_text
from tests.fakes.telegram import FakeTelegram
from tests.flows.fragile import COMMAND, COMPUTES, WAITS
from tests.flows.process import END_S, GatewayDied, GatewayProcess

ALICE, BOB, CAROL = 11111, 22222, 33333
GROUP = -100123
SETTINGS = {"channels": {"telegram": {"dm_policy": "open", "groups": {GROUP: {"mention": "optional"}}}}}
LONG_S = 600.0
"""For what takes many starts on a busy machine."""
STANDSTILL_S = 10.0
"""Each death by computing takes as much processor time."""
KILLS = 40 if strength.is_full else 10
pytestmark = pytest.mark.timeout(2 * LONG_S)
BOTH_WAYS = pytest.mark.parametrize("how", strength.first(WAITS, COMPUTES))


def texts(telegram: FakeTelegram, chat: int = ALICE) -> list[str]:
    return [message.text for message in telegram.messages(chat)]


@asynccontextmanager
async def fragile(
    telegram: FakeTelegram,
    model: FakeAnthropic,
    *,
    trial: float = 0.0,
    standstill: float = 3600.0,
    settings: Mapping[str, object] = SETTINGS,
) -> AsyncIterator[GatewayProcess]:
    """Started. The owner has spoken, so that they can be told things."""
    async with GatewayProcess(telegram, model, settings, start_now=False, command=COMMAND) as gateway:
        gateway.environ |= {"TRIAL_S": str(trial), "STANDSTILL_S": str(standstill)}
        await gateway.start()
        telegram.say("/whoami")
        await gateway.while_alive(telegram.wait_for(lambda: texts(telegram)))
        yield gateway


async def supervised(gateway: GatewayProcess, reached: Callable[[], object]) -> int:
    """Start it again whenever it dies, until something is reached; how often that was."""
    deaths = 0
    while True:
        try:
            await gateway.while_alive(gateway.telegram.wait_for(reached, LONG_S))
        except GatewayDied:
            deaths += 1
            await gateway.telegram.bell.until(lambda: not gateway.telegram.polling, END_S)
            await gateway.start(wait=False)
        else:
            return deaths


# deaths ------------------------------------------------------------------------------------------------------------


async def test_a_message_that_kills_every_time_ends_and_all_others_are_answered(
    telegram: FakeTelegram, model: FakeAnthropic
) -> None:
    async with fragile(telegram, model) as gateway:

        def reply(body: JsonObject) -> str:
            said = last_user_text(body)
            if "poison" in said:
                os.kill(gateway.pid, signal.SIGKILL)
            return f"Read: {said.splitlines()[-1]}"

        model.reply = reply
        telegram.say("poison", chat=BOB, name="Bob")
        telegram.say("a question", chat=CAROL, name="Carol")
        telegram.say("another", chat=GROUP, user=CAROL, name="Carol")
        deaths = await supervised(gateway, lambda: texts(telegram, BOB))
        assert deaths == TRIED_ALONE_AFTER + 3
        telegram.say("harmless", chat=BOB, name="Bob")
        assert await supervised(gateway, lambda: texts(telegram, BOB)[1:] and len(texts(telegram)) == 2) == 0
        await gateway.while_alive(telegram.wait_for(lambda: texts(telegram, CAROL) and texts(telegram, GROUP)))
    assert texts(telegram, BOB) == [SKIPPED, "Read: harmless"]
    assert texts(telegram)[1].startswith("I crashed several times on a message from Bob")
    assert texts(telegram, CAROL)[0].removeprefix(REPEAT_MARK) == "Read: a question"
    assert texts(telegram, GROUP)[0].removeprefix(REPEAT_MARK) == "Read: another"


@pytest.mark.full
async def test_kills_at_random_moments_blame_nobody(telegram: FakeTelegram, model: FakeAnthropic) -> None:
    """Whatever the seed: a process of less than an hour tries nothing alone."""
    chance = random.Random(7)
    written = {chat: [f"n{n}" for n in range(first, KILLS, 3)] for first, chat in enumerate((ALICE, BOB, CAROL))}

    def open_ones() -> list[str]:
        return [n for chat, ns in written.items() for n in ns if n not in " ".join(texts(telegram, chat)).split()]

    async with fragile(telegram, model, trial=3600.0) as gateway:
        model.reply = lambda body: f"Read: {' '.join(re.findall(r'n[0-9]+', last_user_text(body)))} ."
        model.delta_delay = 0.05
        for number in range(KILLS):
            telegram.say(f"n{number}", chat=(ALICE, BOB, CAROL)[number % 3])
            for _ in range(chance.randrange(4)):
                telegram.say(f"group n{number}", chat=GROUP, user=ALICE)
            asked = len(model.requests) + chance.randrange(2)
            try:  # at a moment of its turns, or of its start
                async with asyncio.timeout(chance.uniform(0, 0.5)):
                    await gateway.while_alive(
                        telegram.wait_for(lambda asked=asked: len(model.requests) > asked, LONG_S)
                    )
            except TimeoutError:
                pass
            await gateway.kill()
            await gateway.start(wait=False)
        model.delta_delay = 0.0
        gateway.environ["TRIAL_S"] = "0"
        await gateway.kill()
        await gateway.start()
        await gateway.while_alive(telegram.wait_for(lambda: not open_ones(), LONG_S))
    everything = "\n".join("\n".join(texts(telegram, chat)) for chat in (ALICE, BOB, CAROL, GROUP))
    assert SKIPPED not in everything and "crashed" not in everything


# standstills -------------------------------------------------------------------------------------------------------


@BOTH_WAYS
async def test_a_loop_that_stands_still_ends_the_process_and_the_second_time_the_message_is_skipped(
    telegram: FakeTelegram, model: FakeAnthropic, how: str
) -> None:
    async with fragile(telegram, model, standstill=STANDSTILL_S) as gateway:
        telegram.say(how, chat=BOB, name="Bob")
        assert await gateway.ended(LONG_S) != 0
        (stack,) = (gateway.home / "state" / "active-work").glob("*.txt")
        assert "stand_still" in stack.read_text()
        assert "turn telegram:" in stack.with_suffix(".json").read_text()
        deaths = await supervised(gateway, lambda: texts(telegram, BOB) and len(texts(telegram)) == 2)
        assert deaths == 2, "the first was seen above"
        assert model.requests == []
        assert "its event loop hung. Working on: turn telegram:" in gateway.log
        assert "stand_still" in gateway.log
    assert texts(telegram, BOB) == [SKIPPED]
    assert texts(telegram)[1].startswith("I crashed several times on a message from Bob")


async def test_the_file_in_hand_is_named_and_is_not_opened_the_third_time(
    telegram: FakeTelegram, model: FakeAnthropic
) -> None:
    async with fragile(telegram, model, standstill=STANDSTILL_S) as gateway:
        document = {"file_id": telegram.add_file(b"abc"), "file_unique_id": "u", "file_name": f"{WAITS}.txt"}
        telegram.say(None, caption="Read this", chat=BOB, name="Bob", document=document)
        assert await supervised(gateway, lambda: texts(telegram, BOB)) == 2
        assert "Working on: turn telegram:" in gateway.log
        assert f"document '{WAITS}.txt'" in gateway.log
        assert len(telegram.called("getFile")) == 2
    assert texts(telegram, BOB) == [SKIPPED]


@pytest.mark.full
async def test_who_was_in_hand_beside_it_is_answered(telegram: FakeTelegram, model: FakeAnthropic) -> None:
    async with fragile(telegram, model, standstill=STANDSTILL_S) as gateway:
        held = model.hold(after=0)
        model.reply = lambda body: f"Read: {last_user_text(body).splitlines()[-1]}"
        telegram.say("a question", chat=CAROL, name="Carol")
        await model.held(held)
        telegram.say(WAITS, chat=BOB, name="Bob")
        assert await supervised(gateway, lambda: texts(telegram, BOB) and texts(telegram, CAROL)) == 2
    assert texts(telegram, BOB) == [SKIPPED]
    first, *again = texts(telegram, CAROL)  # the loop may stop while her answer is on its way, and it comes once more
    assert first.removeprefix(REPEAT_MARK) == "Read: a question"
    assert set(again) <= {f"{REPEAT_MARK}Read: a question"}


async def test_a_process_that_was_stopped_has_not_stood_still(telegram: FakeTelegram, model: FakeAnthropic) -> None:
    """As a laptop that sleeps: the clock goes on, and the process does nothing."""
    async with fragile(telegram, model, standstill=STANDSTILL_S) as gateway:
        await gateway.until_status(lambda status: status["outbox"]["waiting"] == 0)  # on PostgreSQL it starts again
        os.kill(gateway.pid, signal.SIGSTOP)
        await asyncio.sleep(STANDSTILL_S * 1.25)  # longer than it may stand still: of that no event tells
        os.kill(gateway.pid, signal.SIGCONT)
        model.answer("Awake.")
        telegram.say("Hello?")
        await gateway.while_alive(telegram.wait_for(lambda: len(texts(telegram)) == 2))
    assert texts(telegram)[1] == "Awake."
