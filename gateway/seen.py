"""Up to where a channel's chats are on disk, for platforms that do not offer again what was missed."""

from __future__ import annotations

from collections.abc import Sequence

from channels.discord.last_seen import LastSeen
from gateway.store import seen_rows
from gateway.store.database import Database


class StoredSeen:
    """`channels.discord.last_seen.Seen` in the database. Raises `StoreUnavailable`."""

    def __init__(self, database: Database, channel: str) -> None:
        self._database = database
        self._channel = channel

    async def load(self) -> Sequence[LastSeen]:
        rows = await self._database.run(seen_rows.load, self._channel)
        return [LastSeen(*row) for row in rows]

    async def note(self, chats: Sequence[LastSeen]) -> None:
        rows = [(one.chat_id, one.server, one.message_id) for one in chats]
        await self._database.run(seen_rows.note, self._channel, rows)

    async def forget(self, chat_id: str) -> None:
        await self._database.run(seen_rows.forget, self._channel, chat_id)
