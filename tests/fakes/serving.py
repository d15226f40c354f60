"""A fake platform's server on the running event loop, and waiting for what it sees."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Protocol, Self, TypeVar

from tests.fakes.bell import Bell

T = TypeVar("T")


class Serving(Protocol):
    """What a server inherits that starts, stops, rings its bell at each change and can tell its story."""

    bell: Bell

    async def start(self) -> None: ...

    async def stop(self) -> None: ...

    def story(self, timeout: float) -> str: ...

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def wait_for(self, predicate: Callable[[], T], timeout: float = 120.0) -> T:
        """The predicate's first true value; asked again at each change. Raises `TimeoutError`, which tells the last
        calls."""
        try:
            return await self.bell.until(predicate, timeout)
        except TimeoutError:
            raise TimeoutError(self.story(timeout)) from None
