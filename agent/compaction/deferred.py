"""Deferred work of sessions: the flush of one that was left or is nearly full, and its paragraph in HISTORY.md. A task
is on disk until it is done: one small file beside the transcript. The store blocks."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from agent.compaction.flush_state import ContextLossReason
from agent.formats.parsing import load_json
from agent.fs import atomic_write, rewrite
from agent.languages.system_errors import cannot
from agent.memory.paths import FileError
from agent.memory.scope import Audience, Scope
from agent.settings import GroupLogs

_SUFFIX = ".owed"


class RetryLater(Exception):
    pass


@dataclass(frozen=True, slots=True)
class DeferredTask:
    path: str
    """The path of the session's key."""
    session: str
    """The transcript's id."""
    scope: Scope
    reason: ContextLossReason
    upto: str
    """The compaction that dropped the part, or the last message of the session."""

    @property
    def source(self) -> str:
        """The part's name in HISTORY.md."""
        return f"talk {self.session} {self.upto}"


class DeferredStore:
    def __init__(self, folder: Path, workspace: Path) -> None:
        self._folder = folder
        self._workspace = workspace

    def note(self, task: DeferredTask) -> None:
        """Raises `OSError`."""
        atomic_write(self._path(task), _as_text(task, tries=0))

    def failed(self, task: DeferredTask) -> int:
        """Counts a failed try and returns their number. Raises `OSError`."""
        tries = 0

        def counted(before: bytes | None) -> str:
            nonlocal tries
            tries = _tries(before or b"") + 1
            return _as_text(task, tries)

        rewrite(self._path(task), counted)
        return tries

    def done(self, task: DeferredTask) -> None:
        """Removes a task. Where its file stays, the next process repeats it, which adds nothing."""
        with contextlib.suppress(OSError):
            self._path(task).unlink(missing_ok=True)

    def all(self) -> list[DeferredTask]:
        """The tasks on disk, oldest first. Unreadable ones are skipped; `doctor` reports them."""
        found: list[DeferredTask] = []
        for folder, _, names in os.walk(self._folder):
            for name in names:
                if name.endswith(_SUFFIX) and (task := self._read(Path(folder) / name)) is not None:
                    found.append(task)
        return sorted(found, key=lambda task: (task.session, task.upto))

    def _read(self, file: Path) -> DeferredTask | None:
        try:
            data = load_json(file.read_text("utf-8"))
            scope = Scope(Audience(data["audience"]), self._workspace, data["id"], GroupLogs(data["logs"]))
            path = file.parent.relative_to(self._folder).as_posix()
            return DeferredTask(path, str(data["session"]), scope, ContextLossReason(data["reason"]), str(data["upto"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _path(self, task: DeferredTask) -> Path:
        return self._folder.joinpath(*task.path.split("/")) / f"{task.session}-{task.upto}{_SUFFIX}"


def _as_text(task: DeferredTask, tries: int) -> str:
    scope = task.scope
    return json.dumps(
        {
            "tries": tries,
            "session": task.session,
            "audience": str(scope.audience),
            "id": scope.id,
            "logs": str(scope.group_logs),
            "reason": str(task.reason),
            "upto": task.upto,
        }
    )


def _tries(data: bytes) -> int:
    try:
        tries = load_json(data).get("tries")
    except (ValueError, AttributeError):
        return 0
    return tries if isinstance(tries, int) else 0


_log = logging.getLogger(__name__)

MOST_TRIES = 5
"""Of a task that fails because of the model. Failures of the disk are not counted."""


class DeferredWork:
    """Does one task after the other. A `RetryLater` waits until another task succeeds, a turn is answered (`again`), or
    the next start; after any other failure the task is given up."""

    def __init__(self, store: DeferredStore, do: Callable[[DeferredTask], Awaitable[None]]) -> None:
        self._store = store
        self._do = do
        self._queue: asyncio.Queue[DeferredTask] = asyncio.Queue()
        self._known: set[DeferredTask] = set()
        self._put_off: list[DeferredTask] = []
        self._taken_up = asyncio.Event()
        self._is_refused = False
        self.on_refused: Callable[[str], Awaitable[None]] = _nobody
        """Called at the first task whose files cannot be written, not again before a task was done."""

    async def defer(self, task: DeferredTask) -> None:
        """Raises `OSError`, and then there is no task."""
        self._known.add(task)  # before it is on disk, where `take_up` would find it and add it a second time
        try:
            await asyncio.to_thread(self._store.note, task)
        except BaseException:
            self._known.discard(task)
            raise
        self._queue.put_nowait(task)

    def again(self) -> None:
        """Queues the tasks that were put off: a model answers again."""
        for task in self._put_off:
            self._known.add(task)
            self._queue.put_nowait(task)
        self._put_off.clear()

    @property
    def paths(self) -> frozenset[str]:
        """The session keys' paths of all tasks that are not done."""
        return frozenset(task.path for task in (*self._known, *self._put_off))

    @property
    def active_paths(self) -> frozenset[str]:
        """The session keys' paths of the tasks that are about to be done, without those put off."""
        return frozenset(task.path for task in self._known)

    def let_go(self, paths: Collection[str]) -> None:
        """Leaves the tasks of these paths that are put off to the `take_up` of another process."""
        self._put_off = [task for task in self._put_off if task.path not in paths]

    async def take_up(self, may: Callable[[str], Awaitable[bool]]) -> None:
        """Adds the tasks that other processes left, of the session keys' paths that `may` allows."""
        for task in await asyncio.to_thread(self._store.all):
            if self._is_new(task) and await may(task.path) and self._is_new(task):
                self._known.add(task)
                self._queue.put_nowait(task)

    def _is_new(self, task: DeferredTask) -> bool:
        return task not in self._known and task not in self._put_off

    async def run(self, *, take_up: bool = True) -> None:
        """Does the tasks that an earlier process left, unless those are left to `take_up`, then each that comes."""
        if take_up:
            await self.take_up(_all)
        self._taken_up.set()
        while True:
            task = await self._queue.get()
            try:
                await self._do(task)
            except RetryLater as problem:
                await self._later(task, problem)
            except OSError as error:
                await self._wait_for_disk(task, cannot(error))
            except Exception:
                _log.exception("%s: deferred work failed", task.source)
                await asyncio.to_thread(self._store.done, task)
            else:
                await asyncio.to_thread(self._store.done, task)
                self._is_refused = False
                self.again()
            self._known.discard(task)
            self._queue.task_done()

    async def _later(self, task: DeferredTask, problem: RetryLater) -> None:
        if isinstance(problem.__cause__, FileError):
            return await self._wait_for_disk(task, str(problem))
        try:
            tries = await asyncio.to_thread(self._store.failed, task)
        except OSError as error:
            return await self._wait_for_disk(task, cannot(error))
        if tries >= MOST_TRIES:
            _log.error("%s: given up after %d tries: %s", task.source, tries, problem)
            await asyncio.to_thread(self._store.done, task)
            return None
        _log.warning("%s: put off after try %d of %d: %s", task.source, tries, MOST_TRIES, problem)
        self._put_off.append(task)
        return None

    async def _wait_for_disk(self, task: DeferredTask, why: str) -> None:
        """Puts the task off without counting a try: nothing is wrong with it. Who owns the files is told once."""
        _log.error("%s: put off until it can be written: %s", task.source, why)
        self._put_off.append(task)
        if not self._is_refused:
            self._is_refused = True
            await self.on_refused(why)

    async def idle(self) -> None:
        await self._taken_up.wait()
        await self._queue.join()


async def _all(_: str) -> bool:
    return True


async def _nobody(_: str) -> None:
    """There is nobody to tell."""
