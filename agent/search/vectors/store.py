"""The vectors in a scope's index file, stored by a hash of their text (`vector`), so that moved text keeps them.

`embedded` maps passages and windows to keys. Keys of removed rows are `doubtful` until checked for other uses.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agent.search.database import transaction, translate_errors
from agent.search.rows import TextRow, UnitRow, VectorRow

_AT_ONCE = 4_096
_TEXT = (
    "(SELECT group_concat(text, char(10)) FROM "
    "(SELECT p.text FROM passage p WHERE p.id BETWEEN u.first AND u.last ORDER BY p.id))"
)


def key_of(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


class VectorStore:
    """One connection; one thread at a time. Raises `Damaged`, `StorageUnavailable`."""

    def __init__(self, db: sqlite3.Connection, *, is_shared: bool) -> None:
        self._db = db
        self._is_shared = is_shared

    # writing -----------------------------------------------------------------------------------------------------

    def name(self, file: int) -> None:
        """Store keys for a file's texts, within a transaction."""
        texts = dict(self._db.execute("SELECT id, text FROM passage WHERE file = ?", [file]))
        self._db.executemany(
            "INSERT OR REPLACE INTO embedded VALUES (?, ?, ?)", ((id, id, key_of(text)) for id, text in texts.items())
        )
        windows = self._db.execute("SELECT first, last FROM window WHERE file = ? AND first != last", [file])
        self._db.executemany(
            "INSERT OR REPLACE INTO embedded VALUES (?, ?, ?)",
            (
                (first, last, key_of("\n".join(texts[at] for at in range(first, last + 1))))
                for first, last in windows.fetchall()
            ),
        )

    def name_all(self) -> bool:
        """Store keys for files without; true if there were any."""
        with translate_errors():
            unnamed = [id for (id,) in self._db.execute("SELECT id FROM file WHERE NOT named")]
        for file in unnamed:
            with transaction(self._db):
                self.name(file)
                self._db.execute("UPDATE file SET named = 1, revision = revision + 1 WHERE id = ?", [file])
        return bool(unnamed)

    def put(self, model: str, vectors: Iterable[tuple[bytes, bytes]]) -> None:
        with transaction(self._db):
            self._db.executemany(
                "INSERT OR REPLACE INTO vector (model, key, vector) VALUES (?, ?, ?)",
                ((model, key, vector) for key, vector in vectors),
            )

    def drop(self, model: str) -> None:
        """Drop vectors of removed texts and of other models."""
        with transaction(self._db):
            self._db.execute(
                "DELETE FROM vector WHERE model = ? AND key IN (SELECT d.key FROM doubtful d "
                "WHERE NOT EXISTS (SELECT 1 FROM embedded e WHERE e.key = d.key))",
                [model],
            )
            self._db.execute("DELETE FROM doubtful")
            others = "SELECT 1 FROM vector WHERE model < ?1 OR model > ?1 LIMIT 1"
            if self._db.execute(others, [model]).fetchone() is not None:
                self._db.execute("DELETE FROM vector WHERE model != ?", [model])
                self._db.execute("UPDATE dropped SET times = times + 1")

    def drop_unused(self) -> None:
        """Drop vectors of removed texts, within a transaction."""
        self._db.execute("DELETE FROM vector WHERE key NOT IN (SELECT key FROM embedded)")
        self._db.execute("DELETE FROM doubtful")

    def take(self, other: Path) -> None:
        """Copy another index file's vectors. Raises `Damaged` also if it has no such table."""
        with translate_errors():
            self._db.execute("ATTACH ? AS other", [str(other)])
            try:
                with transaction(self._db):
                    self._db.execute(
                        "INSERT OR IGNORE INTO vector (model, key, vector) "
                        "SELECT model, key, vector FROM other.vector ORDER BY id"
                    )
                    self._db.execute("INSERT OR IGNORE INTO doubtful SELECT key FROM vector")
            finally:
                self._db.execute("DETACH other")

    # reading -----------------------------------------------------------------------------------------------------

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """A consistent snapshot for all reads inside."""
        with translate_errors():
            if not self._is_shared:
                yield
                return
            self._db.execute("BEGIN")
            try:
                yield
            finally:
                if self._db.in_transaction:
                    self._db.execute("COMMIT")

    @property
    def dropped(self) -> int:
        """The number of times that other models' vectors were dropped."""
        with translate_errors():
            return int(self._db.execute("SELECT times FROM dropped").fetchone()[0])

    @property
    def newest_text(self) -> int:
        with translate_errors():
            return int(self._db.execute("SELECT coalesce(max(first), 0) FROM embedded").fetchone()[0])

    def missing(self, model: str, above: int, to: int, most: int) -> list[TextRow]:
        """Texts without a vector, newest first, in a range of first passages."""
        with translate_errors():
            rows = self._db.execute(
                f"SELECT u.first, u.last, {_TEXT}, u.key FROM (SELECT e.first, e.last, e.key FROM embedded e "
                "WHERE e.first > ? AND e.first <= ? AND NOT EXISTS "
                "(SELECT 1 FROM vector v WHERE v.model = ? AND v.key = e.key) ORDER BY e.first DESC, e.last LIMIT ?) u",
                [above, to, model, most],
            )
            return [TextRow(*row) for row in rows]

    def missing_count(self, model: str) -> int:
        return self._count(
            "SELECT count(DISTINCT key) FROM embedded e WHERE NOT EXISTS "
            "(SELECT 1 FROM vector v WHERE v.model = ? AND v.key = e.key)",
            model,
        )

    def count(self, model: str) -> int:
        return self._count(
            "SELECT count(*) FROM embedded e WHERE e.first = e.last AND EXISTS "
            "(SELECT 1 FROM vector v WHERE v.model = ? AND v.key = e.key)",
            model,
        )

    def _count(self, query: str, model: str) -> int:
        with translate_errors():
            return int(self._db.execute(query, [model]).fetchone()[0])

    def files(self) -> dict[int, tuple[int, str]]:
        """Revision and path by id."""
        with translate_errors():
            return {
                id: (revision, path) for id, revision, path in self._db.execute("SELECT id, revision, path FROM file")
            }

    def sections(self, file: int | None = None) -> Iterator[UnitRow]:
        return self._units("first, last, earliest, day, file FROM section", file)

    def windows(self, file: int | None = None) -> Iterator[UnitRow]:
        return self._units("first, last, earliest, day, file FROM window", file)

    def _units(self, of: str, file: int | None) -> Iterator[UnitRow]:
        where, values = ("", []) if file is None else ("WHERE file = ?", [file])
        with translate_errors():
            yield from map(UnitRow._make, self._db.execute(f"SELECT {of} {where} ORDER BY 1", values))

    # A plus before a column keeps SQLite from using its index, so that only the last rows are read, not all of a model.

    def newest(self, model: str) -> tuple[int, int]:
        """Id and bytes of the model's last vector; 0 and 0 if none."""
        with translate_errors():
            row = self._db.execute(
                "SELECT id, length(vector) FROM vector WHERE +model = ? ORDER BY id DESC LIMIT 1", [model]
            ).fetchone()
            return (int(row[0]), int(row[1])) if row else (0, 0)

    def named(self) -> Iterator[Sequence[tuple[int, int, bytes]]]:
        return self._batches("SELECT first, last, key FROM embedded ORDER BY first, last", [])

    def all(self, model: str) -> Iterator[Sequence[tuple[bytes, bytes]]]:
        return self._batches("SELECT key, vector FROM vector WHERE +model = ? ORDER BY id", [model])

    def since(self, model: str, number: int) -> Sequence[VectorRow]:
        """Vectors stored after that number, by text."""
        return self._vectors(
            "vector v CROSS JOIN embedded e ON e.key = v.key WHERE v.id > ? AND +v.model = ?", [number, model]
        )

    def of_file(self, model: str, file: int) -> Sequence[VectorRow]:
        units = "SELECT id AS first, id AS last FROM passage WHERE file = ?2 UNION SELECT first, last FROM window"
        return self._vectors(
            f"({units} WHERE file = ?2) u CROSS JOIN embedded e ON e.first = u.first AND e.last = u.last "
            "CROSS JOIN vector v ON v.model = ?1 AND v.key = e.key",
            [model, file],
        )

    def _vectors(self, of: str, values: Sequence[int | str]) -> Sequence[VectorRow]:
        """CROSS JOIN forces the order of lookups."""
        with translate_errors():
            return list(map(VectorRow._make, self._db.execute(f"SELECT e.first, e.last, v.vector FROM {of}", values)))

    def _batches(self, query: str, values: Sequence[str]) -> Iterator[list[Any]]:
        with translate_errors():
            rows = self._db.execute(query, values)
            while part := rows.fetchmany(_AT_ONCE):
                yield part
