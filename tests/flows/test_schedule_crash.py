"""`kill -9` at each step of a due job, a start on the same home, and the job is said once (invariant 11)."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from gateway.messages.outbox import REPEAT_MARK
from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.telegram import FakeTelegram
from tests.flows.process import GatewayProcess
from tests.flows.stores import rows

ALICE = 11111


def texts(telegram: FakeTelegram) -> list[str]:
    return [message.text for message in telegram.messages(ALICE)]


async def greet(telegram: FakeTelegram, gateway: GatewayProcess) -> None:
    """No bot may write first."""
    telegram.say("/whoami")
    await gateway.while_alive(telegram.wait_for(lambda: len(texts(telegram)) == 1))
    await gateway.while_alive(receipts(gateway))


async def receipts(gateway: GatewayProcess) -> None:
    """Nothing is on its way out, so that a kill leaves no other doubt than the test's own."""
    async with asyncio.timeout(120):
        while asked(gateway, "SELECT 1 FROM outbox WHERE state IN ('waiting', 'sending')"):  # noqa: ASYNC110  as below
            await asyncio.sleep(0.01)


async def write(telegram: FakeTelegram, gateway: GatewayProcess, kind: str) -> None:
    """A job that is due in a moment, for an owner who has written before."""
    await greet(telegram, gateway)
    put(gateway, kind)


def put(gateway: GatewayProcess, kind: str, ahead: int = 1) -> None:
    due = (datetime.now(UTC) + timedelta(seconds=ahead)).strftime("%Y-%m-%dT%H:%M:%SZ")
    job = f"  - {{id: tea, kind: {kind}, text: Tea is ready, when: {{at: '{due}'}}, to: owner}}\n"
    (gateway.workspace / "schedule.yaml").write_text(f"jobs:\n{job}", "utf-8")


def states(gateway: GatewayProcess) -> list[str]:
    return [str(state) for state in asked(gateway, "SELECT state FROM run")]


def asked(gateway: GatewayProcess, question: str) -> list[object]:
    return [answer for (answer,) in rows(gateway.home, question)]


async def until(gateway: GatewayProcess, state: str) -> None:
    async with asyncio.timeout(120):
        while states(gateway) != [state]:  # noqa: ASYNC110  what is on disk rings no bell
            await asyncio.sleep(0.01)


async def comes_once(telegram: FakeTelegram, gateway: GatewayProcess, *heard: str) -> None:
    """And a later message is answered behind it."""
    await gateway.while_alive(until(gateway, "delivered"))
    telegram.say("/whoami")
    await gateway.while_alive(telegram.wait_for(lambda: texts(telegram)[-1] == texts(telegram)[0]))
    assert texts(telegram)[1:-1] == list(heard)
    await gateway.while_alive(out_of_the_file(gateway))


async def out_of_the_file(gateway: GatewayProcess) -> None:
    """A reminder leaves the file after its run is noted as delivered."""
    async with asyncio.timeout(120):
        while "tea" in (gateway.workspace / "schedule.yaml").read_text("utf-8"):  # noqa: ASYNC110  as below
            await asyncio.sleep(0.01)


async def test_killed_before_the_run_is_recorded(telegram: FakeTelegram, model: FakeAnthropic) -> None:
    """Due while nothing ran, and so soon after that nobody calls it late."""
    async with GatewayProcess(telegram, model) as gateway:
        await greet(telegram, gateway)
        await gateway.kill()
        put(gateway, "message", ahead=-1)
        await gateway.start()
        await comes_once(telegram, gateway, "⏰ Tea is ready")


@pytest.mark.on_both
async def test_killed_in_the_run(telegram: FakeTelegram, model: FakeAnthropic) -> None:
    async with GatewayProcess(telegram, model) as gateway:
        asked = model.hold(after=0)
        model.answer("Your tea.")
        await write(telegram, gateway, "prompt")
        await gateway.while_alive(model.held(asked))
        assert states(gateway) == ["running"]
        await gateway.kill()
        model.answer("Your tea.")
        await gateway.start()
        await comes_once(telegram, gateway, "Your tea.")


@pytest.mark.parametrize("kind", ["message", "prompt"])
async def test_killed_before_the_delivery(telegram: FakeTelegram, model: FakeAnthropic, kind: str) -> None:
    """The send had begun, so that it may be marked as a possible repeat; the model is not asked again."""
    async with GatewayProcess(telegram, model) as gateway:
        model.answer("Tea is ready")
        await write(telegram, gateway, kind)
        sends = telegram.hold("sendMessage")
        await gateway.while_alive(telegram.wait_for(lambda: sends.waiting))
        await gateway.kill()
        await gateway.start()
        sends.release()
        await gateway.while_alive(until(gateway, "delivered"))
    heard = texts(telegram)[1:]
    assert {text.removeprefix(REPEAT_MARK) for text in heard} == {
        "Tea is ready" if kind == "prompt" else "⏰ Tea is ready"
    }
    assert len([text for text in heard if not text.startswith(REPEAT_MARK)]) <= 1
    assert len(model.requests) == (1 if kind == "prompt" else 0)


async def test_killed_after_the_delivery(telegram: FakeTelegram, model: FakeAnthropic) -> None:
    """The receipt is on disk; that the run is over may not be, nor that the reminder is out of the file."""
    async with GatewayProcess(telegram, model) as gateway:
        await write(telegram, gateway, "message")
        await gateway.while_alive(telegram.wait_for(lambda: len(texts(telegram)) == 2))
        await gateway.restart()
        await gateway.while_alive(until(gateway, "delivered"))
    assert texts(telegram)[1] == "⏰ Tea is ready"
    assert texts(telegram)[2:] in ([], [f"{REPEAT_MARK}⏰ Tea is ready"])  # where the receipt was not on disk yet
