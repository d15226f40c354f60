"""Taking a change of memory back: all of it or nothing, and never over what somebody wrote since. Blocks."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from agent.clock import Clock
from agent.memory import daily
from agent.memory.edits import Edit, undone
from agent.memory.files import inside, put_back, read_bytes
from agent.memory.history import FORGET, UNDO, Change, History
from agent.memory.reach import FileError
from agent.memory.scope import Scope


class NotRestored(FileError):
    """The change stays as it is; the text says why."""


def restore(history: History, scope: Scope, clock: Clock, change: Change, session: str = "") -> tuple[str, ...]:
    """Undo a change of `scope`; gives the files that changed, relative to the scope's folder. That is a change of its
    own, which can be undone in turn.

    Raises `FileError`: `NotRestored`, or `edits.Conflict` with the text of the file where it was edited there since.
    """
    if change.undone_by:
        raise NotRestored(f"this change is undone already; restore {change.undone_by} to bring it back")
    edits = history.edits(change)
    if edits is None:
        raise NotRestored("the text of this change was forgotten and is not kept anywhere")
    redacts = change.by == FORGET
    _rehearse(scope, clock, edits, redacts)
    with history.author(scope, session).writes(UNDO) as unit:
        for edit in reversed(edits):
            put_back(inside(scope, edit.path), scope.folder, clock.today(), partial(undone, edit), redacts=redacts)
    history.undone(change, unit.id or UNDO)
    return tuple(dict.fromkeys(edit.path for edit in edits))


def _rehearse(scope: Scope, clock: Clock, edits: Sequence[Edit], redacts: bool) -> None:
    """So that a change of several files is undone in all of them or in none."""
    now: dict[str, bytes | None] = {}
    for edit in reversed(edits):
        path = inside(scope, edit.path)
        if not redacts and daily.closed(path, clock.today()):
            raise NotRestored(
                f"{edit.path} is the log of another day, which is never changed; /forget strikes things out"
            )
        if edit.path not in now:
            now[edit.path] = read_bytes(path, scope.folder)
        now[edit.path] = undone(edit, now[edit.path])
