"""A talk with the agent: with the running gateway, else with one that is opened for it in this process."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Protocol

import click

from channels.terminal import Listener
from gateway.app import open_gateway
from gateway.config import Config
from gateway.control import NotRunning, OperationError, Outcome, connect, serve
from gateway.home import Home, HomeBusy
from gateway.running import Gateway
from gateway.store.database import StoreUnavailable

_STARTING = 30.0
"""Seconds in which a gateway that holds the home opens its socket, or another command that acts alone is done; on a
slow machine too."""
_SILENT = 3.0
"""Seconds after which a person is told what is waited for."""


class HomeWait:
    """Waits for a home that another process holds, and says so once: after `silent` seconds, by default on stderr."""

    def __init__(self, tell: Callable[[str], object] | None = None, silent: float = _SILENT) -> None:
        self._tell = tell or partial(click.echo, err=True)
        self._silent = silent
        self._began = asyncio.get_running_loop().time()
        self._told = False

    async def again(self, busy: HomeBusy) -> None:
        """Wait a moment before the next try. Raises `busy` where it has waited long enough."""
        waited = asyncio.get_running_loop().time() - self._began
        if waited > _STARTING:
            raise busy
        if waited >= self._silent and not self._told:
            self._tell(f"waiting a moment for process {busy.pid or '?'}, which is using this home")
            self._told = True
        await asyncio.sleep(0.1)


class Talk(Protocol):
    """What is shown meanwhile goes to the listener that the talk was opened with."""

    async def say(self, text: str, message_id: str) -> None:
        """Returns once the message is on disk. Raises `NotKept`."""

    async def outcome(self, message_id: str) -> Outcome:
        """What became of a message by now. Raises `OperationError`."""

    async def ended(self) -> None:
        """Wait until nobody is there to talk to any more."""


class LocalTalk:
    """A talk with a gateway in this process; it ends with `stop`."""

    def __init__(self, gateway: Gateway, session: str, stop: asyncio.Event) -> None:
        self._stop = stop
        self._gateway = gateway
        self._session = session

    async def say(self, text: str, message_id: str) -> None:
        await self._gateway.terminal.say(text, self._session, message_id)

    async def outcome(self, message_id: str) -> Outcome:
        return Outcome.read(await self._gateway.operations["chat.outcome"]({"id": message_id}))

    async def ended(self) -> None:
        await self._stop.wait()


@contextlib.asynccontextmanager
async def open_talk(
    home: Home, config: Config, session: str, listener: Listener, *, lasting: bool
) -> AsyncIterator[Talk]:
    """`lasting`: a talk alone lets other commands in, as a gateway does. One that ends with its first answer does not:
    they would be cut off.

    Raises `HomeBusy` where the home stays held by what lets nobody in, `OperationError` where its gateway is no use."""
    wait = HomeWait()
    async with contextlib.AsyncExitStack() as stack:
        while True:
            try:
                connection = await stack.enter_async_context(connect(home.socket))
                talk: Talk = await stack.enter_async_context(connection.chat(session, listener))
                break
            except NotRunning:
                pass
            try:
                talk = await stack.enter_async_context(_alone(home, config, session, listener, lasting))
                break
            except HomeBusy as busy:
                await wait.again(busy)
        yield talk


@contextlib.asynccontextmanager
async def _alone(
    home: Home, config: Config, session: str, listener: Listener, lasting: bool
) -> AsyncIterator[LocalTalk]:
    stop = asyncio.Event()
    async with contextlib.AsyncExitStack() as stack:
        try:
            gateway = await stack.enter_async_context(open_gateway(home, config, channels=False))
        except StoreUnavailable as error:
            raise OperationError(str(error)) from error
        if lasting:
            await stack.enter_async_context(serve(home.socket, gateway.operations, gateway.terminal))
        group = await stack.enter_async_context(asyncio.TaskGroup())
        group.create_task(gateway.run(stop), name="gateway")
        try:
            with gateway.terminal.attach(session, listener):
                yield LocalTalk(gateway, session, stop)
        finally:
            stop.set()
