"""Ends the process whose event loop stands still, so that a supervisor starts it again.

A loop can stand still in two ways. It computes and may hold the interpreter for as long as it does (a pattern that
never comes to an end): then no Python code runs in any thread, but the system's timer of CPU time does, whose signal is
answered in C. Or it waits without computing (a lock, a network call that should not be there): then a thread of ours
notices. Neither measures by a clock on the wall: a process that is stopped or a machine that sleeps uses no CPU time,
and for the thread it is one look, however long it lasts.
"""

from __future__ import annotations

import asyncio
import faulthandler
import io
import logging
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

log = logging.getLogger(__name__)

SECONDS = 30.0
_LOOKS = 15
"""In that time; a loop that has not moved between so many is said to stand still."""
_HAS_TIMER = hasattr(signal, "setitimer")
"""Not on Windows, where only a loop that waits is noticed."""


@contextmanager
def watching(stack: Path, seconds: float = SECONDS) -> Iterator[None]:
    """Inside, a running loop that stands still for so long ends the process, and leaves the stacks of all threads in
    `stack`, behind what is there. To be entered by the main thread."""
    try:
        file = io.FileIO(os.open(stack, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "a")
    except OSError as error:
        log.error("nothing watches the event loop: %s", error)
        yield
        return
    with file:
        watch = _Watch(file, seconds)
        watch.begin()
        try:
            yield
        finally:
            watch.end()


class _Watch:
    """The loop moves 15 times as often as it must, and each move sets the timer of CPU time back. Between two moves all
    processors may be busy for us, in threads that do not need the interpreter: that comes on top."""

    def __init__(self, file: io.FileIO, seconds: float) -> None:
        self._file = file
        self._every = seconds / _LOOKS
        self._cpu_seconds = seconds + self._every * (os.cpu_count() or 1)
        self._loop = asyncio.get_running_loop()
        self._moved = threading.Event()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, name="daybook-watchdog", daemon=True)

    def begin(self) -> None:
        if _HAS_TIMER:  # chain: what follows is the signal's own effect, the end of the process
            faulthandler.register(signal.SIGPROF, self._file, all_threads=True, chain=True)
        self._move()
        self._thread.start()

    def end(self) -> None:
        self._next.cancel()
        self._over.set()
        self._thread.join()
        if _HAS_TIMER:
            signal.setitimer(signal.ITIMER_PROF, 0)
            faulthandler.unregister(signal.SIGPROF)

    def _move(self) -> None:
        self._moved.set()
        if _HAS_TIMER:
            signal.setitimer(signal.ITIMER_PROF, self._cpu_seconds)
        self._next = self._loop.call_later(self._every, self._move)

    def _look(self) -> None:
        """Runs in a thread of its own."""
        in_vain = 0
        while not self._over.wait(self._every):
            in_vain = 0 if self._moved.is_set() else in_vain + 1
            self._moved.clear()
            if in_vain == _LOOKS:
                faulthandler.dump_traceback(self._file, all_threads=True)
                os._exit(1)
