"""Deferred work of sessions, on disk until it is done: one small file each beside the transcript. Blocks."""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import dataclass
from pathlib import Path

from agent.compaction.flush_state import ContextLossReason
from agent.formats.parsing import load_json
from agent.fs import write_whole
from agent.memory.scope import Audience, Scope
from agent.settings import GroupLogs

_SUFFIX = ".owed"


class RetryLater(Exception):
    """The work could not be done now and is to be tried again. The text says why."""


@dataclass(frozen=True, slots=True)
class DeferredTask:
    """`path` is the session key's, `session` the transcript's id. `upto`: the compaction whose dropped part is meant,
    or the last entry of a session that was left."""

    path: str
    session: str
    scope: Scope
    reason: ContextLossReason
    upto: str

    @property
    def source(self) -> str:
        """The name of that part in HISTORY.md."""
        return f"talk {self.session} {self.upto}"


class DeferredStore:
    """`folder` holds the sessions of one agent whose workspace is `workspace`."""

    def __init__(self, folder: Path, workspace: Path) -> None:
        self._folder = folder
        self._workspace = workspace

    def note(self, owed: DeferredTask) -> None:
        """Stores a task. Raises `OSError`."""
        self._write(owed, tries=0)

    def failed(self, owed: DeferredTask) -> int:
        """Counts a failed try and returns the number of tries. Raises `OSError`."""
        tries = self._tries(owed) + 1
        self._write(owed, tries)
        return tries

    def _tries(self, owed: DeferredTask) -> int:
        try:
            tries = load_json(self._place(owed).read_text("utf-8")).get("tries")
        except (OSError, ValueError, AttributeError):
            return 0
        return tries if isinstance(tries, int) else 0

    def _write(self, owed: DeferredTask, tries: int) -> None:
        place = self._place(owed)
        scope = owed.scope
        data = {
            "tries": tries,
            "session": owed.session,
            "audience": str(scope.audience),
            "id": scope.id,
            "logs": str(scope.group_logs),
            "reason": str(owed.reason),
            "upto": owed.upto,
        }
        write_whole(place, json.dumps(data))

    def done(self, owed: DeferredTask) -> None:
        """Removes a task. Where its file cannot be removed, the next process repeats it, which adds nothing."""
        with contextlib.suppress(OSError):
            self._place(owed).unlink(missing_ok=True)

    def all(self) -> list[DeferredTask]:
        """The tasks, oldest first. Unreadable ones are skipped; `doctor` reports them."""
        found: list[DeferredTask] = []
        for folder, _, names in os.walk(self._folder):
            for name in names:
                if name.endswith(_SUFFIX) and (owed := self._read(Path(folder) / name)) is not None:
                    found.append(owed)
        return sorted(found, key=lambda owed: (owed.session, owed.upto))

    def _read(self, place: Path) -> DeferredTask | None:
        try:
            data = load_json(place.read_text("utf-8"))
            scope = Scope(Audience(data["audience"]), self._workspace, data["id"], GroupLogs(data["logs"]))
            path = place.parent.relative_to(self._folder).as_posix()
            return DeferredTask(path, str(data["session"]), scope, ContextLossReason(data["reason"]), str(data["upto"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _place(self, owed: DeferredTask) -> Path:
        return self._folder.joinpath(*owed.path.split("/")) / f"{owed.session}-{owed.upto}{_SUFFIX}"
