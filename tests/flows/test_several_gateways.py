"""Several gateways on one home with PostgreSQL: they share the people and groups, and take over from each other."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Mapping
from datetime import datetime, timedelta
from types import MappingProxyType, TracebackType
from typing import Self
from zoneinfo import ZoneInfo

import psycopg
import pytest

from tests.fakes.anthropic import FakeAnthropic, compose, last_user_text
from tests.fakes.postgres import PostgresServer, running
from tests.fakes.telegram import FakeTelegram
from tests.flows.process import COMMAND, OWNER, GatewayProcess


class Cluster:
    """Gateways on one home; `leader` is the one that the platform hears."""

    def __init__(
        self,
        telegram: FakeTelegram,
        model: FakeAnthropic,
        url: str,
        settings: Mapping[str, object] = MappingProxyType({}),
        command: tuple[str, ...] = COMMAND,
        environ: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.telegram = telegram
        self.gateways: list[GatewayProcess] = []
        self._model = model
        self._url = url
        self._settings = {"database_url": url, "channels": {"telegram": {"allow": [str(BOB)], "groups": {GROUP: {}}}}}
        self._settings |= settings
        self._command = command
        self._environ = environ

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for one in self.gateways:
            if one.is_running:
                os.kill(one.pid, signal.SIGKILL)
        for one in self.gateways:
            await one.__aexit__(kind, error, trace)

    async def add(self) -> GatewayProcess:
        one = GatewayProcess(self.telegram, self._model, self._settings, start_now=False, command=self._command)
        one.environ |= self._environ
        if self.gateways:
            one.home = self.gateways[0].home
        self.gateways.append(one)
        await one.start(wait=len(self.gateways) == 1)
        return one

    async def answered(self, text: str, chat: int = OWNER) -> None:
        """Says something, and waits until it is answered and the receipt is on disk. `benchmarks/cluster.py` says how
        long that takes."""
        before = len(self.texts(chat))
        self.telegram.say(text, chat=chat, user=chat)
        await self.telegram.wait_for(lambda: len(self.texts(chat)) > before)
        alive = next(one for one in self.gateways if one.is_running)
        await alive.until_status(lambda status: status["outbox"]["waiting"] == 0)

    def texts(self, chat: int = OWNER) -> list[str]:
        return [message.text for message in self.telegram.messages(chat)]

    def server_of(self, scope: str) -> GatewayProcess | None:
        """Who answers a scope, as the database says."""
        with psycopg.connect(self._url) as session:
            row = session.execute(
                "SELECT pid FROM process JOIN claim ON process = number WHERE key = %s", (scope,)
            ).fetchone()
        return next((one for one in self.gateways if row and one.is_running and one.pid == row[0]), None)

    async def two(self) -> tuple[GatewayProcess, GatewayProcess]:
        """The one that leads and answers the owner, and the one that answers Bob."""
        leader, helper = await self.add(), await self.add()
        await until_waiting(helper)
        assert await self.who_answers("hello", "owner") is leader
        assert await self.who_answers("hello, I am Bob", f"person/telegram-{BOB}", BOB) is helper
        return leader, helper

    async def who_answers(self, text: str, scope: str, chat: int = OWNER) -> GatewayProcess:
        """Says something until it is known who answers: what is silent is given back once a minute."""
        while True:
            await self.answered(text, chat)
            if found := self.server_of(scope):
                return found


@pytest.fixture
async def cluster(telegram: FakeTelegram, model: FakeAnthropic, postgres: PostgresServer) -> AsyncIterator[Cluster]:
    async with Cluster(telegram, model, postgres.new_database()) as cluster:
        yield cluster


BOB = 22222
GROUP = "-100777"


async def until_waiting(gateway: GatewayProcess) -> None:
    await until_logged(gateway, "takes over if it ends")


async def until_logged(gateway: GatewayProcess, words: str) -> None:
    async with asyncio.timeout(120):
        while words not in gateway.log:  # noqa: ASYNC110  another process rings no bell
            await asyncio.sleep(0.05)


async def test_another_takes_over_when_one_is_killed(cluster: Cluster, model: FakeAnthropic) -> None:
    for text in ("Noted.", "Still here.", "Here again."):
        model.answer(text)
    first = await cluster.add()
    second = await cluster.add()
    await until_waiting(second)
    await cluster.answered("The cat is Luna.")
    status = (await first.cli("status")).out
    assert f"leads: process {first.pid}" in status and f"helps: process {second.pid}" in status
    os.kill(first.pid, signal.SIGKILL)
    await first.ended()
    await cluster.answered("Are you there?")
    await first.start(wait=False)
    os.kill(second.pid, signal.SIGKILL)
    await second.ended()
    await cluster.answered("And now?")
    assert cluster.texts() == ["Noted.", "Still here.", "Here again."]


@pytest.mark.full
async def test_who_stood_still_does_nothing_twice_and_waits_for_its_turn(
    cluster: Cluster, model: FakeAnthropic
) -> None:
    for text in ("One.", "Two.", "Three."):
        model.answer(text)
    first = await cluster.add()
    second = await cluster.add()
    await until_waiting(second)
    await cluster.answered("one")
    os.kill(first.pid, signal.SIGSTOP)
    await cluster.answered("two")
    os.kill(first.pid, signal.SIGCONT)
    await until_waiting(first)
    await cluster.answered("three")
    assert cluster.texts() == ["One.", "Two.", "Three."]
    assert second.is_running and first.is_running


@pytest.mark.full
async def test_all_wait_for_a_database_that_died_and_lose_nothing(telegram: FakeTelegram, model: FakeAnthropic) -> None:
    for text in ("One.", "Two."):
        model.answer(text)
    with running() as postgres:
        async with Cluster(telegram, model, postgres.new_database()) as cluster:
            await cluster.add()
            await cluster.add()
            await cluster.answered("one")
            postgres.kill()
            for one in cluster.gateways:
                await until_logged(one, "the database is lost")
            telegram.say("two")
            for command in ("status", "doctor"):
                said = await cluster.gateways[0].cli(command)
                assert said.code == 1 and "Is PostgreSQL running there?" in said.out + said.err, "why it is lost"
            postgres.start()
            await telegram.wait_for(lambda: len(cluster.texts()) == 2)
            assert cluster.texts() == ["One.", "Two."]
            assert all(one.is_running for one in cluster.gateways)


async def test_one_that_waits_ends_when_asked(cluster: Cluster) -> None:
    await cluster.add()
    second = await cluster.add()
    await until_waiting(second)
    os.kill(second.pid, signal.SIGTERM)
    assert await second.ended() == 0


async def test_people_are_answered_by_different_gateways_and_each_in_order(
    cluster: Cluster, model: FakeAnthropic
) -> None:
    model.reply = lambda body: f"You said: {last_user_text(body).splitlines()[-1]}"
    await cluster.two()
    for number in range(5):
        cluster.telegram.say(f"owner {number}")
        cluster.telegram.say(f"bob {number}", chat=BOB, user=BOB)
    await cluster.telegram.wait_for(
        lambda: "owner 4" in "".join(cluster.texts()) and "bob 4" in "".join(cluster.texts(BOB))
    )
    for chat, name in ((OWNER, "owner"), (BOB, "bob")):
        told = "\n".join(cluster.texts(chat))
        assert [told.index(f"{name} {number}") for number in range(5)] == sorted(
            told.index(f"{name} {number}") for number in range(5)
        )


async def test_stop_and_steering_reach_the_gateway_that_works_on_it(cluster: Cluster, model: FakeAnthropic) -> None:
    leader, helper = await cluster.two()
    hold = model.hold()
    model.answer("A long answer that nobody waits for.")
    cluster.telegram.say("tell me everything", chat=BOB, user=BOB)
    await model.held(hold)
    before = len(cluster.texts(BOB))
    cluster.telegram.say("/stop", chat=BOB, user=BOB)
    await cluster.telegram.wait_for(lambda: any("Stopped" in text for text in cluster.texts(BOB)[before:]))
    hold.release()
    note = compose(tool=("memory_append", {"text": "Bob likes tea."}))
    model.reply = lambda body: "Tea and coffee." if "and coffee" in str(body["messages"]) else note
    cluster.telegram.say("I like tea", chat=BOB, user=BOB)
    await model.wait_for(lambda request: "tool_result" in str(request.body["messages"][-1]))
    cluster.telegram.say("and coffee", chat=BOB, user=BOB)
    await cluster.telegram.wait_for(lambda: "Tea and coffee." in cluster.texts(BOB))
    assert len([text for text in cluster.texts(BOB) if "ea" in text]) == 1, "one answer to both"
    assert cluster.server_of(f"person/telegram-{BOB}") is helper
    log = "".join(file.read_text() for file in (leader.workspace / "people" / f"telegram-{BOB}").rglob("*.md"))
    assert "Bob likes tea." in log


async def test_a_turn_of_a_killed_gateway_is_finished_by_the_other(cluster: Cluster, model: FakeAnthropic) -> None:
    leader, helper = await cluster.two()
    model.answer(tool=("memory_append", {"text": "Bob has a boat."}))
    model.answer("Noted, a boat.")
    hold = model.hold(when=lambda body: "tool_result" in str(body["messages"][-1]))
    cluster.telegram.say("I have a boat", chat=BOB, user=BOB)
    await model.held(hold)
    os.kill(helper.pid, signal.SIGKILL)
    await helper.ended()
    model.calm()
    model.answer("Noted, a boat.")
    hold.release()
    await cluster.telegram.wait_for(lambda: cluster.texts(BOB).count("Noted, a boat.") == 1)
    assert cluster.server_of(f"person/telegram-{BOB}") is leader
    logs = "".join(file.read_text() for file in (leader.workspace / "people" / f"telegram-{BOB}").rglob("????-*.md"))
    assert logs.count("Bob has a boat.") == 1, "a tool that had finished is not run again"


async def test_when_the_leader_dies_the_people_of_the_other_notice_nothing(
    cluster: Cluster, model: FakeAnthropic
) -> None:
    leader, helper = await cluster.two()
    hold = model.hold()
    model.answer("Here it is.")
    cluster.telegram.say("take your time", chat=BOB, user=BOB)
    await model.held(hold)
    os.kill(leader.pid, signal.SIGKILL)
    await leader.ended()
    hold.release()
    await cluster.telegram.wait_for(lambda: "Here it is." in cluster.texts(BOB))
    await cluster.answered("Are you there?")
    assert cluster.server_of("owner") is helper


async def test_who_stands_still_loses_its_people_and_answers_nothing_twice(
    cluster: Cluster, model: FakeAnthropic
) -> None:
    leader, helper = await cluster.two()
    os.kill(helper.pid, signal.SIGSTOP)
    model.answer("One.")
    await cluster.answered("one", BOB)
    os.kill(helper.pid, signal.SIGCONT)
    model.answer("Two.")
    await cluster.answered("two", BOB)
    assert cluster.texts(BOB)[-2:] == ["One.", "Two."]
    assert leader.is_running and helper.is_running


async def test_one_that_is_asked_to_end_gives_its_people_to_the_other(cluster: Cluster, model: FakeAnthropic) -> None:
    leader, helper = await cluster.two()
    os.kill(helper.pid, signal.SIGTERM)
    assert await helper.ended() == 0
    model.answer("Still here, Bob.")
    await cluster.answered("and you?", BOB)
    assert cluster.texts(BOB)[-1] == "Still here, Bob."
    assert cluster.server_of(f"person/telegram-{BOB}") is leader


async def test_what_a_group_wants_elsewhere_is_asked_in_the_owners_chat_and_done_once(
    cluster: Cluster, model: FakeAnthropic
) -> None:
    """The group's turn runs on one gateway, the owner's answer arrives at the other."""
    leader, helper = await cluster.two()
    bot, group = cluster.telegram.username, int(GROUP)
    job = {"kind": "prompt", "text": "Book it all.", "when": {"cron": "0 8 * * *"}}
    model.answer(tool=("schedule_add", job))
    model.answer("I have asked my owner.")
    cluster.telegram.say("Book it all, every day!", chat=group, user=BOB, chat_type="supergroup")
    cluster.telegram.say(f"@{bot} do as he says", chat=group, user=OWNER, chat_type="supergroup")
    await cluster.telegram.wait_for(lambda: "I have asked my owner." in cluster.texts(group))
    await cluster.telegram.wait_for(lambda: any(message.buttons for message in cluster.telegram.messages(OWNER)))
    question = next(message for message in cluster.telegram.messages(OWNER) if message.buttons)
    yes = next(one["callback_data"] for row in question.buttons for one in row if one["callback_data"].endswith("yes"))
    assert cluster.server_of(f"group/telegram-{GROUP}") is helper
    cluster.telegram.press(question.id, yes)
    await cluster.telegram.wait_for(lambda: any("Approved and done" in text for text in cluster.texts(group)))
    jobs = (await leader.cli("schedule", "list", "--json")).json()
    assert [one["text"] for one in jobs if one["kind"] == "prompt"] == ["Book it all."]


async def test_a_reminder_made_on_one_gateway_rings_by_the_clock_of_the_other(
    cluster: Cluster, model: FakeAnthropic
) -> None:
    leader, _ = await cluster.two()
    at = (datetime.now(ZoneInfo("Europe/Berlin")) + timedelta(seconds=3)).isoformat(timespec="seconds")
    model.answer(tool=("schedule_add", {"kind": "message", "text": "Stretch, Bob!", "when": {"at": at}}))
    model.answer("I will.")
    cluster.telegram.say("remind me to stretch in a moment", chat=BOB, user=BOB)
    await cluster.telegram.wait_for(lambda: any("Stretch, Bob!" in text for text in cluster.texts(BOB)))
    assert sum("Stretch, Bob!" in text for text in cluster.texts(BOB)) == 1
    await leader.until_status(lambda status: status["outbox"]["waiting"] == 0)


async def test_a_budget_counts_what_every_gateway_spends(
    telegram: FakeTelegram, model: FakeAnthropic, postgres: PostgresServer
) -> None:
    limited = {"base_url": model.base_url, "api_key": model.api_key, "daily_budget_usd": 0.05}
    async with Cluster(telegram, model, postgres.new_database(), {"model": limited}) as cluster:
        leader, _ = await cluster.two()
        model.answer("An answer that cost a lot.", usage={"output_tokens": 100_000})
        await cluster.answered("write me a book", BOB)
        await leader.until_status(lambda status: status["usage"]["cost_usd"] > 0.05)
        await cluster.answered("are you there?")
        assert "budget" in cluster.texts()[-1]


async def until_wanted(url: str, scope: str) -> None:
    """Until some gateway waits for another to hand a scope over."""
    async with asyncio.timeout(120):
        with psycopg.connect(url, autocommit=True) as session:
            while session.execute("SELECT 1 FROM claim WHERE key = %s", (f"want {scope}",)).fetchone() is None:  # noqa: ASYNC110
                await asyncio.sleep(0.05)


SUMMARY = {"schedule": {"daily_summary": {"enabled": True, "to": [f"telegram:{BOB}"]}}}


async def test_a_persons_summary_waits_for_their_turn_at_another_gateway(
    telegram: FakeTelegram, model: FakeAnthropic, postgres: PostgresServer
) -> None:
    """Bob is being answered by the helper when the leader's schedule wants to write down and sum up his day."""
    url, scope = postgres.new_database(), f"person/telegram-{BOB}"
    async with Cluster(telegram, model, url, SUMMARY) as cluster:
        leader, helper = await cluster.two()
        hold = model.hold()
        model.answer("Everything, at length.")
        telegram.say("tell me everything", chat=BOB, user=BOB)
        await model.held(hold)
        turn, before = model.requests[-1], len(model.requests)
        assert (await leader.cli("schedule", "run", "daily-summary")).code == 0
        await until_wanted(url, scope)
        assert len(model.requests) == before and cluster.server_of(scope) is helper
        model.reply = lambda _: "A day with Bob."
        hold.release()
        await telegram.wait_for(lambda: any("A day with Bob." in text for text in cluster.texts(BOB)))
        answers = [text for text in cluster.texts(BOB) if "at length" in text or "A day" in text]
        assert "at length" in answers[0]
        later = model.requests[before:]
        assert later and all(turn.done < one.at for one in later), "its model calls begin after the turn's end"
        assert cluster.server_of(scope) is leader
        model.reply = lambda body: f"You said: {last_user_text(body).splitlines()[-1]}"
        for number in range(3):
            telegram.say(f"bob {number}", chat=BOB, user=BOB)
        await telegram.wait_for(lambda: "bob 2" in cluster.texts(BOB)[-1])
        said = "\n".join(cluster.texts(BOB))
        assert said.index("bob 0") < said.index("bob 1") < said.index("bob 2")
        log = "".join(file.read_text() for file in (leader.workspace / "people" / f"telegram-{BOB}").rglob("????-*.md"))
        assert "tell me everything" in log, "the journal has the turn for which it has waited"


async def test_the_owner_is_told_that_a_persons_memory_is_in_use_elsewhere(
    cluster: Cluster, model: FakeAnthropic
) -> None:
    leader, helper = await cluster.two()
    model.answer(tool=("memory_append", {"text": "Bob has a boat."}))
    model.answer("Noted, a boat.")
    await cluster.answered("I have a boat", BOB)
    changes = (await leader.cli("memory", "log", "--scope", f"person:telegram-{BOB}", "--json")).json()
    hold = model.hold()
    model.answer("Everything, at length.")
    cluster.telegram.say("tell me everything", chat=BOB, user=BOB)
    await model.held(hold)
    refused = await leader.cli("memory", "restore", changes[0]["id"])
    assert refused.code == 1
    assert "I'm still writing an answer from the same memory. Try again in a moment." in refused.err
    hold.release()
    await cluster.telegram.wait_for(lambda: any("at length" in text for text in cluster.texts(BOB)))
    assert (await leader.cli("memory", "restore", changes[0]["id"])).code == 0
    logs = "".join(file.read_text() for file in (leader.workspace / "people" / f"telegram-{BOB}").rglob("????-*.md"))
    assert "a boat" not in logs and cluster.server_of(f"person/telegram-{BOB}") is leader
    assert helper.is_running


async def test_a_yes_to_what_a_group_wants_can_be_given_again_while_the_group_is_answered(
    cluster: Cluster, model: FakeAnthropic
) -> None:
    leader, helper = await cluster.two()
    telegram, bot, group = cluster.telegram, cluster.telegram.username, int(GROUP)
    job = {"kind": "prompt", "text": "Book it all.", "when": {"cron": "0 8 * * *"}}
    model.answer(tool=("schedule_add", job))
    model.answer("I have asked my owner.")
    hold = model.hold(when=lambda body: "tool_result" in str(body["messages"][-1]))
    telegram.say("Book it all, every day!", chat=group, user=BOB, chat_type="supergroup")
    telegram.say(f"@{bot} do as he says", chat=group, user=OWNER, chat_type="supergroup")
    await model.held(hold)
    await telegram.wait_for(lambda: any(message.buttons for message in telegram.messages(OWNER)))
    question = next(message for message in telegram.messages(OWNER) if message.buttons)
    yes = next(one["callback_data"] for row in question.buttons for one in row if one["callback_data"].endswith("yes"))
    assert cluster.server_of(f"group/telegram-{GROUP}") is helper
    telegram.press(question.id, yes)
    await telegram.wait_for(lambda: any("still writing an answer" in text for text in cluster.texts()))
    assert "Book it all." not in (await leader.cli("schedule", "list")).out
    hold.release()
    await telegram.wait_for(lambda: "I have asked my owner." in cluster.texts(group))
    telegram.press(question.id, yes)
    await telegram.wait_for(lambda: any("Approved and done" in text for text in cluster.texts(group)))
    jobs = (await leader.cli("schedule", "list", "--json")).json()
    assert [one["text"] for one in jobs if one["kind"] == "prompt"] == ["Book it all."]
