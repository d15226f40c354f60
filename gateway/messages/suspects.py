"""Finds the message that crashes the process: suspects are tried alone, after everything else.

A message is a suspect when the process died several times during its turn. A young process serves everything else
first, so that a storm of kills from outside blames no message. Each death in a trial doubles the time before the next.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress

from agent.languages.sentences import Sentence
from gateway.store.inbox_rows import InboxRow

TRIED_ALONE_AFTER = 5
"""Deaths of the process with a message in hand, among others."""
_DEATHS_ALONE = 3
_STANDSTILLS = 2
SKIPPED = Sentence(
    "I crashed several times on this message, so I skipped it. "
    "Please send it again in other words, or in smaller parts."
)


def skipped_for_owner(row: InboxRow) -> Sentence:
    chat, due = row.message.address, row.message.due
    if due is not None:
        return Sentence(
            "I crashed several times on job `{job}` in {chat}, so I skipped it. The log has the details.",
            job=due.id,
            chat=chat,
        )
    return Sentence(
        "I crashed several times on a message from {name} in {chat}, so I skipped it. The log has the details.",
        name=row.message.sender.name or "?",
        chat=chat,
    )


def is_suspect(rows: Iterable[InboxRow]) -> bool:
    return any(row.attempts >= TRIED_ALONE_AFTER for row in rows)


def is_given_up(rows: Iterable[InboxRow]) -> bool:
    return any(row.died_alone >= _DEATHS_ALONE or row.stood_still >= _STANDSTILLS for row in rows)


class ShuttingDown(Exception):
    pass


class TrialGate:
    """Lets turns run side by side, and a trial alone. `age`: seconds that the process must live before a first
    trial."""

    def __init__(self, age: float) -> None:
        self._age = age
        self._running = 0
        self._trial: object | None = None
        self._closed = False
        self._changed = asyncio.Event()
        self._born = asyncio.get_running_loop().time()

    @property
    def is_open(self) -> bool:
        return self._trial is None and not self._closed

    async def opened(self) -> None:
        """Waits until no trial is on. Raises `ShuttingDown`."""
        await self._until(lambda: self._trial is None)

    @contextmanager
    def beside_others(self) -> Iterator[None]:
        """Counts work that is no trial; enter only while the gate is open."""
        self._running += 1
        try:
            yield
        finally:
            self._running -= 1
            self._ring()

    @asynccontextmanager
    async def trial(self, rows: Iterable[InboxRow]) -> AsyncIterator[None]:
        """Nothing else runs inside. Raises `ShuttingDown`."""
        age = self._age * 2 ** max(row.died_alone for row in rows)
        with suppress(TimeoutError):
            async with asyncio.timeout_at(self._born + age):
                await self._until(lambda: False)
        await self._until(lambda: self._trial is None)
        self._trial = trial = object()
        try:
            await self._until(lambda: not self._running)
            yield
        finally:
            assert self._trial is trial
            self._trial = None
            self._ring()

    def close(self) -> None:
        self._closed = True
        self._ring()

    async def _until(self, is_so: Callable[[], bool]) -> None:
        while True:
            if self._closed:
                raise ShuttingDown
            if is_so():
                return
            await self._changed.wait()

    def _ring(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()
