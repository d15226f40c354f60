"""The primary of PostgreSQL dies for good, and a replica is promoted: `database_url` names both."""

from __future__ import annotations

import pytest

from gateway.messages.outbox import REPEAT_MARK
from tests.fakes.anthropic import FakeAnthropic, last_user_text
from tests.fakes.postgres import running
from tests.fakes.telegram import FakeTelegram
from tests.flows.test_several_gateways import BOB, Cluster, until_waiting


@pytest.mark.timeout(600)
@pytest.mark.full
async def test_gateways_follow_to_a_promoted_replica_and_lose_and_double_nothing(
    telegram: FakeTelegram, model: FakeAnthropic
) -> None:
    model.reply = lambda body: f"Read: {last_user_text(body).splitlines()[-1]}"
    with running() as primary:
        primary.new_database()
        with primary.replica() as replica:
            hosts = f"127.0.0.1:{primary.port},127.0.0.1:{replica.port}"
            url = f"postgresql://daybook@{hosts}/test1?target_session_attrs=read-write"
            async with Cluster(telegram, model, url) as cluster:
                await cluster.add()
                await until_waiting(await cluster.add())
                await cluster.answered("hello")
                await cluster.answered("hello, I am Bob", BOB)
                await cluster.answered("before")
                hold = model.hold(when=lambda body: "in hand" in str(body["messages"][-1]))
                telegram.say("in hand", chat=BOB, user=BOB)
                await model.held(hold)
                primary.kill()
                telegram.say("while it is away")
                replica.promote()
                hold.release()
                await telegram.wait_for(lambda: "Read: while it is away" in cluster.texts(), 300)
                await telegram.wait_for(lambda: "in hand" in "".join(cluster.texts(BOB)), 300)
                await cluster.answered("after")
                assert cluster.texts() == [f"Read: {one}" for one in ("hello", "before", "while it is away", "after")]
                said = [text.removeprefix(REPEAT_MARK).strip() for text in cluster.texts(BOB)]
                assert said == ["Read: hello, I am Bob", "Read: in hand"]
                log = "".join(one.log for one in cluster.gateways)
                assert "the database is lost: the server closed the connection without saying why" in log
