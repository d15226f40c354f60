"""Until when each job waits. Who asks what is over pays for that alone, however many others wait."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from datetime import datetime


class Waits:
    """A job is looked at from the moment it is `met`, until it is `put` to wait."""

    def __init__(self) -> None:
        self._until: dict[str, datetime | None] = {}
        self._over: set[str] = set()
        self._heap: list[tuple[datetime, str]] = []
        """Every wait that has an end, and some that hold no longer."""

    def __getitem__(self, id: str) -> datetime | None:
        """None: it is to be looked at, or waits for ever."""
        return self._until.get(id)

    def meet(self, id: str) -> None:
        """A job is new or other than before: it is to be looked at."""
        self._until.pop(id, None)
        self._over.add(id)

    def put(self, id: str, until: datetime | None) -> None:
        """None: for ever."""
        self._over.discard(id)
        self._until[id] = until
        if until is not None:
            heapq.heappush(self._heap, (until, id))
        if len(self._heap) > 2 * len(self._until) + 64:
            self._build()

    def drop(self, ids: Iterable[str]) -> None:
        """They are no more."""
        for id in ids:
            self._until.pop(id, None)
            self._over.discard(id)

    def end(self) -> None:
        """No wait holds any more: all are to be looked at."""
        self._over.update(self._until)
        self._until.clear()
        self._heap.clear()

    def over(self, now: datetime) -> Sequence[str]:
        """Jobs that are to be looked at now, in no order."""
        while self._heap and self._heap[0][0] <= now:
            until, id = heapq.heappop(self._heap)
            if self._until.get(id) == until:
                self.meet(id)
        return tuple(self._over)

    def next(self) -> datetime | None:
        """When the first wait ends."""
        while self._heap and self._until.get(self._heap[0][1]) != self._heap[0][0]:
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def _build(self) -> None:
        self._heap = [(until, id) for id, until in self._until.items() if until is not None]
        heapq.heapify(self._heap)
