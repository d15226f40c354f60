"""Which connection hears of what, and how fast they may begin
(https://docs.discord.com/developers/events/gateway#sharding)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.fakes.discord.errors import JsonObject

ShardPair = tuple[int, int]
"""A shard's number, and the number of all: as IDENTIFY says it."""
SINGLE: ShardPair = (0, 1)


def shard_of(guild_id: int, count: int) -> int:
    return (guild_id >> 22) % count


def id_on(shard: int, count: int, nth: int = 1) -> int:
    """The id of a guild that belongs to a shard; `nth` tells several apart."""
    return (1_000_000 * count + nth * count + shard) << 22


def guild_of(event: str, data: Mapping[str, Any]) -> int | None:
    """The guild that an event is about; None for what is private."""
    found = data.get("id") if event in ("GUILD_CREATE", "GUILD_UPDATE", "GUILD_DELETE") else data.get("guild_id")
    return int(found) if found is not None else None


def hears(shard: ShardPair, guild: int | None) -> bool:
    number, count = shard
    return number == (0 if guild is None else shard_of(guild, count))


def asked_for(identify: JsonObject) -> ShardPair | None:
    """The shard of an IDENTIFY; None for one that Discord closes with 4010."""
    wanted = identify.get("shard", list(SINGLE))
    if not isinstance(wanted, list) or len(wanted) != 2 or not all(type(one) is int for one in wanted):
        return None
    number, count = wanted
    return (number, count) if 0 <= number < count else None


@dataclass(slots=True)
class SessionStarts:
    """How many sessions may still be begun, and how fast: `at_once` in `seconds`, one of each bucket. A bot with a
    single connection is not timed, so that tests may start it again at once."""

    left: int = 1000
    at_once: int = 1
    seconds: float = 5.0
    hasty: int = 0
    """Sessions that were asked for too early."""
    _last: dict[int, float] = field(default_factory=dict)

    def may_begin(self, shard: ShardPair, now: float) -> bool:
        number, count = shard
        bucket = number % self.at_once
        too_early = count > 1 and now < self._last.get(bucket, -self.seconds) + self.seconds
        self._last[bucket] = now
        self.hasty += too_early
        return not too_early

    def json(self) -> JsonObject:
        return {"total": 1000, "remaining": self.left, "reset_after": 86_400_000, "max_concurrency": self.at_once}
