"""Records what a process works on, and blames that where its event loop hung.

Each process of a home has a small file, by its number, rewritten in place and never synced: it survives the process,
and a power cut is no message's fault. Beside it is the one into which the watchdog writes stacks: only these mean that
the loop hung. Who takes over from a process reads both, and deletes them.
"""

from __future__ import annotations

import contextlib
import io
import json
import logging
import os
import socket
import threading
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from agent.formats.parsing import load_json

log = logging.getLogger(__name__)

_SOLE = 0
"""The number of a process that has the home for itself."""


@dataclass(frozen=True, slots=True)
class EndedProcess:
    """How a process ended. Where its event loop hung: its `stack`, its `work`, and the inbox numbers of its
    `messages`."""

    name: str = "a process"
    died: bool = False
    """Without being asked."""
    stack: str = ""
    work: tuple[str, ...] = ()
    messages: frozenset[int] = field(default_factory=frozenset)


class ActiveWork:
    """Records what the event loop works on, in `folder`."""

    def __init__(self, folder: Path, number: int = _SOLE) -> None:
        self._folder = folder
        self._number = number
        self._name = f"process {os.getpid()} on {socket.gethostname()}"
        self._file: io.FileIO | None = None
        self._work: dict[str, tuple[int, ...]] = {}
        self._asked_to_end = False
        self._seen: dict[int, float] = {}

    @property
    def stack(self) -> Path:
        """Where the watchdog leaves stacks."""
        return self._stack(self._number)

    def prepare(self) -> None:
        """Makes the folder; where that fails, nothing is recorded. Blocks."""
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            log.error("%s can't be made: %s", self._folder, error)

    def begin(self) -> None:
        """Records from now on. Blocks."""
        with contextlib.suppress(OSError):
            os.truncate(self.stack, 0)
        try:
            self._file = io.FileIO(os.open(self._record(self._number), os.O_RDWR | os.O_CREAT, 0o600), "r+")
        except OSError as error:
            log.error("current work is not recorded: %s", error)
        self._write()

    def close(self) -> None:
        """Stops recording. The files of a process that was not asked to end are kept. Blocks."""
        if self._file is None:
            return
        self._file.close()
        self._file = None
        if self._asked_to_end:
            for file in self._record(self._number), self.stack:
                with contextlib.suppress(OSError):
                    file.unlink()

    @contextmanager
    def working(self, what: str, messages: Sequence[int] = ()) -> Iterator[None]:
        """Records work that goes on inside. `messages`: their numbers in the inbox."""
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
        """Writes the file. A failing disk does no harm: who reads it sees old content, or none."""
        if self._file is None:
            return
        record = {
            "process": self._name,
            "asked_to_end": self._asked_to_end,
            "thread": threading.main_thread().ident,
            "work": self._work,
        }
        with contextlib.suppress(OSError):
            self._file.seek(0)
            self._file.write(json.dumps(record).encode() + b"\n")  # the rest of a longer one stays behind its end

    @property
    def awaits_stacks(self) -> bool:
        """True if `ended` has left a process that may still write its stacks."""
        return bool(self._seen)

    def ended(self, living: Collection[int] = (), patience: float = 0.0) -> tuple[EndedProcess, ...]:
        """How processes that are not among the `living` ended; their files are deleted. Those of one without stacks are
        left for `patience` seconds: it was perhaps cut off, and still hangs. Blocks."""
        try:
            found = {int(file.stem) for file in self._folder.iterdir() if file.stem.isdecimal()}
        except OSError:
            found = set()
        numbers = sorted(found.difference(living))
        now = time.monotonic()
        self._seen = {number: self._seen.get(number, now) for number in numbers}
        ended = []
        for number in numbers:
            process = _ended(self._record(number), self._stack(number))
            if not process.stack and now - self._seen[number] < patience:
                continue
            if process.stack:
                work = "; ".join(process.work) or "nothing"
                log.error(
                    "%s ended itself: its event loop hung. Working on: %s. Its stack:\n%s",
                    process.name,
                    work,
                    process.stack,
                )
            self._remove(number)
            del self._seen[number]
            ended.append(process)
        return tuple(ended)

    def _remove(self, number: int) -> None:
        with contextlib.suppress(OSError):
            os.truncate(self._stack(number), 0)
        for file in (self._record(number), self._stack(number)) if number != self._number else ():
            with contextlib.suppress(OSError):  # our own is open in the watchdog
                file.unlink()

    def _record(self, number: int) -> Path:
        return self._folder / f"{number}.json"

    def _stack(self, number: int) -> Path:
        return self._folder / f"{number}.txt"


def _ended(record: Path, stack: Path) -> EndedProcess:
    try:
        stacks = stack.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        stacks = ""
    try:
        known = load_json(record.read_bytes().partition(b"\n")[0])
        work = {str(what): [int(seq) for seq in messages] for what, messages in known["work"].items()}
        name, died, thread = str(known["process"]), not known["asked_to_end"], int(known["thread"])
    except (OSError, ValueError, TypeError, KeyError, AttributeError):  # the first start, or torn by a power cut
        return EndedProcess(stack=stacks)
    if not stacks:
        return EndedProcess(name, died)
    messages = frozenset(seq for messages in work.values() for seq in messages) if died else frozenset()
    return EndedProcess(name, died, _stack_of(thread, stacks), tuple(work), messages)


def _stack_of(thread: int, stacks: str) -> str:
    """The part of a `faulthandler` dump about one thread, else all of it."""
    for part in stacks.split("\n\n"):
        _, found, rest = part.partition("hread 0x")
        if found and rest.split(maxsplit=1)[:1] == [f"{thread:016x}"]:
            return part.strip()
    return stacks
