"""Up to where each chat is on disk. Imports nothing of the library: whoever keeps it needs none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class LastSeen:
    """Up to where a chat is on disk. `server` is empty for a private chat."""

    chat_id: str
    server: str
    message_id: str


class PositionStore(Protocol):
    """Where it is kept over restarts. Its methods raise what a disk that takes nothing raises."""

    async def load(self) -> Sequence[LastSeen]: ...

    async def note(self, chats: Sequence[LastSeen]) -> None:
        """Keep what is newer than what is there. On disk when it returns."""

    async def forget(self, chat_id: str) -> None: ...


class PositionsInMemory:
    """Kept for the life of the process."""

    def __init__(self) -> None:
        self._chats: dict[str, LastSeen] = {}

    async def load(self) -> Sequence[LastSeen]:
        return tuple(self._chats.values())

    async def note(self, chats: Sequence[LastSeen]) -> None:
        for one in chats:
            before = self._chats.get(one.chat_id)
            if before is None or int(before.message_id) < int(one.message_id):
                self._chats[one.chat_id] = one

    async def forget(self, chat_id: str) -> None:
        self._chats.pop(chat_id, None)


def newest(chats: Mapping[str, LastSeen]) -> str:
    """The last message of all; empty without any."""
    return max((one.message_id for one in chats.values()), key=int, default="")
