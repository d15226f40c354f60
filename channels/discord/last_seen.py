"""The last stored message of each chat, private chats too: a bot cannot list these. Does not import the library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from channels.discord.shards import Shard
from channels.manifest import LastSeen, PositionStore


class PositionsInMemory:
    def __init__(self) -> None:
        self._chats: dict[str, LastSeen] = {}

    async def load(self) -> Sequence[LastSeen]:
        return tuple(self._chats.values())

    async def note(self, chats: Sequence[LastSeen]) -> None:
        for position in chats:
            before = self._chats.get(position.chat_id)
            if before is None or int(before.message_id) < int(position.message_id):
                self._chats[position.chat_id] = position

    async def forget(self, chat_id: str) -> None:
        self._chats.pop(chat_id, None)


class ShardPositions:
    """The last messages that a connection has stored. Its methods raise storage errors.

    Beside those of chats, it keeps the newest message up to which *everything* in the shard's servers is stored: from
    there on messages of a chat without a position may have been missed. Positions of shards with other numbers and
    counts stay true, so that the count may change.
    """

    def __init__(self, store: PositionStore, shard: Shard) -> None:
        self._store = store
        self._shard = shard
        self._chats: dict[str, LastSeen] = {}
        self._complete: Mapping[Shard, str] = {}

    async def load(self) -> None:
        stored = {position.chat_id: position for position in await self._store.load()}
        complete = {
            shard: position.message_id for position in stored.values() if (shard := Shard.parse(position.chat_id))
        }
        if stored and not complete:  # by a release with one connection, which saw all
            complete[Shard()] = max((position.message_id for position in stored.values()), key=int)
            await self._store.note([_of_shard(Shard(), complete[Shard()])])
        self._complete = complete
        self._chats = {
            chat_id: position
            for chat_id, position in stored.items()
            if Shard.parse(chat_id) is None and self._shard.serves(position.server)
        }

    def private(self) -> list[LastSeen]:
        """The positions of private chats, which only the first shard has."""
        return [position for position in self._chats.values() if not position.server]

    def of_chat(self, chat_id: str) -> str:
        """The last stored message of a chat, or ""."""
        known = self._chats.get(chat_id)
        return known.message_id if known else ""

    def complete_until(self, server: str) -> str:
        """The message up to which everything in a server was stored when this connection began, or ""."""
        known = (message_id for shard, message_id in self._complete.items() if shard.serves(server))
        return max(known, key=int, default="")

    async def note(self, newest: Sequence[LastSeen], *, is_complete: bool) -> None:
        """`is_complete`: nothing older is missing in any chat of the shard."""
        newer = [
            position for position in newest if int(position.message_id) > int(self.of_chat(position.chat_id) or -1)
        ]
        if not newer:
            return
        until = max((position.message_id for position in newer), key=int)
        await self._store.note([*newer, *([_of_shard(self._shard, until)] if is_complete else [])])
        self._chats |= {position.chat_id: position for position in newer}

    async def note_complete(self, until: str) -> None:
        await self._store.note([_of_shard(self._shard, until)])

    async def forget(self, chat_id: str) -> None:
        self._chats.pop(chat_id, None)
        await self._store.forget(chat_id)


def _of_shard(shard: Shard, message_id: str) -> LastSeen:
    return LastSeen(str(shard), "shard", message_id)
