"""Undoes a memory change completely or not at all, never over later edits. Blocks.

In past logs and HISTORY.md a mark (`[undone 2026-11-21]`) replaces the text, the exception of invariant 7.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path

from agent.clock import Clock
from agent.languages.sentences import Sentence
from agent.memory import daily_log
from agent.memory.files import inside, put_back, read_bytes
from agent.memory.history import FORGET, IMPORT, UNDO, Change, History
from agent.memory.patch import Conflict, FilePatch, undo_edit
from agent.memory.paths import FileError
from agent.memory.scope import Scope


class NotRestored(FileError):
    pass


def restore(history: History, scope: Scope, clock: Clock, change: Change, session: str = "") -> tuple[str, ...]:
    """Undoes a change; returns the paths. The undo can itself be undone. Raises `StorageUnavailable`, `NotRestored`,
    and `patch.Conflict` if the file was edited there since."""
    if change.undone_by:
        raise NotRestored(
            Sentence("this change is undone already; restore {change} to bring it back", change=change.undone_by)
        )
    edits = history.edits(change)
    if edits is None:
        raise NotRestored(Sentence("the text of this change was forgotten and is not kept anywhere"))
    today = clock.today()
    steps = [_plan_step(scope, today, change, edit) for edit in reversed(edits)]
    _check_all(scope, steps)
    with history.author(scope, session).writes(UNDO) as unit:
        for step in steps:
            put_back(
                step.path,
                scope.folder,
                today,
                partial(undo_edit, step.edit, replacement=step.replacement),
                redacts=step.redacts,
            )
    history.undone(change, unit.id or UNDO)
    return tuple(dict.fromkeys(edit.path for edit in edits))


def take_back(scope: Scope, clock: Clock, edits: Iterable[FilePatch]) -> tuple[set[str], dict[str, str]]:
    """Undoes each edit, newest first, whose file is as the edit left it. Returns the paths undone, and those kept, with
    the reason. Skips files that are deleted or, after a crash, were never written."""
    done: set[str] = set()
    kept: dict[str, str] = {}
    for edit in edits:
        try:
            path = inside(scope, edit.path)
            if read_bytes(path, scope.folder) is None:
                continue
            put_back(path, scope.folder, clock.today(), partial(undo_edit, edit), redacts=True)
        except Conflict:
            kept[edit.path] = Sentence("it was changed since")
        except FileError as problem:
            kept[edit.path] = str(problem)
        else:
            done.add(edit.path)
            _remove_empty_folders(path, scope.folder / "memory")
    return done, kept


def _remove_empty_folders(path: Path, stays: Path) -> None:
    """Removes folders that became empty, up to the workspace or its memory."""
    for folder in path.parents:
        if folder == stays or stays.is_relative_to(folder):
            return
        try:
            folder.rmdir()
        except OSError:  # not empty
            return


@dataclass(frozen=True, slots=True)
class _UndoStep:
    path: Path
    edit: FilePatch
    replacement: bytes | None
    redacts: bool
    """The file is a past log or HISTORY.md."""


def _plan_step(scope: Scope, today: date, change: Change, edit: FilePatch) -> _UndoStep:
    path = inside(scope, edit.path)
    past = daily_log.refusal_to_change(path, today) is not None
    if (
        not past or change.by == FORGET or change.by.startswith(IMPORT) or (change.by == UNDO and edit.removed)
    ):  # restores the original
        return _UndoStep(path, edit, None, past)
    if not edit.added.startswith(edit.removed):
        raise NotRestored(
            Sentence("{file} only grows: a change in it cannot be undone, only struck out", file=edit.path)
        )
    added = edit.added[len(edit.removed) :].decode("utf-8", "surrogateescape")
    end = "\n" if added.endswith("\n") else ""
    mark = daily_log.strike_out(added, f"[undone {today.isoformat()}]") + end
    return _UndoStep(path, edit, edit.removed + mark.encode("utf-8", "surrogateescape"), past)


def _check_all(scope: Scope, steps: Sequence[_UndoStep]) -> None:
    """Tries all edits in memory, so that all files are undone or none."""
    now: dict[Path, bytes | None] = {}
    for step in steps:
        if step.path not in now:
            now[step.path] = read_bytes(step.path, scope.folder)
        now[step.path] = undo_edit(step.edit, now[step.path], replacement=step.replacement)
