"""The last stored message of each chat. Does not import the library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class LastSeen:
    chat_id: str
    server: str
    message_id: str


class PositionStore(Protocol):
    """Storage over restarts. Its methods raise storage errors."""

    async def load(self) -> Sequence[LastSeen]: ...

    async def note(self, chats: Sequence[LastSeen]) -> None:
        """Stores newer positions; older ones are ignored. On disk when it returns."""

    async def forget(self, chat_id: str) -> None: ...


class PositionsInMemory:
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


def newest_message_id(chats: Mapping[str, LastSeen]) -> str:
    return max((one.message_id for one in chats.values()), key=int, default="")
