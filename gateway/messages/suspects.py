"""Finds the message that crashes the process: suspects are tried alone, after everything else.

A message is a suspect when the process died several times during its turn. A young process serves everything else
first, so that a storm of kills from outside blames no message. Each death in a trial doubles the time before the next.

What the process works on is in one small file, rewritten in place and never synced: it survives the process, and a
power cut is no message's fault.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import logging
import os
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from agent.formats.parsing import load_json
from gateway.store.inbox_rows import InboxRow

TRIED_ALONE_AFTER = 5
"""Deaths of the process with a message in hand, among others."""
_DEATHS_ALONE = 3
_STANDSTILLS = 2
SKIPPED = (
    "I crashed several times on this message, so I skipped it. "
    "Please send it again in other words, or in smaller parts."
)


def is_suspect(rows: Iterable[InboxRow]) -> bool:
    return any(row.attempts >= TRIED_ALONE_AFTER for row in rows)


def is_given_up(rows: Iterable[InboxRow]) -> bool:
    return any(row.died_alone >= _DEATHS_ALONE or row.stood_still >= _STANDSTILLS for row in rows)


class ShuttingDown(Exception):
    pass


class TrialGate:
    """Lets turns run side by side, and a trial alone. `age`: seconds that the process must live before a first
    trial."""

    def __init__(self, age: float) -> None:
        self._age = age
        self._running = 0
        self._trial: object | None = None
        self._closed = False
        self._changed = asyncio.Event()
        self._born = asyncio.get_running_loop().time()

    @property
    def is_open(self) -> bool:
        return self._trial is None and not self._closed

    async def opened(self) -> None:
        """Waits until no trial is on. Raises `ShuttingDown`."""
        await self._until(lambda: self._trial is None)

    @contextmanager
    def beside_others(self) -> Iterator[None]:
        """Counts work that is no trial; enter only while the gate is open."""
        self._running += 1
        try:
            yield
        finally:
            self._running -= 1
            self._ring()

    @asynccontextmanager
    async def trial(self, rows: Iterable[InboxRow]) -> AsyncIterator[None]:
        """Nothing else runs inside. Raises `ShuttingDown`."""
        age = self._age * 2 ** max(row.died_alone for row in rows)
        with suppress(TimeoutError):
            async with asyncio.timeout_at(self._born + age):
                await self._until(lambda: False)
        await self._until(lambda: self._trial is None)
        self._trial = trial = object()
        try:
            await self._until(lambda: not self._running)
            yield
        finally:
            assert self._trial is trial
            self._trial = None
            self._ring()

    def close(self) -> None:
        self._closed = True
        self._ring()

    async def _until(self, is_so: Callable[[], bool]) -> None:
        while True:
            if self._closed:
                raise ShuttingDown
            if is_so():
                return
            await self._changed.wait()

    def _ring(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PreviousProcess:
    """How the last process ended. Where its event loop hung: its `stack`, its `work`, and the inbox numbers of its
    `messages`."""

    died: bool = False
    """Without being asked."""
    stack: str = ""
    work: tuple[str, ...] = ()
    messages: frozenset[int] = field(default_factory=frozenset)


class ActiveWork:
    """Records what the event loop works on. `record`: the file, or None; `stack`: where `watchdog` leaves stacks."""

    def __init__(self, record: Path | None = None, stack: Path | None = None) -> None:
        self._paths = (record, stack) if record is not None and stack is not None else None
        self._file: io.FileIO | None = None
        self._work: dict[str, tuple[int, ...]] = {}
        self._asked_to_end = False

    def begin(self) -> PreviousProcess:
        """Records from now on and returns what the last process left; its stacks are deleted. Blocks."""
        if self._paths is None:
            return PreviousProcess()
        last_run = _last_run(*self._paths)
        if last_run.stack:
            log.error(
                "the last process ended itself: its event loop hung. Working on: %s. Its stack:\n%s",
                "; ".join(last_run.work) or "nothing",
                last_run.stack,
            )
        try:
            self._file = io.FileIO(os.open(self._paths[0], os.O_RDWR | os.O_CREAT, 0o600), "r+")
        except OSError as error:
            log.error("current work is not recorded: %s", error)
        self._write()
        return last_run

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    @contextmanager
    def working(self, what: str, messages: Sequence[int] = ()) -> Iterator[None]:
        """`messages`: their numbers in the inbox."""
        self.put(what, messages)
        try:
            yield
        finally:
            self._work.pop(what, None)
            self._write()

    def put(self, what: str, messages: Sequence[int]) -> None:
        self._work[what] = tuple(messages)
        self._write()

    def asked_to_end(self) -> None:
        """Blames no work in hand from now on."""
        self._asked_to_end = True
        self._write()

    def _write(self) -> None:
        """Writes the file. A failing disk does no harm: the next process sees old content, or none."""
        if self._file is None:
            return
        thread = threading.main_thread().ident
        record = {"asked_to_end": self._asked_to_end, "thread": thread, "work": self._work}
        line = json.dumps(record).encode() + b"\n"
        with contextlib.suppress(OSError):
            self._file.seek(0)
            self._file.write(line)
            self._file.truncate()


def _last_run(record: Path, stack: Path) -> PreviousProcess:
    try:
        stacks = stack.read_text(encoding="utf-8", errors="replace")
        os.truncate(stack, 0)  # the watchdog of this process has it open
    except OSError:
        stacks = ""
    try:
        known = load_json(record.read_bytes().partition(b"\n")[0])
        work = {str(what): [int(one) for one in messages] for what, messages in known["work"].items()}
        died, thread = not known["asked_to_end"], int(known["thread"])
    except (OSError, ValueError, TypeError, KeyError, AttributeError):  # the first start, or torn by a power cut
        return PreviousProcess(stack=stacks.strip())
    if not stacks.strip():
        return PreviousProcess(died)
    messages = frozenset(one for messages in work.values() for one in messages)
    return PreviousProcess(died, _stack_of(thread, stacks), tuple(work), messages)


def _stack_of(thread: int, stacks: str) -> str:
    """The part of a `faulthandler` dump about one thread, else all of it."""
    for part in stacks.split("\n\n"):
        _, found, rest = part.partition("hread 0x")
        if found and rest.split(maxsplit=1)[:1] == [f"{thread:016x}"]:
            return part.strip()
    return stacks.strip()
