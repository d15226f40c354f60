"""What the people of a session chose for it: its model (`/model`). Kept on disk, answered from memory."""

from __future__ import annotations

from gateway.store import usage_rows
from gateway.store.database import Database


class Choices:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._models: dict[str, str] = {}

    async def load(self) -> None:
        self._models = await self._database.run(usage_rows.chosen_models)

    def model(self, session: str) -> str | None:
        """None: the configured one."""
        return self._models.get(session)

    async def choose_model(self, session: str, name: str | None) -> None:
        """None takes the choice back. Raises `StoreUnavailable`."""
        await self._database.run(usage_rows.choose, session, "model", name)
        if name is None:
            self._models.pop(session, None)
        else:
            self._models[session] = name
