"""Calls that a test lets stand still, whatever the platform."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tests.fakes.bell import Bell


@dataclass(slots=True)
class Parking:
    """Parks calls until released. `waiting` counts those parked now, `arrived` all so far."""

    bell: Bell
    waiting: int = 0
    arrived: int = 0
    _tickets: float = 0

    @property
    def is_over(self) -> bool:
        """Every later call may pass."""
        return self._tickets == math.inf

    def release(self, count: int | None = None) -> None:
        """Let `count` calls go, or all and every later one."""
        with self.bell.lock:
            self._tickets = math.inf if count is None else self._tickets + count
            self.bell.ring()

    async def wait(self, timeout: float = 120.0) -> None:
        """Until a call is parked."""
        await self.bell.until(lambda: self.waiting, timeout)

    async def park(self) -> None:
        with self.bell.lock:
            self.waiting += 1
            self.arrived += 1
            self.bell.ring()
        try:
            await self.bell.until(self._take_ticket, timeout=3600.0)
        finally:
            with self.bell.lock:
                self.waiting -= 1
                self.bell.ring()

    def _take_ticket(self) -> bool:
        if self._tickets < 1:
            return False
        self._tickets -= 1
        return True
