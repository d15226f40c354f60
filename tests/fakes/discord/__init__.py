"""A Discord that runs in this process: real REST and a real gateway, as strict as the original.

    async with FakeDiscord() as discord:
        alice = discord.user("Alice")
        dm = discord.dm(alice)
        await discord.say(alice, dm, "hello")               # a person writes
        answer = await discord.next_message(dm)             # what they then see
        discord.fail_next("POST", "/messages", drop="after")

`model` is what there is, `world` what people do and see, `payloads` its JSON, `gateway` sessions and events, `sharding`
which connection hears of what, `rest` the endpoints, `commands` what a bot registers, `interactions` buttons and
commands in use, `rules` what a body may hold, `faults` what goes wrong, `server` puts HTTP in front. Everything runs on
one event loop.

For synchronous tests and benchmarks the same in a thread of its own:

    with FakeDiscord.in_thread() as thread:
        thread.run(thread.discord.say(alice, dm, "hello"))
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import Any, Self, TypeVar

from tests.fakes.discord.faults import Fault, Hold
from tests.fakes.discord.interactions import Interaction
from tests.fakes.discord.model import Attachment, Channel, File, Guild, Message, Role, User
from tests.fakes.discord.server import PLAUSIBLE_TOKEN, Call, DiscordServer
from tests.fakes.serving import Serving

__all__ = [
    "PLAUSIBLE_TOKEN",
    "Attachment",
    "Call",
    "Channel",
    "FakeDiscord",
    "FakeDiscordThread",
    "Fault",
    "File",
    "Guild",
    "Hold",
    "Interaction",
    "Message",
    "Role",
    "User",
]

T = TypeVar("T")


class FakeDiscord(DiscordServer, Serving):
    """The server on the running event loop."""

    @staticmethod
    def in_thread(token: str = PLAUSIBLE_TOKEN, *, rate_limits: bool = True) -> FakeDiscordThread:
        return FakeDiscordThread(token, rate_limits=rate_limits)

    async def next_message(self, channel: Channel, after: Message | None = None, timeout: float = 120.0) -> Message:
        """The bot's first message in a channel after `after` (or of all). Raises `TimeoutError`."""
        least = after.id if after else 0

        def written() -> list[Message]:
            return [one for one in self.messages(channel) if one.author is self.bot and one.id > least]

        return (await self.wait_for(written, timeout))[0]

    async def until_connected(self, timeout: float = 120.0) -> None:
        """A client has identified or resumed."""
        await self.wait_for(lambda: self.connected, timeout)

    async def until_shards(self, count: int, timeout: float = 120.0) -> None:
        """A connection of each shard has a session."""
        await self.wait_for(lambda: self.shards == [(number, count) for number in range(count)], timeout)


class FakeDiscordThread:
    """A `FakeDiscord` on an event loop of its own thread. What changes it goes through `run` or `call`."""

    def __init__(self, token: str, *, rate_limits: bool) -> None:
        self.discord = FakeDiscord(token, rate_limits=rate_limits)

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="fake-discord", daemon=True)
        self._thread.start()
        self.run(self.discord.start())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.run(self.discord.stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    def run(self, work: Coroutine[Any, Any, T], timeout: float = 120.0) -> T:
        """Do something asynchronous there and wait for it."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout)

    def call(self, work: Callable[[], T]) -> T:
        """Do something synchronous there, such as `discord.disconnect`."""

        async def done() -> T:
            return work()

        return self.run(done())

    def wait_for(self, predicate: Callable[[], T], timeout: float = 120.0) -> T:
        """As `FakeDiscord.wait_for`, blocking the calling thread."""
        return self.run(self.discord.wait_for(predicate, timeout), timeout + 5)
