"""The SQL of the messages of the web page's chats."""

from __future__ import annotations

import sqlite3

from pydantic import TypeAdapter

from channels.message import InboundMessage, Origin
from channels.web.record import Buttons, ChatEntry, MessageAuthor, ShownFile

CHANNEL = "web"
_KEPT = 500
"""Messages of a chat; older ones are forgotten here (the talk itself is in its transcript)."""
_BUTTONS = TypeAdapter(Buttons)
_FILES = TypeAdapter(tuple[ShownFile, ...])


def said(connection: sqlite3.Connection, message: InboundMessage, at: str) -> None:
    """Stores a person's message from the page; presses of buttons and the clock's messages are not shown."""
    if message.address.channel != CHANNEL or message.origin is not Origin.CHAT:
        return
    files = tuple(ShownFile(one.name, one.media_type, handle=one.handle) for one in message.attachments)
    entry = ChatEntry(
        0, message.platform_id, message.address.chat_id, MessageAuthor.PERSON, message.text, at, files=files
    )
    _add(connection, entry)


def keep(connection: sqlite3.Connection, entry: ChatEntry) -> ChatEntry:
    """Stores one of our messages, unless it is known; returns the stored one."""
    _add(connection, entry)
    kept = find(connection, entry.id)
    assert kept is not None
    return kept


def change(connection: sqlite3.Connection, id: str, text: str, buttons: Buttons) -> ChatEntry | None:
    """Changes one of our messages; those of people never change."""
    connection.execute(
        "UPDATE web_message SET text = ?, buttons = ? WHERE id = ? AND by = ?",
        (text, _BUTTONS.dump_json(buttons).decode(), id, MessageAuthor.DAYBOOK),
    )
    entry = find(connection, id)
    return entry if entry is not None and entry.by is MessageAuthor.DAYBOOK else None


def find(connection: sqlite3.Connection, id: str) -> ChatEntry | None:
    row = connection.execute("SELECT * FROM web_message WHERE id = ?", (id,)).fetchone()
    return None if row is None else _entry(row)


def recent(connection: sqlite3.Connection, chat: str, most: int, before: int | None) -> list[ChatEntry]:
    rows = connection.execute(
        "SELECT * FROM web_message WHERE chat_id = ? AND number < ? ORDER BY number DESC LIMIT ?",
        (chat, before if before is not None else 2**62, most),
    ).fetchall()
    return [_entry(row) for row in reversed(rows)]


def handles(connection: sqlite3.Connection) -> frozenset[str]:
    rows = connection.execute("SELECT files FROM web_message WHERE files != '[]' AND by = ?", (MessageAuthor.PERSON,))
    return frozenset(file.handle for row in rows for file in _FILES.validate_json(row["files"]))


def log_out(connection: sqlite3.Connection, session: str, until: int) -> None:
    """Ends a login; those that have expired are deleted."""
    connection.execute("DELETE FROM web_logged_out WHERE until < CAST(strftime('%s', 'now') AS INTEGER)")
    connection.execute("INSERT OR IGNORE INTO web_logged_out VALUES (?, ?)", (session, until))


def logged_out(connection: sqlite3.Connection) -> frozenset[str]:
    return frozenset(row["session"] for row in connection.execute("SELECT session FROM web_logged_out"))


def _add(connection: sqlite3.Connection, entry: ChatEntry) -> None:
    connection.execute(
        "INSERT OR IGNORE INTO web_message (id, chat_id, by, text, at, reply_to, turn, is_error, buttons, files)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            entry.id,
            entry.chat,
            entry.by,
            entry.text,
            entry.at,
            entry.reply_to,
            entry.turn,
            int(entry.is_error),
            _BUTTONS.dump_json(entry.buttons).decode(),
            _FILES.dump_json(entry.files).decode(),
        ),
    )
    connection.execute(
        "DELETE FROM web_message WHERE chat_id = ? AND number <= (SELECT number FROM web_message WHERE chat_id = ?"
        " ORDER BY number DESC LIMIT 1 OFFSET ?)",
        (entry.chat, entry.chat, _KEPT),
    )


def _entry(row: sqlite3.Row) -> ChatEntry:
    return ChatEntry(
        number=row["number"],
        id=row["id"],
        chat=row["chat_id"],
        by=MessageAuthor(row["by"]),
        text=row["text"],
        at=row["at"],
        reply_to=row["reply_to"],
        turn=row["turn"],
        is_error=bool(row["is_error"]),
        buttons=_BUTTONS.validate_json(row["buttons"]),
        files=_FILES.validate_json(row["files"]),
    )
