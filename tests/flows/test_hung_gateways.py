"""Gateways that share a home and hang on a message: it is skipped as with one gateway, and nothing else is blamed."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import psycopg
import pytest

from gateway.messages.outbox import REPEAT_MARK
from gateway.messages.suspects import SKIPPED
from tests import strength
from tests.fakes.anthropic import FakeAnthropic, last_user_text
from tests.fakes.postgres import PostgresServer
from tests.fakes.telegram import FakeTelegram
from tests.flows import fragile
from tests.flows.process import OWNER, GatewayProcess
from tests.flows.test_several_gateways import BOB, Cluster, until_waiting

CAROL = 33333
LONG_S = 600.0
"""For what takes several starts on a busy machine."""
HUNG = "its event loop hung. Working on: turn telegram:"
pytestmark = pytest.mark.timeout(2 * LONG_S)


@asynccontextmanager
async def kept_running(*gateways: GatewayProcess) -> AsyncIterator[None]:
    """Each is started again when it ends, as a supervisor does."""

    async def keep(one: GatewayProcess) -> None:
        while True:
            await one.ended(LONG_S)
            await one.start(wait=False)

    tasks = [asyncio.create_task(keep(one)) for one in gateways]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


@pytest.mark.parametrize("how", strength.first(fragile.WAITS, fragile.COMPUTES))
async def test_a_message_on_which_two_gateways_hung_is_skipped_and_all_others_are_answered(
    telegram: FakeTelegram, model: FakeAnthropic, postgres: PostgresServer, how: str
) -> None:
    settings = {"channels": {"telegram": {"dm_policy": "open"}}}
    environ = {"TRIAL_S": "0", "STANDSTILL_S": "15" if strength.is_full else "6"}
    async with Cluster(telegram, model, postgres.new_database(), settings, fragile.COMMAND, environ) as cluster:
        model.reply = lambda body: f"Read: {last_user_text(body).splitlines()[-1]}"
        leader, helper = await cluster.two()
        held = model.hold(when=lambda body: "a question" in str(body["messages"][-1]))
        telegram.say("a question", chat=CAROL, user=CAROL, name="Carol")
        await model.held(held)
        async with kept_running(leader, helper):
            telegram.say(how, chat=BOB, user=BOB, name="Bob")
            telegram.say("mine")
            await telegram.wait_for(lambda: SKIPPED in cluster.texts(BOB), LONG_S)
            model.calm()
            held.release()
            await telegram.wait_for(lambda: cluster.texts(CAROL) and "Read: mine" in "".join(cluster.texts()), LONG_S)
            await telegram.wait_for(lambda: "on a message from Bob" in "".join(cluster.texts()), LONG_S)
            telegram.say("harmless", chat=BOB, user=BOB, name="Bob")
            await telegram.wait_for(lambda: "Read: harmless" in cluster.texts(BOB), LONG_S)
        hangs = sum(one.log.count(HUNG) for one in cluster.gateways)
        # One that computes with little processor time may be cut off before it has written its stacks: others hang too.
        assert hangs == 2 or (hangs > 2 and how == fragile.COMPUTES)
        assert "stand_still" in leader.log + helper.log, "the stack is told"
    assert cluster.texts(BOB).count(SKIPPED) == 1
    assert {text.removeprefix(REPEAT_MARK) for text in cluster.texts(CAROL)} == {"Read: a question"}
    assert SKIPPED not in cluster.texts(OWNER)


@pytest.mark.parametrize("how", ["stands still", "loses its connection"])
@pytest.mark.full
async def test_who_is_cut_off_with_a_message_in_hand_did_not_hang(
    telegram: FakeTelegram, model: FakeAnthropic, postgres: PostgresServer, how: str
) -> None:
    url = postgres.new_database()
    async with Cluster(telegram, model, url) as cluster:
        leader, helper = await cluster.two()
        hold = model.hold()
        model.answer("never said")
        telegram.say("take your time", chat=BOB, user=BOB)
        await model.held(hold)
        with psycopg.connect(url, autocommit=True) as session:
            if how == "stands still":
                os.kill(helper.pid, signal.SIGSTOP)
            else:
                session.execute("SELECT pg_terminate_backend(backend) FROM process WHERE pid = %s", (helper.pid,))
            model.calm()
            model.answer("Here it is.")
            await telegram.wait_for(lambda: "Here it is." in cluster.texts(BOB), LONG_S)
            os.kill(helper.pid, signal.SIGCONT)
            async with asyncio.timeout(LONG_S):
                while helper.log.count("takes over if it ends") < 2:  # noqa: ASYNC110  another process rings no bell
                    await asyncio.sleep(0.05)
            hold.release()
            blamed = session.execute("SELECT count(*) FROM inbox WHERE stood_still > 0").fetchone()
        assert blamed == (0,)
        assert "event loop hung" not in leader.log + helper.log
        await until_waiting(helper)
