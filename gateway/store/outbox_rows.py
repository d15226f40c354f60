"""The SQL of the outbox: replies from before they are sent to their receipt."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import TypeAdapter

from channels.message import Address, Button, OutboundFile

Buttons = tuple[tuple[Button, ...], ...]
_BUTTONS = TypeAdapter(Buttons)
_FILE = TypeAdapter(OutboundFile)

_DOUBTED = 2
"""In column `repeat`, where 1 is a text whose preview may stand in the chat."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A piece of a reply to be written down. `edits`: platform id of the preview that it replaces."""

    key: str
    address: Address
    text: str
    reply_to: str = ""
    edits: str = ""
    repeat: bool = False
    buttons: Buttons = ()
    file: OutboundFile | None = None


@dataclass(frozen=True, slots=True)
class OutboxRow:
    """`repeat`: the text may be in the chat already, so it is sent with a mark; `doubted`: because an earlier send of
    this row may have arrived (else a preview of it may)."""

    seq: int
    key: str
    address: Address
    text: str
    reply_to: str
    edits: str
    buttons: Buttons
    file: OutboundFile | None
    sending: bool
    repeat: bool
    doubted: bool
    attempts: int
    begun_at: str


@dataclass(frozen=True, slots=True)
class OutboxCounts:
    waiting: int
    oldest: str
    failed: int
    repeated: int


def add(connection: sqlite3.Connection, drafts: Sequence[Draft], at: str) -> None:
    """Writes pieces down, in order. A known key is left as it is."""
    connection.executemany(
        "INSERT OR IGNORE INTO outbox (key, channel, account, chat_id, thread_id, text, reply_to, edits, buttons,"
        " file, state, repeat, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'waiting', ?, ?)",
        [
            (
                draft.key,
                draft.address.channel,
                draft.address.account,
                draft.address.chat_id,
                draft.address.thread_id,
                draft.text,
                draft.reply_to,
                draft.edits,
                _BUTTONS.dump_json(draft.buttons).decode() if draft.buttons else "",
                _FILE.dump_json(draft.file).decode() if draft.file else "",
                int(draft.repeat),
                at,
            )
            for draft in drafts
        ],
    )


def open_rows(connection: sqlite3.Connection, address: Address | None = None) -> tuple[OutboxRow, ...]:
    """The rows without a receipt, in the order of writing; with an address, of one chat and all its threads."""
    query = "SELECT * FROM outbox WHERE state IN ('waiting', 'sending')"
    arguments: tuple[str, ...] = ()
    if address is not None:
        query += " AND channel = ? AND account = ? AND chat_id = ?"
        arguments = (address.channel, address.account, address.chat_id)
    return tuple(
        OutboxRow(
            seq=row["seq"],
            key=row["key"],
            address=Address(row["channel"], row["chat_id"], row["thread_id"], row["account"]),
            text=row["text"],
            reply_to=row["reply_to"],
            edits=row["edits"],
            buttons=_BUTTONS.validate_json(row["buttons"]) if row["buttons"] else (),
            file=_FILE.validate_json(row["file"]) if row["file"] else None,
            sending=row["state"] == "sending",
            repeat=row["repeat"] > 0,
            doubted=row["repeat"] == _DOUBTED,
            attempts=row["attempts"],
            begun_at=row["begun_at"],
        )
        for row in connection.execute(f"{query} ORDER BY seq", arguments)
    )


def take_up(connection: sqlite3.Connection, address: Address, at: str) -> tuple[OutboxRow, ...]:
    """`open_rows` of a chat, with an attempt at the first begun, unless that is an edit, which may be repeated."""
    rows = open_rows(connection, address)
    if not rows or rows[0].edits:
        return rows
    begin(connection, rows[0].seq, at)
    return (replace(rows[0], sending=True), *rows[1:])


def open_files(connection: sqlite3.Connection) -> frozenset[Path]:
    """The files that are still to be sent."""
    return frozenset(row.file.path for row in open_rows(connection) if row.file is not None)


def begin(connection: sqlite3.Connection, seq: int, at: str) -> None:
    """Begins an attempt; the time of the first one is kept."""
    connection.execute(
        "UPDATE outbox SET state = 'sending', attempts = attempts + 1,"
        " begun_at = CASE begun_at WHEN '' THEN ? ELSE begun_at END WHERE seq = ?",
        (at, seq),
    )


def receipt(connection: sqlite3.Connection, seq: int, platform_id: str, at: str) -> None:
    connection.execute(
        "UPDATE outbox SET state = 'sent', platform_id = ?, error = '', sent_at = ? WHERE seq = ?",
        (platform_id, at, seq),
    )


def again(connection: sqlite3.Connection, seq: int, error: str, *, repeat: bool = False, anew: bool = False) -> None:
    """Sets a row back to waiting. `repeat`: it may have arrived; `anew`: the message it was to edit is gone."""
    connection.execute(
        "UPDATE outbox SET state = 'waiting', error = ?, repeat = max(repeat, ?),"
        " edits = CASE WHEN ? THEN '' ELSE edits END WHERE seq = ?",
        (error, _DOUBTED if repeat else 0, int(anew), seq),
    )


def give_up(connection: sqlite3.Connection, seq: int, error: str) -> None:
    connection.execute("UPDATE outbox SET state = 'failed', error = ? WHERE seq = ?", (error, seq))


def cut(connection: sqlite3.Connection, row: OutboxRow, pieces: Sequence[str], at: str) -> None:
    """Replaces a row by several, before what follows it in its chat. The first keeps the key and the preview that it
    replaces, and the last has the buttons."""
    following = [one for one in open_rows(connection, row.address) if one.seq > row.seq]
    buttons = _BUTTONS.dump_json(row.buttons).decode() if row.buttons else ""
    connection.execute(
        "UPDATE outbox SET text = ?, buttons = '', state = 'waiting', begun_at = '' WHERE seq = ?", (pieces[0], row.seq)
    )
    keys = [row.key, *(f"{row.key}/{len(row.text)}.{number}" for number in range(1, len(pieces)))]
    add(connection, [Draft(key, row.address, piece, row.reply_to) for key, piece in zip(keys, pieces, strict=True)], at)
    connection.execute("UPDATE outbox SET buttons = ? WHERE key = ?", (buttons, keys[-1]))
    for one in following:
        connection.execute("UPDATE outbox SET seq = (SELECT max(seq) + 1 FROM outbox) WHERE seq = ?", (one.seq,))


def counts(connection: sqlite3.Connection) -> OutboxCounts:
    waiting, oldest = connection.execute(
        "SELECT count(*), coalesce(min(created_at), '') FROM outbox WHERE state IN ('waiting', 'sending')"
    ).fetchone()
    failed, repeated = connection.execute(
        "SELECT coalesce(sum(state = 'failed'), 0), coalesce(sum(repeat > 0), 0) FROM outbox"
    ).fetchone()
    return OutboxCounts(waiting, oldest, failed, repeated)


def waiting_since(connection: sqlite3.Connection, before: str) -> int:
    """The number of rows that have waited since then or longer."""
    query = "SELECT count(*) FROM outbox WHERE state IN ('waiting', 'sending') AND created_at < ?"
    return int(connection.execute(query, (before,)).fetchone()[0])


def is_known(connection: sqlite3.Connection, key: str) -> bool:
    """True where a message of that key was ever written down (for 30 days, see `prune`)."""
    return connection.execute("SELECT 1 FROM outbox WHERE key = ?", (key,)).fetchone() is not None


def known_below(connection: sqlite3.Connection, prefix: str) -> list[str]:
    """The known keys that begin with `prefix`."""
    query = "SELECT key FROM outbox WHERE key >= :prefix AND key < :prefix || char(1114111)"
    return [row["key"] for row in connection.execute(query, {"prefix": prefix})]


def prune(connection: sqlite3.Connection, days: int = 30) -> None:
    """Deletes what was sent so long ago, and previews of turns that the inbox has dropped."""
    connection.execute("DELETE FROM preview WHERE turn NOT IN (SELECT turn FROM inbox)")
    connection.execute(
        "DELETE FROM outbox WHERE state = 'sent' AND sent_at < strftime('%Y-%m-%dT%H:%M:%fZ', 'now', ?)",
        (f"-{days} days",),
    )


def open_preview(connection: sqlite3.Connection, turn: str, channel: str) -> None:
    connection.execute(
        "INSERT OR REPLACE INTO preview (turn, channel, begun_at) VALUES (?, ?, strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))",
        (turn, channel),
    )


def preview_shown(connection: sqlite3.Connection, turn: str, platform_id: str) -> None:
    connection.execute("UPDATE preview SET platform_id = ? WHERE turn = ?", (platform_id, turn))


def preview_lost(connection: sqlite3.Connection, turn: str) -> None:
    """The preview was certainly not sent."""
    connection.execute("DELETE FROM preview WHERE turn = ?", (turn,))


def preview_of(connection: sqlite3.Connection, turn: str) -> str | None:
    """The platform id of a preview left by an earlier attempt; empty where its id is not known; None without one."""
    row = connection.execute("SELECT platform_id FROM preview WHERE turn = ?", (turn,)).fetchone()
    return None if row is None else str(row["platform_id"])


def preview_age(connection: sqlite3.Connection, turn: str) -> float | None:
    """Seconds since a turn's preview was first sent; None without one."""
    row = connection.execute(
        "SELECT (julianday('now') - julianday(begun_at)) * 86400.0 FROM preview WHERE turn = ?", (turn,)
    ).fetchone()
    return None if row is None else row[0]


@dataclass(frozen=True, slots=True)
class Delivery:
    """The delivery of all pieces of a text. `error`: why the first failed one did."""

    waiting: int = 0
    sent: int = 0
    failed: int = 0
    error: str = ""


def delivery(connection: sqlite3.Connection, key: str) -> Delivery:
    """The delivery of the pieces whose keys are `key` and a number."""
    row = connection.execute(
        "SELECT coalesce(sum(state IN ('waiting', 'sending')), 0), coalesce(sum(state = 'sent'), 0),"
        " coalesce(sum(state = 'failed'), 0), coalesce(max(CASE WHEN state = 'failed' THEN error END), '')"
        " FROM outbox WHERE key >= ? AND key < ?",
        (f"{key}:", f"{key};"),
    ).fetchone()
    return Delivery(*row)
