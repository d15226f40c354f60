"""Moves the messages of a home from SQLite to PostgreSQL and back, all or none, checked row by row."""

from __future__ import annotations

import hashlib
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg

from agent.formats.sqlite import StorageUnavailable, transaction
from agent.languages.sentences import Sentence
from gateway.home import Home
from gateway.store.connection import Connection
from gateway.store.database import SqliteEngine
from gateway.store.membership import alone, belongs_to_another, bind, bind_anew
from gateway.store.postgres import PostgresEngine, PostgresRow, sentence
from gateway.store.schema import STEPS

_TABLES = tuple(re.findall(r"CREATE TABLE (\w+)", "".join(STEPS)))
_MANY = 1_000
_ROW_NUMBER = "rowid"


def to_postgres(home: Home, url: str) -> int:
    """Copies everything into an empty database and puts the file aside as `daybook.db.moved`; returns the number of
    rows. Raises `HomeBusy`, `StorageUnavailable`."""
    if home.claim.exists() or not home.database.exists():
        raise StorageUnavailable(Sentence("There is nothing to move: {file} does not exist.", file=home.database))
    with home.hold(), alone(home, url) as target, closing(SqliteEngine(home.database)) as source:
        session = target.session
        if belongs_to_another(session, home):
            raise StorageUnavailable(Sentence("{name} belongs to another home. Give an empty one.", name=target.name))
        try:
            with session.transaction():
                session.execute(f"TRUNCATE {', '.join(_TABLES)}".encode())  # of a move that was cut off
                count = _copy(source.connection, target.connection)
                for table, key in _keys(source.connection):
                    _continue_numbers(session, table, key)
        except psycopg.Error as error:
            raise StorageUnavailable(Sentence("Nothing was moved: {why}.", why=sentence(error))) from error
        bind_anew(session, home)
        source.purge()
    home.database.rename(aside(home))
    return count


def to_sqlite(home: Home, url: str) -> int:
    """Copies everything into a new file and empties the database; returns the number of rows. Raises `HomeBusy`,
    `StorageUnavailable`."""
    if not home.claim.exists():
        raise StorageUnavailable(Sentence("There is nothing to move: the messages of this home are in SQLite."))
    new = home.database.with_suffix(".new")
    new.unlink(missing_ok=True)
    with home.hold(), alone(home, url) as source:
        bind(source, home)
        with closing(SqliteEngine(new)) as target:
            try:
                with transaction(target.connection):
                    count = _copy(source.connection, target.connection)
            except sqlite3.Error as error:
                raise StorageUnavailable(Sentence("Nothing was moved: {why}.", why=error)) from error
            target.purge()
        new.rename(home.database)
        home.claim.unlink()
        source.session.execute(f"TRUNCATE home, {', '.join(_TABLES)}".encode())
    return count


def copy_out(url: str, path: Path) -> None:
    """Copies what a database holds at one moment to a new SQLite file, beside the gateway that writes. Raises
    `StorageUnavailable`."""
    with closing(PostgresEngine(url)) as source, closing(SqliteEngine(path)) as target, source.session.transaction():
        source.session.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        with transaction(target.connection):
            _copy(source.connection, target.connection)


def aside(home: Home) -> Path:
    return home.database.with_name("daybook.db.moved")


def _copy(source: Connection, target: Connection) -> int:
    """Raises `StorageUnavailable` where the copy differs from what was there."""
    count = 0
    for table in _TABLES:
        described = source.execute(f"SELECT * FROM {table} LIMIT 0").description or ()
        names = [column[0] for column in described if column[0] != _ROW_NUMBER]
        insert = f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"
        batch: list[tuple[object, ...]] = []
        for row in _rows(source, table, names):
            batch.append(row)
            if len(batch) == _MANY:
                target.executemany(insert, batch)
                batch.clear()
            count += 1
        if batch:
            target.executemany(insert, batch)
        if _digest(source, table, names) != _digest(target, table, names):
            raise StorageUnavailable(
                Sentence("Nothing was moved: the copy of {table} differs from what was there.", table=table)
            )
    return count


def _rows(connection: Connection, table: str, names: list[str]) -> Iterator[tuple[object, ...]]:
    for row in connection.execute(f"SELECT {', '.join(names)} FROM {table} ORDER BY {_ROW_NUMBER}"):
        yield tuple(row)


def _digest(connection: Connection, table: str, names: list[str]) -> str:
    digest = hashlib.sha256()
    for row in _rows(connection, table, names):
        digest.update(repr(row).encode())
    return digest.hexdigest()


def _keys(source: Connection) -> Iterator[tuple[str, str]]:
    """The tables that number their rows, and the column."""
    for table in _TABLES:
        for column in source.execute(f"PRAGMA table_info({table})"):
            if column["pk"] and column["type"] == "INTEGER":
                yield table, column["name"]


def _continue_numbers(session: psycopg.Connection[PostgresRow], table: str, key: str) -> None:
    session.execute(
        f"SELECT setval(pg_get_serial_sequence('{table}', '{key}'), (SELECT max({key}) FROM {table}))".encode()
    )
