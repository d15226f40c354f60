"""One writer, group commit, and what a disk that refuses does to it."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from agent.formats.sqlite import StorageUnavailable
from gateway.store.connection import Connection, Engine
from gateway.store.database import Database
from tests.gateway.conftest import on_sqlite


def _keep(connection: Connection, number: int, text: str = "") -> int:
    connection.execute("INSERT INTO choice (session, name, value) VALUES (?, 'number', ?)", (str(number), text))
    return number


def _kept(connection: Connection) -> list[int]:
    return sorted(int(row["session"]) for row in connection.execute("SELECT session FROM choice"))


def _sqlite(connection: Connection) -> sqlite3.Connection:
    assert isinstance(connection, sqlite3.Connection)
    return connection


def _keep_then_break(connection: Connection, number: int) -> None:
    _keep(connection, number)
    raise ZeroDivisionError("half-way")


class _Held:
    """Holds the writer thread, so that all that is asked meanwhile makes one batch."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._free = threading.Event()

    async def __aenter__(self) -> None:
        begun = threading.Event()

        def stand_still(_: Connection) -> None:
            begun.set()
            self._free.wait(120)

        self._database.post(stand_still)
        await asyncio.to_thread(begun.wait, 120)

    async def __aexit__(self, *_: object) -> None:
        self._free.set()


async def test_what_is_done_is_read_back_by_another_process(
    database: Database, engine_of: Callable[[], Engine]
) -> None:
    assert await database.run(_keep, 7) == 7
    other = engine_of()
    assert _kept(other.connection) == [7]
    other.close()


@on_sqlite
async def test_a_burst_shares_one_commit(database: Database) -> None:
    statements: list[str] = []
    await database.run(lambda connection: _sqlite(connection).set_trace_callback(statements.append))
    async with asyncio.TaskGroup() as group, _Held(database):
        statements.clear()
        for number in range(200):
            group.create_task(database.run(_keep, number))
        await asyncio.sleep(0)
    assert await database.run(_kept) == list(range(200))
    assert statements.count("COMMIT") <= 3


async def test_a_failing_job_does_not_undo_its_neighbours(database: Database) -> None:
    async with _Held(database):
        first = asyncio.ensure_future(database.run(_keep, 1))
        broken = asyncio.ensure_future(database.run(_keep_then_break, 2))
        last = asyncio.ensure_future(database.run(_keep, 3))
        await asyncio.sleep(0)
    results = await asyncio.gather(first, broken, last, return_exceptions=True)
    assert results[0] == 1
    assert isinstance(results[1], ZeroDivisionError)
    assert results[2] == 3
    assert await database.run(_kept) == [1, 3]


async def test_a_breach_of_a_constraint_is_the_jobs_own_error(database: Database) -> None:
    await database.run(_keep, 1)
    with pytest.raises((sqlite3.IntegrityError, psycopg.IntegrityError)):
        await database.run(_keep, 1)
    assert await database.run(_kept) == [1]


@on_sqlite
async def test_a_full_disk_fails_the_whole_batch_and_the_next_works(database: Database) -> None:
    def limit(connection: Connection, pages: int) -> int:
        (granted,) = connection.execute(f"PRAGMA max_page_count = {pages}").fetchone()
        return int(granted)

    smallest = await database.run(limit, 1)
    assert smallest > 1
    async with _Held(database):
        small = asyncio.ensure_future(database.run(_keep, 1))
        large = asyncio.ensure_future(database.run(_keep, 2, "x" * 1_000_000))
        await asyncio.sleep(0)
    results = await asyncio.gather(small, large, return_exceptions=True)
    assert [type(result) for result in results] == [StorageUnavailable, StorageUnavailable]
    assert "full" in str(results[1])
    assert await database.run(_kept) == []
    await database.run(limit, 1_000_000)
    assert await database.run(_keep, 2, "x" * 1_000_000) == 2
    assert await database.run(_kept) == [2]


async def test_a_note_shares_the_commit_of_what_comes_next(tmp_path: Path) -> None:
    database = await Database.open(tmp_path / "daybook.db", company=600.0)
    statements: list[str] = []
    await database.run(lambda connection: _sqlite(connection).set_trace_callback(statements.append))
    async with _Held(database):
        statements.clear()
    database.note(_keep, 1)
    assert await database.run(_keep, 2) == 2
    await database.run(lambda connection: _sqlite(connection).set_trace_callback(None))
    after_the_hold = statements[statements.index("COMMIT") + 1 :]
    assert after_the_hold[: after_the_hold.index("COMMIT")].count("SAVEPOINT job") == 2
    await database.aclose()


async def test_a_note_is_written_where_nothing_comes(database: Database) -> None:
    written = threading.Event()
    database.note(lambda connection: written.set() if _keep(connection, 3) else None)
    assert await asyncio.to_thread(written.wait, 120)


async def test_a_note_that_fails_is_logged_and_the_next_is_written(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    database.post(_keep_then_break, 1)
    database.post(_keep, 2)
    assert await database.run(_kept) == [2]
    assert "half-way" in caplog.text


async def test_who_stopped_waiting_does_not_undo_the_work(database: Database) -> None:
    async with _Held(database):
        waiting = asyncio.ensure_future(database.run(_keep, 1))
        await asyncio.sleep(0)
        waiting.cancel()
    assert await database.run(_kept) == [1]


async def test_closing_finishes_what_waits(tmp_path: Path) -> None:
    path = tmp_path / "daybook.db"
    database = await Database.open(path)
    for number in range(500):
        database.post(_keep, number)
    await database.aclose()
    again = await Database.open(path)
    assert await again.run(_kept) == list(range(500))
    await again.aclose()


@on_sqlite
async def test_the_file_is_private(database: Database, tmp_path: Path) -> None:
    assert await database.run(_keep, 1) == 1
    assert (tmp_path / "daybook.db").stat().st_mode & 0o777 == 0o600


async def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "daybook.db"
    path.write_text("dear diary, this is no database at all\n" * 50)
    with pytest.raises(StorageUnavailable, match=r"daybook\.db"):
        await Database.open(path)
    assert path.read_text().startswith("dear diary")


async def test_a_file_of_a_newer_daybook_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "daybook.db"
    newer = sqlite3.connect(path)
    newer.execute("PRAGMA user_version = 999")
    newer.close()
    with pytest.raises(StorageUnavailable, match="newer Daybook"):
        await Database.open(path)


async def test_a_folder_in_the_place_of_the_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StorageUnavailable):
        await Database.open(tmp_path)


async def test_half_a_character_is_written_whole(database: Database) -> None:
    """Whatever comes from a platform or a model: a word that no file can hold must not fail a commit for ever."""

    def write(connection: Connection) -> list[str]:
        _keep(connection, 1, "a\ud83d")
        _keep(connection, 2, "\ud83d\ude00")
        _keep(connection, 3, "\ude00")
        rows = [(str(number), "number", text) for number, text in ((4, "plain"), (5, "b\ud83d"))]
        connection.executemany("INSERT INTO choice (session, name, value) VALUES (?, ?, ?)", rows)
        return [row["value"] for row in connection.execute("SELECT value FROM choice ORDER BY session")]

    assert await database.run(write) == ["a\ufffd", "😀", "\ufffd", "plain", "b\ufffd"]


async def test_a_database_that_could_not_be_opened_again_is_opened_at_the_next_work(tmp_path: Path) -> None:
    """Its log was deleted, and where the new one should be is a folder."""
    database = await Database.open(tmp_path / "daybook.db")
    await database.run(_keep, 1)
    log = tmp_path / "daybook.db-wal"
    log.unlink()
    log.mkdir()
    for number in (2, 3):
        with pytest.raises(StorageUnavailable, match="Can't open"):
            await database.run(_keep, number)
    log.rmdir()
    assert await database.run(_keep, 4) == 4
    assert await database.run(_kept) == [1, 4]
    log.unlink()
    log.mkdir()
    with pytest.raises(StorageUnavailable, match="Can't open"):
        await database.run(_keep, 5)
    (tmp_path / "daybook.db").unlink()
    with pytest.raises(StorageUnavailable, match="it is gone"):
        await database.run(_keep, 6)
    await database.aclose()
    assert not (tmp_path / "daybook.db").exists(), "none is made in its place"
