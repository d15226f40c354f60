"""`kill -9` at each step of a day's end, a start on the same home: one section in the log, one summary in the chat."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from gateway.messages.outbox import REPEAT_MARK
from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.anthropic_answers import Answer, JsonObject
from tests.fakes.telegram import FakeTelegram
from tests.flows.diarist import Diarist
from tests.flows.process import GatewayProcess
from tests.flows.stores import rows

ALICE = 11111


def texts(telegram: FakeTelegram) -> list[str]:
    return [message.text for message in telegram.messages(ALICE)]


async def begin(telegram: FakeTelegram, model: FakeAnthropic, gateway: GatewayProcess) -> None:
    """Something was said, and somebody asks for the summary from the command line."""
    model.reply = Diarist()
    telegram.say("I'll water the roses by 2999-01-01")
    await gateway.while_alive(telegram.wait_for(lambda: texts(telegram) == ["Fine."]))


async def ask_for_it(gateway: GatewayProcess) -> None:
    assert (await gateway.cli("schedule", "run", "daily-summary")).code == 0


def states(gateway: GatewayProcess) -> list[str]:
    return [str(state) for (state,) in rows(gateway.home, "SELECT state FROM run WHERE job = 'daily-summary'")]


async def until(told: Callable[[], bool]) -> None:
    async with asyncio.timeout(120):
        while not told():  # noqa: ASYNC110  what is on disk rings no bell
            await asyncio.sleep(0.01)


async def comes_once(telegram: FakeTelegram, gateway: GatewayProcess) -> None:
    await gateway.while_alive(telegram.wait_for(lambda: any("A full day" in text for text in texts(telegram))))
    await gateway.while_alive(until(lambda: states(gateway) == ["done"]))
    summaries = [text for text in texts(telegram) if "A full day" in text]
    assert len([text for text in summaries if not text.startswith(REPEAT_MARK)]) <= 1
    assert len({text.removeprefix(REPEAT_MARK) for text in summaries}) == 1
    logs = list((gateway.workspace / "memory").glob("2*.md"))
    assert len(logs) == 1 and logs[0].read_text("utf-8").count("Alice said I'll water") == 1
    listed = (gateway.workspace / "memory/open.md").read_text("utf-8")
    assert listed.count("water the roses") == 1


@pytest.mark.parametrize("step", ["the journal", "the summary"])
async def test_killed_while_a_model_tells(telegram: FakeTelegram, model: FakeAnthropic, step: str) -> None:
    async with GatewayProcess(telegram, model) as gateway:
        await begin(telegram, model, gateway)
        if step == "the journal":
            held = model.hold(after=0)
            await ask_for_it(gateway)
            await gateway.while_alive(model.held(held))
        else:
            said, model.reply = model.reply, _holding(model)
            await ask_for_it(gateway)
            await gateway.while_alive(until(lambda: len(model.requests) == 3))
            model.reply = said
        await gateway.kill()
        await gateway.start()
        await comes_once(telegram, gateway)


def _holding(model: FakeAnthropic) -> Callable[[JsonObject], Answer | str]:
    """Tells the journal, and then stands still."""
    diarist = Diarist()

    def reply(body: JsonObject) -> Answer | str:
        if body.get("tools"):
            model.stall(after=0)
        return diarist(body)

    return reply


@pytest.mark.parametrize("step", ["before", "after"])
async def test_killed_around_the_delivery(telegram: FakeTelegram, model: FakeAnthropic, step: str) -> None:
    async with GatewayProcess(telegram, model) as gateway:
        await begin(telegram, model, gateway)
        if step == "before":
            sends = telegram.hold("sendMessage")
            await ask_for_it(gateway)
            await gateway.while_alive(telegram.wait_for(lambda: sends.waiting))
            await gateway.kill()
            await gateway.start()
            sends.release()
        else:
            await ask_for_it(gateway)
            await gateway.while_alive(telegram.wait_for(lambda: len(texts(telegram)) == 2))
            await gateway.restart()
        await comes_once(telegram, gateway)
        assert len(model.requests) == 3  # the answer, the journal, the summary: none is asked for again
