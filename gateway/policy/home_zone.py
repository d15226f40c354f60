"""The zone of the home's clock, which its owner may choose while Daybook runs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from zoneinfo import ZoneInfo

from agent.clock import Clock
from gateway.config import Config
from gateway.config.edit import choose_zone, is_zone_chosen
from gateway.home import Home
from gateway.policy.preferences import Preferences


class HomeZone:
    """`followers` are called when the clock was moved to another zone."""

    def __init__(
        self, home: Home, clock: Clock, preferences: Preferences, environ: Mapping[str, str], *, is_chosen: bool
    ) -> None:
        self.is_chosen = is_chosen
        self.followers: list[Callable[[], None]] = []
        self._home = home
        self._clock = clock
        self._preferences = preferences
        self._environ = environ

    async def choose(self, zone: str) -> None:
        """Raises `ConfigError`, `HomeError`, `OSError`; then all is as it was."""
        await self.follow(await asyncio.to_thread(choose_zone, self._home, zone, self._environ))

    async def follow(self, config: Config) -> None:
        """Moves the clock to the zone of a configuration that was just written."""
        self.is_chosen = await asyncio.to_thread(is_zone_chosen, self._home, config)
        if config.timezone != self._clock.zone.key:
            self._clock.zone = ZoneInfo(config.timezone)
            for follower in self.followers:
                follower()

    async def is_to_be_named(self) -> bool:
        """True once: at the first reminder of a home whose zone nobody chose. Raises `StorageUnavailable`."""
        if self.is_chosen or self._preferences.has_named_clock:
            return False
        await self._preferences.name_clock()
        return True
