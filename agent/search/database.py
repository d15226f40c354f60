"""The SQLite file of a scope's index. Ids are never reused, so readers know new and removed rows by id."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agent.formats import sqlite
from agent.formats.sqlite import StorageUnavailable
from agent.languages.sentences import Sentence
from agent.languages.system_errors import system_says
from agent.memory.paths import make_private

VERSION = "10"
_CACHE_KB = 8_000
_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE file (
    id INTEGER PRIMARY KEY AUTOINCREMENT, path TEXT NOT NULL UNIQUE, signature TEXT NOT NULL, sha TEXT NOT NULL,
    problem TEXT NOT NULL, named INTEGER NOT NULL, revision INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE section (
    id INTEGER PRIMARY KEY, file INTEGER NOT NULL, earliest INTEGER NOT NULL, day INTEGER NOT NULL,
    dated INTEGER NOT NULL, kind INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, tokens TEXT NOT NULL
);
CREATE INDEX section_file ON section (file);
CREATE INDEX section_day ON section (day);
CREATE INDEX section_earliest ON section (earliest);
CREATE TABLE passage (
    id INTEGER PRIMARY KEY AUTOINCREMENT, file INTEGER NOT NULL, section INTEGER NOT NULL, first INTEGER NOT NULL,
    last INTEGER NOT NULL, speaker TEXT NOT NULL, size INTEGER NOT NULL, tokens TEXT NOT NULL, text TEXT NOT NULL
);
CREATE INDEX passage_file ON passage (file);
CREATE TABLE speaker (name TEXT NOT NULL, file INTEGER NOT NULL, PRIMARY KEY (name, file)) WITHOUT ROWID;
CREATE INDEX speaker_file ON speaker (file);
CREATE TABLE alias (forms TEXT NOT NULL, file INTEGER NOT NULL, PRIMARY KEY (forms, file)) WITHOUT ROWID;
CREATE INDEX alias_file ON alias (file);
CREATE TABLE greeted (
    speaker TEXT NOT NULL, name TEXT NOT NULL, file INTEGER NOT NULL, PRIMARY KEY (speaker, name, file)
) WITHOUT ROWID;
CREATE INDEX greeted_file ON greeted (file);
CREATE TABLE window (
    id INTEGER PRIMARY KEY, file INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
    earliest INTEGER NOT NULL, day INTEGER NOT NULL
);
CREATE INDEX window_file ON window (file);
CREATE TABLE embedded (
    first INTEGER NOT NULL, last INTEGER NOT NULL, key BLOB NOT NULL, PRIMARY KEY (first, last)
) WITHOUT ROWID;
CREATE INDEX embedded_key ON embedded (key);
CREATE TABLE vector (
    id INTEGER PRIMARY KEY AUTOINCREMENT, model TEXT NOT NULL, key BLOB NOT NULL, vector BLOB NOT NULL,
    UNIQUE (model, key)
);
CREATE TABLE doubtful (key BLOB PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE dropped (times INTEGER NOT NULL);
INSERT INTO dropped VALUES (0);
CREATE TRIGGER passage_gone AFTER DELETE ON passage BEGIN
    DELETE FROM embedded WHERE first = old.id AND last = old.id;
END;
CREATE TRIGGER window_gone AFTER DELETE ON window BEGIN
    DELETE FROM embedded WHERE first = old.first AND last = old.last;
END;
CREATE TRIGGER embedded_gone AFTER DELETE ON embedded BEGIN
    INSERT OR IGNORE INTO doubtful VALUES (old.key);
END;
CREATE VIRTUAL TABLE words USING fts5 (tokens, content='', tokenize='ascii');
CREATE VIRTUAL TABLE vocabulary USING fts5vocab (words, 'row');
"""


class Damaged(Exception):
    """The file is corrupt, or not an index of this version and scope."""


def create_index(path: Path | None, scope: str, cut: str) -> sqlite3.Connection:
    """Create an empty index, in memory without `path`. `cut` names how windows are made. Raises `Damaged`,
    `StorageUnavailable`."""
    with translate_errors():
        if path is not None:
            make_private(path.parent)
        db = _open(path)
        db.executescript(_SCHEMA)
        with transaction(db):
            db.executemany("INSERT INTO meta VALUES (?, ?)", [("version", VERSION), ("scope", scope), ("cut", cut)])
        return db


def open_index(path: Path, scope: str, cut: str) -> sqlite3.Connection:
    """Open an index. Raises `StorageUnavailable`, and `Damaged`, also for another version, scope or cut."""
    with translate_errors():
        db = _open(path)
        try:
            meta = dict(db.execute("SELECT key, value FROM meta").fetchall())
            if meta != {"version": VERSION, "scope": scope, "cut": cut}:
                raise Damaged("it was made by another version or with other settings")
            return db
        except BaseException:
            db.close()
            raise


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """All writes inside, or none. Raises `Damaged`, `StorageUnavailable`."""
    with translate_errors(), sqlite.transaction(db):
        yield


@contextmanager
def translate_errors() -> Iterator[None]:
    """Translate exceptions to `Damaged` and `StorageUnavailable`."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if str(error).startswith("no such "):
            raise Damaged(str(error)) from error
        raise unusable(error) from error
    except sqlite3.DatabaseError as error:
        raise Damaged(str(error)) from error
    except OSError as error:
        if isinstance(error, StorageUnavailable):
            raise
        raise unusable(system_says(error)) from error


def unusable(why: object) -> StorageUnavailable:
    return StorageUnavailable(Sentence("the search index cannot be used ({why})", why=why))


def _open(path: Path | None) -> sqlite3.Connection:
    db = sqlite.connect(path, wal=True, synchronous="NORMAL")
    db.execute(f"PRAGMA cache_size = -{_CACHE_KB}")
    db.execute("PRAGMA temp_store = MEMORY")
    return db
