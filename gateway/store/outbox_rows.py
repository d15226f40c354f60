"""The outbox: replies from before they are sent to their receipt."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from pydantic import TypeAdapter

from channels.message import Address, Button, OutboundFile
from gateway.store.connection import Connection, Row, days_ago, now

Buttons = tuple[tuple[Button, ...], ...]
_BUTTONS = TypeAdapter(Buttons)
_FILE = TypeAdapter(OutboundFile)

_SPEAKING = "speaking"
"""The state of a text that becomes a recording, beside waiting, sending, sent and failed."""
_WITH_CLAIM = (
    "outbox LEFT JOIN moved ON moved.channel = outbox.channel AND new_chat = chat_id"
    " LEFT JOIN claim ON claim.key = 'chat ' || outbox.channel || ' ' || account || ' ' || coalesce(old_chat, chat_id)"
)
"""With the process that sends to a row's chat, as `claims` names it."""
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
    """It may be there because an earlier send of this row may have arrived, not as a preview."""
    attempts: int
    begun_at: str


@dataclass(frozen=True, slots=True)
class OutboxCounts:
    waiting: int
    oldest: str
    failed: int
    repeated: int


def add(connection: Connection, drafts: Sequence[Draft], at: str, state: str = "waiting") -> None:
    """Stores pieces in order, except known keys."""
    connection.executemany(
        "INSERT INTO outbox (key, channel, account, chat_id, thread_id, text, reply_to, edits, buttons,"
        " file, state, repeat, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT DO NOTHING",
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


def add_once(connection: Connection, drafts: Sequence[Draft], at: str) -> bool:
    """Does `add` unless a message with the first key exists; False then."""
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


def add_speech(connection: Connection, speech: SpeechRow) -> None:
    """Stores a text that becomes a recording, and is not sent."""
    add(connection, [Draft(speech.key, speech.address, speech.text)], speech.created_at, _SPEAKING)


def to_speak(connection: Connection) -> tuple[SpeechRow, ...]:
    return tuple(map(_speech, connection.execute("SELECT * FROM outbox WHERE state = ? ORDER BY seq", (_SPEAKING,))))


def _speech(row: Row) -> SpeechRow:
    address = Address(row["channel"], row["chat_id"], row["thread_id"], row["account"])
    return SpeechRow(row["key"], address, row["text"], row["created_at"])


def spoken(connection: Connection, speech: SpeechRow, file: OutboundFile) -> bool:
    """Has a recording wait to be sent, after all else. False where its text was forgotten meanwhile: it is dropped."""
    made = connection.execute(
        "UPDATE outbox SET state = 'waiting', text = '', file = ? WHERE key = ? AND state = ? AND text = ?"
        " RETURNING seq",
        (_FILE.dump_json(file).decode(), speech.key, _SPEAKING, speech.text),
    ).fetchone()
    if made is None:
        drop_speech(connection, speech.key)
        return False
    _put_last(connection, made["seq"])
    return True


def claimed_speech(connection: Connection, process: int) -> tuple[SpeechRow, ...]:
    """As `to_speak`, in the chats that a process has."""
    rows = connection.execute(
        f"SELECT outbox.* FROM {_WITH_CLAIM} WHERE state = ? AND process = ? ORDER BY seq", (_SPEAKING, process)
    )
    return tuple(map(_speech, rows))


def chats_to_serve(connection: Connection, process: int, *, leads: bool) -> tuple[Address, ...]:
    """The chats with unsent messages that a process has; of a leader, also those that none has."""
    rows = connection.execute(
        f"SELECT DISTINCT outbox.channel, account, chat_id FROM {_WITH_CLAIM}"
        " WHERE state IN ('waiting', 'sending', 'speaking') AND (process = ? OR process IS NULL AND ? = 1)",
        (process, int(leads)),
    )
    return tuple(Address(row["channel"], row["chat_id"], None, row["account"]) for row in rows)


def drop_speech(connection: Connection, key: str) -> None:
    connection.execute("DELETE FROM outbox WHERE key = ? AND state = ?", (key, _SPEAKING))


def open_rows(connection: Connection, address: Address | None = None) -> tuple[OutboxRow, ...]:
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


def take_up(connection: Connection, address: Address, at: str) -> tuple[OutboxRow, ...]:
    """`open_rows` of a chat, with an attempt at the first begun unless it is an edit."""
    rows = open_rows(connection, address)
    if not rows or rows[0].edits:
        return rows
    begin(connection, rows[0].seq, at)
    return (replace(rows[0], sending=True), *rows[1:])


def open_files(connection: Connection) -> frozenset[Path]:
    return frozenset(row.file.path for row in open_rows(connection) if row.file is not None)


def begin(connection: Connection, seq: int, at: str) -> None:
    """Begins an attempt; the first one's time is kept."""
    connection.execute(
        "UPDATE outbox SET state = 'sending', attempts = attempts + 1,"
        " begun_at = CASE begun_at WHEN '' THEN ? ELSE begun_at END WHERE seq = ?",
        (at, seq),
    )


def receipt(connection: Connection, seq: int, platform_id: str, at: str) -> None:
    connection.execute(
        "UPDATE outbox SET state = 'sent', platform_id = ?, reply_to = '', error = '', sent_at = ? WHERE seq = ?",
        (platform_id, at, seq),
    )


def again(connection: Connection, seq: int, error: str, *, repeat: bool = False, anew: bool = False) -> None:
    """Sets a row back to waiting. `repeat`: it may have arrived; `anew`: the message to edit is gone."""
    connection.execute(
        "UPDATE outbox SET state = 'waiting', error = ?, repeat = greatest(repeat, ?),"
        " edits = CASE WHEN ? = 1 THEN '' ELSE edits END WHERE seq = ?",
        (error, _DOUBTED if repeat else 0, int(anew), seq),
    )


def give_up(connection: Connection, seq: int, error: str) -> None:
    connection.execute("UPDATE outbox SET state = 'failed', reply_to = '', error = ? WHERE seq = ?", (error, seq))


def cut(connection: Connection, row: OutboxRow, pieces: Sequence[str], at: str) -> None:
    """Replaces a row. The first piece keeps the key and the preview, the last has the buttons."""
    following = [later for later in open_rows(connection, row.address) if later.seq > row.seq]
    buttons = _BUTTONS.dump_json(row.buttons).decode() if row.buttons else ""
    connection.execute(
        "UPDATE outbox SET text = ?, buttons = '', state = 'waiting', begun_at = '' WHERE seq = ?", (pieces[0], row.seq)
    )
    keys = [row.key, *(f"{row.key}/{len(row.text)}.{number}" for number in range(1, len(pieces)))]
    add(connection, [Draft(key, row.address, piece, row.reply_to) for key, piece in zip(keys, pieces, strict=True)], at)
    connection.execute("UPDATE outbox SET buttons = ? WHERE key = ?", (buttons, keys[-1]))
    for later in following:
        _put_last(connection, later.seq)


def _put_last(connection: Connection, seq: int) -> None:
    """Gives a row the next number."""
    row = connection.execute("SELECT * FROM outbox WHERE seq = ?", (seq,)).fetchone()
    values = {name: value for name, value in dict(row).items() if name not in ("seq", "rowid")}
    connection.execute("DELETE FROM outbox WHERE seq = ?", (seq,))
    connection.execute(
        f"INSERT INTO outbox ({', '.join(values)}) VALUES ({', '.join('?' * len(values))})", tuple(values.values())
    )


def counts(connection: Connection) -> OutboxCounts:
    waiting, oldest = connection.execute(
        "SELECT count(*), coalesce(min(created_at), '') FROM outbox WHERE state IN ('waiting', 'sending')"
    ).fetchone()
    failed, repeated = connection.execute(
        "SELECT count(*) FILTER (WHERE state = 'failed'), count(*) FILTER (WHERE repeat > 0) FROM outbox"
    ).fetchone()
    return OutboxCounts(waiting, oldest, failed, repeated)


def waiting_since(connection: Connection, before: str) -> int:
    query = "SELECT count(*) FROM outbox WHERE state IN ('waiting', 'sending') AND created_at < ?"
    return int(connection.execute(query, (before,)).fetchone()[0])


def is_known(connection: Connection, key: str) -> bool:
    """True if a message of that key was written in the last 30 days."""
    return connection.execute("SELECT 1 FROM outbox WHERE key = ?", (key,)).fetchone() is not None


def platform_id(connection: Connection, key: str) -> str:
    """The id of a message on its platform, if it has one and is kept."""
    row = connection.execute("SELECT platform_id FROM outbox WHERE key = ?", (key,)).fetchone()
    return "" if row is None else str(row["platform_id"])


def known_below(connection: Connection, prefix: str) -> list[str]:
    rows = connection.execute(
        "SELECT key FROM outbox WHERE key >= ? AND key < ?", (prefix, prefix + chr(sys.maxunicode))
    )
    return [row["key"] for row in rows]


def prune(connection: Connection, days: int = 30) -> None:
    """Deletes messages sent so long ago, and previews of dropped turns."""
    connection.execute("DELETE FROM preview WHERE turn NOT IN (SELECT turn FROM inbox)")
    connection.execute("DELETE FROM outbox WHERE state = 'sent' AND sent_at < ?", (days_ago(days),))


def answer_seconds(connection: Connection, since: str) -> dict[int, float]:
    """The seconds from a message to the first part of its answer, by that part's row, of those sent since then."""
    rows = connection.execute(
        "SELECT outbox.seq, sent_at, min(received_at) AS received_at"
        " FROM inbox JOIN outbox ON key IN (turn || ':0', turn || ':0:error')"
        " WHERE inbox.state = 'done' AND outcome IN ('reply', 'error') AND json_extract(message, '$.origin') != 'job'"
        " AND outbox.state = 'sent' AND sent_at > ? GROUP BY outbox.seq, sent_at",
        (since,),
    )
    return {row["seq"]: max(0.0, _seconds(row["received_at"], row["sent_at"])) for row in rows}


def _seconds(start: str, end: str) -> float:
    return (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds()


def open_preview(connection: Connection, turn: str, channel: str) -> None:
    connection.execute(
        "INSERT INTO preview (turn, channel, begun_at) VALUES (?, ?, ?) ON CONFLICT (turn) DO UPDATE"
        " SET channel = excluded.channel, begun_at = excluded.begun_at, platform_id = ''",
        (turn, channel, now()),
    )


def move_preview(connection: Connection, turn: str, to: str) -> None:
    if connection.execute("SELECT 1 FROM preview WHERE turn = ?", (turn,)).fetchone() is not None:
        connection.execute("DELETE FROM preview WHERE turn = ?", (to,))
        connection.execute("UPDATE preview SET turn = ? WHERE turn = ?", (to, turn))


def preview_shown(connection: Connection, turn: str, platform_id: str) -> None:
    connection.execute("UPDATE preview SET platform_id = ? WHERE turn = ?", (platform_id, turn))


def preview_lost(connection: Connection, turn: str) -> None:
    connection.execute("DELETE FROM preview WHERE turn = ?", (turn,))


def preview_of(connection: Connection, turn: str) -> str | None:
    """The platform id of a preview left by an earlier attempt; empty if its id is not known; None without one."""
    row = connection.execute("SELECT platform_id FROM preview WHERE turn = ?", (turn,)).fetchone()
    return None if row is None else str(row["platform_id"])


def preview_age(connection: Connection, turn: str) -> float | None:
    """Seconds since a turn's preview was first sent; None without one."""
    row = connection.execute("SELECT begun_at FROM preview WHERE turn = ?", (turn,)).fetchone()
    return None if row is None or not row["begun_at"] else _seconds(row["begun_at"], now())


@dataclass(frozen=True, slots=True)
class Delivery:
    waiting: int = 0
    sent: int = 0
    failed: int = 0
    error: str = ""
    """Why the first failed one did."""


def delivery(connection: Connection, key: str) -> Delivery:
    """Counts the pieces of a message, whose keys are `key`, a colon and more."""
    row = connection.execute(
        "SELECT count(*) FILTER (WHERE state IN ('waiting', 'sending')), count(*) FILTER (WHERE state = 'sent'),"
        " count(*) FILTER (WHERE state = 'failed'), coalesce(max(CASE WHEN state = 'failed' THEN error END), '')"
        " FROM outbox WHERE key >= ? AND key < ?",
        (f"{key}:", f"{key};"),
    ).fetchone()
    return Delivery(*row)
