"""Who takes what a person says on a page."""

from __future__ import annotations

from typing import Protocol

from channels.web.frames import Press, Say


class NotKept(Exception):
    """What was said is not on disk. The text says why. `again`: the same may be said again later."""

    def __init__(self, message: str, *, again: bool = True) -> None:
        super().__init__(message)
        self.again = again


class Chat(Protocol):
    async def say(self, chat: str, said: Say) -> None:
        """Returns when it is on disk; a repeat is known and does nothing. Raises `NotKept`."""

    async def press(self, chat: str, pressed: Press) -> None:
        """Returns when it is on disk. Raises `NotKept`."""
