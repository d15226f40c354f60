"""What was read before something was forgotten is neither sent nor written afterwards (SPEC 9).

Whatever is made of a scope's talks and files takes a `Reading` before its first look at them. A request carries it to
the last moment before it is sent, and once more before each retry; what is made of the answer is written inside
`Reading.writing`, which no forgetting comes between.
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
    """Something was forgotten in the scope since it was read: what would be written may hold it. Read it anew."""


class RedactionLock:
    """Of one agent, on one event loop."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._whole: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._writes: set[asyncio.Task[None]] = set()

    def reading(self, scope: Scope) -> ReadEpoch:
        """Of the talks and files of a scope as they read from now on."""
        return ReadEpoch(self, scope.name, self._counts[scope.name])

    @asynccontextmanager
    async def writing(self, scope: Scope) -> AsyncIterator[None]:
        """Around what reads and writes in one go. Not to be nested, in itself or in `Reading.writing`."""
        async with self._locks[scope.name]:
            yield

    async def write(self, scope: Scope, write: Callable[[], Awaitable[None]]) -> None:
        """What reads and writes in one go, and is done although whoever waits for it is cancelled: one after the other
        in a scope, none in the midst of a forgetting. What it fails with is then logged. Messages do not wait for it,
        as they would for `writing`: another program may hold its file."""
        task = asyncio.create_task(self._written(scope, write))
        self._writes.add(task)
        task.add_done_callback(self._writes.discard)
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            task.add_done_callback(_log_failure)
            raise

    async def _written(self, scope: Scope, write: Callable[[], Awaitable[None]]) -> None:
        async with self._whole[scope.name]:
            await write()

    async def all_written(self) -> None:
        """Wait until every `write` is done."""
        while self._writes:
            await asyncio.wait(self._writes)

    @asynccontextmanager
    async def forgetting(self, scope: Scope) -> AsyncIterator[None]:
        """Around the forgetting, in talks and files. Every reading that began before its end is out of date then, also
        where it failed halfway."""
        async with self._locks[scope.name], self._whole[scope.name]:
            try:
                yield
            finally:
                self._counts[scope.name] += 1

    async def until_current(self, scope: Scope, make: Callable[[ReadEpoch], Awaitable[T]]) -> T:
        """What `make` makes of what it reads, made anew where something was forgotten meanwhile."""
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
    """From one moment on. Made by `RedactionLock.reading`."""

    forgettings: RedactionLock
    scope: str
    count: int

    def is_current(self) -> bool:
        """Whether nothing was forgotten since."""
        return self.forgettings.count(self.scope) == self.count

    def check(self) -> None:
        """Raises `Forgotten` unless it is current."""
        if not self.is_current():
            raise StaleRead

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[None]:
        """Around the writing of what was made of it. Not to be nested. Raises `Forgotten`."""
        async with self.forgettings.lock(self.scope):
            self.check()
            yield


def _log_failure(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (problem := task.exception()) is not None:
        _log.error("what nobody waits for any more was not written: %s", problem, exc_info=problem)
