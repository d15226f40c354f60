"""How far the journal is: which part of a session is in which log, and pending sections.

One SQLite file per agent in `state/`. A section is recorded after it was written; after a crash in between, its mark in
the log shows it. Blocks.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

from agent.formats.parsing import load_json
from agent.formats.sqlite import connect, storage_errors, transaction
from agent.journal.open_items import OpenItem
from agent.journal.section_request import SectionText
from agent.memory.daily_log import JOURNAL_MARK
from agent.memory.paths import make_private

_KEPT = timedelta(days=90)
_SCHEMA = """
CREATE TABLE IF NOT EXISTS section (
    session TEXT NOT NULL, day TEXT NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
    is_extract INTEGER NOT NULL, tokens INTEGER NOT NULL, PRIMARY KEY (session, day, first, last, is_extract)
);
CREATE TABLE IF NOT EXISTS piece (
    session TEXT NOT NULL, day TEXT NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, tokens INTEGER NOT NULL,
    source TEXT NOT NULL, told TEXT NOT NULL, PRIMARY KEY (session, day, first)
);
"""


@dataclass(frozen=True, slots=True)
class JournalSection:
    first: int
    last: int
    is_extract: bool = False
    tokens: int = 0
    """An estimate of what a model read for it."""

    def comment(self, session: str) -> str:
        """A section's mark in the log."""
        return f"<!-- journal {session} {self.first}-{self.last} {'extract' if self.is_extract else 'model'} -->"


@dataclass(frozen=True, slots=True)
class PendingSection:
    first: int
    last: int
    tokens: int
    source: str
    """A hash of the messages: after a redaction the section is made again."""
    told: SectionText


def in_log(log: str, session: str) -> list[JournalSection]:
    found = (match for line in log.splitlines() if (match := JOURNAL_MARK.fullmatch(line)))
    return [
        JournalSection(int(match[2]), int(match[3]), match[4] == "extract") for match in found if match[1] == session
    ]


def for_reading(log: str) -> list[str]:
    """A log without marks, titles, and replaced extracts."""
    parts: list[list[str]] = [[]]
    ends: list[tuple[str, JournalSection] | None] = [None]
    for line in log.splitlines():
        if match := JOURNAL_MARK.fullmatch(line):
            ends[-1] = (match[1], JournalSection(int(match[2]), int(match[3]), match[4] == "extract"))
            parts.append([])  # lines behind the mark are not the section's
            ends.append(None)
        elif line.startswith("## "):
            parts.append([])
            ends.append(None)
        elif line.strip() and not line.startswith("# "):
            parts[-1].append(line)
    proper = [end for end in ends if end is not None and not end[1].is_extract]
    return [line for part, end in zip(parts, ends, strict=True) if not _is_replaced(end, proper) for line in part]


def _is_replaced(end: tuple[str, JournalSection] | None, proper: Sequence[tuple[str, JournalSection]]) -> bool:
    if end is None or not end[1].is_extract:
        return False
    return any(
        session == end[0] and section.first <= end[1].first and end[1].last <= section.last
        for session, section in proper
    )


class JournalProgress:
    def __init__(self, file: Path) -> None:
        self._file = file

    def sections(self, session: str, day: date) -> list[JournalSection]:
        with self._opened() as db:
            rows = db.execute(
                "SELECT first, last, is_extract, tokens FROM section WHERE session = ? AND day = ? ORDER BY last",
                [session, day.isoformat()],
            ).fetchall()
        return [JournalSection(first, last, bool(is_extract), tokens) for first, last, is_extract, tokens in rows]

    def reached(self) -> Mapping[str, date]:
        """The newest day in a log, by session."""
        with self._opened() as db:
            rows = db.execute("SELECT session, max(day) FROM section GROUP BY session").fetchall()
        return {session: date.fromisoformat(day) for session, day in rows}

    def pieces(self, session: str, day: date, after: int) -> list[PendingSection]:
        """Pending sections that begin after `after`, in order."""
        with self._opened() as db:
            rows = db.execute(
                "SELECT first, last, tokens, source, told FROM piece WHERE session = ? AND day = ? AND first > ? "
                "ORDER BY first",
                [session, day.isoformat(), after],
            ).fetchall()
        return [PendingSection(first, last, tokens, source, _read(told)) for first, last, tokens, source, told in rows]

    def keep(self, session: str, day: date, piece: PendingSection) -> None:
        with self._writing() as db:
            db.execute(
                "INSERT OR REPLACE INTO piece VALUES (?, ?, ?, ?, ?, ?, ?)",
                [session, day.isoformat(), piece.first, piece.last, piece.tokens, piece.source, _written(piece.told)],
            )

    def forget(self, sessions: Collection[str], holds: Callable[[str], bool]) -> None:
        """Drops pending sections with forgotten text."""
        with self._writing() as db:
            rows = db.execute("SELECT rowid, session, told FROM piece").fetchall()
            gone = [[row] for row, session, told in rows if session in sessions and any(map(holds, _lines(told)))]
            db.executemany("DELETE FROM piece WHERE rowid = ?", gone)

    def written(self, session: str, day: date, sections: Sequence[JournalSection]) -> None:
        """Records sections, and drops their pending pieces."""
        with self._writing() as db:
            for section in sections:
                db.execute(
                    "INSERT OR IGNORE INTO section VALUES (?, ?, ?, ?, ?, ?)",
                    [session, day.isoformat(), section.first, section.last, section.is_extract, section.tokens],
                )
                if not section.is_extract:
                    db.execute(
                        "DELETE FROM piece WHERE session = ? AND day = ? AND last <= ?",
                        [session, day.isoformat(), section.last],
                    )
            for table in ("section", "piece"):
                db.execute(f"DELETE FROM {table} WHERE day < ?", [(day - _KEPT).isoformat()])

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        """Raises `OSError`."""
        make_private(self._file.parent)
        with storage_errors("the journal's marks"), closing(connect(self._file)) as db:
            db.executescript(_SCHEMA)
            yield db

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._opened() as db, transaction(db):
            yield db


def _written(told: SectionText) -> str:
    promises = [
        [
            promise.who,
            promise.what,
            promise.due.isoformat() if promise.due else "",
            promise.said.isoformat() if promise.said else "",
        ]
        for promise in told.promises
    ]
    return json.dumps([list(told.bullets), promises, list(told.closed)], ensure_ascii=False)


def _lines(text: str) -> Iterator[str]:
    told = _read(text)
    yield from told.bullets
    yield from (promise.text for promise in told.promises)


def _read(text: str) -> SectionText:
    bullets, promises, closed = load_json(text)
    return SectionText(
        tuple(bullets),
        tuple(
            OpenItem(who, what, date.fromisoformat(due) if due else None, date.fromisoformat(said) if said else None)
            for who, what, due, said in promises
        ),
        tuple(closed),
    )
