"""Does the deferred work of sessions: the flush of one that was left, and its paragraph in HISTORY.md."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from agent.compaction.deferred_store import DeferredStore, DeferredTask, RetryLater

_log = logging.getLogger(__name__)

MOST_TRIES = 5
"""At one piece of work that a model or the workspace does not let be done."""


class DeferredWork:
    """Does one task after the other. Tasks are on disk until they are done, so the next start continues after a crash.
    A `RetryLater` is put off until another task succeeds, a turn is answered (`again`), or the next start. `do` handles
    its own failures: what else escapes it is logged, and the task is given up."""

    def __init__(self, debts: DeferredStore, do: Callable[[DeferredTask], Awaitable[None]]) -> None:
        self._debts = debts
        self._do = do
        self._queue: asyncio.Queue[DeferredTask] = asyncio.Queue()
        self._known: set[DeferredTask] = set()
        self._put_off: list[DeferredTask] = []
        self._taken_up = asyncio.Event()

    async def owe(self, owed: DeferredTask) -> None:
        """Adds a task. Raises `OSError`, and then there is none."""
        await asyncio.to_thread(self._debts.note, owed)
        self._known.add(owed)
        self._queue.put_nowait(owed)

    def again(self) -> None:
        """Tries what was put off: a model answers again."""
        for owed in self._put_off:
            self._queue.put_nowait(owed)
        self._put_off.clear()

    async def run(self) -> None:
        """Does what an earlier process left, then what comes, until cancelled."""
        waiting = await asyncio.to_thread(self._debts.all)
        for owed in waiting:
            if owed not in self._known:
                self._known.add(owed)
                self._queue.put_nowait(owed)
        self._taken_up.set()
        while True:
            owed = await self._queue.get()
            try:
                await self._do(owed)
            except RetryLater as problem:
                await self._later(owed, problem)
            except OSError as error:  # the disk: it stays owed until the next start
                _log.error("%s: %s", owed.source, error)
            except Exception:
                _log.exception("%s: deferred work failed", owed.source)
                await asyncio.to_thread(self._debts.done, owed)
            else:
                await asyncio.to_thread(self._debts.done, owed)
                self.again()
            self._known.discard(owed)
            self._queue.task_done()

    async def _later(self, owed: DeferredTask, problem: RetryLater) -> None:
        try:
            tries = await asyncio.to_thread(self._debts.failed, owed)
        except OSError as error:  # not counted: it stays owed until the next start
            _log.error("%s: %s", owed.source, error)
            return
        if tries >= MOST_TRIES:
            _log.error("%s: given up after %d tries: %s", owed.source, tries, problem)
            await asyncio.to_thread(self._debts.done, owed)
            return
        _log.warning("%s: put off after try %d of %d: %s", owed.source, tries, MOST_TRIES, problem)
        self._put_off.append(owed)

    async def idle(self) -> None:
        """Waits until only put-off tasks are left. `run` must be running."""
        await self._taken_up.wait()
        await self._queue.join()
