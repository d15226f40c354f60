"""What people chose: a session's model (`/model`), when to answer in a group (`/activation`), a chat's time of the
summary (`/daily`). Kept on disk, answered from memory."""

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
        self._models = await self._database.run(chat_rows.chosen, _MODEL)
        self._activations = await self._database.run(chat_rows.chosen, _ACTIVATION)
        self._dailies = await self._database.run(chat_rows.chosen, DAILY)

    def model(self, session: str) -> str | None:
        """The chosen model; None: the configured one."""
        return self._models.get(session)

    async def choose_model(self, session: str, name: str | None) -> None:
        """Stores a choice; None removes it. Raises `StoreUnavailable`."""
        await self._choose(self._models, session, _MODEL, name)

    def activation(self, chat: str) -> str | None:
        """`required` or `optional` where a group's messages must or need not call the bot, None for as configured.
        `chat` is `channel:chat_id`."""
        return self._activations.get(chat)

    async def choose_activation(self, chat: str, mention: str | None) -> None:
        """Stores a choice; None removes it. Raises `StoreUnavailable`."""
        await self._choose(self._activations, chat, _ACTIVATION, mention)

    @property
    def dailies(self) -> Mapping[str, str]:
        """By chat address: the chosen time of its summary as `HH:MM`, or `OFF`."""
        return self._dailies

    async def choose_daily(self, chat: str, at: str) -> None:
        """Stores a choice. Raises `StoreUnavailable`."""
        await self._choose(self._dailies, chat, DAILY, at)

    async def _choose(self, known: dict[str, str], of: str, name: str, value: str | None) -> None:
        await self._database.run(chat_rows.choose, of, name, value)
        if value is None:
            known.pop(of, None)
        else:
            known[of] = value
