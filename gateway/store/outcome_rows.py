"""What the owner said to effects that a session has asked for, until its talk is told."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence


def add(connection: sqlite3.Connection, id: str, session: str, text: str, at: str, oldest: str) -> None:
    """`id`: the question's; what is here already stays as it is, and what is older than `oldest` goes."""
    connection.execute("DELETE FROM outcome WHERE at < ?", (oldest,))
    connection.execute("INSERT OR IGNORE INTO outcome VALUES (?, ?, ?, ?)", (id, session, text, at))


def of_session(connection: sqlite3.Connection, session: str) -> dict[str, str]:
    """Texts by id, the oldest first."""
    rows = connection.execute("SELECT id, text FROM outcome WHERE session = ? ORDER BY rowid", (session,))
    return {row["id"]: row["text"] for row in rows}


def drop(connection: sqlite3.Connection, ids: Sequence[str]) -> None:
    connection.executemany("DELETE FROM outcome WHERE id = ?", [(id,) for id in ids])
