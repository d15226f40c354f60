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


class Preferences:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._models: dict[str, str] = {}
        self._activations: dict[str, str] = {}
        self._dailies: dict[str, str] = {}

    async def load(self) -> None:
        names = (_MODEL, _ACTIVATION, DAILY)
        found = await self._database.run(lambda connection: [chat_rows.chosen(connection, one) for one in names])
        for known, chosen in zip((self._models, self._activations, self._dailies), found, strict=True):
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

    async def _choose(self, known: dict[str, str], of: str, name: str, value: str | None) -> None:
        await self._database.run(chat_rows.choose, of, name, value)
        if value is None:
            known.pop(of, None)
        else:
            known[of] = value
