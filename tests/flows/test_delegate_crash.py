"""`kill -9` at each step of a task, a start on the same home: it is worked on once, and told of once."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from gateway.messages.outbox import REPEAT_MARK
from gateway.messages.suspects import SKIPPED
from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.telegram import FakeTelegram
from tests.flows.delegating import FLATS, SIGN, STARTED, TOLD, Delegating, goes_on, is_result, is_task
from tests.flows.process import GatewayProcess
from tests.flows.stores import writing
from tests.flows.test_delegate import comes, texts
from tests.flows.test_schedule_crash import asked, receipts

NOTE = ("memory_append", {"text": "Looked at the flats"})


@pytest.fixture
async def gateway(telegram: FakeTelegram, model: FakeAnthropic) -> AsyncIterator[GatewayProcess]:
    async with GatewayProcess(telegram, model) as process:
        (process.workspace / "flats.md").write_text(FLATS)
        yield process


async def told_once(telegram: FakeTelegram, gateway: GatewayProcess) -> None:
    """And nothing else is at work or on its way."""
    await comes(telegram, gateway, 3)
    telegram.say("Thanks")
    heard = await comes(telegram, gateway, 4)
    assert sorted(heard) == sorted([SIGN, STARTED, TOLD, "Fine."])
    assert heard[-2:] == [TOLD, "Fine."]
    assert asked(gateway, "SELECT count(*) FROM inbox WHERE state = 'waiting'") == [0]
    assert asked(gateway, "SELECT outcome FROM inbox WHERE id LIKE 'task:%' ORDER BY seq") == ["reply", "reply"]


async def test_killed_before_the_call(telegram: FakeTelegram, model: FakeAnthropic, gateway: GatewayProcess) -> None:
    Delegating(model)
    call = model.hold(after=0)
    telegram.say("Please help me")
    await model.held(call)
    await gateway.restart()
    await told_once(telegram, gateway)


async def test_killed_as_the_turn_that_asked_goes_on(
    telegram: FakeTelegram, model: FakeAnthropic, gateway: GatewayProcess
) -> None:
    Delegating(model)
    turn, work = model.hold(after=0, when=goes_on), model.hold(after=0, when=is_task)
    telegram.say("Please help me")
    await model.held(turn)
    await model.held(work)
    await gateway.while_alive(receipts(gateway))
    await gateway.restart()
    await told_once(telegram, gateway)


async def test_killed_before_the_tasks_first_answer(
    telegram: FakeTelegram, model: FakeAnthropic, gateway: GatewayProcess
) -> None:
    Delegating(model)
    work = model.hold(after=0, when=is_task)
    telegram.say("Please help me")
    await comes(telegram, gateway, 2)
    await model.held(work)
    await gateway.while_alive(receipts(gateway))
    await gateway.restart()
    await told_once(telegram, gateway)


async def test_killed_between_two_steps_of_the_task_none_is_done_twice(
    telegram: FakeTelegram, model: FakeAnthropic, gateway: GatewayProcess
) -> None:
    Delegating(model, does=[NOTE])
    step = model.hold(after=0, when=lambda body: is_task(body) and "tool_result" in str(body["messages"]))
    telegram.say("Please help me")
    await comes(telegram, gateway, 2)
    await model.held(step)
    await gateway.while_alive(receipts(gateway))
    await gateway.restart()
    await told_once(telegram, gateway)
    logs = "".join(file.read_text() for file in (gateway.workspace / "memory").glob("20*.md"))
    assert logs.count("Looked at the flats") == 1


async def test_killed_in_the_answer_to_its_result(
    telegram: FakeTelegram, model: FakeAnthropic, gateway: GatewayProcess
) -> None:
    doing = Delegating(model)
    answer = model.hold(after=0, when=is_result)
    telegram.say("Please help me")
    await comes(telegram, gateway, 2)
    await model.held(answer)
    await gateway.while_alive(receipts(gateway))
    before = doing.steps
    await gateway.restart()
    await told_once(telegram, gateway)
    assert doing.steps == before, "the task is over"


async def test_killed_before_the_answer_was_sent(
    telegram: FakeTelegram, model: FakeAnthropic, gateway: GatewayProcess
) -> None:
    """The send had begun, so that it may be marked as a possible repeat."""
    Delegating(model)
    answer = model.hold(after=0, when=is_result)
    telegram.say("Please help me")
    await comes(telegram, gateway, 2)
    await model.held(answer)
    await gateway.while_alive(receipts(gateway))
    sends = telegram.hold("sendMessage")
    answer.release()
    await gateway.while_alive(telegram.wait_for(lambda: sends.waiting))
    requests = len(model.requests)
    await gateway.kill()
    await gateway.start()
    sends.release()
    await comes(telegram, gateway, 3)
    await gateway.while_alive(receipts(gateway))
    assert {text.removeprefix(REPEAT_MARK) for text in texts(telegram)[2:]} == {TOLD}
    assert sum(not text.startswith(REPEAT_MARK) for text in texts(telegram)[2:]) <= 1
    assert len(model.requests) == requests


async def test_killed_after_a_stop_it_stays_stopped(
    telegram: FakeTelegram, model: FakeAnthropic, gateway: GatewayProcess
) -> None:
    doing = Delegating(model)
    work = model.hold(after=0, when=is_task)
    telegram.say("Please help me")
    await comes(telegram, gateway, 2)
    await model.held(work)
    telegram.say("/stop")
    assert (await comes(telegram, gateway, 3))[-1] == "Stopped. I gave up the task I was working on."
    await gateway.while_alive(receipts(gateway))
    steps = doing.steps
    await gateway.restart()
    telegram.say("Thanks")
    assert (await comes(telegram, gateway, 4))[-1] == "Fine."
    assert doing.steps == steps and asked(gateway, "SELECT count(*) FROM inbox WHERE state = 'waiting'") == [0]
    assert "The person stopped the task" in str(model.requests[-1].body["messages"])


async def test_a_task_in_which_the_process_keeps_dying_is_given_up_and_told_of(
    telegram: FakeTelegram, model: FakeAnthropic, gateway: GatewayProcess
) -> None:
    doing = Delegating(model)
    model.reply = lambda body: f"It failed: {SKIPPED}" if is_result(body) and SKIPPED in str(body) else doing(body)
    work = model.hold(after=0, when=is_task)
    telegram.say("Please help me")
    await comes(telegram, gateway, 2)
    await model.held(work)
    await gateway.while_alive(receipts(gateway))
    await gateway.kill()
    with writing(gateway.home) as store:
        store.execute("UPDATE inbox SET stood_still = 9 WHERE id LIKE 'task:%'")
    await gateway.start()
    assert (await comes(telegram, gateway, 3))[2:] == [f"It failed: {SKIPPED}"]
    assert doing.steps == 1
