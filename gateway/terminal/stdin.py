"""Lines from standard input, without blocking the event loop."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import threading
from collections.abc import Mapping
from typing import Any, TextIO

PROMPT = "> "


class InputLines:
    """Reads lines on demand, in a daemon thread: nothing can wake a read from a terminal."""

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
            with contextlib.suppress(RuntimeError):  # the loop has been closed meanwhile
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


def has_cursor(environment: Mapping[str, str] = os.environ) -> bool:
    """True where a person sits at a terminal that can move its cursor."""
    return sys.stdin.isatty() and sys.stdout.isatty() and environment.get("TERM", "dumb") != "dumb"
