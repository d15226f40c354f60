"""The adapter with the real library, between a test and a strict Discord."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import TypeVar

import pytest_asyncio

from agent.languages.sentences import Sentence
from channels.discord.channel import DiscordChannel
from channels.discord.intake import ChannelFilter
from channels.discord.last_seen import PositionsInMemory
from channels.message import Address, CommandInfo, Event, InboundMessage
from tests.fakes.bell import Bell
from tests.fakes.discord import Channel, FakeDiscord

T = TypeVar("T")

COMMANDS = (
    CommandInfo("status", "How it is going."),
    CommandInfo("memory", Sentence("search my memory"), usage=Sentence("QUERY"), other_names=("suche", "搜索")),
    CommandInfo("export", "Everything of mine.", owner_only=True),
)


class Receiver:
    """What stands behind a channel: keeps what it is given. `refuse` is raised instead, for as long as it is set."""

    def __init__(self) -> None:
        self.bell = Bell()
        self.events: list[Event] = []
        self.refuse: Exception | None = None
        self.gate: asyncio.Event | None = None

    async def __call__(self, events: Sequence[Event]) -> None:
        if self.gate is not None:
            await self.gate.wait()
        if self.refuse is not None:
            raise self.refuse
        self.events += events
        self.bell.ring()

    @property
    def messages(self) -> list[InboundMessage]:
        return [event for event in self.events if isinstance(event, InboundMessage)]

    @property
    def texts(self) -> list[str]:
        return [message.text for message in self.messages]

    async def until(self, predicate: Callable[[], T]) -> T:
        return await self.bell.until(predicate, 120.0)

    async def message(self, text: str) -> InboundMessage:
        """The first message with that text, once it is here."""
        found = await self.until(lambda: next((one for one in self.messages if one.text == text), None))
        assert found is not None
        return found


class Pauses:
    """Stands in for waiting: notes the seconds that were asked for, and returns at once."""

    def __init__(self) -> None:
        self.asked: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.asked.append(seconds)
        await asyncio.sleep(0.01)


class House:
    """A Discord, a channel on it, and what both outlive: up to where chats were seen."""

    def __init__(self, discord: FakeDiscord) -> None:
        self.discord = discord
        self.seen = PositionsInMemory()
        self.receiver = Receiver()
        self.pauses = Pauses()
        self.silence = 60.0
        self.answer_timeout = 10.0
        self.shards: int | None = None

    def channel(self, hears: ChannelFilter = lambda _server, _chat: True, token: str = "") -> DiscordChannel:
        return DiscordChannel(
            token or self.discord.token,
            api_url=self.discord.api_url,
            commands=COMMANDS,
            hears=hears,
            seen=self.seen,
            pause=self.pauses,
            silence=self.silence,
            answer_timeout=self.answer_timeout,
            shards=self.shards,
        )

    @asynccontextmanager
    async def running(self, hears: ChannelFilter = lambda _server, _chat: True) -> AsyncIterator[DiscordChannel]:
        """Ended as by a stop of the gateway. A channel that ends by itself fails the test."""
        channel = self.channel(hears)
        task = asyncio.create_task(channel.run(self.receiver))
        connected = asyncio.create_task(self.discord.until_connected())
        await asyncio.wait({task, connected}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            connected.cancel()
            task.result()
        await connected
        try:
            yield channel
        finally:
            if task.done():
                task.result()
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
            await channel.aclose()


@pytest_asyncio.fixture
async def house() -> AsyncIterator[House]:
    async with FakeDiscord() as discord:
        yield House(discord)


def address(chat: Channel) -> Address:
    return Address("discord", str(chat.id))
