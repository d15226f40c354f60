"""The owner's consents: to skills, by the hash of their text, and to programs as long as nobody else writes. Blocks.

One SQLite file per agent in `state/`. If it is lost, the owner is asked again.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from agent.clock import Clock, utc_stamp
from agent.formats.parsing import load_json
from agent.formats.sqlite import StorageUnavailable, connect, storage_errors, transaction
from agent.memory.paths import make_private

_SCHEMA = """
CREATE TABLE IF NOT EXISTS skills (sha TEXT PRIMARY KEY, ts TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS skills_asked (sha TEXT PRIMARY KEY);
CREATE TABLE IF NOT EXISTS program_writes (
    number INTEGER PRIMARY KEY AUTOINCREMENT, ts TEXT NOT NULL, beginnings TEXT NOT NULL -- hashes, one for each length
);
"""


class Consents:
    """Methods raise `StorageUnavailable`."""

    def __init__(self, file: Path, clock: Clock) -> None:
        self._file = file
        self._clock = clock

    def approve_skill(self, sha: str) -> None:
        with self._open() as db:
            db.execute("INSERT INTO skills VALUES (?, ?) ON CONFLICT DO NOTHING", [sha, self._now()])

    def approved_skills(self) -> frozenset[str]:
        """Their hashes; none where they cannot be read."""
        if not self._file.exists():
            return frozenset()
        with suppress(StorageUnavailable), self._open() as db:
            return frozenset(row[0] for row in db.execute("SELECT sha FROM skills"))
        return frozenset()

    def was_asked_about_skill(self, sha: str) -> bool:
        with self._open() as db:
            return db.execute("SELECT 1 FROM skills_asked WHERE sha = ?", [sha]).fetchone() is not None

    def asked_about_skill(self, sha: str) -> None:
        """Notes that the owner is being asked about a text."""
        with self._open() as db:
            db.execute("INSERT INTO skills_asked VALUES (?) ON CONFLICT DO NOTHING", [sha])

    def program_wrote(self, argv: Sequence[str]) -> None:
        """Ends consents that hold as long as nobody else writes, except this program's. Keeps each program's newest
        write."""
        beginnings = _beginnings(argv)
        with self._open() as db:
            db.execute("DELETE FROM program_writes WHERE beginnings = ?", [beginnings])
            db.execute("INSERT INTO program_writes (ts, beginnings) VALUES (?, ?)", [self._now(), beginnings])

    def last_program_write(self, words: Sequence[str]) -> int:
        """The number of the last write by a program whose command line does not begin with `words`."""
        with self._open() as db:
            others = "SELECT coalesce(max(number), 0) FROM program_writes WHERE instr(beginnings, ?) = 0"
            return int(db.execute(others, [_beginnings(words).split()[-1]]).fetchone()[0])

    def _now(self) -> str:
        return utc_stamp(self._clock.now())

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with storage_errors("what the owner has said yes to"):
            make_private(self._file.parent)
            with closing(connect(self._file)) as db:
                db.executescript(_SCHEMA)
                if _keeps_words(db):
                    _hash_words(db)
                yield db


def _beginnings(argv: Sequence[str]) -> str:
    """A hash of each beginning of a command line, whose words may be secret."""
    whole, found = hashlib.sha256(), []
    for word in argv:
        whole.update(json.dumps(word).encode())
        found.append(whole.hexdigest())
    return " ".join(found)


def _keeps_words(db: sqlite3.Connection) -> bool:
    """True for a file of an earlier version."""
    return db.execute("SELECT 1 FROM pragma_table_info('program_writes') WHERE name = 'argv'").fetchone() is not None


def _hash_words(db: sqlite3.Connection) -> None:
    with transaction(db):
        if _keeps_words(db):  # else another process was faster
            db.execute("ALTER TABLE program_writes RENAME COLUMN argv TO beginnings")
            for number, argv in db.execute("SELECT number, beginnings FROM program_writes").fetchall():
                hashed = [_beginnings(load_json(argv)), number]
                db.execute("UPDATE program_writes SET beginnings = ? WHERE number = ?", hashed)
