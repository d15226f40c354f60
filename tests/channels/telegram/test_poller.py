from __future__ import annotations

import asyncio
from collections.abc import Sequence

from channels.message import ChannelStatus, Health
from channels.telegram.api import BotConnection, connect
from channels.telegram.inbound import ALLOWED_UPDATES
from channels.telegram.poller import Poller
from tests.fakes.telegram import FakeTelegram


async def test_a_connection_that_fell_silent_is_noticed_and_replaced() -> None:
    """Field: polls that hang for ever after a laptop slept; only a new connection helps."""
    async with FakeTelegram() as telegram:
        built: list[BotConnection] = []
        statuses: list[ChannelStatus] = []
        delivered = asyncio.Event()

        def connected() -> BotConnection:
            built.append(connect(telegram.token, telegram.base_url, read_timeout=5.0, connections=2))
            return built[-1]

        async def pause(seconds: float) -> None:
            if len(statuses) == 3:
                hold.release()
            await asyncio.sleep(0)

        async def deliver(updates: Sequence[object]) -> None:
            delivered.set()

        hold = telegram.hold("getUpdates")
        telegram.say("hello")
        poller = Poller(
            connected,
            allowed_updates=ALLOWED_UPDATES,
            report=statuses.append,
            pause=pause,
            long_poll=0,
            slack=0.1,
        )
        polling = asyncio.create_task(poller.run(deliver))
        async with asyncio.timeout(120):
            await delivered.wait()
        polling.cancel()
        await asyncio.wait([polling])
    states = [status.state for status in statuses]
    degraded = states.index(Health.OK)  # on a slow machine an answer may come too late after the release, too
    assert degraded >= 3 and set(states[:degraded]) == {Health.DEGRADED}
    assert len(built) == 1 + degraded // 3


async def test_a_server_that_does_not_hold_requests_is_not_asked_without_a_break() -> None:
    async with FakeTelegram() as telegram:
        pauses: list[float] = []
        paused = asyncio.Event()

        async def pause(seconds: float) -> None:
            pauses.append(seconds)
            if len(pauses) == 3:
                paused.set()
            await asyncio.sleep(0)

        async def deliver(updates: Sequence[object]) -> None:
            raise AssertionError("there was nothing")

        telegram.junk("getUpdates", status=200, body='{"ok": true, "result": []}', times=None)
        poller = Poller(
            lambda: connect(telegram.token, telegram.base_url, read_timeout=5.0, connections=2),
            allowed_updates=ALLOWED_UPDATES,
            report=lambda status: None,
            pause=pause,
        )
        polling = asyncio.create_task(poller.run(deliver))
        async with asyncio.timeout(120):
            await paused.wait()
        polling.cancel()
        await asyncio.wait([polling])
    assert set(pauses) == {0.4}
