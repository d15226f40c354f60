"""`kill -9` between a question and its answer, and between a yes and what it is for: asked and done exactly once."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.telegram import FakeTelegram
from tests.fakes.telegram.world import Message
from tests.flows.process import GatewayProcess

ALICE = 11111
RULE = "Answer in rhymes.\n"


def questions(telegram: FakeTelegram) -> list[Message]:
    return [message for message in telegram.messages(ALICE) if message.buttons]


def press(telegram: FakeTelegram, label: str) -> None:
    message = questions(telegram)[-1]
    (data,) = (one["callback_data"] for row in message.buttons for one in row if one["text"] == label)
    telegram.press(message.id, data)


def until_written(file: Path) -> None:
    while file.read_text() != RULE:
        time.sleep(0.001)


async def changes(gateway: GatewayProcess) -> list[str]:
    log = (await gateway.cli("memory", "log", "--json")).json()
    return [one["path"] for one in log]


async def test_killed_after_asking_the_question_is_shown_and_the_turn_goes_on(
    telegram: FakeTelegram, model: FakeAnthropic, gateway: GatewayProcess
) -> None:
    sends = telegram.hold("sendMessage", chat=ALICE)
    model.answer(tool=("write_file", {"path": "AGENTS.md", "content": RULE}))
    model.answer("It waits for you.")
    telegram.say("rhyme from now on")
    await gateway.while_alive(telegram.wait_for(lambda: sends.waiting))
    await gateway.kill()
    model.reply = lambda body: "It waits for you."
    sends.release()
    await gateway.start()
    await gateway.while_alive(telegram.wait_for(lambda: questions(telegram)))
    await gateway.while_alive(telegram.wait_for(lambda: [m for m in telegram.messages(ALICE) if "It waits" in m.text]))
    assert len({str(one.buttons) for one in questions(telegram)}) == 1, "one question, however often it was sent"
    assert (gateway.workspace / "AGENTS.md").read_text() != RULE
    press(telegram, "Yes")
    await gateway.while_alive(
        telegram.wait_for(lambda: [m for m in telegram.messages(ALICE) if "Approved and done" in m.text])
    )
    assert (gateway.workspace / "AGENTS.md").read_text() == RULE
    assert await changes(gateway) == ["AGENTS.md"]


async def test_killed_after_the_yes_it_is_done_once(
    telegram: FakeTelegram, model: FakeAnthropic, gateway: GatewayProcess
) -> None:
    model.answer(tool=("write_file", {"path": "AGENTS.md", "content": RULE}))
    model.answer("It waits for you.")
    telegram.say("rhyme from now on")
    await gateway.while_alive(telegram.wait_for(lambda: [m for m in telegram.messages(ALICE) if "It waits" in m.text]))
    edits = telegram.hold("editMessageText", chat=ALICE)
    press(telegram, "Yes")
    await gateway.while_alive(asyncio.to_thread(until_written, gateway.workspace / "AGENTS.md"))
    await gateway.kill()  # before or after the answer is on disk: it comes to the same
    edits.release()
    await gateway.start()
    await gateway.while_alive(
        telegram.wait_for(lambda: [m for m in telegram.messages(ALICE) if "Approved and done" in m.text])
    )
    assert (gateway.workspace / "AGENTS.md").read_text() == RULE
    assert await changes(gateway) == ["AGENTS.md"]
    assert questions(telegram) == []
