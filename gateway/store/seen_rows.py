"""The SQL of what was seen last in each chat."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

Row = tuple[str, str, str]
"""A chat, its server, its last message that is on disk."""


def load(connection: sqlite3.Connection, channel: str) -> list[Row]:
    rows = connection.execute("SELECT chat_id, server, message_id FROM seen WHERE channel = ?", (channel,))
    return [(row["chat_id"], row["server"], row["message_id"]) for row in rows]


def note(connection: sqlite3.Connection, channel: str, rows: Sequence[Row]) -> None:
    """Keep the newer one of what is there and what is given; ids are numbers that grow with time."""
    connection.executemany(
        "INSERT INTO seen (channel, chat_id, server, message_id) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (channel, chat_id) DO UPDATE SET message_id = excluded.message_id"
        " WHERE CAST(excluded.message_id AS INTEGER) > CAST(seen.message_id AS INTEGER)",
        [(channel, *row) for row in rows],
    )


def forget(connection: sqlite3.Connection, channel: str, chat_id: str) -> None:
    connection.execute("DELETE FROM seen WHERE channel = ? AND chat_id = ?", (channel, chat_id))
