"""What people chose, by a session's or a chat's name."""

from __future__ import annotations

import sqlite3


def choose(connection: sqlite3.Connection, of: str, name: str, value: str | None) -> None:
    """Keep a choice; None takes it back."""
    if value is None:
        connection.execute("DELETE FROM choice WHERE session = ? AND name = ?", (of, name))
    else:
        connection.execute("INSERT OR REPLACE INTO choice VALUES (?, ?, ?)", (of, name, value))


def chosen(connection: sqlite3.Connection, name: str) -> dict[str, str]:
    """Of all that made it, a choice of that name."""
    rows = connection.execute("SELECT session, value FROM choice WHERE name = ?", (name,))
    return {row["session"]: row["value"] for row in rows}
