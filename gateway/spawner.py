"""What runs beside everything else."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable

log = logging.getLogger(__name__)


class Spawner:
    """Owns the tasks of commands. `group`, in which they run, is set before the first is spawned."""

    def __init__(self) -> None:
        self.group: asyncio.TaskGroup | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def spawn(self, work: Awaitable[None], name: str) -> None:
        """Begin work; what it raises is logged."""
        assert self.group is not None
        task = self.group.create_task(self._guarded(work, name), name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def idle(self) -> None:
        """Wait until what has begun is done."""
        if self._tasks:
            await asyncio.wait(self._tasks)

    def cancel(self) -> None:
        """What is not answered by now is answered by the next process."""
        for task in self._tasks:
            task.cancel()

    @staticmethod
    async def _guarded(work: Awaitable[None], name: str) -> None:
        try:
            await work
        except Exception:
            log.exception("%s failed", name)
