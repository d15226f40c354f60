"""Access: approved people, and open pairing requests."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Approved:
    channel: str
    user_id: str
    name: str
    role: str


@dataclass(frozen=True, slots=True)
class PairingRequest:
    code: str
    channel: str
    user_id: str
    name: str
    expires_at: str
    """ISO 8601, UTC."""


def approved(connection: sqlite3.Connection) -> tuple[Approved, ...]:
    rows = connection.execute("SELECT * FROM access ORDER BY added_at")
    return tuple(Approved(row["channel"], row["user_id"], row["name"], row["role"]) for row in rows)


def approve(connection: sqlite3.Connection, person: Approved, at: str) -> None:
    connection.execute(
        "INSERT OR REPLACE INTO access VALUES (?, ?, ?, ?, ?)",
        (person.channel, person.user_id, person.name, person.role, at),
    )
    connection.execute("DELETE FROM pairing WHERE channel = ? AND user_id = ?", (person.channel, person.user_id))


def decline(connection: sqlite3.Connection, code: str) -> None:
    connection.execute("DELETE FROM pairing WHERE code = ?", (code,))


def revoke(connection: sqlite3.Connection, channel: str, user_id: str) -> bool:
    """False if there was none."""
    cursor = connection.execute("DELETE FROM access WHERE channel = ? AND user_id = ?", (channel, user_id))
    return cursor.rowcount > 0


def requests(connection: sqlite3.Connection, now: str) -> tuple[PairingRequest, ...]:
    """The open requests; expired ones are deleted."""
    connection.execute("DELETE FROM pairing WHERE expires_at <= ?", (now,))
    rows = connection.execute("SELECT * FROM pairing ORDER BY expires_at")
    return tuple(
        PairingRequest(row["code"], row["channel"], row["user_id"], row["name"], row["expires_at"]) for row in rows
    )


def request(connection: sqlite3.Connection, asked: PairingRequest) -> None:
    connection.execute(
        "INSERT OR REPLACE INTO pairing VALUES (?, ?, ?, ?, ?)",
        (asked.code, asked.channel, asked.user_id, asked.name, asked.expires_at),
    )
