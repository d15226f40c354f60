"""`kill -9` at each step of a turn, a start on the same home, and exactly one answer.

Where the process stands is forced by holding a fake at that step, never by waiting.
"""

from __future__ import annotations

import asyncio

import pytest

from gateway.messages.outbox import REPEAT_MARK
from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.telegram import FakeTelegram
from tests.flows.process import GatewayProcess

ALICE = 11111
GROUP = -100123


def texts(telegram: FakeTelegram, chat: int = ALICE) -> list[str]:
    return [message.text for message in telegram.messages(chat)]


async def said_no_more(telegram: FakeTelegram, model: FakeAnthropic, gateway: GatewayProcess) -> None:
    """Everything before has its end when a later message has been answered."""
    model.reply = lambda body: "The last answer."
    telegram.say("the last question")
    await gateway.while_alive(telegram.wait_for(lambda: "The last answer." in texts(telegram)))


async def test_killed_after_the_inbox_commit(
    telegram: FakeTelegram, model: FakeAnthropic, gateway: GatewayProcess
) -> None:
    models = model.hold(after=0)
    model.answer("Answered once.")
    telegram.say("question")
    await model.held(models)

    await gateway.kill()
    assert telegram.pending == []
    await gateway.start()

    model.answer("Answered once.")
    await gateway.while_alive(telegram.wait_for(lambda: texts(telegram)))
    await said_no_more(telegram, model, gateway)
    assert texts(telegram) == ["Answered once.", "The last answer."]


async def test_killed_before_the_update_was_acknowledged(
    telegram: FakeTelegram, model: FakeAnthropic, gateway: GatewayProcess
) -> None:
    """The update is offered again by the platform, and known."""
    polls = telegram.hold("getUpdates")
    asked = model.hold(after=0)
    telegram.say("question")
    await telegram.wait_for(lambda: polls.waiting)
    await model.held(asked)
    assert len(telegram.pending) == 1
    await gateway.kill()
    polls.release()
    model.answer("Answered once.")
    await gateway.start()

    await gateway.while_alive(telegram.wait_for(lambda: texts(telegram)))
    await said_no_more(telegram, model, gateway)
    assert len(texts(telegram)) == 2


@pytest.mark.on_both
async def test_killed_after_a_tool_has_sent_a_message(
    telegram: FakeTelegram, model: FakeAnthropic, gateway: GatewayProcess
) -> None:
    """What send_message has sent is not sent again, and the turn goes on behind it."""
    before_tool = model.hold(after=0)
    model.answer(tool=("send_message", {"text": "Sent by the tool."}))
    telegram.say("question")
    await model.held(before_tool)
    after_tool = model.hold(after=0)
    before_tool.release()
    await model.held(after_tool)
    while (await gateway.cli("status", "--json")).json()["outbox"]["waiting"]:
        pass

    await gateway.kill()
    model.answer("Answered once.")
    await gateway.start()

    await gateway.while_alive(telegram.wait_for(lambda: "Answered once." in texts(telegram)))
    await said_no_more(telegram, model, gateway)
    assert texts(telegram) == ["Sent by the tool.", "Answered once.", "The last answer."]


async def test_killed_during_the_stream(telegram: FakeTelegram, model: FakeAnthropic, gateway: GatewayProcess) -> None:
    stream = model.hold(after=2)
    model.answer(["It is ", "a long ", "story."])
    telegram.say("question")
    await model.held(stream)

    await gateway.kill()
    model.answer(["It is ", "a long ", "story."])
    await gateway.start()

    await gateway.while_alive(telegram.wait_for(lambda: texts(telegram)))
    await said_no_more(telegram, model, gateway)
    assert texts(telegram) == ["It is a long story.", "The last answer."]


async def test_killed_after_a_tool_the_tool_is_not_run_again(
    telegram: FakeTelegram, model: FakeAnthropic, gateway: GatewayProcess
) -> None:
    first = model.hold()
    model.answer(tool=("memory_append", {"text": "eggs and milk"}))
    telegram.say("put eggs and milk on the list")
    await model.held(first)
    second = model.hold(after=0)
    model.answer("On the list.")
    first.release()
    await model.held(second)

    await gateway.kill()
    model.answer("On the list.")
    await gateway.start()

    await gateway.while_alive(telegram.wait_for(lambda: texts(telegram)))
    await said_no_more(telegram, model, gateway)
    assert texts(telegram) == ["On the list.", "The last answer."]
    logs = "".join(file.read_text() for file in (gateway.workspace / "memory").glob("20*.md"))
    assert logs.count("eggs and milk") == 1


async def test_killed_before_the_send(telegram: FakeTelegram, model: FakeAnthropic, gateway: GatewayProcess) -> None:
    """The send was begun and never reached the platform: the platform's side cannot be told from the next case, so the
    reply comes once, with the mark or without."""
    sends = telegram.hold("sendMessage")
    model.answer("The only answer.")
    telegram.say("question")
    await telegram.wait_for(lambda: sends.waiting)

    await gateway.kill()
    await gateway.start()
    sends.release()

    await gateway.while_alive(telegram.wait_for(lambda: texts(telegram)))
    await said_no_more(telegram, model, gateway)
    answers = [text for text in texts(telegram) if "The only answer." in text]
    assert 1 <= len(answers) <= 2
    assert len([text for text in answers if not text.startswith(REPEAT_MARK)]) <= 1
    assert len(model.requests) == 2


async def test_killed_after_the_send_before_the_receipt(
    telegram: FakeTelegram, model: FakeAnthropic, gateway: GatewayProcess
) -> None:
    sends = telegram.hold("sendMessage", after_effect=True)
    model.answer("Perhaps twice.")
    telegram.say("question")
    await telegram.wait_for(lambda: texts(telegram))

    await gateway.kill()
    sends.release()
    await gateway.start()

    await gateway.while_alive(telegram.wait_for(lambda: len(texts(telegram)) == 2))
    await said_no_more(telegram, model, gateway)
    assert texts(telegram) == ["Perhaps twice.", f"{REPEAT_MARK}Perhaps twice.", "The last answer."]
    status = (await gateway.cli("status", "--json")).json()
    assert status["outbox"]["repeated"] == 1


async def test_a_group_sees_one_message_although_the_process_was_killed_in_its_preview(
    telegram: FakeTelegram, model: FakeAnthropic
) -> None:
    settings = {"channels": {"telegram": {"groups": {GROUP: {"mention": "optional"}}}}}
    async with GatewayProcess(telegram, model, settings) as gateway:
        stream = model.hold(after=2)
        model.answer(["Once upon ", "a time ", "there was an end."])
        telegram.say("tell us a story", chat=GROUP)
        await model.held(stream)
        await gateway.while_alive(telegram.wait_for(lambda: telegram.called("sendMessage", GROUP)))
        telegram.say("/whoami")
        await gateway.while_alive(telegram.wait_for(lambda: texts(telegram)))  # so the preview's id is on disk

        await gateway.kill()
        model.answer(["Once upon ", "a time ", "there was an end."])
        await gateway.start()

        await gateway.while_alive(
            telegram.wait_for(lambda: "Once upon a time there was an end." in texts(telegram, GROUP))
        )
        assert len(texts(telegram, GROUP)) == 1


async def test_sigterm_puts_a_running_turn_off_to_the_next_start(
    telegram: FakeTelegram, model: FakeAnthropic, gateway: GatewayProcess
) -> None:
    stream = model.hold(after=1)
    model.answer(["Patience ", "pays."])
    telegram.say("question")
    await model.held(stream)

    async with asyncio.timeout(120):
        assert await gateway.terminate() == 0
    assert texts(telegram) == []
    model.answer(["Patience ", "pays."])
    await gateway.start()

    await gateway.while_alive(telegram.wait_for(lambda: "Patience pays." in texts(telegram)))
    assert texts(telegram) == ["Patience pays."]


@pytest.mark.on_sqlite  # on PostgreSQL it waits for its turn: test_several_gateways.py
async def test_a_second_gateway_on_the_same_home_refuses_to_start(
    telegram: FakeTelegram, model: FakeAnthropic, gateway: GatewayProcess
) -> None:
    second = await gateway.cli("gateway")
    assert second.code == 1
    assert str(gateway.pid) in second.err
