"""What was said while nobody listened, fetched from the history.

Discord repeats what a short interruption has missed, and nothing after a longer one or a restart. So the id of the last
message that is on disk is kept for each chat, private ones too: a bot cannot ask which it has.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from channels.discord.session import Session
from channels.fields import Json

PAGE = 100
"""The most messages of one answer."""


@dataclass(frozen=True, slots=True)
class LastSeen:
    """Up to where a chat is on disk. `server` is empty for a private chat."""

    chat_id: str
    server: str
    message_id: str


class Seen(Protocol):
    """Where it is kept over restarts. Its methods raise what a disk that takes nothing raises."""

    async def load(self) -> Sequence[LastSeen]: ...

    async def note(self, chats: Sequence[LastSeen]) -> None:
        """Keep what is newer than what is there. On disk when it returns."""

    async def forget(self, chat_id: str) -> None: ...


class SeenForNow:
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


async def missed(session: Session, chat_id: str, after: str) -> AsyncIterator[Sequence[Json]]:
    """The messages behind `after`, oldest first, page by page. Raises what calls raise."""
    path = "/channels/{channel_id}/messages"
    while True:
        query = {"after": after, "limit": str(PAGE)}
        answer: object = await session.call("GET", path, {"channel_id": chat_id}, query=query)
        found = [one for one in answer if isinstance(one, dict)] if isinstance(answer, list) else []
        page = sorted((one for one in found if str(one.get("id")).isdecimal()), key=lambda one: int(one["id"]))
        if page:
            yield page
            after = page[-1]["id"]
        if len(found) < PAGE:
            return
