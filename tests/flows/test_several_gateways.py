"""Several gateways on one home with PostgreSQL: one serves, and another takes over when it dies or stands still."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from types import TracebackType
from typing import Self

import pytest

from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.postgres import PostgresServer, running
from tests.fakes.telegram import FakeTelegram
from tests.flows.process import OWNER, GatewayProcess


class Cluster:
    """Gateways on one home; `leader` is the one that the platform hears."""

    def __init__(self, telegram: FakeTelegram, model: FakeAnthropic, url: str) -> None:
        self.telegram = telegram
        self.gateways: list[GatewayProcess] = []
        self._model = model
        self._settings = {"database_url": url}

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
        one = GatewayProcess(self.telegram, self._model, self._settings, start_now=False)
        if self.gateways:
            one.home = self.gateways[0].home
        self.gateways.append(one)
        await one.start(wait=len(self.gateways) == 1)
        return one

    async def answered(self, text: str) -> None:
        """Says something, and waits until it is answered and the receipt is on disk. `benchmarks/cluster.py` says how
        long that takes."""
        before = len(self.texts)
        self.telegram.say(text)
        await self.telegram.wait_for(lambda: len(self.texts) > before)
        alive = next(one for one in self.gateways if one.is_running)
        await alive.until_status(lambda status: status["outbox"]["waiting"] == 0)

    @property
    def texts(self) -> list[str]:
        return [message.text for message in self.telegram.messages(OWNER)]


@pytest.fixture
async def cluster(telegram: FakeTelegram, model: FakeAnthropic, postgres: PostgresServer) -> AsyncIterator[Cluster]:
    async with Cluster(telegram, model, postgres.new_database()) as cluster:
        yield cluster


async def until_waiting(gateway: GatewayProcess) -> None:
    async with asyncio.timeout(120):
        while "takes over if it ends" not in gateway.log:  # noqa: ASYNC110  another process rings no bell
            await asyncio.sleep(0.05)


async def test_another_takes_over_when_one_is_killed(cluster: Cluster, model: FakeAnthropic) -> None:
    for text in ("Noted.", "Still here.", "Here again."):
        model.answer(text)
    first = await cluster.add()
    second = await cluster.add()
    await until_waiting(second)
    await cluster.answered("The cat is Luna.")
    status = (await first.cli("status")).out
    assert f"serves: process {first.pid}" in status and f"waits: process {second.pid}" in status
    os.kill(first.pid, signal.SIGKILL)
    await first.ended()
    await cluster.answered("Are you there?")
    await first.start(wait=False)
    os.kill(second.pid, signal.SIGKILL)
    await second.ended()
    await cluster.answered("And now?")
    assert cluster.texts == ["Noted.", "Still here.", "Here again."]


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
    assert cluster.texts == ["One.", "Two.", "Three."]
    assert second.is_running and first.is_running


async def test_all_wait_for_a_database_that_died_and_lose_nothing(telegram: FakeTelegram, model: FakeAnthropic) -> None:
    for text in ("One.", "Two."):
        model.answer(text)
    with running() as postgres:
        async with Cluster(telegram, model, postgres.new_database()) as cluster:
            await cluster.add()
            await cluster.add()
            await cluster.answered("one")
            postgres.kill()
            telegram.say("two")
            await asyncio.sleep(0)
            postgres.start()
            await telegram.wait_for(lambda: len(cluster.texts) == 2)
            assert cluster.texts == ["One.", "Two."]
            assert all(one.is_running for one in cluster.gateways)


async def test_one_that_waits_ends_when_asked(cluster: Cluster) -> None:
    await cluster.add()
    second = await cluster.add()
    await until_waiting(second)
    os.kill(second.pid, signal.SIGTERM)
    assert await second.ended() == 0
