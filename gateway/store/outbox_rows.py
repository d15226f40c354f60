"""The outbox: replies from before they are sent to their receipt."""

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

_SPEAKING = "speaking"
"""The state of a text that becomes a recording, beside waiting, sending, sent and failed."""
_DOUBTED = 2
"""In column `repeat`, where 1 is a text whose preview may stand in the chat."""


@dataclass(frozen=True, slots=True)
class Draft:
    key: str
    address: Address
    text: str
    reply_to: str = ""
    edits: str = ""
    """Platform id of the preview that it replaces."""
    repeat: bool = False
    buttons: Buttons = ()
    file: OutboundFile | None = None


@dataclass(frozen=True, slots=True)
class OutboxRow:
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
    """The text may be in the chat already, so it is sent with a mark."""
    doubted: bool
    """Because an earlier send of this row may have arrived (else a preview)."""
    attempts: int
    begun_at: str


@dataclass(frozen=True, slots=True)
class OutboxCounts:
    waiting: int
    oldest: str
    failed: int
    repeated: int


def add(connection: sqlite3.Connection, drafts: Sequence[Draft], at: str, state: str = "waiting") -> None:
    """Stores pieces in order, except known keys."""
    connection.executemany(
        "INSERT OR IGNORE INTO outbox (key, channel, account, chat_id, thread_id, text, reply_to, edits, buttons,"
        " file, state, repeat, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
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
                state,
                int(draft.repeat),
                at,
            )
            for draft in drafts
        ],
    )


def add_once(connection: sqlite3.Connection, drafts: Sequence[Draft], at: str) -> bool:
    """False where a message of that key exists."""
    if is_known(connection, drafts[0].key):
        return False
    add(connection, drafts, at)
    return True


@dataclass(frozen=True, slots=True)
class SpeechRow:
    """An answer that is to be said aloud."""

    key: str
    address: Address
    text: str
    created_at: str


def add_speech(connection: sqlite3.Connection, speech: SpeechRow) -> None:
    """Stores what is to become a recording. Its text is not sent."""
    add(connection, [Draft(speech.key, speech.address, speech.text)], speech.created_at, _SPEAKING)


def to_speak(connection: sqlite3.Connection) -> tuple[SpeechRow, ...]:
    return tuple(
        SpeechRow(
            row["key"],
            Address(row["channel"], row["chat_id"], row["thread_id"], row["account"]),
            row["text"],
            row["created_at"],
        )
        for row in connection.execute("SELECT * FROM outbox WHERE state = ? ORDER BY seq", (_SPEAKING,))
    )


def spoken(connection: sqlite3.Connection, speech: SpeechRow, file: OutboundFile) -> bool:
    """The recording waits to be sent, after all else. False where the text was forgotten meanwhile: it is dropped."""
    made = connection.execute(
        "UPDATE outbox SET state = 'waiting', text = '', file = ?, seq = (SELECT max(seq) + 1 FROM outbox)"
        " WHERE key = ? AND state = ? AND text = ?",
        (_FILE.dump_json(file).decode(), speech.key, _SPEAKING, speech.text),
    ).rowcount
    if not made:
        drop_speech(connection, speech.key)
    return bool(made)


def drop_speech(connection: sqlite3.Connection, key: str) -> None:
    connection.execute("DELETE FROM outbox WHERE key = ? AND state = ?", (key, _SPEAKING))


def open_rows(connection: sqlite3.Connection, address: Address | None = None) -> tuple[OutboxRow, ...]:
    """The rows without a receipt, in order, of a chat and its threads or of all."""
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
    """`open_rows` of a chat, with an attempt at the first begun unless it is an edit."""
    rows = open_rows(connection, address)
    if not rows or rows[0].edits:
        return rows
    begin(connection, rows[0].seq, at)
    return (replace(rows[0], sending=True), *rows[1:])


def open_files(connection: sqlite3.Connection) -> frozenset[Path]:
    return frozenset(row.file.path for row in open_rows(connection) if row.file is not None)


def begin(connection: sqlite3.Connection, seq: int, at: str) -> None:
    """Begins an attempt; the first one's time is kept."""
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
    """Sets a row back to waiting. `repeat`: it may have arrived; `anew`: the message to edit is gone."""
    connection.execute(
        "UPDATE outbox SET state = 'waiting', error = ?, repeat = max(repeat, ?),"
        " edits = CASE WHEN ? THEN '' ELSE edits END WHERE seq = ?",
        (error, _DOUBTED if repeat else 0, int(anew), seq),
    )


def give_up(connection: sqlite3.Connection, seq: int, error: str) -> None:
    connection.execute("UPDATE outbox SET state = 'failed', error = ? WHERE seq = ?", (error, seq))


def cut(connection: sqlite3.Connection, row: OutboxRow, pieces: Sequence[str], at: str) -> None:
    """Replaces a row. The first piece keeps the key and the preview, the last has the buttons."""
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
    query = "SELECT count(*) FROM outbox WHERE state IN ('waiting', 'sending') AND created_at < ?"
    return int(connection.execute(query, (before,)).fetchone()[0])


def is_known(connection: sqlite3.Connection, key: str) -> bool:
    """True if a message of that key was written in the last 30 days."""
    return connection.execute("SELECT 1 FROM outbox WHERE key = ?", (key,)).fetchone() is not None


def platform_id(connection: sqlite3.Connection, key: str) -> str:
    """The id of a message on its platform, if it has one and is kept."""
    row = connection.execute("SELECT platform_id FROM outbox WHERE key = ?", (key,)).fetchone()
    return "" if row is None else str(row["platform_id"])


def known_below(connection: sqlite3.Connection, prefix: str) -> list[str]:
    query = "SELECT key FROM outbox WHERE key >= :prefix AND key < :prefix || char(1114111)"
    return [row["key"] for row in connection.execute(query, {"prefix": prefix})]


def prune(connection: sqlite3.Connection, days: int = 30) -> None:
    """Deletes what was sent so long ago, and previews of dropped turns."""
    connection.execute("DELETE FROM preview WHERE turn NOT IN (SELECT turn FROM inbox)")
    connection.execute(
        "DELETE FROM outbox WHERE state = 'sent' AND sent_at < strftime('%Y-%m-%dT%H:%M:%fZ', 'now', ?)",
        (f"-{days} days",),
    )


def answer_seconds(connection: sqlite3.Connection, since: str) -> dict[int, float]:
    """The seconds from a message to the first part of its answer, by that part's row, of those sent since then."""
    rows = connection.execute(
        "SELECT outbox.seq, (julianday(sent_at) - julianday(min(received_at))) * 86400 AS seconds"
        " FROM inbox CROSS JOIN outbox ON key IN (turn || ':0', turn || ':0:error')"
        " WHERE inbox.state = 'done' AND outcome IN ('reply', 'error') AND json_extract(message, '$.origin') != 'job'"
        " AND outbox.state = 'sent' AND sent_at > ? GROUP BY outbox.seq",
        (since,),
    )
    return {row["seq"]: max(0.0, row["seconds"]) for row in rows}


def open_preview(connection: sqlite3.Connection, turn: str, channel: str) -> None:
    connection.execute(
        "INSERT OR REPLACE INTO preview (turn, channel, begun_at) VALUES (?, ?, strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))",
        (turn, channel),
    )


def preview_shown(connection: sqlite3.Connection, turn: str, platform_id: str) -> None:
    connection.execute("UPDATE preview SET platform_id = ? WHERE turn = ?", (platform_id, turn))


def preview_lost(connection: sqlite3.Connection, turn: str) -> None:
    connection.execute("DELETE FROM preview WHERE turn = ?", (turn,))


def preview_of(connection: sqlite3.Connection, turn: str) -> str | None:
    """The platform id of a preview left by an earlier attempt; empty if its id is not known; None without one."""
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
    waiting: int = 0
    sent: int = 0
    failed: int = 0
    error: str = ""
    """Why the first failed one did."""


def delivery(connection: sqlite3.Connection, key: str) -> Delivery:
    """The pieces have the keys `key` and a number."""
    row = connection.execute(
        "SELECT coalesce(sum(state IN ('waiting', 'sending')), 0), coalesce(sum(state = 'sent'), 0),"
        " coalesce(sum(state = 'failed'), 0), coalesce(max(CASE WHEN state = 'failed' THEN error END), '')"
        " FROM outbox WHERE key >= ? AND key < ?",
        (f"{key}:", f"{key};"),
    ).fetchone()
    return Delivery(*row)
