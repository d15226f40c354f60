"""A gateway connection that passes on its events and reports its state."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

from channels.discord.client import ClientOptions, DiscordClient
from channels.discord.errors import redacted
from channels.discord.inbound import CHANNEL, DiscordIdentity
from channels.discord.intake import ChannelFilter, EventIntake
from channels.discord.interactions import Interactions
from channels.discord.shards import IdentifyPace, Shard
from channels.manifest import PositionStore
from channels.message import ChannelStatus, Health, Receive
from channels.tasks import Pause


@dataclass(frozen=True, slots=True)
class Hearing:
    """What every connection of a bot needs to understand events."""

    commands: frozenset[str]
    hears: ChannelFilter
    seen: PositionStore
    interactions: Interactions
    pause: Pause


class DiscordConnection:
    def __init__(self, hearing: Hearing, shard: Shard) -> None:
        self._hearing = hearing
        self._shard = shard
        self.status = ChannelStatus(Health.OFF)

    @asynccontextmanager
    async def reported(self) -> AsyncIterator[None]:
        """Keeps `status` while the connection is opened and used inside. Raises the first of a group of errors."""
        self.status = ChannelStatus(Health.DEGRADED, "connecting to Discord", is_connecting=True)
        try:
            yield
        except asyncio.CancelledError:
            self.status = ChannelStatus(Health.OFF)
            raise
        except Exception as error:
            cause = error
            while isinstance(cause, ExceptionGroup):
                cause = cause.exceptions[0]
            self.status = ChannelStatus(Health.DOWN, redacted(cause))
            raise cause from None

    async def listen(self, client: DiscordClient, receive: Receive) -> None:
        """Passes on events. Raises `SourceFailed` and errors of `receive`, also in groups; the next call fetches
        refused messages from the history."""
        hearing = self._hearing
        bot = DiscordIdentity(client.user_id, client.user_name, hearing.commands)
        intake = EventIntake(
            bot,
            hearing.hears,
            hearing.seen,
            hearing.interactions,
            self.connected,
            hearing.pause,
            self._shard,
        )
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(intake.run(client, receive))
                group.create_task(client.listen(intake.offer, self._lost))
        finally:
            hearing.interactions.give_up(intake)

    def connected(self) -> None:
        self.status = ChannelStatus(Health.OK)

    def _lost(self) -> None:
        self.status = ChannelStatus(Health.DEGRADED, "the connection to Discord broke; reconnecting")


class DiscordShard:
    """A source: the connection for a share of the bot's servers, with a login of its own."""

    def __init__(self, shard: Shard, options: ClientOptions, pace: IdentifyPace, hearing: Hearing) -> None:
        self.shard = shard
        self._options = options
        self._pace = pace
        self._connection = DiscordConnection(hearing, shard)

    @property
    def name(self) -> str:
        return f"{CHANNEL}:{self.shard}"

    @property
    def status(self) -> ChannelStatus:
        return self._connection.status

    async def run(self, receive: Receive) -> None:
        async with self._connection.reported():
            turn = partial(self._pace.turn, self.shard)
            async with self._pace.logins:
                client = await DiscordClient.open(self._options, self.shard, turn)
            try:
                async with self._pace.logins:
                    self._pace.at_once = (await client.session_start()).at_once
                await self._connection.listen(client, receive)
            finally:
                await client.aclose()
