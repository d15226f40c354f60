"""Reads what is stored beside the gateway that writes it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from agent.formats.sqlite import StorageUnavailable, connect_read_only
from gateway.store.connection import Connection, postgres_module


@contextmanager
def reading(file: Path, url: str | None) -> Iterator[Connection | None]:
    """A connection to the SQLite `file`, or to PostgreSQL; None where nothing was stored yet. Raises
    `StorageUnavailable`."""
    if url is not None:
        postgres = postgres_module("postgres")
        with closing(postgres.PostgresEngine(url)) as engine, postgres.said(engine):
            engine.check_own(url)
            yield engine.connection if engine.is_prepared else None
        return
    if not file.exists():
        yield None
        return
    try:
        with connect_read_only(file) as connection:
            yield connection
    except sqlite3.Error as error:
        raise StorageUnavailable(str(error)) from error


def homes(connection: Connection) -> set[str]:
    """The id of the home that a PostgreSQL database belongs to; empty before its first gateway has started."""
    return {str(row["id"]) for row in connection.execute("SELECT id FROM home")}
