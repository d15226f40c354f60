"""How SQLite is opened: modes, pragmas, any text, one exception."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from agent.formats.plain_text import repair_surrogates

_BUSY = 5.0
"""Seconds to wait for another process that writes."""
_READER_BUSY = 2.0


class StorageUnavailable(OSError):
    """A database cannot be used now; a write was undone. The text is a sentence."""

    def __init__(self, sentence: str) -> None:
        super().__init__(0, sentence)

    def __str__(self) -> str:
        return str(self.strerror)


@contextmanager
def storage_errors(what: str) -> Iterator[None]:
    """Raises `StorageUnavailable` for SQLite's errors."""
    try:
        yield
    except sqlite3.Error as error:
        raise StorageUnavailable(f"{what} cannot be used ({error})") from error


def connect(path: Path | None, *, wal: bool = False, synchronous: str = "FULL") -> sqlite3.Connection:
    """A database (mode 0600), in memory without `path`. Statements commit by themselves outside of a `transaction`; one
    thread at a time. Raises `sqlite3.Error`, `OSError`."""
    if path is not None and not path.exists():
        path.touch(mode=0o600)
    db = sqlite3.connect(
        path or ":memory:", timeout=_BUSY, isolation_level=None, check_same_thread=False, factory=WholeTextConnection
    )
    try:
        if wal:
            db.execute("PRAGMA journal_mode = WAL")
        db.execute(f"PRAGMA synchronous = {synchronous}")
        db.execute("PRAGMA secure_delete = ON")  # forgotten text is overwritten, not only unlinked
    except BaseException:
        db.close()
        raise
    return db


@contextmanager
def connect_read_only(path: Path) -> Iterator[sqlite3.Connection]:
    """Reads beside a writer. Raises `sqlite3.Error`."""
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=_READER_BUSY)) as db:
        db.row_factory = sqlite3.Row
        yield db


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """All writes inside, or none. Raises `sqlite3.Error`."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


class WholeTextConnection(sqlite3.Connection):
    """Repairs text before writing: a lone surrogate would fail a commit."""

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        try:
            return super().execute(sql, parameters)
        except UnicodeEncodeError:
            return super().execute(sql, _whole(parameters))

    def executemany(self, sql: str, parameters: Iterable[Any], /) -> sqlite3.Cursor:
        return super().executemany(sql, [_whole(row) for row in parameters])


def _whole(parameters: Any) -> Any:
    if isinstance(parameters, Mapping):
        return {name: _whole_value(value) for name, value in parameters.items()}
    return [_whole_value(value) for value in parameters]


def _whole_value(value: Any) -> Any:
    return repair_surrogates(value) if isinstance(value, str) else value
