"""What people chose: a session's model, when to answer in a group, the time of a summary. On disk, read from memory."""

from __future__ import annotations

from collections.abc import Mapping

from gateway.store import chat_rows
from gateway.store.database import Database

_MODEL = "model"
_ACTIVATION = "activation"
DAILY = "daily"
"""The name of a chat's choice of when it is told the day."""
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
        found = await self._database.run(lambda connection: [chat_rows.chosen(connection, one) for one in names])
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
        """A reminder's confirmation said once what time it is on a clock that nobody set."""
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
