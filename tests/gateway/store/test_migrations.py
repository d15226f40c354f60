"""A database of every earlier schema opens, with all it held; a step that fails changes nothing."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from agent.formats.sqlite import StorageUnavailable
from gateway.store import inbox_rows, outbox_rows
from gateway.store.database import Database, SqliteEngine
from gateway.store.schema import STEPS

_INBOX = (
    "INSERT INTO inbox (channel, account, id, state, session, chat_id, platform_id, message, received_at)"
    " VALUES ('telegram', '', 'a', 'unreadable', '', '', '', '{}', '2026-01-01T00:00:00.000Z')"
)
_OUTBOX = (
    "INSERT INTO outbox (key, channel, account, chat_id, text, state, created_at)"
    " VALUES ('k:0', 'telegram', '', '1', 'Hello', 'waiting', '2026-01-01T00:00:00.000Z')"
)
OLDER = range(1, len(STEPS))


def written_by(version: int, path: Path) -> Path:
    """A file as the Daybook of that schema left it."""
    with closing(sqlite3.connect(path)) as old:
        for step in STEPS[:version]:
            old.executescript(step)
        old.execute(f"PRAGMA user_version = {version}")
        old.execute(_INBOX)
        old.execute(_OUTBOX)
        old.commit()
    return path


def version_of(path: Path) -> int:
    with closing(sqlite3.connect(path)) as file:
        return int(file.execute("PRAGMA user_version").fetchone()[0])


def copies(path: Path) -> list[str]:
    return sorted(file.name for file in path.parent.iterdir() if file.name not in ("daybook.db-wal", "daybook.db-shm"))


@pytest.mark.parametrize("version", OLDER)
def test_every_earlier_schema_opens_and_a_copy_of_before_stays(version: int, tmp_path: Path) -> None:
    path = written_by(version, tmp_path / "daybook.db")
    with closing(SqliteEngine(path)) as engine:
        assert inbox_rows.counts(engine.connection).unreadable == 1
        (row,) = outbox_rows.open_rows(engine.connection)
        assert row.text == "Hello"
    before = f"daybook.before-schema-{version + 1}.db"
    assert (version_of(path), version_of(tmp_path / before)) == (len(STEPS), version)
    assert copies(path) == [before, "daybook.db"]
    SqliteEngine(path).close()
    assert copies(path) == [before, "daybook.db"], "a second start migrates nothing"


def test_the_copy_of_before_is_a_way_back(tmp_path: Path) -> None:
    path = written_by(5, tmp_path / "daybook.db")
    SqliteEngine(path).close()
    (tmp_path / "daybook.before-schema-6.db").replace(path)
    assert version_of(path) == 5
    with closing(SqliteEngine(path)) as engine:
        assert len(outbox_rows.open_rows(engine.connection)) == 1


def test_a_step_that_fails_changes_nothing(tmp_path: Path) -> None:
    path = written_by(len(STEPS) - 2, tmp_path / "daybook.db")
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE program (of_somebody_else TEXT)")  # the last step's
    with pytest.raises(StorageUnavailable, match=r"nothing was changed: table program already exists"):
        SqliteEngine(path)
    assert version_of(path) == len(STEPS) - 2
    assert copies(path) == ["daybook.db"]


def test_a_full_disk_changes_nothing(tmp_path: Path) -> None:
    path = written_by(3, tmp_path / "daybook.db")
    (tmp_path / "daybook.trial.db").mkdir()  # where the copy would go
    with pytest.raises(StorageUnavailable):
        SqliteEngine(path)
    assert version_of(path) == 3


def test_only_the_newest_copy_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "daybook.db"
    for version in (4, 9):
        path.unlink(missing_ok=True)
        written_by(version, path)
        SqliteEngine(path).close()
    assert copies(path) == ["daybook.before-schema-10.db", "daybook.db"]


async def test_what_is_forgotten_stays_in_no_copy(tmp_path: Path) -> None:
    path = written_by(7, tmp_path / "daybook.db")
    database = await Database.open(path)
    assert b"Hello" in (tmp_path / "daybook.before-schema-8.db").read_bytes()
    database.purge()
    await database.aclose()
    assert copies(path) == ["daybook.db"]
