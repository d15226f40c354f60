"""The adapter at work: the real library over HTTP against the strict fake."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from agent.languages.sentences import Sentence
from channels.message import Address, ChannelStatus, CommandInfo, Event
from channels.telegram.channel import TelegramChannel
from tests.fakes.telegram import FakeTelegram

ALICE = Address("telegram", "11111")
GROUP = Address("telegram", "-1001234567890")
COMMANDS = (CommandInfo("help", Sentence("list the commands")), CommandInfo("pair", "Let somebody in", owner_only=True))


@dataclass
class Desk:
    """A channel that runs against the fake, what it received, the pauses it took (which take no time) and its
    status at each."""

    telegram: FakeTelegram
    channel: TelegramChannel = field(init=False)
    events: list[Event] = field(default_factory=list)
    pauses: list[float] = field(default_factory=list)
    troubles: list[ChannelStatus] = field(default_factory=list)
    answer_timeout: float = 30.0
    refuse: Callable[[Sequence[Event]], None] = lambda events: None
    _changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    def __post_init__(self) -> None:
        self.channel = TelegramChannel(
            self.telegram.token,
            base_url=self.telegram.base_url,
            base_file_url=self.telegram.base_file_url,
            commands=COMMANDS,
            pause=self.pause,
            long_poll=20,
            answer_timeout=self.answer_timeout,
        )

    async def pause(self, seconds: float) -> None:
        async with self._changed:
            self.pauses.append(seconds)
            self.troubles.append(self.channel.status)
            self._changed.notify_all()
        await asyncio.sleep(0)

    async def receive(self, events: Sequence[Event]) -> None:
        self.refuse(events)
        async with self._changed:
            self.events.extend(events)
            self._changed.notify_all()

    async def until(self, reached: Callable[[], bool]) -> None:
        async with asyncio.timeout(120), self._changed:
            await self._changed.wait_for(reached)

    async def received(self, count: int = 1) -> list[Event]:
        await self.until(lambda: len(self.events) >= count)
        return self.events

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        task = asyncio.create_task(self.channel.run(self.receive))
        try:
            yield
        finally:
            task.cancel()
            await asyncio.wait([task])

    async def polled(self, times: int = 1) -> None:
        """Until the channel has asked for updates so many times more with an answer that worked."""
        telegram = self.telegram
        before = len([call for call in telegram.called("getUpdates") if call.status == 200])
        await telegram.wait_for(
            lambda: len([call for call in telegram.called("getUpdates") if call.status == 200]) >= before + times
        )
