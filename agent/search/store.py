"""The tables of one scope's index. SQL is only here, in `vectors.store` and in `database`.

A file holds one scope, so neither texts nor word counts leak between audiences. Passages of a file have consecutive
ids. Full text covers windows only; passages are scored from the windows that contain them.
"""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import NamedTuple, TypeVar

from agent.search import database
from agent.search.aliases import MOST_NAMES
from agent.search.database import transaction, translate_errors
from agent.search.rows import FileRow, FoundRow, NewFile, PassageRow, SectionRow, WindowRow
from agent.search.tokenizer import Term
from agent.search.vectors.store import VectorStore

GAP = 8
"""More than the neighbours that a ranking reads."""
_SERIALS = itertools.count()
T = TypeVar("T")


class _Sums(NamedTuple):
    state: int
    windows: int
    newest: int
    speakers: frozenset[str]
    names: tuple[tuple[str, ...], ...]
    greeted: tuple[tuple[str, str], ...]


class IndexStore:
    """One connection; one thread at a time. Every method raises `Damaged` and `StorageUnavailable`."""

    def __init__(self, db: sqlite3.Connection, *, is_shared: bool) -> None:
        self._db = db
        self._cached_sums: _Sums | None = None
        self._serial = next(_SERIALS)
        self.vectors = VectorStore(db, is_shared=is_shared)

    @classmethod
    def create(cls, path: Path | None, scope: str, cut: str) -> IndexStore:
        return cls(database.create_index(path, scope, cut), is_shared=path is not None)

    @classmethod
    def open(cls, path: Path, scope: str, cut: str) -> IndexStore:
        return cls(database.open_index(path, scope, cut), is_shared=True)

    def close(self) -> None:
        self._db.close()

    @property
    def data_version(self) -> int:
        """Changes when another connection writes."""
        with translate_errors():
            return int(self._db.execute("PRAGMA data_version").fetchone()[0])

    # writing -----------------------------------------------------------------------------------------------------

    def put(self, file: NewFile, *, named: bool, going: Callable[[], None]) -> FileRow:
        """Replace all rows of a path. `named`: give its texts vector keys. `going` is called often and may raise."""
        with transaction(self._db):
            self._remove(file.path)
            cursor = self._db.execute(
                "INSERT INTO file (path, signature, sha, problem, named) VALUES (?, ?, ?, ?, ?)",
                [file.path, file.signature, file.sha, file.problem, named],
            )
            id = cursor.lastrowid or 0
            self._insert(id, file, going)
            if named:
                self.vectors.name(id)
        return FileRow(id, file.signature, file.sha, file.problem)

    def touch(self, path: str, signature: str, day: date) -> None:
        """Record that a file is unchanged despite its new signature."""
        with transaction(self._db):
            self._db.execute("UPDATE file SET signature = ?, revision = revision + 1 WHERE path = ?", [signature, path])
            values = [day.toordinal(), path]
            whose = "file = (SELECT id FROM file WHERE path = ?2) AND day != ?1"
            self._db.execute(f"UPDATE section SET day = ?1 WHERE NOT dated AND {whose}", values)
            dated = "EXISTS (SELECT 1 FROM section s WHERE s.file = window.file AND s.dated)"
            self._db.execute(f"UPDATE window SET day = ?1 WHERE {whose} AND NOT {dated}", values)

    def remove(self, path: str) -> None:
        with transaction(self._db):
            self._remove(path)

    def purge(self) -> None:
        """Remove deleted text physically: full text drops words only when segments are merged."""
        with transaction(self._db):
            self._db.execute("INSERT INTO words (words) VALUES ('optimize')")
            self.vectors.drop_unused()
        with translate_errors():
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _insert(self, file: int, new: NewFile, going: Callable[[], None]) -> None:
        db = self._db
        section = _next_id(db, "section")
        passage = self._next_passage()
        window = _next_id(db, "window")
        db.executemany(
            "INSERT INTO section VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                (
                    section + at,
                    file,
                    _ordinal(new_section.earliest),
                    new_section.day.toordinal(),
                    new_section.dated,
                    new_section.kind,
                    passage + first,
                    passage + last,
                    " ".join(new_section.tokens),
                )
                for at, (new_section, (first, last)) in enumerate(zip(new.sections, _spans(new), strict=True))
            ),
        )
        db.executemany(
            "INSERT INTO passage VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                (
                    passage + at,
                    file,
                    section + new_passage.section,
                    new_passage.first,
                    new_passage.last,
                    new_passage.speaker,
                    new_passage.size,
                    new_passage.tokens,
                    new_passage.text,
                )
                for at, new_passage in _checking(going, new.passages)
            ),
        )
        db.executemany(
            "INSERT OR IGNORE INTO speaker VALUES (?, ?)",
            ((new_passage.speaker, file) for new_passage in new.passages if new_passage.speaker),
        )
        db.executemany("INSERT OR IGNORE INTO alias VALUES (?, ?)", (("\n".join(forms), file) for forms in new.names))
        db.executemany("INSERT OR IGNORE INTO greeted VALUES (?, ?, ?)", ((*pair, file) for pair in new.greeted))
        days = [(_ordinal(new_section.earliest), new_section.day.toordinal()) for new_section in new.sections]
        db.executemany(
            "INSERT INTO window VALUES (?, ?, ?, ?, ?, ?)",
            (
                (window + at, file, passage + first, passage + last, *days[new.passages[first].section])
                for at, (first, last) in enumerate(new.windows)
            ),
        )
        heads = [" ".join(new_section.tokens) for new_section in new.sections]
        tokens = [new_passage.tokens for new_passage in new.passages]
        db.executemany(
            "INSERT INTO words (rowid, tokens) VALUES (?, ?)",
            (
                (window + at, " ".join([heads[new.passages[first].section], *tokens[first : last + 1]]))
                for at, (first, last) in _checking(going, new.windows)
            ),
        )

    def _next_passage(self) -> int:
        """An id after a gap, so that neighbours are of the same file."""
        row = self._db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'passage'").fetchone()
        return (int(row[0]) if row else 0) + GAP

    def _remove(self, path: str) -> None:
        db = self._db
        for (file,) in db.execute("SELECT id FROM file WHERE path = ?", [path]).fetchall():
            rows = db.execute("SELECT id, first, last FROM window WHERE file = ?", [file]).fetchall()
            if rows:
                tokens = dict(db.execute("SELECT id, tokens FROM passage WHERE file = ?", [file]))
                heads = dict(
                    db.execute(
                        "SELECT p.id, s.tokens FROM passage p JOIN section s ON s.id = p.section WHERE p.file = ?",
                        [file],
                    )
                )
                db.executemany(
                    "INSERT INTO words (words, rowid, tokens) VALUES ('delete', ?, ?)",
                    (
                        (id, " ".join([heads[first], *(tokens[number] for number in range(first, last + 1))]))
                        for id, first, last in rows
                    ),
                )
            for table in ("section", "passage", "speaker", "alias", "greeted", "window"):
                db.execute(f"DELETE FROM {table} WHERE file = ?", [file])
            db.execute("DELETE FROM file WHERE id = ?", [file])

    # reading -----------------------------------------------------------------------------------------------------

    def files(self) -> dict[str, FileRow]:
        with translate_errors():
            rows = self._db.execute("SELECT path, id, signature, sha, problem FROM file")
            return {path: FileRow(*row) for path, *row in rows}

    def passage_count(self) -> int:
        with translate_errors():
            return int(self._db.execute("SELECT count(*) FROM passage").fetchone()[0])

    @property
    def windows(self) -> int:
        return self._sums.windows

    @property
    def newest(self) -> int:
        """The latest certain day as an ordinal."""
        return self._sums.newest

    @property
    def speakers(self) -> frozenset[str]:
        return self._sums.speakers

    @property
    def names(self) -> Sequence[tuple[str, ...]]:
        return self._sums.names

    @property
    def greeted(self) -> Sequence[tuple[str, str]]:
        """Speakers, each with a name by which they are greeted, unless a speaker bears it."""
        return self._sums.greeted

    @property
    def state(self) -> tuple[int, int]:
        """Changes with every write, and with another file."""
        return self._serial, self.data_version + self._db.total_changes

    @property
    def _sums(self) -> _Sums:
        state = self.data_version + self._db.total_changes
        if self._cached_sums is None or self._cached_sums.state != state:
            with translate_errors():
                (windows,) = self._db.execute("SELECT count(*) FROM window").fetchone()
                (newest,) = self._db.execute("SELECT coalesce(max(earliest), 0) FROM section").fetchone()
                speakers = frozenset(name for (name,) in self._db.execute("SELECT DISTINCT name FROM speaker"))
                aliases = self._db.execute("SELECT DISTINCT forms FROM alias ORDER BY forms LIMIT ?", [MOST_NAMES])
                names = tuple(tuple(forms.split("\n")) for (forms,) in aliases)
                pairs = self._db.execute("SELECT DISTINCT speaker, name FROM greeted LIMIT ?", [MOST_NAMES])
                greeted = tuple((speaker, name) for speaker, name in pairs if name not in speakers)
            self._cached_sums = _Sums(state, windows, newest, speakers, names, greeted)
        return self._cached_sums

    def frequency(self, term: Term) -> int:
        """Windows with a term; for a prefix, the sum over its tokens."""
        with translate_errors():
            if not term.prefix:
                row = self._db.execute("SELECT doc FROM vocabulary WHERE term = ?", [term.token]).fetchone()
                return int(row[0]) if row else 0
            (docs,) = self._db.execute(
                "SELECT coalesce(sum(doc), 0) FROM vocabulary WHERE term >= ? AND term < ?",
                [term.token, term.token + "\U0010ffff"],
            ).fetchone()
            return int(docs)

    def best_windows(
        self, terms: Iterable[Term], most: int, since: int, until: int, below: str, *, every: bool = False
    ) -> list[WindowRow]:
        """Windows with any of the terms, or `every` one, best first."""
        wanted = dict.fromkeys(f'"{term.token}" *' if term.prefix else f'"{term.token}"' for term in terms)
        match = (" AND " if every else " OR ").join(wanted)
        where, values = _limits(since, until, below)
        with translate_errors():
            if not where:
                rows = self._db.execute(
                    "SELECT w.first, w.last, f.score FROM (SELECT rowid, -bm25(words) AS score FROM words "
                    "WHERE words MATCH ? ORDER BY bm25(words) LIMIT ?) f JOIN window w ON w.id = f.rowid",
                    [match, most],
                )
            else:
                rows = self._db.execute(
                    "SELECT w.first, w.last, -bm25(words) FROM words JOIN window w ON w.id = words.rowid "
                    f"JOIN file ON file.id = w.file WHERE words MATCH ? {where} ORDER BY bm25(words) LIMIT ?",
                    [match, *values, most],
                )
            return [WindowRow(*row) for row in rows]

    def of_days(self, first: int, last: int, most: int, since: int, until: int, below: str) -> list[tuple[int, int]]:
        """Spans of dated sections, up to `most` passages."""
        where, values = _limits(since, until, below, of="s")
        with translate_errors():
            rows = self._db.execute(
                "SELECT s.first, s.last FROM section s JOIN file ON file.id = s.file "
                f"WHERE s.dated AND s.day BETWEEN ? AND ? {where} ORDER BY s.day, s.id",
                [first, last, *values],
            )
            spans: list[tuple[int, int]] = []
            room = most
            for start, end in rows:
                spans.append((start, min(end, start + room - 1)))
                room -= end - start + 1
                if room <= 0:
                    break
            return spans

    def passages(self, spans: Iterable[tuple[int, int]]) -> list[PassageRow]:
        numbers = ",".join(str(number) for first, last in spans for number in range(first, last + 1))
        with translate_errors():
            rows = self._db.execute(
                f"SELECT id, file, section, speaker, size, tokens FROM passage WHERE id IN ({numbers}) ORDER BY id"
            )
            return list(map(PassageRow._make, rows))

    def sections(self, wanted: Iterable[int]) -> dict[int, SectionRow]:
        numbers = list(wanted)
        with translate_errors():
            marks = ",".join("?" * len(numbers))
            rows = self._db.execute(
                f"SELECT id, earliest, day, dated, kind, tokens FROM section WHERE id IN ({marks})", numbers
            )
            return {row[0]: SectionRow(*row) for row in rows}

    def texts(self, passages: Iterable[int]) -> dict[int, FoundRow]:
        wanted = list(passages)
        with translate_errors():
            marks = ",".join("?" * len(wanted))
            rows = self._db.execute(
                "SELECT p.id, file.path, p.first, p.last, s.earliest, s.day, p.text FROM passage p "
                f"JOIN section s ON s.id = p.section JOIN file ON file.id = p.file WHERE p.id IN ({marks})",
                wanted,
            )
            return {row[0]: FoundRow(*row) for row in rows}


def _checking(going: Callable[[], None], items: Sequence[T]) -> Iterator[tuple[int, T]]:
    for at, item in enumerate(items):
        going()
        yield at, item


def _next_id(db: sqlite3.Connection, table: str) -> int:
    return int(db.execute(f"SELECT coalesce(max(id), 0) + 1 FROM {table}").fetchone()[0])


def _ordinal(day: date | None) -> int:
    return day.toordinal() if day is not None else 0


def _spans(new: NewFile) -> list[tuple[int, int]]:
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    for at, new_passage in enumerate(new.passages):
        first.setdefault(new_passage.section, at)
        last[new_passage.section] = at
    return [(first[section], last[section]) for section in range(len(new.sections))]


def _limits(since: int, until: int, below: str, of: str = "w") -> tuple[str, list[int | str]]:
    """SQL that excludes only what was certainly written outside."""
    parts: list[str] = []
    values: list[int | str] = []
    if since:
        parts.append(f"{of}.day >= ?")
        values.append(since)
    if until:
        parts.append(f"{of}.earliest <= ?")
        values.append(until)
    if below:
        parts.append("substr(file.path, 1, ?) = ?")
        values += [len(below) + 1, f"{below}/"]
    return "".join(f" AND {part}" for part in parts), values
