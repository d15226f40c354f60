"""Access: approved people, and open pairing requests."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.store.connection import Connection


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


def approved(connection: Connection) -> tuple[Approved, ...]:
    rows = connection.execute("SELECT * FROM access ORDER BY added_at")
    return tuple(Approved(row["channel"], row["user_id"], row["name"], row["role"]) for row in rows)


def approve(connection: Connection, person: Approved, at: str) -> None:
    connection.execute(
        "INSERT INTO access (channel, user_id, name, role, added_at) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT (channel, user_id) DO UPDATE SET"
        " name = excluded.name, role = excluded.role, added_at = excluded.added_at",
        (person.channel, person.user_id, person.name, person.role, at),
    )
    connection.execute("DELETE FROM pairing WHERE channel = ? AND user_id = ?", (person.channel, person.user_id))


def decline(connection: Connection, code: str) -> None:
    connection.execute("DELETE FROM pairing WHERE code = ?", (code,))


def revoke(connection: Connection, channel: str, user_id: str) -> bool:
    """Deletes an approval; False if there was none."""
    cursor = connection.execute("DELETE FROM access WHERE channel = ? AND user_id = ?", (channel, user_id))
    return cursor.rowcount > 0


def requests(connection: Connection, now: str) -> tuple[PairingRequest, ...]:
    """The open requests; expired ones are deleted."""
    connection.execute("DELETE FROM pairing WHERE expires_at <= ?", (now,))
    rows = connection.execute("SELECT * FROM pairing ORDER BY expires_at")
    return tuple(
        PairingRequest(row["code"], row["channel"], row["user_id"], row["name"], row["expires_at"]) for row in rows
    )


def request(connection: Connection, asked: PairingRequest) -> None:
    connection.execute(
        "INSERT INTO pairing (code, channel, user_id, name, expires_at) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT (code) DO UPDATE SET channel = excluded.channel, user_id = excluded.user_id,"
        " name = excluded.name, expires_at = excluded.expires_at",
        (asked.code, asked.channel, asked.user_id, asked.name, asked.expires_at),
    )
