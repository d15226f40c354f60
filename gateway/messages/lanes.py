"""Lanes, which serve the items of one key in order and different keys side by side, and locks by key.

A lane has one task while something waits. Nothing is awaited between "nothing waits" and the end of that task, so an
item posted at any moment is seen by it or starts a new one (invariant 14).
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Iterable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")

log = logging.getLogger(__name__)


class Lane(Generic[K, T]):
    def __init__(self, key: K) -> None:
        self.key = key
        self._items: deque[T] = deque()
        self._posted = asyncio.Event()

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[T]:
        return iter(tuple(self._items))

    def take(self) -> T:
        return self._items.popleft()

    def take_where(self, wanted: Callable[[T], bool], most: int | None = None) -> list[T]:
        taken: list[T] = []
        left: deque[T] = deque()
        for item in self._items:
            if wanted(item) and (most is None or len(taken) < most):
                taken.append(item)
            else:
                left.append(item)
        self._items = left
        return taken

    async def posted(self) -> None:
        self._posted.clear()
        await self._posted.wait()

    def post(self, item: T) -> None:
        self._items.append(item)
        self._posted.set()

    def put_back(self, items: Iterable[T]) -> None:
        """Puts back items that were taken, before all others."""
        self._items.extendleft(reversed(tuple(items)))
        self._posted.set()


class Lanes(Generic[K, T]):
    """Calls `serve` while something waits in a lane, one call at a time. It takes at least one item unless somebody
    else has. An exception that escapes it is logged as a bug."""

    def __init__(self, serve: Callable[[Lane[K, T]], Awaitable[None]]) -> None:
        self._serve = serve
        self._lanes: dict[K, Lane[K, T]] = {}
        self._tasks: dict[K, asyncio.Task[None]] = {}
        self._group: asyncio.TaskGroup | None = None
        self._accepting = True

    async def run(self) -> None:
        """Owns the lanes' tasks until cancelled."""
        async with asyncio.TaskGroup() as group:
            self._group = group
            for key in list(self._lanes):
                self._wake(key)
            await asyncio.get_running_loop().create_future()

    def post(self, key: K, item: T) -> None:
        self._lane(key).post(item)
        self._wake(key)

    def put_back(self, key: K, items: Iterable[T]) -> None:
        self._lane(key).put_back(items)
        self._wake(key)

    def get(self, key: K) -> Lane[K, T] | None:
        return self._lanes.get(key)

    @property
    def is_running(self) -> bool:
        return self._group is not None and self._accepting

    @property
    def busy(self) -> int:
        return len(self._lanes)

    @property
    def keys(self) -> tuple[K, ...]:
        """The lanes in use."""
        return tuple(self._lanes)

    @property
    def waiting(self) -> int:
        return sum(len(lane) for lane in self._lanes.values())

    def hold(self) -> None:
        self._accepting = False

    async def idle(self) -> None:
        while tasks := [task for task in self._tasks.values() if not task.done()]:
            await asyncio.wait(tasks)

    def _lane(self, key: K) -> Lane[K, T]:
        return self._lanes.setdefault(key, Lane(key))

    def _wake(self, key: K) -> None:
        if self._group is None or not self._accepting or key in self._tasks:
            return
        self._tasks[key] = self._group.create_task(self._work(self._lanes[key]), name=f"lane {key}")

    async def _work(self, lane: Lane[K, T]) -> None:
        try:
            while len(lane) and self._accepting:
                before = len(lane)
                try:
                    await self._serve(lane)
                except Exception:
                    log.exception("lane %s: its server failed", lane.key)
                    if len(lane) >= before:  # it took nothing, and would be called for ever
                        lane.take()
        finally:
            del self._tasks[lane.key]
            if not len(lane):
                self._lanes.pop(lane.key, None)


@dataclass(slots=True)
class _CountedLock:
    """A lock, dropped with the last of its `users`: on release, the next in line does not hold it yet."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    users: int = 0


class KeyedLocks(Generic[K]):
    """A lock for each key, granted in the order of asking."""

    def __init__(self) -> None:
        self._wanted: dict[K, _CountedLock] = {}

    def __contains__(self, key: K) -> bool:
        return key in self._wanted

    @asynccontextmanager
    async def alone(self, key: K) -> AsyncIterator[None]:
        wanted = self._wanted.setdefault(key, _CountedLock())
        wanted.users += 1
        try:
            async with wanted.lock:
                yield
        finally:
            wanted.users -= 1
            if not wanted.users:
                del self._wanted[key]
