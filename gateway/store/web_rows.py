"""The messages of the web page's chats."""

from __future__ import annotations

import time
from dataclasses import replace

from pydantic import TypeAdapter

from channels.message import InboundMessage, Origin
from channels.web.record import AGAIN, NAME, Buttons, ChatEntry, MessageAuthor, ShownFile, inbound_id
from gateway.store.connection import Connection, Row

_BUTTONS = TypeAdapter(Buttons)
_FILES = TypeAdapter(tuple[ShownFile, ...])


def said(connection: Connection, message: InboundMessage, at: str) -> None:
    """Stores a person's message from the page; presses and the clock's messages are not shown."""
    if message.address.channel != NAME or message.origin is not Origin.CHAT:
        return
    files = tuple(
        ShownFile(attachment.name, attachment.media_type, handle=attachment.handle)
        for attachment in message.attachments
    )
    replaced = _of_message(connection, message.replaces) if message.replaces else None
    entry = ChatEntry(
        0,
        message.platform_id,
        message.address.chat_id,
        MessageAuthor.PERSON,
        message.text,
        at,
        files=files,
        replaces=replaced.id if replaced is not None else "",
    )
    if replaced is not None:
        _end_version(connection, replaced, entry)
    _add(connection, entry)


def _end_version(connection: Connection, first: ChatEntry, by: ChatEntry) -> None:
    """Marks a message, and what was said and answered since, as an earlier version. Messages that came by
    themselves, as reminders do, stay."""
    since = connection.execute(
        "SELECT * FROM web_message WHERE chat_id = ? AND number >= ? AND replaced_by = ''", (first.chat, first.number)
    )
    entries = [_entry(row) for row in since]
    said = {inbound_id(entry.id, entry.replaces) for entry in entries if entry.by is MessageAuthor.PERSON}
    connection.executemany(
        "UPDATE web_message SET replaced_by = ? WHERE number = ?",
        [
            (by.id, entry.number)
            for entry in entries
            if entry.by is MessageAuthor.PERSON or _answered(entry.turn) in said
        ],
    )


def _answered(turn: str) -> str:
    """The id of the message that a turn or a command answers: `web:ID`, `web:again:ID:anew`, `command:web:ID`."""
    channel, _, rest = turn.removeprefix("command:").partition(":")
    parts = rest.split(":")
    return ":".join(parts[: 2 if rest.startswith(AGAIN) else 1]) if channel == NAME else ""


def _of_message(connection: Connection, message: str) -> ChatEntry | None:
    """A person's entry by the id of its message in the inbox."""
    column, id = ("replaces", message.removeprefix(AGAIN)) if message.startswith(AGAIN) else ("id", message)
    row = connection.execute(
        f"SELECT * FROM web_message WHERE {column} = ? AND {column} != '' AND by = ?", (id, MessageAuthor.PERSON)
    ).fetchone()
    return None if row is None else _entry(row)


def keep(connection: Connection, entry: ChatEntry) -> ChatEntry:
    """Stores one of our messages, unless it is known; returns the stored one. An answer to a message that was replaced
    meanwhile belongs to that version."""
    answered = _of_message(connection, _answered(entry.turn))
    _add(connection, replace(entry, replaced_by=answered.replaced_by) if answered is not None else entry)
    kept = find(connection, entry.id)
    assert kept is not None
    return kept


def change(connection: Connection, id: str, text: str, buttons: Buttons) -> ChatEntry | None:
    """Changes one of our messages; people's never change."""
    connection.execute(
        "UPDATE web_message SET text = ?, buttons = ? WHERE id = ? AND by = ?",
        (text, _BUTTONS.dump_json(buttons).decode(), id, MessageAuthor.DAYBOOK),
    )
    entry = find(connection, id)
    return entry if entry is not None and entry.by is MessageAuthor.DAYBOOK else None


def find(connection: Connection, id: str) -> ChatEntry | None:
    row = connection.execute("SELECT * FROM web_message WHERE id = ?", (id,)).fetchone()
    return None if row is None else _entry(row)


def recent(connection: Connection, chat: str, most: int, before: int | None) -> list[ChatEntry]:
    rows = connection.execute(
        "SELECT * FROM web_message WHERE chat_id = ? AND number < ? AND replaced_by = '' ORDER BY number DESC LIMIT ?",
        (chat, before if before is not None else 2**62, most),
    ).fetchall()
    return [_entry(row) for row in reversed(rows)]


def earlier(connection: Connection, id: str) -> list[ChatEntry]:
    """The version that ended with the message `id`, oldest first."""
    rows = connection.execute("SELECT * FROM web_message WHERE replaced_by = ? ORDER BY number", (id,))
    return [_entry(row) for row in rows]


def handles(connection: Connection) -> frozenset[str]:
    rows = connection.execute("SELECT files FROM web_message WHERE files != '[]' AND by = ?", (MessageAuthor.PERSON,))
    return frozenset(file.handle for row in rows for file in _FILES.validate_json(row["files"]))


def log_out(connection: Connection, session: str, until: int) -> None:
    connection.execute("DELETE FROM web_logged_out WHERE until < ?", (int(time.time()),))
    connection.execute(
        "INSERT INTO web_logged_out (session, until) VALUES (?, ?) ON CONFLICT DO NOTHING", (session, until)
    )


def logged_out(connection: Connection) -> frozenset[str]:
    return frozenset(row["session"] for row in connection.execute("SELECT session FROM web_logged_out"))


def _add(connection: Connection, entry: ChatEntry) -> None:
    connection.execute(
        "INSERT INTO web_message (id, chat_id, by, text, at, reply_to, turn, is_error, buttons, files,"
        " replaces, replaced_by) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
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
            entry.replaces,
            entry.replaced_by,
        ),
    )


def _entry(row: Row) -> ChatEntry:
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
        replaces=row["replaces"],
        replaced_by=row["replaced_by"],
    )
