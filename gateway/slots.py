"""How many files are worked on at once, so that no stranger's slow ones keep the owner's waiting."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from gateway.locks import Locks


class Slots:
    """`shared` slots, of which each session has one at a time, and one more that only the owner's private chats use."""

    def __init__(self, shared: int) -> None:
        self._shared = asyncio.Semaphore(shared)
        self._owners = asyncio.Semaphore(1)
        self._sessions: Locks[str] = Locks()

    @asynccontextmanager
    async def one(self, session: str, *, is_owners: bool) -> AsyncIterator[None]:
        """Wait for a slot. `is_owners`: the session is a private one of the owner."""
        if is_owners:
            may_share = self._owners.locked() and not self._shared.locked()
            async with self._shared if may_share else self._owners:
                yield
        else:
            async with self._sessions.alone(session), self._shared:
                yield
