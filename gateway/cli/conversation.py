"""A talk from the first word to the last: one message, lines from a pipe, or a person at a terminal."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import AsyncIterator

from channels.terminal import NotKept, new_id
from gateway.cli.lines import Lines, prompt_again
from gateway.cli.screen import Screen
from gateway.cli.talk import Talk
from gateway.control import OperationError

_LOOK_AGAIN = 0.2
"""Seconds between two looks at what became of a message: what ends in silence brings nothing that could be awaited."""


class Conversation:
    """`failed`: an answer was an error, or there was none to be had."""

    def __init__(self, talk: Talk, screen: Screen) -> None:
        self.failed = False
        self._talk = talk
        self._screen = screen
        self._asking = False

    async def ask(self, text: str) -> None:
        """Say something and wait for what answers it to be shown. Raises `NotKept` where the gateway has gone."""
        message_id = new_id()
        answer = self._screen.expect(message_id, self._talk.outcome)
        self._asking = True
        try:
            await self._talk.say(text, message_id)
            while not answer.done():
                await asyncio.wait({answer}, timeout=_LOOK_AGAIN)
                if not answer.done() and (await self._outcome_done(message_id)):
                    return
            self.failed |= answer.result().key.endswith(":error")
        finally:
            self._asking = False

    async def _outcome_done(self, message_id: str) -> bool:
        try:
            return (await self._talk.outcome(message_id)).done
        except OperationError as error:
            raise NotKept("the gateway stopped before it answered; the message is kept and answered later") from error

    async def pipe(self, lines: Lines) -> None:
        """Each line is a message; the next one is said when the last is answered."""
        while (line := await lines.next()) is not None:
            if line.strip():
                await self.ask(line)

    async def at_terminal(self, lines: Lines) -> None:
        """Prompt after prompt until Ctrl-D, or until the gateway ends."""
        gone = asyncio.ensure_future(self._talk.ended())
        try:
            while (line := await self._prompted(lines, gone)) is not None:
                if line.strip():
                    await self.ask(line)
            if gone.done():
                self._screen.err.write("\nThe gateway has stopped.\n")
                self.failed = True
            else:
                self._screen.out.write("\n")  # the shell's prompt begins a line of its own
        finally:
            gone.cancel()

    async def _prompted(self, lines: Lines, gone: asyncio.Future[None]) -> str | None:
        self._screen.at_prompt = True
        try:
            return await lines.next(unless=gone)
        finally:
            self._screen.at_prompt = False

    @contextlib.asynccontextmanager
    async def stopping_with_ctrl_c(self, leave: asyncio.Event | None = None) -> AsyncIterator[None]:
        """Ctrl-C stops the running turn; where none runs it sets `leave`, or says how to leave."""
        loop = asyncio.get_running_loop()
        async with asyncio.TaskGroup() as group:

            def interrupted() -> None:
                if self._asking:
                    group.create_task(self._stop())
                elif leave:
                    leave.set()
                else:
                    self._screen.err.write(f"\n(Ctrl-D leaves)\n{prompt_again()}")
                    self._screen.err.flush()

            loop.add_signal_handler(signal.SIGINT, interrupted)
            try:
                yield
            finally:
                loop.remove_signal_handler(signal.SIGINT)

    async def _stop(self) -> None:
        with contextlib.suppress(NotKept):  # then there is nothing to stop either
            await self._talk.say("/stop", new_id())
