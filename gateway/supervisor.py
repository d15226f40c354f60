"""Restarts sources that die (invariant 13), owns background tasks, and ends a process whose event loop hangs.

A loop can hang in two ways. It computes and may hold the interpreter (a pattern that never ends): then no Python code
runs in any thread, but the system's timer of CPU time does, whose signal is handled in C. Or it waits without computing
(a lock, a stray network call): then a thread of ours notices. Neither uses the wall clock: a stopped process or a
sleeping machine uses no CPU time, and for the thread it is one look.
"""

from __future__ import annotations

import asyncio
import faulthandler
import io
import logging
import os
import random
import signal
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from channels.message import ChannelStatus, Health, Receive, Source, SourceFailed

log = logging.getLogger(__name__)

_FIRST_WAIT = 1.0
_LONGEST_WAIT = 60.0
_GOOD_RUN = 300.0
"""Seconds: a source that ran for so long begins its waits anew when it fails."""

Sleep = Callable[[float], Awaitable[None]]


class SupervisedSource:
    """A source and its state. `failure` is set while it is down."""

    def __init__(self, source: Source, sleep: Sleep = asyncio.sleep) -> None:
        self.source = source
        self.failure: ChannelStatus | None = None
        self._sleep = sleep

    @property
    def status(self) -> ChannelStatus:
        """Its failure, else its own status; a source without one (the schedule) is up."""
        if self.failure is not None:
            return self.failure
        status: ChannelStatus = getattr(self.source, "status", ChannelStatus(Health.OK))
        return status

    async def run(self, receive: Receive) -> None:
        """Runs the source until cancelled. Ends quietly where a restart cannot help: the gateway goes on without it."""
        loop = asyncio.get_running_loop()
        wait = _FIRST_WAIT
        while True:
            began = loop.time()
            try:
                await self.source.run(receive)
                reason = "it ended by itself"
            except SourceFailed as error:
                reason = str(error)
                if error.fatal:
                    log.error("%s is off: %s", self.source.name, reason)
                    self.failure = ChannelStatus(Health.DOWN, reason)
                    return
            except Exception as error:
                reason = f"{type(error).__name__}: {error}"
                log.exception("%s failed", self.source.name)
            if loop.time() - began > _GOOD_RUN:
                wait = _FIRST_WAIT
            log.warning("%s starts again in %.0f s: %s", self.source.name, wait, reason)
            self.failure = ChannelStatus(Health.DOWN, reason)
            await self._sleep(wait * random.uniform(0.8, 1.2))
            wait = min(wait * 2, _LONGEST_WAIT)
            self.failure = None


class BackgroundTasks:
    """Owns the tasks of commands. `group`, in which they run, is set before the first one."""

    def __init__(self) -> None:
        self.group: asyncio.TaskGroup | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def spawn(self, work: Awaitable[None], name: str) -> None:
        """Starts a task; what it raises is logged."""
        assert self.group is not None
        task = self.group.create_task(self._guarded(work, name), name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def idle(self) -> None:
        """Waits until all tasks are done."""
        if self._tasks:
            await asyncio.wait(self._tasks)

    def cancel(self) -> None:
        """Cancels all tasks; unfinished commands go on in the next process."""
        for task in self._tasks:
            task.cancel()

    @staticmethod
    async def _guarded(work: Awaitable[None], name: str) -> None:
        try:
            await work
        except Exception:
            log.exception("%s failed", name)


SECONDS = 30.0
_LOOKS = 15
"""In that time; a loop that has not moved between so many is said to stand still."""
_HAS_TIMER = hasattr(signal, "setitimer")
"""Not on Windows, where only a loop that waits is noticed."""


@contextmanager
def watching(stack: Path, seconds: float = SECONDS) -> Iterator[None]:
    """Inside, a loop that hangs for so long ends the process and appends the stacks of all threads to `stack`. For the
    main thread."""
    try:
        file = io.FileIO(os.open(stack, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "a")
    except OSError as error:
        log.error("the event loop is not watched: %s", error)
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
    """The loop moves 15 times as often as it must, and each move resets the timer of CPU time. In between, all
    processors may be busy for us in threads that do not need the interpreter; that is added."""

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
