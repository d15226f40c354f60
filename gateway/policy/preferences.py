"""What people chose: a session's model, when to answer in a group, the time of a summary, the clock's zone. On disk,
read from memory."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from zoneinfo import ZoneInfo

from agent.clock import Clock
from gateway.config import Config
from gateway.config.edit import choose_zone, is_zone_chosen
from gateway.home import Home
from gateway.store import chat_rows
from gateway.store.database import Database

_MODEL = "model"
_ACTIVATION = "activation"
DAILY = "daily"
"""The name under which a chat's time of the daily summary is stored."""
OFF = "off"
_CLOCK, _HOME, _NAMED = "clock", "home", "named"


class Preferences:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._models: dict[str, str] = {}
        self._activations: dict[str, str] = {}
        self._dailies: dict[str, str] = {}
        self._clocks: dict[str, str] = {}

    async def load(self) -> None:
        names = (_MODEL, _ACTIVATION, DAILY, _CLOCK)
        found = await self._database.run(lambda connection: [chat_rows.chosen(connection, name) for name in names])
        for known, chosen in zip((self._models, self._activations, self._dailies, self._clocks), found, strict=True):
            known.clear()
            known.update(chosen)

    def model(self, session: str) -> str | None:
        return self._models.get(session)

    async def choose_model(self, session: str, name: str | None) -> None:
        """None removes the choice. Raises `StorageUnavailable`."""
        await self._choose(self._models, session, _MODEL, name)

    def activation(self, chat: str) -> str | None:
        """`required` or `optional`: whether messages in `chat` (`channel:chat_id`) must call the bot; None: as
        configured."""
        return self._activations.get(chat)

    async def choose_activation(self, chat: str, mention: str | None) -> None:
        """None removes the choice. Raises `StorageUnavailable`."""
        await self._choose(self._activations, chat, _ACTIVATION, mention)

    @property
    def dailies(self) -> Mapping[str, str]:
        """Times of summaries, `HH:MM` or `OFF`, by chat address."""
        return self._dailies

    async def choose_daily(self, chat: str, at: str) -> None:
        """Raises `StorageUnavailable`."""
        await self._choose(self._dailies, chat, DAILY, at)

    @property
    def has_named_clock(self) -> bool:
        """True once a reminder's confirmation has said what time it is on a clock that nobody set."""
        return _HOME in self._clocks

    async def name_clock(self) -> None:
        """Raises `StorageUnavailable`."""
        await self._choose(self._clocks, _HOME, _CLOCK, _NAMED)

    async def _choose(self, known: dict[str, str], of: str, name: str, value: str | None) -> None:
        await self._database.run(chat_rows.choose, of, name, value)
        if value is None:
            known.pop(of, None)
        else:
            known[of] = value


class HomeZone:
    """The zone of the home's clock, which its owner may choose while Daybook runs. `followers` are called when the
    clock was moved to another zone."""

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
        """Chooses a zone. Raises `ConfigError`, `HomeError`, `OSError`; then nothing has changed."""
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
