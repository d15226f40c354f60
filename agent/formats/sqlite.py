"""SQLite connections that accept any text."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any

from agent.formats.plain_text import repair_surrogates


class WholeTextConnection(sqlite3.Connection):
    """A connection that writes text through `whole`: lone surrogates cannot make a commit fail."""

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        try:
            return super().execute(sql, parameters)
        except UnicodeEncodeError:
            return super().execute(sql, _whole(parameters))

    def executemany(self, sql: str, parameters: Iterable[Any], /) -> sqlite3.Cursor:
        return super().executemany(sql, [_whole(row) for row in parameters])


def _whole(parameters: Any) -> Any:
    if isinstance(parameters, Mapping):
        return {name: _whole_value(value) for name, value in parameters.items()}
    return [_whole_value(value) for value in parameters]


def _whole_value(value: Any) -> Any:
    return repair_surrogates(value) if isinstance(value, str) else value
