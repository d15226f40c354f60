"""Keeps text read before a `/forget` from being sent or written after it.

Work takes a `ReadEpoch` before its first read, checks it before each request, and writes its result inside
`ReadEpoch.writing`.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TypeVar

from agent.memory.scope import Scope

T = TypeVar("T")
_log = logging.getLogger(__name__)


class StaleRead(Exception):
    """The scope was redacted since. Read again."""


class RedactionLock:
    """Locks and epochs of an agent's scopes, on one event loop."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._file_locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._writes: set[asyncio.Task[None]] = set()

    def reading(self, scope: Scope) -> ReadEpoch:
        return ReadEpoch(self, scope.name, self._counts[scope.name])

    @asynccontextmanager
    async def writing(self, scope: Scope) -> AsyncIterator[None]:
        """Holds the scope's lock around a short read and write. Do not nest, nor in `ReadEpoch.writing`."""
        async with self._locks[scope.name]:
            yield

    async def write(self, scope: Scope, write: Callable[[], Awaitable[None]]) -> None:
        """Runs `write` to its end even if cancelled; one at a time, never during a redaction. Messages do not wait for
        it: another program may hold the file."""

        async def alone() -> None:
            async with self._file_locks[scope.name]:
                await write()

        task = asyncio.create_task(alone())
        self._writes.add(task)
        task.add_done_callback(self._writes.discard)
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            task.add_done_callback(_log_failure)
            raise

    async def all_written(self) -> None:
        while self._writes:
            await asyncio.wait(self._writes)

    @asynccontextmanager
    async def forgetting(self, scope: Scope) -> AsyncIterator[None]:
        """Holds all locks around a redaction; earlier epochs are then stale, even if it fails."""
        async with self._locks[scope.name], self._file_locks[scope.name]:
            try:
                yield
            finally:
                self._counts[scope.name] += 1

    async def until_current(self, scope: Scope, make: Callable[[ReadEpoch], Awaitable[T]]) -> T:
        """Repeats `make` until no redaction happened meanwhile."""
        while True:
            reading = self.reading(scope)
            try:
                made = await make(reading)
            except Exception:
                if reading.is_current():
                    raise
            else:
                if reading.is_current():
                    return made

    def count(self, scope: str) -> int:
        return self._counts[scope]

    def lock(self, scope: str) -> asyncio.Lock:
        return self._locks[scope]


@dataclass(frozen=True, slots=True)
class ReadEpoch:
    """The time since a first read (`RedactionLock.reading`)."""

    redaction_lock: RedactionLock
    scope: str
    count: int

    def is_current(self) -> bool:
        return self.redaction_lock.count(self.scope) == self.count

    def check(self) -> None:
        """Raises `StaleRead`."""
        if not self.is_current():
            raise StaleRead

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[None]:
        """Holds the lock while the result is written. Do not nest. Raises `StaleRead`."""
        async with self.redaction_lock.lock(self.scope):
            self.check()
            yield


def _log_failure(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (problem := task.exception()) is not None:
        _log.error("a write failed after its caller was cancelled: %s", problem, exc_info=problem)
