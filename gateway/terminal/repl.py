"""A conversation in the terminal, through the running gateway or one opened in this process."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Protocol

import click

from agent.formats.sqlite import StorageUnavailable
from agent.languages.codes import of_environment
from agent.languages.sentences import Sentence, said
from channels.terminal import Listener, TerminalMessageNotKept, new_id
from gateway.app import open_gateway
from gateway.config import Config
from gateway.home import Home, HomeBusy
from gateway.rpc.client import NotRunning, connect
from gateway.rpc.protocol import Json, MessageOutcome, OperationError, Params
from gateway.rpc.server import serve
from gateway.server import Gateway
from gateway.terminal.context import terminal_language
from gateway.terminal.screen import Screen
from gateway.terminal.stdin import PROMPT, InputLines

_STARTING = 30.0
"""Seconds after which, even on a slow machine, the process that holds the home has opened its socket or ended."""
_SILENT = 3.0
"""Seconds without a word about what it waits for."""


class HomeWait:
    """Waits for a home that another process holds; after `silent` seconds it says so, once."""

    def __init__(self, notify: Callable[[str], object] | None = None, silent: float = _SILENT) -> None:
        self._notify = notify or partial(click.echo, err=True)
        self._silent = silent
        self._began = asyncio.get_running_loop().time()
        self._has_notified = False

    async def again(self, busy: HomeBusy) -> None:
        """Waits a moment before the next try. Raises `busy` after too long."""
        waited = asyncio.get_running_loop().time() - self._began
        if waited > _STARTING:
            raise busy
        if waited >= self._silent and not self._has_notified:
            text = Sentence("Waiting for another Daybook (process {process}) to finish…", process=busy.pid or "?")
            self._notify(text.in_language(terminal_language()))
            self._has_notified = True
        await asyncio.sleep(0.1)


class ChatConnection(Protocol):
    """A connection to the agent; replies go to its listener."""

    async def say(self, text: str, message_id: str, attached: Sequence[Path] = ()) -> None:
        """Sends a message; returns once it is on disk. Raises `TerminalMessageNotKept`."""

    async def call(self, operation: str, params: Params) -> Json:
        """Calls an operation. Raises `NotRunning`, `OperationError`."""

    async def outcome(self, message_id: str) -> MessageOutcome:
        """The present outcome of a message. Raises `OperationError`."""

    async def ended(self) -> None:
        """Waits until the other side is gone."""


class LocalChat:
    """A chat with a gateway in this process; it ends with `stop`."""

    def __init__(self, gateway: Gateway, session: str, stop: asyncio.Event) -> None:
        self._stop = stop
        self._gateway = gateway
        self._session = session

    async def say(self, text: str, message_id: str, attached: Sequence[Path] = ()) -> None:
        language = of_environment(os.environ) or ""
        await self._gateway.terminal.say(text, self._session, message_id, attached, language)

    async def call(self, operation: str, params: Params) -> Json:
        return await self._gateway.operations[operation](params)

    async def outcome(self, message_id: str) -> MessageOutcome:
        return MessageOutcome.read(await self.call("chat.outcome", {"id": message_id}))

    async def ended(self) -> None:
        await self._stop.wait()


@contextlib.asynccontextmanager
async def open_chat(
    home: Home, config: Config, session: str, listener: Listener, *, lasting: bool
) -> AsyncIterator[ChatConnection]:
    """Opens a chat. `lasting`: without a gateway, serve other commands meanwhile.

    Raises `HomeBusy`, `OperationError`.
    """
    wait = HomeWait()
    async with contextlib.AsyncExitStack() as stack:
        while True:
            try:
                connection = await stack.enter_async_context(connect(home.socket))
                chat: ChatConnection = await stack.enter_async_context(connection.chat(session, listener))
                break
            except NotRunning:
                pass
            try:
                chat = await stack.enter_async_context(_alone(home, config, session, listener, lasting))
                break
            except HomeBusy as busy:
                await wait.again(busy)
        yield chat


@contextlib.asynccontextmanager
async def _alone(
    home: Home, config: Config, session: str, listener: Listener, lasting: bool
) -> AsyncIterator[LocalChat]:
    stop = asyncio.Event()
    async with contextlib.AsyncExitStack() as stack:
        try:
            gateway = await stack.enter_async_context(open_gateway(home, config, channels=False))
        except StorageUnavailable as error:
            raise OperationError(str(error)) from error
        if lasting:
            await stack.enter_async_context(serve(home.socket, gateway.operations, gateway.terminal))
        group = await stack.enter_async_context(asyncio.TaskGroup())
        group.create_task(gateway.run(stop), name="gateway")
        try:
            with gateway.terminal.attach(session, listener):
                yield LocalChat(gateway, session, stop)
        finally:
            stop.set()


_STOPPED = Sentence("Daybook stopped before it answered. Your message is saved and will be answered later.")
_LOOK_AGAIN = 0.2
"""Seconds between two looks at a message's outcome: a turn without an answer sends nothing to wait for."""


class Repl:
    """`failed`: an answer was an error, or there was none."""

    def __init__(self, chat: ChatConnection, screen: Screen) -> None:
        self.failed = False
        self._chat = chat
        self._screen = screen
        self._asking = False

    async def ask(self, text: str) -> None:
        """Sends a message and waits until its answer is shown. Raises `TerminalMessageNotKept`."""
        message_id = new_id()
        answer = self._screen.expect(message_id, self._chat.outcome)
        self._asking = True
        try:
            await self._chat.say(text, message_id)
            while not answer.done():
                await asyncio.wait({answer}, timeout=_LOOK_AGAIN)
                if not answer.done() and (await self._chat.outcome(message_id)).done:
                    return
            self.failed |= answer.result().key.endswith(":error")
        except OperationError as error:
            raise TerminalMessageNotKept(_STOPPED) from error
        finally:
            self._asking = False

    async def pipe(self, lines: InputLines) -> None:
        """Sends each line as a message, after the last one is answered."""
        while (line := await lines.next()) is not None:
            if line.strip():
                await self.ask(line)

    async def at_terminal(self, lines: InputLines) -> None:
        """Prompts until Ctrl-D, or until the gateway ends."""
        gone = asyncio.ensure_future(self._chat.ended())
        try:
            while (line := await self._prompted(lines, gone)) is not None:
                if line.strip():
                    await self.ask(line)
            if gone.done():
                self._screen.err.write(f"\n{said(terminal_language(), 'The gateway has stopped.')}\n")
                self.failed = True
            else:
                self._screen.out.write("\n")  # the shell's prompt begins a line of its own
        finally:
            gone.cancel()

    async def _prompted(self, lines: InputLines, gone: asyncio.Future[None]) -> str | None:
        self._screen.at_prompt = True
        try:
            return await lines.next(unless=gone)
        finally:
            self._screen.at_prompt = False

    @contextlib.asynccontextmanager
    async def stopping_with_ctrl_c(self, leave: asyncio.Event | None = None) -> AsyncIterator[None]:
        """Ctrl-C stops the running turn, else sets `leave` or says how to quit."""
        loop = asyncio.get_running_loop()
        async with asyncio.TaskGroup() as group:

            def interrupted() -> None:
                if self._asking:
                    group.create_task(self._stop())
                elif leave:
                    leave.set()
                else:
                    self._screen.err.write(f"\n{said(terminal_language(), '(Ctrl-D quits)')}\n{PROMPT}")
                    self._screen.err.flush()

            loop.add_signal_handler(signal.SIGINT, interrupted)
            try:
                yield
            finally:
                loop.remove_signal_handler(signal.SIGINT)

    async def _stop(self) -> None:
        with contextlib.suppress(TerminalMessageNotKept):  # then there is nothing to stop either
            await self._chat.say("/stop", new_id())
