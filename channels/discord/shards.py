"""The share of a bot's servers that one connection hears of. Does not import the library.

Discord names the rules at https://docs.discord.com/developers/events/gateway#sharding.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from channels.message import ChannelStatus, Health, Slot
from channels.tasks import Pause

IDENTIFY_EVERY = 5.0
"""Seconds between new sessions of one bucket."""
_LOGINS_AT_ONCE = 2
"""Each takes four calls, and Discord takes fifty in a second of a bot altogether."""

_WRITTEN = re.compile(r"shard:(\d{1,6})/([1-9]\d{0,5})")


@dataclass(frozen=True, slots=True)
class Shard:
    """One of `count` connections; by default the only one."""

    number: int = 0
    count: int = 1

    def __str__(self) -> str:
        """`shard:3/8`: with the count, so that connections with different shares never have the same name."""
        return f"shard:{self.number}/{self.count}"

    @classmethod
    def parse(cls, text: str) -> Shard | None:
        found = _WRITTEN.fullmatch(text)
        return cls(int(found[1]), int(found[2])) if found else None

    def serves(self, server: str) -> bool:
        """Private chats (`server` empty) belong to the first."""
        return (int(server) >> 22) % self.count == self.number if server.isdecimal() else self.number == 0


@dataclass(slots=True)
class _Bucket:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    free_at: float = 0.0


class IdentifyPace:
    """Lets the connections of a bot begin as fast as Discord allows, across processes (`slot`). `at_once`: how many
    within `IDENTIFY_EVERY`."""

    def __init__(self, pause: Pause, slot: Slot) -> None:
        self.at_once = 1
        self.logins = asyncio.Semaphore(_LOGINS_AT_ONCE)
        self._pause = pause
        self._slot = slot
        self._buckets: dict[int, _Bucket] = {}

    @asynccontextmanager
    async def turn(self, shard: Shard) -> AsyncIterator[None]:
        """Waits until a session may be begun inside."""
        number = shard.number % self.at_once
        bucket = self._buckets.setdefault(number, _Bucket())
        loop = asyncio.get_running_loop()
        async with bucket.lock:
            if (wait := bucket.free_at - loop.time()) > 0:
                await self._pause(wait)
            try:
                async with self._slot(f"discord login {number}", IDENTIFY_EVERY):
                    yield
            finally:
                bucket.free_at = loop.time() + IDENTIFY_EVERY


def combined(shards: Sequence[tuple[Shard, ChannelStatus]]) -> ChannelStatus:
    """The state of a channel whose connections are in these states. Connections that are off run elsewhere."""
    here = [(shard, status) for shard, status in shards if status.state is not Health.OFF]
    troubled = [(shard, status) for shard, status in here if status.state is not Health.OK]
    if not troubled:
        return ChannelStatus(Health.OK)
    is_down = len(troubled) == len(here) and all(status.state is Health.DOWN for _, status in troubled)
    shard, status = next(((shard, status) for shard, status in troubled if status.state is Health.DOWN), troubled[0])
    more = f" ({len(troubled)} of {shard.count} shards are not connected)" if len(troubled) > 1 else ""
    return ChannelStatus(
        Health.DOWN if is_down else Health.DEGRADED,
        f"{shard}: {status.last_error}{more}",
        is_connecting=any(status.is_connecting for _, status in troubled),
    )
