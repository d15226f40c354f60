"""What the owner's yes holds for: texts of skills by their hash, and programs as long as nobody else writes. Blocks.

One SQLite file per agent in `state/`. A lost one asks anew.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from agent.clock import Clock, utc_stamp
from agent.formats.sqlite import StorageUnavailable, connect, storage_errors
from agent.memory.paths import make_private

_SCHEMA = """
CREATE TABLE IF NOT EXISTS skills (sha TEXT PRIMARY KEY, ts TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS skills_asked (sha TEXT PRIMARY KEY);
CREATE TABLE IF NOT EXISTS program_writes (number INTEGER PRIMARY KEY AUTOINCREMENT, ts TEXT NOT NULL);
"""


class Consents:
    """Methods raise `StorageUnavailable`."""

    def __init__(self, file: Path, clock: Clock) -> None:
        self._file = file
        self._clock = clock

    def approve_skill(self, sha: str) -> None:
        """Stores the owner's yes to a skill's text."""
        with self._open() as db:
            db.execute("INSERT INTO skills VALUES (?, ?) ON CONFLICT DO NOTHING", [sha, self._now()])

    def approved_skills(self) -> frozenset[str]:
        """None where they cannot be read."""
        if not self._file.exists():
            return frozenset()
        with suppress(StorageUnavailable), self._open() as db:
            return frozenset(row[0] for row in db.execute("SELECT sha FROM skills"))
        return frozenset()

    def ask_about_skill(self, sha: str) -> bool:
        """Notes that the owner is asked about a text; False if they were before."""
        with self._open() as db:
            return db.execute("INSERT INTO skills_asked VALUES (?) ON CONFLICT DO NOTHING", [sha]).rowcount > 0

    def programs_wrote(self) -> None:
        """Ends what was allowed for as long as nobody else writes."""
        with self._open() as db:
            db.execute("INSERT INTO program_writes (ts) VALUES (?)", [self._now()])

    def last_program_write(self) -> int:
        with self._open() as db:
            (number,) = db.execute("SELECT max(number) FROM program_writes").fetchone()
        return int(number or 0)

    def _now(self) -> str:
        return utc_stamp(self._clock.now())

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with storage_errors("what the owner has said yes to"):
            make_private(self._file.parent)
            with closing(connect(self._file)) as db:
                db.executescript(_SCHEMA)
                yield db
