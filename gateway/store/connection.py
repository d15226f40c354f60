"""What the SQL of the store needs of a database, the same for SQLite and PostgreSQL, and reading beside the gateway."""

from __future__ import annotations

import importlib
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

from agent.clock import utc_stamp
from agent.formats.sqlite import StorageUnavailable, connect_read_only
from agent.languages.sentences import Sentence


class Row(Protocol):
    """Columns by name or number."""

    def __getitem__(self, column: Any, /) -> Any: ...
    def __iter__(self) -> Iterator[Any]: ...
    def keys(self) -> Iterable[str]: ...


class Cursor(Protocol):
    @property
    def rowcount(self) -> int: ...
    @property
    def description(self) -> Sequence[Any] | None:
        """For each column of the result a sequence that begins with its name."""

    def fetchone(self) -> Any: ...
    def fetchall(self) -> list[Any]: ...
    def __iter__(self) -> Iterator[Any]: ...


class Connection(Protocol):
    """Runs statements that both databases understand, with `?` for each parameter."""

    def execute(self, sql: str, parameters: Sequence[Any] = (), /) -> Cursor: ...
    def executemany(self, sql: str, parameters: Iterable[Sequence[Any]], /) -> Cursor: ...


class Engine(Protocol):
    """A database as the writer thread uses it."""

    @property
    def name(self) -> str: ...
    @property
    def begin(self) -> str:
        """The statement that begins a transaction."""

    @property
    def connection(self) -> Connection: ...
    @property
    def errors(self) -> type[Exception]: ...
    @property
    def in_transaction(self) -> bool: ...
    @property
    def is_shared(self) -> bool:
        """True if several gateways may use it."""

    @property
    def is_lost(self) -> bool:
        """True once nothing can be written any more."""

    def is_refusal(self, error: Exception) -> bool:
        """True if the database failed, not the statement."""

    def keep_named(self) -> None:
        """Makes sure that what is written next is in files that have their names. Raises `StorageUnavailable`."""

    def sentence(self, error: Exception) -> str:
        """One of `errors` and what helps, in one line without the last full stop."""

    def purge(self) -> None:
        """Removes from the disk what was deleted. Raises one of `errors`, `OSError`."""

    def close(self) -> None: ...


def postgres_module(name: str) -> ModuleType:
    """A module of the store that needs psycopg. Raises `StorageUnavailable` without it."""
    try:
        return importlib.import_module(f"gateway.store.{name}")
    except ModuleNotFoundError as missing:
        raise StorageUnavailable(
            Sentence("`database_url` needs the package psycopg. Install it: pip install 'daybook-assistant[postgres]'")
        ) from missing


@contextmanager
def reading(file: Path, url: str | None) -> Iterator[Connection | None]:
    """A connection to the SQLite `file`, or to PostgreSQL, beside the gateway that writes there; None where nothing was
    stored yet. Raises `StorageUnavailable`."""
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


def now() -> str:
    """The stamp of the computer's time."""
    return utc_stamp(datetime.now(UTC))


def days_ago(days: int) -> str:
    return utc_stamp(datetime.now(UTC) - timedelta(days=days))
