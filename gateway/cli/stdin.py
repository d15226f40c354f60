"""Lines from standard input, without blocking the event loop."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import sys
import threading
from collections.abc import Iterator
from typing import Any, TextIO

PROMPT = "> "


def prompt_again() -> str:
    """The prompt with what is typed so far, for after something was printed over it."""
    readline = sys.modules.get("readline")
    return PROMPT + (readline.get_line_buffer() if readline else "")


class InputLines:
    """Reads in a thread of its own, a line at a time and only on demand: what was typed ahead stays with the system.

    The thread is a daemon, for nothing can wake a read from a terminal.
    """

    def __init__(self, source: TextIO, *, prompt: bool) -> None:
        self._source = source
        self._prompt = prompt
        self._reading: asyncio.Future[str | None] | None = None

    async def next(self, unless: asyncio.Future[None] | None = None) -> str | None:
        """The next line, or None at the end or when `unless` is done first."""
        if self._reading is None:
            self._reading = self._read_in_thread()
        awaited: set[asyncio.Future[Any]] = {self._reading} | ({unless} if unless else set())
        await asyncio.wait(awaited, return_when=asyncio.FIRST_COMPLETED)
        if not self._reading.done():
            return None
        line, self._reading = self._reading.result(), None
        return line

    def _read_in_thread(self) -> asyncio.Future[str | None]:
        loop = asyncio.get_running_loop()
        result: asyncio.Future[str | None] = loop.create_future()

        def settle(line: str | None) -> None:
            if not result.done():
                result.set_result(line)

        def read() -> None:
            line = self._read()
            with contextlib.suppress(RuntimeError):  # the loop has been closed meanwhile: nobody waits
                loop.call_soon_threadsafe(settle, line)

        threading.Thread(target=read, name="standard input", daemon=True).start()
        return result

    def _read(self) -> str | None:
        try:
            if self._prompt:
                return input(PROMPT)
            line = self._source.readline()
            return line.removesuffix("\n") if line else None
        except (EOFError, OSError, ValueError):
            return None


@contextlib.contextmanager
def line_editing() -> Iterator[None]:
    """History and editing keys at the prompt; restores the terminal however the block ends."""
    try:
        importlib.import_module("readline")
        termios = importlib.import_module("termios")
        before = termios.tcgetattr(sys.stdin)
    except (ImportError, OSError, ValueError):
        yield
        return
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
