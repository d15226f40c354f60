"""The change history: every change that Daybook makes to memory, with its undo. Blocks.

One SQLite file per agent in `state/`. A change is recorded before its file is written: a crash can leave an entry
without effect, never the reverse. The recorder in force is a context variable, which threads inherit.
"""

from __future__ import annotations

import enum
import logging
import secrets
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Protocol

from agent.clock import Clock, utc_stamp
from agent.formats.sqlite import StorageUnavailable, connect, storage_errors, transaction
from agent.languages.sentences import Sentence
from agent.memory.patch import FilePatch
from agent.memory.paths import make_private
from agent.memory.provenance import sources_in, with_mark
from agent.memory.scope import Scope


class Recorder(Protocol):
    """Records edits for undo. If `record` raises `OSError`, the edit is not made; `withdraw` removes the last edit if
    its write failed."""

    def record(self, edit: FilePatch) -> None: ...

    def withdraw(self) -> None: ...


_recorder: ContextVar[Recorder | None] = ContextVar("recorder", default=None)


def recorder() -> Recorder | None:
    return _recorder.get()


@contextmanager
def recording(into: Recorder) -> Iterator[None]:
    token = _recorder.set(into)
    try:
        yield
    finally:
        _recorder.reset(token)


@contextmanager
def record_around(edit: FilePatch) -> Iterator[None]:
    """Records an edit around its write, and withdraws it on failure."""
    into = _recorder.get()
    if into is not None:
        into.record(edit)
    try:
        yield
    except BaseException:
        if into is not None:
            into.withdraw()
        raise


_log = logging.getLogger(__name__)

UNDO_FORGET_WITHIN = timedelta(minutes=10)
"""The time to undo a forget."""
FORGET = "/forget"
UNDO = "undo"
IMPORT = "import "
"""Begins the signature of an import, before its kind."""
_FORGOTTEN = "(forgotten)"
_SUMMARY_CHARS = 80
_SCHEMA = """
CREATE TABLE IF NOT EXISTS changes (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, ts TEXT NOT NULL, scope TEXT NOT NULL, session TEXT NOT NULL,
    by TEXT NOT NULL, path TEXT NOT NULL, summary TEXT NOT NULL, undone_by TEXT NOT NULL DEFAULT ''
);
CREATE TABLE IF NOT EXISTS edits (
    number INTEGER PRIMARY KEY, change TEXT NOT NULL, path TEXT NOT NULL, at INTEGER NOT NULL,
    removed BLOB, added BLOB, above BLOB, below BLOB, existed INTEGER NOT NULL, exists_ INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS edits_of ON edits (change);
CREATE INDEX IF NOT EXISTS changes_of ON changes (session);
"""
_COLUMNS = "id, ts, scope, session, by, path, summary, undone_by"


class NoSuchChange(LookupError):
    """No change, or several, match the id. The text is a sentence."""


class ChangeKind(enum.StrEnum):
    DELETED = "deleted"
    CHANGED = "changed to"
    ADDED = "added"
    NEW = "new"
    REMOVED = "removed"


_TOLD = {
    ChangeKind.DELETED: Sentence("deleted: {words}"),
    ChangeKind.CHANGED: Sentence("changed to: {words}"),
    ChangeKind.ADDED: Sentence("added: {words}"),
    ChangeKind.NEW: Sentence("new: {words}"),
    ChangeKind.REMOVED: Sentence("removed: {words}"),
}


@dataclass(frozen=True, slots=True)
class Change:
    """`scope` as `Scope.name`; `session` empty: not offered by `/undo`."""

    id: str
    ts: str
    """ISO 8601 in UTC."""
    scope: str
    session: str
    by: str
    """A tool, a command, flush…"""
    path: str
    """The first file."""
    summary: str
    undone_by: str

    @property
    def told(self) -> str:
        """The summary, to be said in any language."""
        if self.summary == _FORGOTTEN:
            return Sentence("(forgotten)")
        kind, colon, words = self.summary.partition(": ")
        return Sentence(_TOLD[ChangeKind(kind)], words=words) if colon and kind in set(ChangeKind) else self.summary


@dataclass(frozen=True, slots=True)
class _ForgottenEdits:
    until: datetime
    edits: list[FilePatch] = field(default_factory=list)


class History:
    def __init__(self, file: Path, clock: Clock) -> None:
        self._file = file
        self._clock = clock
        self._restorable: dict[str, _ForgottenEdits] = {}
        self._skipped: set[str] = set()

    def author(self, scope: Scope, session: str = "") -> Author:
        return Author(self, scope, session)

    def changes(self, scope: str | None = None, most: int = -1) -> list[Change]:
        """Changes, newest first. Raises `StorageUnavailable`."""
        wanted, values = ("WHERE scope = ?", [scope]) if scope else ("", [])
        with self._reading() as db:
            rows = db.execute(
                f"SELECT {_COLUMNS} FROM changes {wanted} ORDER BY number DESC LIMIT ?", [*values, most]
            ).fetchall()
        return [Change(*row) for row in rows]

    def signed(self, beginning: str) -> list[Change]:
        """Changes whose signature begins so, newest first. Raises `StorageUnavailable`."""
        return [change for change in self.changes() if change.by.startswith(beginning)]

    def find(self, id: str) -> Change:
        """The change with that id, or the only change whose id ends so. Raises `NoSuchChange`, `StorageUnavailable`."""
        with self._reading() as db:
            rows = db.execute(
                f"SELECT {_COLUMNS} FROM changes WHERE id = ?1 OR (length(?1) > 3 AND substr(id, -length(?1)) = ?1)",
                [id],
            ).fetchall()
        exact = [row for row in rows if row[0] == id] or rows
        if len(exact) != 1:
            raise NoSuchChange(f"there is no change {id!r}" if not exact else f"{id!r} fits {len(exact)} changes")
        return Change(*exact[0])

    def last(self, session: str) -> Change | None:
        """The last change that can be undone and was not passed over."""
        self._drop_expired()
        with self._reading() as db:
            rows = db.execute(
                f"SELECT {_COLUMNS} FROM changes WHERE session = ? AND undone_by = '' AND by != ? ORDER BY number DESC",
                [session, UNDO],
            )
            changes = (Change(*row) for row in rows if row[0] not in self._skipped)
            return next(
                (change for change in changes if change.summary != _FORGOTTEN or change.id in self._restorable), None
            )

    def of_id(self, session: str, id: str) -> Change | None:
        with self._reading() as db:
            rows = db.execute(
                f"SELECT {_COLUMNS} FROM changes WHERE session = ? AND undone_by = '' AND id = ?", [session, id]
            )
            return next((Change(*row) for row in rows), None)

    def pass_over(self, change: Change) -> None:
        """Has `last` skip a change that cannot be undone."""
        self._skipped.add(change.id)

    def last_edit(self, counts: Callable[[str], bool]) -> str:
        """Names the newest edit of a path that counts; empty for none. Raises `StorageUnavailable`."""
        with self._reading() as db:
            rows = db.execute("SELECT change, number, path FROM edits ORDER BY number DESC")
            return next((f"{change}:{number}" for change, number, path in rows if counts(path)), "")

    def edits(self, change: Change) -> tuple[FilePatch, ...] | None:
        """The change's edits; None if their text is forgotten."""
        self._drop_expired()
        if change.by == FORGET:
            kept = self._restorable.get(change.id)
            return tuple(kept.edits) if kept is not None else None
        edits, forgotten = self.kept_edits(change)
        return None if forgotten else edits

    def kept_edits(self, change: Change) -> tuple[tuple[FilePatch, ...], tuple[str, ...]]:
        """The edits whose text is kept, and the paths of those whose text is forgotten."""
        with self._reading() as db:
            rows = db.execute(
                "SELECT path, at, removed, added, above, below, existed, exists_ FROM edits WHERE change = ? "
                "ORDER BY number",
                [change.id],
            ).fetchall()
        edits = tuple(
            FilePatch(path, at, removed, added, above, below, bool(existed), bool(exists))
            for path, at, removed, added, above, below, existed, exists in rows
            if removed is not None
        )
        return edits, tuple(row[0] for row in rows if row[2] is None)

    def undone(self, change: Change, by: str) -> None:
        """Marks a change as undone. Undoing an undo makes the first change undoable again."""
        with self._writing() as db:
            db.execute("UPDATE changes SET undone_by = ? WHERE id = ?", [by, change.id])
            db.execute("UPDATE changes SET undone_by = '' WHERE undone_by = ?", [change.id])

    def forget(self, scope: str, holds: Callable[[str, str], bool]) -> None:
        """Overwrites the text of each edit of the scope with `holds(path, text)`. Raises `StorageUnavailable`."""
        with self._writing() as db:
            rows = db.execute(
                "SELECT e.number, c.id, e.path, e.removed, e.added, e.above, e.below FROM edits e "
                "JOIN changes c ON c.id = e.change WHERE c.scope = ? AND e.removed IS NOT NULL",
                [scope],
            ).fetchall()
            for number, change, path, *parts in rows:
                if any(holds(path, part.decode("utf-8", "replace")) for part in parts):
                    db.execute(
                        "UPDATE edits SET removed = NULL, added = NULL, above = NULL, below = NULL WHERE number = ?",
                        [number],
                    )
                    db.execute("UPDATE changes SET summary = ? WHERE id = ?", [_FORGOTTEN, change])

    # for the unit of work below ---------------------------------------------------------------------------------

    def begin(self, scope: str, session: str, by: str, edit: FilePatch) -> str:
        now = self._clock.instant()
        id = f"{now:%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"
        summary = _FORGOTTEN if by == FORGET else _summary(edit)
        with self._writing() as db:
            db.execute(
                "INSERT INTO changes (id, ts, scope, session, by, path, summary) VALUES (?, ?, ?, ?, ?, ?, ?)",
                [id, utc_stamp(now), scope, session, by, edit.path, summary],
            )
            self._insert_edit(db, id, by, edit)
        return id

    def add(self, id: str, by: str, edit: FilePatch) -> None:
        with self._writing() as db:
            self._insert_edit(db, id, by, edit)

    def withdraw(self, id: str) -> None:
        """Removes a change's last edit, and a change without edits. A failure leaves a harmless entry."""
        if kept := self._restorable.get(id):
            kept.edits.pop()
        with suppress(StorageUnavailable), self._writing() as db:
            db.execute("DELETE FROM edits WHERE number = (SELECT max(number) FROM edits WHERE change = ?)", [id])
            db.execute("DELETE FROM changes WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM edits WHERE change = ?1)", [id])

    def _insert_edit(self, db: sqlite3.Connection, id: str, by: str, edit: FilePatch) -> None:
        text: Sequence[bytes | None] = (edit.removed, edit.added, edit.above, edit.below)
        if by == FORGET:
            kept = self._restorable.setdefault(id, _ForgottenEdits(self._clock.instant() + UNDO_FORGET_WITHIN))
            kept.edits.append(edit)
            text = (None, None, None, None)
        db.execute(
            "INSERT INTO edits (change, path, at, removed, added, above, below, existed, exists_) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [id, edit.path, edit.at, *text, edit.existed, edit.exists],
        )

    def _drop_expired(self) -> None:
        now = self._clock.instant()
        for id, kept in list(self._restorable.items()):  # other threads add entries
            if kept.until <= now:
                self._restorable.pop(id, None)

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        self._drop_expired()
        with self._reading() as db, transaction(db):
            yield db

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with storage_errors("the change history"), closing(self._connect_or_replace()) as db:
            yield db

    def _connect_or_replace(self) -> sqlite3.Connection:
        try:
            return self._connect()
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError as damage:
            aside = self._file.with_name(f"{self._file.name}.damaged")
            _log.error("the change history is damaged (%s); moved it to %s and started a new one", damage, aside.name)
            self._file.replace(aside)
            return self._connect()

    def _connect(self) -> sqlite3.Connection:
        make_private(self._file.parent)
        db = connect(self._file)
        try:
            db.executescript(_SCHEMA)
        except BaseException:
            db.close()
            raise
        return db


@dataclass(frozen=True, slots=True)
class Author:
    """`session` is empty for Daybook itself."""

    history: History
    scope: Scope
    session: str

    @contextmanager
    def writes(self, by: str) -> Iterator[ChangeRecorder]:
        """Records all writes inside as one change, signed `by`. Nested blocks record their own, with the outer
        signature."""
        around = recorder()
        if isinstance(around, ChangeRecorder):
            unit = ChangeRecorder(self.history, around.scope, around.session, around.by)
        else:
            unit = ChangeRecorder(self.history, self.scope.name, self.session, by)
        with recording(unit):
            yield unit


class ChangeRecorder:
    """`id` is empty until something changes; `edits` counts writes."""

    def __init__(self, history: History, scope: str, session: str, by: str) -> None:
        self._history = history
        self.scope = scope
        self.session = session
        self.by = by
        self.id = ""
        self.edits = 0

    def record(self, edit: FilePatch) -> None:
        if self.id:
            self._history.add(self.id, self.by, edit)
        else:
            self.id = self._history.begin(self.scope, self.session, self.by, edit)
        self.edits += 1

    def withdraw(self) -> None:
        self._history.withdraw(self.id)
        self.edits -= 1
        if not self.edits:
            self.id = ""


def _summary(edit: FilePatch) -> str:
    if not edit.exists:
        return f"{ChangeKind.DELETED}: {_first_words(edit.removed)}"
    if edit.added.strip():
        of_new = ChangeKind.ADDED if edit.existed else ChangeKind.NEW
        return f"{ChangeKind.CHANGED if edit.removed.strip() else of_new}: {_first_words(edit.added)}"
    return f"{ChangeKind.REMOVED}: {_first_words(edit.removed)}"


def _first_words(data: bytes) -> str:
    lines = [line.strip() for line in data.decode("utf-8", "replace").splitlines()]
    informative = [line for line in lines if line and not line.startswith(("#", "---", "<!--"))] or [
        line for line in lines if line
    ]
    words = informative[0].removeprefix("- ") if informative else "nothing"
    cut = words if len(words) <= _SUMMARY_CHARS else words[: _SUMMARY_CHARS - 1].rstrip() + "…"
    return with_mark(cut, sources_in("\n".join(lines)))
