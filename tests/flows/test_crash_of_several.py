"""`kill -9` at each step of a turn, task, job or summary while three gateways share a home on PostgreSQL: another
finishes it, once.

What `test_crash.py` and its siblings show of one gateway, shown of the one that leads and of one that helps. Nobody
starts the killed one again.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

import pytest

from gateway.messages.outbox import REPEAT_MARK
from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.anthropic_answers import Answer, JsonObject, compose
from tests.fakes.postgres import PostgresServer
from tests.fakes.telegram import FakeTelegram
from tests.flows.delegating import SIGN, STARTED, TOLD, Delegating, is_result, is_task
from tests.flows.diarist import Diarist
from tests.flows.process import OWNER, GatewayProcess
from tests.flows.stores import rows
from tests.flows.test_delegate_crash import NOTE
from tests.flows.test_schedule_crash import put
from tests.flows.test_several_gateways import BOB, GROUP, Cluster, until_waiting
from tests.strength import first


@dataclass(frozen=True)
class Victim:
    """A gateway of three that will be killed, and a chat that it answers."""

    cluster: Cluster
    gateway: GatewayProcess
    chat: int

    def says(self, text: str) -> None:
        self.cluster.telegram.say(text, chat=self.chat, user=self.chat)

    @property
    def heard(self) -> list[str]:
        """In the chat, behind the greeting."""
        return self.cluster.texts(self.chat)[1:]

    @property
    def logs(self) -> str:
        return "".join(file.read_text() for file in self.gateway.workspace.rglob("memory/20*.md"))

    async def until_receipts(self) -> None:
        """Nothing is on its way out, so that a kill leaves no other doubt than the test's own."""
        await self.until_stored("SELECT 1 FROM outbox WHERE state IN ('waiting', 'sending')", 0)

    async def until_stored(self, query: str, found: int = 1) -> None:
        """Until the database has so many rows of it."""
        async with asyncio.timeout(120):
            while len(await asyncio.to_thread(rows, self.gateway.home, query)) != found:  # noqa: ASYNC110  no bell there
                await asyncio.sleep(0.02)

    async def kill(self) -> None:
        os.kill(self.gateway.pid, signal.SIGKILL)
        await self.gateway.ended()

    async def says_last(self, model: FakeAnthropic) -> None:
        """Everything before has its end when a later message has been answered."""
        model.reply = lambda _: "The last answer."
        self.says("the last question")
        await self.cluster.telegram.wait_for(lambda: "The last answer." in self.heard)


@pytest.fixture(params=first("a helper", "the leader"))
async def victim(
    request: pytest.FixtureRequest, telegram: FakeTelegram, model: FakeAnthropic, postgres: PostgresServer
) -> AsyncIterator[Victim]:
    async with Cluster(telegram, model, postgres.new_database()) as cluster:
        leader, helper = await cluster.two()
        await until_waiting(await cluster.add())
        yield Victim(cluster, leader, OWNER) if request.param == "the leader" else Victim(cluster, helper, BOB)


@pytest.mark.full
async def test_killed_after_the_inbox_commit(telegram: FakeTelegram, model: FakeAnthropic, victim: Victim) -> None:
    asked = model.hold(after=0)
    model.reply = lambda _: "Answered once."
    victim.says("question")
    await model.held(asked)
    await victim.kill()
    await telegram.wait_for(lambda: victim.heard)
    await victim.says_last(model)
    assert victim.heard == ["Answered once.", "The last answer."]


@pytest.mark.full
async def test_killed_before_the_update_was_acknowledged(
    telegram: FakeTelegram, model: FakeAnthropic, victim: Victim
) -> None:
    """The update is offered again by the platform, and known."""
    polls, asked = telegram.hold("getUpdates"), model.hold(after=0)
    model.reply = lambda _: "Answered once."
    victim.says("question")
    await telegram.wait_for(lambda: polls.waiting)
    await model.held(asked)
    assert len(telegram.pending) == 1
    await victim.kill()
    polls.release()
    await telegram.wait_for(lambda: victim.heard)
    await victim.says_last(model)
    assert victim.heard == ["Answered once.", "The last answer."]


@pytest.mark.full
async def test_killed_during_the_stream(telegram: FakeTelegram, model: FakeAnthropic, victim: Victim) -> None:
    stream = model.hold(after=2)
    model.reply = lambda _: compose(["It is ", "a long ", "story."])
    victim.says("question")
    await model.held(stream)
    await victim.kill()
    await telegram.wait_for(lambda: victim.heard)
    await victim.says_last(model)
    assert victim.heard == ["It is a long story.", "The last answer."]


def after_a_tool(name: str, arguments: JsonObject, text: str) -> Callable[[JsonObject], Answer]:
    """Calls a tool once, and answers with the text."""

    def reply(body: JsonObject) -> Answer:
        return compose(text) if has_result(body) else compose(tool=(name, arguments))

    return reply


def has_result(body: JsonObject) -> bool:
    return "tool_result" in str(body["messages"])


@pytest.mark.full
async def test_killed_after_a_tool_has_sent_a_message(
    telegram: FakeTelegram, model: FakeAnthropic, victim: Victim
) -> None:
    """What send_message has sent is not sent again, and the turn goes on behind it."""
    model.reply = after_a_tool("send_message", {"text": "Sent by the tool."}, "Answered once.")
    behind_it = model.hold(after=0, when=has_result)
    victim.says("question")
    await model.held(behind_it)
    await victim.until_receipts()
    await victim.kill()
    await telegram.wait_for(lambda: "Answered once." in victim.heard)
    await victim.says_last(model)
    assert victim.heard == ["Sent by the tool.", "Answered once.", "The last answer."]


@pytest.mark.full
async def test_killed_after_a_tool_the_tool_is_not_run_again(
    telegram: FakeTelegram, model: FakeAnthropic, victim: Victim
) -> None:
    model.reply = after_a_tool("memory_append", {"text": "eggs and milk"}, "On the list.")
    behind_it = model.hold(after=0, when=has_result)
    victim.says("put eggs and milk on the list")
    await model.held(behind_it)
    await victim.kill()
    await telegram.wait_for(lambda: victim.heard)
    await victim.says_last(model)
    assert victim.heard == ["On the list.", "The last answer."]
    assert victim.logs.count("eggs and milk") == 1


@pytest.mark.full
async def test_killed_before_the_send(telegram: FakeTelegram, model: FakeAnthropic, victim: Victim) -> None:
    """The send was begun: nobody can tell whether it reached the platform."""
    sends = telegram.hold("sendMessage")
    model.reply = lambda _: "The only answer."
    victim.says("question")
    await telegram.wait_for(lambda: sends.waiting)
    asked = len(model.requests)
    await victim.kill()
    sends.release()
    await telegram.wait_for(lambda: victim.heard)
    assert len(model.requests) == asked
    await victim.says_last(model)
    answers = [text for text in victim.heard if "The only answer." in text]
    assert {text.removeprefix(REPEAT_MARK) for text in answers} == {"The only answer."}
    assert len([text for text in answers if not text.startswith(REPEAT_MARK)]) <= 1


async def test_killed_after_the_send_before_the_receipt(
    telegram: FakeTelegram, model: FakeAnthropic, victim: Victim
) -> None:
    sends = telegram.hold("sendMessage", after_effect=True)
    model.reply = lambda _: "Perhaps twice."
    victim.says("question")
    await telegram.wait_for(lambda: victim.heard)
    await victim.kill()
    sends.release()
    await telegram.wait_for(lambda: len(victim.heard) == 2)
    await victim.says_last(model)
    assert victim.heard == ["Perhaps twice.", f"{REPEAT_MARK}Perhaps twice.", "The last answer."]


async def test_a_group_sees_one_message_although_a_gateway_was_killed_in_its_preview(
    telegram: FakeTelegram, model: FakeAnthropic, postgres: PostgresServer
) -> None:
    async with Cluster(telegram, model, postgres.new_database()) as cluster:
        leader, _ = await cluster.two()
        await until_waiting(await cluster.add())
        group, story = int(GROUP), "Once upon a time there was an end."
        stream = model.hold(after=2)
        model.reply = lambda _: compose(["Once upon ", "a time ", "there was an end."])
        telegram.say(f"@{telegram.username} tell us a story", chat=group, user=OWNER, chat_type="supergroup")
        await model.held(stream)
        worker = cluster.server_of(f"group/telegram-{GROUP}")
        assert worker is not None and worker is not leader
        shown = Victim(cluster, worker, group)
        await shown.until_stored("SELECT 1 FROM preview WHERE platform_id <> ''")
        await shown.kill()
        await telegram.wait_for(lambda: story in cluster.texts(group))
        assert cluster.texts(group) == [story]


@pytest.mark.full
async def test_killed_between_two_steps_of_a_task_none_is_done_twice(
    telegram: FakeTelegram, model: FakeAnthropic, victim: Victim
) -> None:
    Delegating(model, does=[NOTE])
    step = model.hold(after=0, when=lambda body: is_task(body) and has_result(body))
    victim.says("Please help me")
    await model.held(step)
    await telegram.wait_for(lambda: len(victim.heard) == 2)
    await victim.until_receipts()
    await victim.kill()
    await telegram.wait_for(lambda: TOLD in victim.heard)
    await victim.says_last(model)
    assert sorted(victim.heard) == sorted([SIGN, STARTED, TOLD, "The last answer."])
    assert victim.logs.count("Looked at the flats") == 1


@pytest.mark.full
async def test_killed_in_the_answer_to_the_result_of_a_task(
    telegram: FakeTelegram, model: FakeAnthropic, victim: Victim
) -> None:
    doing = Delegating(model)
    answer = model.hold(after=0, when=is_result)
    victim.says("Please help me")
    await model.held(answer)
    await telegram.wait_for(lambda: len(victim.heard) == 2)
    await victim.until_receipts()
    before = doing.steps
    await victim.kill()
    await telegram.wait_for(lambda: TOLD in victim.heard)
    assert doing.steps == before, "the task is over"
    await victim.says_last(model)
    assert sorted(victim.heard) == sorted([SIGN, STARTED, TOLD, "The last answer."])


@pytest.mark.parametrize("victim", ["the leader"], indirect=True)
async def test_the_leader_is_killed_in_the_run_of_a_job(
    telegram: FakeTelegram, model: FakeAnthropic, victim: Victim
) -> None:
    asked = model.hold(after=0)
    model.reply = lambda _: "Your tea."
    put(victim.gateway, "prompt")
    await model.held(asked)
    await victim.kill()
    await telegram.wait_for(lambda: victim.heard)
    await victim.says_last(model)
    assert victim.heard == ["Your tea.", "The last answer."]


@pytest.mark.parametrize("victim", ["the leader"], indirect=True)
@pytest.mark.full
async def test_the_leader_is_killed_before_a_reminder_was_delivered(
    telegram: FakeTelegram, model: FakeAnthropic, victim: Victim
) -> None:
    sends = telegram.hold("sendMessage")
    put(victim.gateway, "message")
    await telegram.wait_for(lambda: sends.waiting)
    await victim.kill()
    sends.release()
    await telegram.wait_for(lambda: victim.heard)
    await victim.says_last(model)
    told = [text for text in victim.heard if text != "The last answer."]
    assert {text.removeprefix(REPEAT_MARK) for text in told} == {"⏰ Tea is ready"}
    assert len([text for text in told if not text.startswith(REPEAT_MARK)]) <= 1


@pytest.mark.parametrize("victim", ["the leader"], indirect=True)
@pytest.mark.full
async def test_the_leader_is_killed_in_the_journal_of_a_summary(
    telegram: FakeTelegram, model: FakeAnthropic, victim: Victim
) -> None:
    model.reply = Diarist()
    victim.says("I'll water the roses by 2999-01-01")
    await telegram.wait_for(lambda: victim.heard)
    await victim.until_receipts()
    journal = model.hold(after=0)
    assert (await victim.gateway.cli("schedule", "run", "daily-summary")).code == 0
    await model.held(journal)
    await victim.kill()
    await telegram.wait_for(lambda: any("A full day" in text for text in victim.heard))
    await victim.says_last(model)
    assert sum("A full day" in text for text in victim.heard) == 1
    assert victim.logs.count("said I'll water") == 1
