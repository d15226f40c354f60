"""What an open page talks with."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol

from channels.web.connection import Connection
from channels.web.frames import Press, Say


class NotKept(Exception):
    """What was said is not on disk. The text says why. `again`: the same may be said again later."""

    def __init__(self, message: str, *, again: bool = True) -> None:
        super().__init__(message)
        self.again = again


class Chat(Protocol):
    def attached(self, page: Connection) -> AbstractContextManager[None]:
        """Show a page what comes while inside."""

    async def begin(self, page: Connection) -> None:
        """Show it where its chat stands. Raises `NotRecorded`."""

    async def older(self, page: Connection, before: int) -> None:
        """Show it what was said before. Raises `NotRecorded`."""

    async def say(self, chat: str, said: Say) -> None:
        """Returns when it is on disk; a repeat is known and does nothing. Raises `NotKept`."""

    async def press(self, chat: str, pressed: Press) -> None:
        """Returns when it is on disk. Raises `NotKept`."""
