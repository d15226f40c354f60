"""One open page: what it is to be shown waits in a queue of its own, so that a slow one holds up nobody."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable

_MOST_FRAMES = 500
_MOST_WAITING = 16_000_000
"""Frames, and characters of them, that may wait for a page; one that takes less is cut off, and begins anew when it
connects again: all it missed stands in the record."""


class Connection:
    """`chat`: the one that it looks at."""

    def __init__(self, chat: str) -> None:
        self.chat = chat
        self._waiting: deque[tuple[str, str]] = deque()
        self._size = 0
        self._changed = asyncio.Event()
        self._too_slow = asyncio.Event()

    def show(self, frame: str, draft: str = "") -> None:
        """Never waits. `draft`: it takes the place of what still waits under that name."""
        if draft and self._waiting and self._waiting[-1][0] == draft:
            self._size -= len(self._waiting.pop()[1])
        self._waiting.append((draft, frame))
        self._size += len(frame)
        if len(self._waiting) > _MOST_FRAMES or self._size > _MOST_WAITING:
            self._too_slow.set()
        self._changed.set()

    async def pump(self, send: Callable[[str], Awaitable[None]]) -> None:
        """Send what waits, in order, until cancelled."""
        while True:
            await self._changed.wait()
            self._changed.clear()
            while self._waiting:
                _, frame = self._waiting.popleft()
                self._size -= len(frame)
                await send(frame)

    async def cut_off(self) -> None:
        """Returns when the page has taken too little for too long."""
        await self._too_slow.wait()
