"""What the owner's yes holds for: texts of skills by their hash, and programs as long as nobody else writes. Blocks.

One SQLite file per agent in `state/`. A lost one asks anew.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from agent.clock import Clock, utc_stamp
from agent.formats.parsing import load_json
from agent.formats.sqlite import StorageUnavailable, connect, storage_errors
from agent.memory.paths import make_private

_SCHEMA = """
CREATE TABLE IF NOT EXISTS skills (sha TEXT PRIMARY KEY, ts TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS skills_asked (sha TEXT PRIMARY KEY);
CREATE TABLE IF NOT EXISTS program_writes (
    number INTEGER PRIMARY KEY AUTOINCREMENT, ts TEXT NOT NULL, argv TEXT NOT NULL
);
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

    def program_wrote(self, argv: Sequence[str]) -> None:
        """Ends what other programs were allowed for as long as nobody else writes."""
        with self._open() as db:
            db.execute("INSERT INTO program_writes (ts, argv) VALUES (?, ?)", [self._now(), json.dumps(list(argv))])

    def last_program_write(self, words: Sequence[str]) -> int:
        """The number of the last one by a program that does not begin with `words`."""
        with self._open() as db:
            rows = db.execute("SELECT number, argv FROM program_writes ORDER BY number DESC")
            others = (number for number, argv in rows if load_json(argv)[: len(words)] != list(words))
            return int(next(others, 0))

    def _now(self) -> str:
        return utc_stamp(self._clock.now())

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with storage_errors("what the owner has said yes to"):
            make_private(self._file.parent)
            with closing(connect(self._file)) as db:
                db.executescript(_SCHEMA)
                yield db
