"""The index of one audience as one SQLite file. SQL lives here only.

A file holds the rows of a single scope: what another audience may not read is not in it, and no count of words in
another's memory shows in a score. Passages have consecutive numbers within a file, so that neighbours are found by
number. Full text is over windows alone, as tokens that `tokens` made (the table keeps no text of its own); passages are
scored from the windows that hold them.
"""

from __future__ import annotations

import itertools
import logging
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import NamedTuple

from agent.memory.index.tokens import Term
from agent.memory.reach import make_private

_log = logging.getLogger(__name__)

VERSION = "3"
GAP = 8
"""More than the passages around one that a ranking looks at."""
_BUSY = 5.0
"""Seconds to wait for another process that writes."""
_CACHE_KB = 8_000
_SERIALS = itertools.count()
_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE file (
    id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, signature TEXT NOT NULL, sha TEXT NOT NULL, problem TEXT NOT NULL
);
CREATE TABLE section (
    id INTEGER PRIMARY KEY, file INTEGER NOT NULL, day INTEGER NOT NULL, dated INTEGER NOT NULL, first INTEGER NOT NULL,
    last INTEGER NOT NULL, tokens TEXT NOT NULL
);
CREATE INDEX section_file ON section (file);
CREATE INDEX section_day ON section (day);
CREATE TABLE passage (
    id INTEGER PRIMARY KEY, file INTEGER NOT NULL, section INTEGER NOT NULL, first INTEGER NOT NULL,
    last INTEGER NOT NULL, speaker TEXT NOT NULL, size INTEGER NOT NULL, tokens TEXT NOT NULL, text TEXT NOT NULL
);
CREATE INDEX passage_file ON passage (file);
CREATE TABLE speaker (name TEXT NOT NULL, file INTEGER NOT NULL, PRIMARY KEY (name, file)) WITHOUT ROWID;
CREATE INDEX speaker_file ON speaker (file);
CREATE TABLE window (
    id INTEGER PRIMARY KEY, file INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, day INTEGER NOT NULL
);
CREATE INDEX window_file ON window (file);
CREATE TABLE embedded (
    first INTEGER NOT NULL, last INTEGER NOT NULL, key BLOB NOT NULL, PRIMARY KEY (first, last)
) WITHOUT ROWID;
CREATE TABLE vector (
    model TEXT NOT NULL, key BLOB NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (model, key)
) WITHOUT ROWID;
CREATE TRIGGER passage_gone AFTER DELETE ON passage BEGIN
    DELETE FROM embedded WHERE first = old.id AND last = old.id;
END;
CREATE TRIGGER window_gone AFTER DELETE ON window BEGIN
    DELETE FROM embedded WHERE first = old.first AND last = old.last;
END;
CREATE VIRTUAL TABLE words USING fts5 (tokens, content='', tokenize='ascii');
CREATE VIRTUAL TABLE vocabulary USING fts5vocab (words, 'row');
"""


class Damaged(Exception):
    """The file is no index of this version and scope, or its bytes are not what they were."""


class NotStored(OSError):
    """The index could not be written or read now. The text is a sentence; nothing of what was being written is left."""


@dataclass(frozen=True, slots=True)
class NewPassage:
    """`section` counts from 0 within the file."""

    first: int
    last: int
    section: int
    speaker: str
    tokens: Sequence[str]
    text: str


@dataclass(frozen=True, slots=True)
class NewSection:
    """`day` is the log's own (`dated`), else that of the file's last change. `tokens`: of its heading and the file's
    title."""

    day: date
    dated: bool
    tokens: Sequence[str]


@dataclass(frozen=True, slots=True)
class NewFile:
    """A file as it is put in: sections in their order, each with at least one passage; of `windows` first and last
    passage, by place in `passages`. `problem`: why nothing of it can be searched, a sentence."""

    path: str
    signature: str
    sha: str
    sections: Sequence[NewSection] = ()
    passages: Sequence[NewPassage] = ()
    windows: Sequence[tuple[int, int]] = ()
    problem: str = ""


class FileRow(NamedTuple):
    id: int
    signature: str
    sha: str
    problem: str


class WindowRow(NamedTuple):
    """`bm25` is positive, more is better. `first` and `last` are numbers of passages."""

    first: int
    last: int
    bm25: float


class PassageRow(NamedTuple):
    id: int
    file: int
    section: int
    speaker: str
    size: int
    tokens: str


class SectionRow(NamedTuple):
    """`day` as an ordinal; `dated`: it is a log's own. `tokens` of heading and title."""

    id: int
    day: int
    dated: int
    tokens: str


class FoundRow(NamedTuple):
    id: int
    path: str
    first: int
    last: int
    day: int
    text: str


class TextRow(NamedTuple):
    """What is to be embedded: passages `first` to `last`, their text, and its key where that is known."""

    first: int
    last: int
    text: str
    key: bytes = b""


class VectorRow(NamedTuple):
    first: int
    last: int
    day: int
    file: int
    vector: bytes


class _Sums(NamedTuple):
    state: int
    windows: int
    newest: int
    speakers: frozenset[str]


class Store:
    """One connection; to be used by one thread at a time. Every method raises `Damaged` and `NotStored`."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._counted: _Sums | None = None
        self._serial = next(_SERIALS)

    @classmethod
    def create(cls, path: Path | None, scope: str, cut: str) -> Store:
        """A new, empty index in a file that is not there, or in memory. `cut` names how windows are made."""
        with _translated():
            if path is not None:
                make_private(path.parent)
                path.touch(mode=0o600)
            store = cls(_connected(path))
            store._db.executescript(_SCHEMA)
            with store._db:
                store._db.executemany(
                    "INSERT INTO meta VALUES (?, ?)", [("version", VERSION), ("scope", scope), ("cut", cut)]
                )
            return store

    @classmethod
    def open(cls, path: Path, scope: str, cut: str) -> Store:
        """Raises `Damaged` also for an index of another version, audience or cut."""
        with _translated():
            db = _connected(path)
            try:
                meta = dict(db.execute("SELECT key, value FROM meta").fetchall())
                if meta != {"version": VERSION, "scope": scope, "cut": cut}:
                    raise Damaged("it was made by another version or with other settings")
                return cls(db)
            except BaseException:
                db.close()
                raise

    def close(self) -> None:
        self._db.close()

    @property
    def data_version(self) -> int:
        """Another number after another connection wrote."""
        with _translated():
            return int(self._db.execute("PRAGMA data_version").fetchone()[0])

    # writing -----------------------------------------------------------------------------------------------------

    def put(self, file: NewFile) -> FileRow:
        """Replace all rows of that path, in one transaction."""
        with self._transaction():
            self._remove(file.path)
            cursor = self._db.execute(
                "INSERT INTO file (path, signature, sha, problem) VALUES (?, ?, ?, ?)",
                [file.path, file.signature, file.sha, file.problem],
            )
            id = cursor.lastrowid or 0
            self._insert(id, file)
        return FileRow(id, file.signature, file.sha, file.problem)

    def touch(self, path: str, signature: str, day: date) -> None:
        """The file is the same, though it looks changed."""
        with self._transaction():
            self._db.execute("UPDATE file SET signature = ? WHERE path = ?", [signature, path])
            values = [day.toordinal(), path]
            whose = "file = (SELECT id FROM file WHERE path = ?2) AND day != ?1"
            self._db.execute(f"UPDATE section SET day = ?1 WHERE NOT dated AND {whose}", values)
            dated = "EXISTS (SELECT 1 FROM section s WHERE s.file = window.file AND s.dated)"
            self._db.execute(f"UPDATE window SET day = ?1 WHERE {whose} AND NOT {dated}", values)

    def remove(self, path: str) -> None:
        with self._transaction():
            self._remove(path)

    def purge(self) -> None:
        """Leave nothing of removed rows in the file: full text forgets a word only when its segments are merged."""
        with self._transaction():
            self._db.execute("INSERT INTO words (words) VALUES ('optimize')")
            self._db.execute("DELETE FROM vector WHERE key NOT IN (SELECT key FROM embedded)")
        with _translated():
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _insert(self, file: int, new: NewFile) -> None:
        db = self._db
        section = _next(db, "section")
        passage = _next(db, "passage")
        window = _next(db, "window")
        db.executemany(
            "INSERT INTO section VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                (
                    section + at,
                    file,
                    one.day.toordinal(),
                    one.dated,
                    passage + first,
                    passage + last,
                    " ".join(one.tokens),
                )
                for at, (one, (first, last)) in enumerate(zip(new.sections, _spans(new), strict=True))
            ),
        )
        db.executemany(
            "INSERT INTO passage VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                (
                    passage + at,
                    file,
                    section + one.section,
                    one.first,
                    one.last,
                    one.speaker,
                    len(one.tokens),
                    " ".join(one.tokens),
                    one.text,
                )
                for at, one in enumerate(new.passages)
            ),
        )
        db.executemany(
            "INSERT OR IGNORE INTO speaker VALUES (?, ?)",
            ((one.speaker, file) for one in new.passages if one.speaker),
        )
        days = [new.sections[one.section].day.toordinal() for one in new.passages]
        db.executemany(
            "INSERT INTO window VALUES (?, ?, ?, ?, ?)",
            (
                (window + at, file, passage + first, passage + last, days[first])
                for at, (first, last) in enumerate(new.windows)
            ),
        )
        db.executemany(
            "INSERT INTO words (rowid, tokens) VALUES (?, ?)",
            (
                (window + at, _joined(new.sections[new.passages[first].section].tokens, new.passages[first : last + 1]))
                for at, (first, last) in enumerate(new.windows)
            ),
        )

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
                        (id, " ".join([heads[first], *(tokens[one] for one in range(first, last + 1))]))
                        for id, first, last in rows
                    ),
                )
            for table in ("section", "passage", "speaker", "window"):
                db.execute(f"DELETE FROM {table} WHERE file = ?", [file])
            db.execute("DELETE FROM file WHERE id = ?", [file])

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with _translated():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    # reading -----------------------------------------------------------------------------------------------------

    def files(self) -> dict[str, FileRow]:
        with _translated():
            rows = self._db.execute("SELECT path, id, signature, sha, problem FROM file")
            return {path: FileRow(*row) for path, *row in rows}

    def passage_count(self) -> int:
        with _translated():
            return int(self._db.execute("SELECT count(*) FROM passage").fetchone()[0])

    @property
    def windows(self) -> int:
        """How many there are."""
        return self._sums.windows

    @property
    def newest(self) -> int:
        """The last day of any file, as an ordinal; 0 where there is none."""
        return self._sums.newest

    @property
    def speakers(self) -> frozenset[str]:
        """Whoever said something, folded."""
        return self._sums.speakers

    @property
    def state(self) -> tuple[int, int]:
        """Another one after anything was written, in this file or in another that took its place."""
        return self._serial, self.data_version + self._db.total_changes

    @property
    def _sums(self) -> _Sums:
        """Counted once for each state of the file."""
        state = self.data_version + self._db.total_changes
        if self._counted is None or self._counted.state != state:
            with _translated():
                (windows,) = self._db.execute("SELECT count(*) FROM window").fetchone()
                (newest,) = self._db.execute("SELECT coalesce(max(day), 0) FROM section").fetchone()
                names = frozenset(name for (name,) in self._db.execute("SELECT DISTINCT name FROM speaker"))
            self._counted = _Sums(state, windows, newest, names)
        return self._counted

    def frequency(self, term: Term) -> int:
        """In how many windows a term stands; of a prefix, how often its tokens stand, added up."""
        with _translated():
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
        """The windows that hold any of the terms, or every one, best first. `since` and `until`: days as ordinals, 0
        for none."""
        match = (" AND " if every else " OR ").join(
            f'"{term.token}" *' if term.prefix else f'"{term.token}"' for term in terms
        )
        where, values = _limits(since, until, below)
        with _translated():
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
        """Spans of passages that are of some days themselves, a span a section, until there are `most` passages."""
        where, values = _limits(since, until, below, day="s.day")
        with _translated():
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
        """Passages by number, each span whole, in order."""
        numbers = ",".join(str(number) for first, last in spans for number in range(first, last + 1))
        with _translated():
            rows = self._db.execute(
                f"SELECT id, file, section, speaker, size, tokens FROM passage WHERE id IN ({numbers}) ORDER BY id"
            )
            return list(map(PassageRow._make, rows))

    def sections(self, wanted: Iterable[int]) -> dict[int, SectionRow]:
        numbers = list(wanted)
        with _translated():
            marks = ",".join("?" * len(numbers))
            rows = self._db.execute(f"SELECT id, day, dated, tokens FROM section WHERE id IN ({marks})", numbers)
            return {row[0]: SectionRow(*row) for row in rows}

    def texts(self, passages: Iterable[int]) -> dict[int, FoundRow]:
        wanted = list(passages)
        with _translated():
            marks = ",".join("?" * len(wanted))
            rows = self._db.execute(
                "SELECT p.id, file.path, p.first, p.last, s.day, p.text FROM passage p "
                f"JOIN section s ON s.id = p.section JOIN file ON file.id = p.file WHERE p.id IN ({marks})",
                wanted,
            )
            return {row[0]: FoundRow(*row) for row in rows}

    # vectors -----------------------------------------------------------------------------------------------------

    def unnamed_texts(self, most: int, file: int | None = None) -> list[TextRow]:
        """Passages and windows, of one file or all, whose text has no key yet."""
        one, values = ("", [most]) if file is None else ("AND file = ?", [file, most])
        with _translated():
            passages = self._db.execute(
                "SELECT p.id, p.id, p.text FROM passage p "
                f"LEFT JOIN embedded e ON e.first = p.id AND e.last = p.id WHERE e.key IS NULL {one} LIMIT ?",
                values,
            ).fetchall()
            windows = self._db.execute(
                "SELECT w.first, w.last, (SELECT group_concat(text, char(10)) FROM "
                "(SELECT p.text FROM passage p WHERE p.id BETWEEN w.first AND w.last ORDER BY p.id)) FROM window w "
                "LEFT JOIN embedded e ON e.first = w.first AND e.last = w.last "
                f"WHERE e.key IS NULL AND w.first != w.last {one} LIMIT ?",
                values,
            ).fetchall()
            return [TextRow(*row) for row in passages + windows]

    def name_texts(self, rows: Iterable[TextRow]) -> None:
        with self._transaction():
            self._db.executemany(
                "INSERT OR REPLACE INTO embedded VALUES (?, ?, ?)", ((row.first, row.last, row.key) for row in rows)
            )

    def without_vector(self, model: str, most: int) -> list[TextRow]:
        """Texts with a key for which there is no vector of a model yet, each once, the newest first."""
        with _translated():
            rows = self._db.execute(
                "SELECT u.first, u.last, (SELECT group_concat(text, char(10)) FROM "
                "(SELECT p.text FROM passage p WHERE p.id BETWEEN u.first AND u.last ORDER BY p.id)), u.key FROM "
                "(SELECT max(e.first) AS first, e.last AS last, e.key AS key FROM embedded e WHERE NOT EXISTS "
                "(SELECT 1 FROM vector v WHERE v.model = ? AND v.key = e.key) "
                "GROUP BY e.key ORDER BY 1 DESC LIMIT ?) u",
                [model, most],
            )
            return [TextRow(*row) for row in rows]

    def put_vectors(self, model: str, vectors: Iterable[tuple[bytes, bytes]]) -> None:
        """By key."""
        with self._transaction():
            self._db.executemany(
                "INSERT OR REPLACE INTO vector VALUES (?, ?, ?)", ((model, key, vector) for key, vector in vectors)
            )

    def drop_vectors(self, model: str) -> None:
        """Those of texts that are gone, and of any other model."""
        with self._transaction():
            self._db.execute("DELETE FROM vector WHERE model != ? OR key NOT IN (SELECT key FROM embedded)", [model])

    def take_vectors(self, other: Path) -> None:
        """All that another index file has. Raises `Damaged` also where it has no place for them."""
        with _translated():
            self._db.execute("ATTACH ? AS other", [str(other)])
            try:
                self._db.execute("INSERT OR IGNORE INTO vector SELECT model, key, vector FROM other.vector")
            finally:
                self._db.execute("DETACH other")

    def passage_vectors(self, model: str) -> list[VectorRow]:
        """In order."""
        with _translated():
            rows = self._db.execute(
                "SELECT p.id, p.id, s.day, p.file, v.vector FROM passage p JOIN section s ON s.id = p.section "
                "JOIN embedded e ON e.first = p.id AND e.last = p.id JOIN vector v ON v.model = ? AND v.key = e.key "
                "ORDER BY p.id",
                [model],
            )
            return list(map(VectorRow._make, rows))

    def window_vectors(self, model: str) -> list[VectorRow]:
        """In order."""
        with _translated():
            rows = self._db.execute(
                "SELECT w.first, w.last, w.day, w.file, v.vector FROM window w JOIN embedded e ON e.first = w.first "
                "AND e.last = w.last JOIN vector v ON v.model = ? AND v.key = e.key ORDER BY w.first",
                [model],
            )
            return list(map(VectorRow._make, rows))

    def vector_count(self, model: str) -> int:
        """Passages that have one of that model."""
        with _translated():
            row = self._db.execute(
                "SELECT count(*) FROM passage p JOIN embedded e ON e.first = p.id AND e.last = p.id "
                "JOIN vector v ON v.model = ? AND v.key = e.key",
                [model],
            ).fetchone()
            return int(row[0])

    def paths(self) -> dict[int, str]:
        with _translated():
            return dict(self._db.execute("SELECT id, path FROM file"))


def _connected(path: Path | None) -> sqlite3.Connection:
    db = sqlite3.connect(path or ":memory:", timeout=_BUSY, isolation_level=None, check_same_thread=False)
    try:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("PRAGMA secure_delete = ON")  # what is forgotten is overwritten, not only unlinked
        db.execute(f"PRAGMA cache_size = -{_CACHE_KB}")
        db.execute("PRAGMA temp_store = MEMORY")
    except BaseException:
        db.close()
        raise
    return db


def _next(db: sqlite3.Connection, table: str) -> int:
    """A number that no row has, behind a gap, so that what is looked at around a passage is of its own file."""
    return int(db.execute(f"SELECT coalesce(max(id), 0) + {GAP} FROM {table}").fetchone()[0])


def _spans(new: NewFile) -> list[tuple[int, int]]:
    """First and last passage of each section, by place."""
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    for at, one in enumerate(new.passages):
        first.setdefault(one.section, at)
        last[one.section] = at
    return [(first[section], last[section]) for section in range(len(new.sections))]


def _joined(head: Sequence[str], passages: Sequence[NewPassage]) -> str:
    return " ".join([" ".join(head), *(" ".join(one.tokens) for one in passages)])


def _limits(since: int, until: int, below: str, day: str = "w.day") -> tuple[str, list[int | str]]:
    parts: list[str] = []
    values: list[int | str] = []
    if since:
        parts.append(f"{day} >= ?")
        values.append(since)
    if until:
        parts.append(f"{day} <= ?")
        values.append(until)
    if below:
        parts.append("substr(file.path, 1, ?) = ?")
        values += [len(below) + 1, f"{below}/"]
    return "".join(f" AND {part}" for part in parts), values


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except sqlite3.OperationalError as error:
        if str(error).startswith("no such "):
            raise Damaged(str(error)) from error
        raise NotStored(0, f"the search index cannot be used ({error})") from error
    except sqlite3.DatabaseError as error:
        raise Damaged(str(error)) from error
    except OSError as error:
        raise NotStored(error.errno or 0, f"the search index cannot be used ({error.strerror or error})") from error
