"""A lock for each of many keys."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)


@dataclass(slots=True)
class _Wanted:
    """A lock that `users` hold or wait for. It is forgotten with the last of them, and not as soon as it is released:
    then the next in line does not hold it yet, and who came after would be given another."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    users: int = 0


class Locks(Generic[K]):
    """In the order in which they ask, and one at a time, those who want the same key."""

    def __init__(self) -> None:
        self._wanted: dict[K, _Wanted] = {}

    def __contains__(self, key: K) -> bool:
        """Whether who asks for it now would have to wait."""
        return key in self._wanted

    @asynccontextmanager
    async def alone(self, key: K) -> AsyncIterator[None]:
        """Nobody else is inside with this key."""
        wanted = self._wanted.setdefault(key, _Wanted())
        wanted.users += 1
        try:
            async with wanted.lock:
                yield
        finally:
            wanted.users -= 1
            if not wanted.users:
                del self._wanted[key]
