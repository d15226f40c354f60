"""Restarts sources that die (invariant 13), owns background tasks, and ends a process whose event loop hangs.

A loop that computes may hold the interpreter: no Python runs in any thread, but the system's timer of CPU time does,
whose signal is handled in C. A loop that waits without computing is noticed by a thread of ours. Neither uses the wall
clock, so a stopped process or a sleeping machine does not count.
"""

from __future__ import annotations

import asyncio
import faulthandler
import io
import logging
import os
import signal
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from channels.message import ChannelStatus, Health, Receive, Source, SourceFailed
from channels.tasks import backoff

log = logging.getLogger(__name__)

_FIRST_WAIT = 1.0
_LONGEST_WAIT = 60.0
_GOOD_RUN = 300.0
"""Seconds: after such a run, a failed source is restarted at once again."""

Sleep = Callable[[float], Awaitable[None]]


class SupervisedSource:
    """`failure` is set while it is down. `is_everywhere`: it runs in each of several gateways, to send; its connections
    are shared out (`source_parts`)."""

    def __init__(self, source: Source, sleep: Sleep = asyncio.sleep, *, is_everywhere: bool = False) -> None:
        self.source = source
        self.is_everywhere = is_everywhere
        self.failure: ChannelStatus | None = None
        self._sleep = sleep

    @property
    def is_part(self) -> bool:
        """True for one of several connections of a channel, whose state says enough for people."""
        return ":" in self.source.name

    @property
    def status(self) -> ChannelStatus:
        """Its failure, else its own status; a source without one is up."""
        if self.failure is not None:
            return self.failure
        status: ChannelStatus = getattr(self.source, "status", ChannelStatus(Health.OK))
        return status

    @property
    def account(self) -> str:
        """Who the bot is on its platform, once that is known; a source without a bot has no name."""
        account: str = getattr(self.source, "account", "")
        return account

    async def run(self, receive: Receive) -> None:
        """Runs the source until cancelled; returns where a restart cannot help."""
        loop = asyncio.get_running_loop()
        failures = 0
        while True:
            began = loop.time()
            try:
                await self.source.run(receive)
                reason = "it stopped unexpectedly"
            except SourceFailed as error:
                reason = str(error)
                if error.fatal:
                    log.error("%s is off: %s", self.source.name, reason)
                    self.failure = ChannelStatus(Health.DOWN, reason)
                    return
            except Exception as error:
                reason = f"{type(error).__name__}: {error}"
                log.exception("%s failed", self.source.name)
            failures = 1 if loop.time() - began > _GOOD_RUN else failures + 1
            wait = backoff(failures, _FIRST_WAIT, _LONGEST_WAIT)
            log.warning("restarting %s in %.0f s: %s", self.source.name, wait, reason)
            self.failure = ChannelStatus(Health.DOWN, reason)
            await self._sleep(wait)
            self.failure = None


class BackgroundTasks:
    """Tasks of commands, run in `group`."""

    def __init__(self) -> None:
        self.group: asyncio.TaskGroup | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def spawn(self, work: Awaitable[None], name: str) -> None:
        """Runs work as a task; what it raises is logged."""
        assert self.group is not None
        task = self.group.create_task(self._guarded(work, name), name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def idle(self) -> None:
        if self._tasks:
            await asyncio.wait(self._tasks)

    def cancel(self) -> None:
        """Cancels all tasks; unfinished commands continue in the next process."""
        for task in self._tasks:
            task.cancel()

    @staticmethod
    async def _guarded(work: Awaitable[None], name: str) -> None:
        try:
            await work
        except Exception:
            log.exception("%s failed", name)


SECONDS = 30.0
_AMONG_OTHERS = max(7.0, (os.cpu_count() or 1) / 2)
"""Seconds of computing where other gateways cut off who is silent for 10: they have to find its stacks then. With many
processors more, because the loop may be late by a part of a second while other threads use them all."""
_LOOKS = 15
"""In the shortest such time; a loop that has not moved between so many counts as hanging."""
_HAS_TIMER = hasattr(signal, "setitimer")
"""Not on Windows, where only a loop that waits is noticed."""


@contextmanager
def watching(stack: Path, seconds: float = SECONDS, *, is_shared: bool = False) -> Iterator[None]:
    """Ends the process when its loop hangs for so long, and appends all stacks to `stack`. `is_shared`: other gateways
    serve the home too. For the main thread."""
    try:
        file = io.FileIO(os.open(stack, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "a")
    except OSError as error:
        log.error("a hung event loop will not be noticed: %s", error)
        yield
        return
    with file:
        watch = _Watch(file, seconds, min(seconds, _AMONG_OTHERS) if is_shared else seconds)
        watch.begin()
        try:
            yield
        finally:
            watch.end()


class _Watch:
    """The loop moves 15 times as often as it must, and each move resets the timer of CPU time. Other threads may use
    all processors meanwhile; that is added. `computing`: the seconds of a loop that computes."""

    def __init__(self, file: io.FileIO, seconds: float, computing: float) -> None:
        self._file = file
        self._every = computing / _LOOKS
        self._looks = round(seconds / self._every)
        self._cpu_seconds = computing + self._every * (os.cpu_count() or 1)
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
        in_vain = 0
        while not self._over.wait(self._every):
            in_vain = 0 if self._moved.is_set() else in_vain + 1
            self._moved.clear()
            if in_vain == self._looks:
                faulthandler.dump_traceback(self._file, all_threads=True)
                os._exit(1)


def start_again() -> NoReturn:
    """Ends this process at once, as a kill would, and starts the same command in its place. For any thread."""
    if _HAS_TIMER:  # it goes on in the new program, which has no use for its signal
        signal.setitimer(signal.ITIMER_PROF, 0)
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
