"""Taking a change of memory back: all of it or nothing, and never over what somebody wrote since. Blocks.

In the log of a past day and in HISTORY.md, which otherwise only grow, what was added is struck out by a mark
(`[undone 2026-11-21]`) in its place, as forgetting does. That is the one exception of invariant 7.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path

from agent.clock import Clock
from agent.memory import daily_log
from agent.memory.files import inside, put_back, read_bytes
from agent.memory.history import FORGET, UNDO, Change, History
from agent.memory.patch import FilePatch, undone
from agent.memory.paths import FileError
from agent.memory.scope import Scope


class NotRestored(FileError):
    """The change stays as it is; the text says why."""


def restore(history: History, scope: Scope, clock: Clock, change: Change, session: str = "") -> tuple[str, ...]:
    """Undo a change of `scope`; gives the files that changed, relative to the scope's folder. That is a change of its
    own, which can be undone in turn.

    Raises `HistoryUnavailable`, and `FileError`: `NotRestored`, or `patch.Conflict` with the text of the file where it
    was edited there since.
    """
    if change.undone_by:
        raise NotRestored(f"this change is undone already; restore {change.undone_by} to bring it back")
    edits = history.edits(change)
    if edits is None:
        raise NotRestored("the text of this change was forgotten and is not kept anywhere")
    today = clock.today()
    undoings = [_undoing(scope, today, change, edit) for edit in reversed(edits)]
    _rehearse(scope, undoings)
    with history.author(scope, session).writes(UNDO) as unit:
        for one in undoings:
            put_back(one.path, scope.folder, today, partial(undone, one.edit, leaving=one.leaving), redacts=one.redacts)
    history.undone(change, unit.id or UNDO)
    return tuple(dict.fromkeys(edit.path for edit in edits))


@dataclass(frozen=True, slots=True)
class _Undoing:
    """How one edit is taken back. `leaving` stands in the place of what was added, where it is not what was there
    before; `redacts`: the file is the log of a past day, or HISTORY.md."""

    path: Path
    edit: FilePatch
    leaving: bytes | None
    redacts: bool


def _undoing(scope: Scope, today: date, change: Change, edit: FilePatch) -> _Undoing:
    path = inside(scope, edit.path)
    past = daily_log.closed(path, today) is not None
    if not past or change.by == FORGET or (change.by == UNDO and edit.removed):  # brings back what stood there
        return _Undoing(path, edit, None, past)
    if not edit.added.startswith(edit.removed):
        raise NotRestored(f"{edit.path} only grows: a change in it cannot be undone, only struck out")
    added = edit.added[len(edit.removed) :].decode("utf-8", "surrogateescape")
    end = "\n" if added.endswith("\n") else ""
    mark = daily_log.struck(added, f"[undone {today.isoformat()}]") + end
    return _Undoing(path, edit, edit.removed + mark.encode("utf-8", "surrogateescape"), past)


def _rehearse(scope: Scope, undoings: Sequence[_Undoing]) -> None:
    """So that a change of several files is undone in all of them or in none."""
    now: dict[Path, bytes | None] = {}
    for one in undoings:
        if one.path not in now:
            now[one.path] = read_bytes(one.path, scope.folder)
        now[one.path] = undone(one.edit, now[one.path], leaving=one.leaving)
