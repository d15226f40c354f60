"""A Telegram that runs in this process: a real HTTP server that speaks the Bot API as strictly as the original.

    async with FakeTelegram() as telegram:
        telegram.say("hello")                                  # a person writes
        answer = await telegram.next_message(11111)            # what they then see
        telegram.fail("sendMessage", status=429, retry_after=3)

For synchronous tests and benchmarks the same in a thread of its own: `with FakeTelegram.in_thread() as telegram:`.

`wire` reads requests, `markup` checks text, `world` is what people do and see, `methods` the Bot API,
`faults` what goes wrong, `server` puts HTTP in front.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self, TypeVar

from tests.fakes.serving import Serving
from tests.fakes.telegram.faults import Fault, Hold
from tests.fakes.telegram.markup import units
from tests.fakes.telegram.server import PLAUSIBLE_TOKEN, BotApiServer, Call
from tests.fakes.telegram.world import Draft, Message, Typing

__all__ = ["Call", "Draft", "FakeTelegram", "FakeTelegramThread", "Fault", "Hold", "Message", "Typing", "units"]

T = TypeVar("T")


class FakeTelegram(BotApiServer, Serving):
    """The server on the running event loop."""

    @staticmethod
    def in_thread(token: str = PLAUSIBLE_TOKEN, *, username: str = "daybook_test_bot") -> FakeTelegramThread:
        return FakeTelegramThread(token, username=username)

    async def next_message(self, chat: int, after: int = 0, timeout: float = 120.0) -> Message:
        """The bot's first message in a chat with an id above `after` (the id of the message it answers, or 0). Raises
        `TimeoutError`."""
        return (await self.wait_for(lambda: self.messages_after(chat, after), timeout))[0]


class FakeTelegramThread(BotApiServer):
    """The server on an event loop of its own thread. Every method may be called from any thread."""

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="fake-telegram", daemon=True)
        self._thread.start()
        self.open_port()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.close_port()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    def close_port(self) -> None:
        """Telegram cannot be reached until `open_port`; every connection is cut."""
        asyncio.run_coroutine_threadsafe(self.stop(), self._loop).result(10)

    def open_port(self) -> None:
        asyncio.run_coroutine_threadsafe(self.start(), self._loop).result(10)

    def wait_for(self, predicate: Callable[[], T], timeout: float = 120.0) -> T:
        """As `FakeTelegram.wait_for`, blocking the calling thread."""
        try:
            return self.bell.until_blocking(predicate, timeout)
        except TimeoutError:
            raise TimeoutError(self.story(timeout)) from None

    def next_message(self, chat: int, after: int = 0, timeout: float = 120.0) -> Message:
        """As `FakeTelegram.next_message`, blocking the calling thread."""
        return self.wait_for(lambda: self.messages_after(chat, after), timeout)[0]
