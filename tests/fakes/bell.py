"""Waiting for a change without sleeping, on any event loop and in any thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class Bell:
    """Rung at every change. `lock` guards the state that the predicates look at; hold it only for moments."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self._condition = threading.Condition(self.lock)
        self._sleepers: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    def ring(self) -> None:
        with self.lock:
            self._condition.notify_all()
            for loop, awake in self._sleepers:
                loop.call_soon_threadsafe(awake.set)

    async def until(self, predicate: Callable[[], T], timeout: float) -> T:
        """The predicate's first true value. Raises `TimeoutError` after `timeout` seconds."""
        awake = asyncio.Event()
        sleeper = (asyncio.get_running_loop(), awake)
        with self.lock:
            self._sleepers.append(sleeper)
        try:
            async with asyncio.timeout(timeout):
                while not (value := self._look(predicate)):
                    await awake.wait()
                    awake.clear()
            return value
        finally:
            with self.lock:
                self._sleepers.remove(sleeper)

    def until_blocking(self, predicate: Callable[[], T], timeout: float) -> T:
        """As `until`, for a thread without a loop."""
        with self._condition:
            value = self._condition.wait_for(predicate, timeout)
        if not value:
            raise TimeoutError
        return value

    def _look(self, predicate: Callable[[], T]) -> T:
        with self.lock:
            return predicate()
