"""What the SQL of the store needs of a database, the same for SQLite and PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

from agent.clock import utc_stamp


class Row(Protocol):
    """Columns by name or number."""

    def __getitem__(self, column: Any, /) -> Any: ...
    def __iter__(self) -> Iterator[Any]: ...
    def keys(self) -> Iterable[str]: ...


class Cursor(Protocol):
    @property
    def rowcount(self) -> int: ...
    def fetchone(self) -> Any: ...
    def fetchall(self) -> list[Any]: ...
    def __iter__(self) -> Iterator[Any]: ...


class Connection(Protocol):
    """Runs statements that both databases understand, with `?` for each parameter."""

    def execute(self, sql: str, parameters: Sequence[Any] = (), /) -> Cursor: ...
    def executemany(self, sql: str, parameters: Iterable[Sequence[Any]], /) -> Cursor: ...


def now() -> str:
    """The stamp of the computer's time."""
    return utc_stamp(datetime.now(UTC))


def days_ago(days: int) -> str:
    """The stamp of so many days before `now`."""
    return utc_stamp(datetime.now(UTC) - timedelta(days=days))
