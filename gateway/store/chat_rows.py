"""Chats: where to send, what people chose there, and the last position seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agent.languages.codes import Language
from channels.message import Address, ChatKind, InboundMessage
from gateway import i18n
from gateway.i18n import ChatLanguage
from gateway.store.connection import Connection, Row


@dataclass(frozen=True, slots=True)
class KnownChat:
    address: Address
    kind: ChatKind
    parent_chat: str
    user_id: str
    """Who wrote last."""
    user_name: str
    server: str = ""
    title: str = ""
    """A group's name, else that person's."""
    language: Language | None = None
    """Of its people."""


def language_in(chats: Sequence[KnownChat], address: Address) -> Language:
    """The language of our sentences in a chat: its thread's, else the latest, else English."""
    there = [one for one in chats if (one.address.channel, one.address.chat_id) == (address.channel, address.chat_id)]
    exact = [one for one in there if one.address.thread_id == address.thread_id]
    return next((one.language for one in (*exact, *there) if one.language is not None), Language.ENGLISH)


def spoke(connection: Connection, message: InboundMessage, at: str, today: str) -> None:
    """Notes where somebody writes, in which language. `today`: the user's day, ISO 8601."""
    address = message.address
    language = i18n.after(_language(connection, address), message, today)
    connection.execute(f"DELETE FROM chat WHERE {_IS_CHAT}", _key(address))
    connection.execute(
        "INSERT INTO chat (channel, account, chat_id, thread_id, kind, parent_chat, user_id, user_name,"
        " last_at, server, title, language, language_day) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *_key(address),
            message.kind,
            message.parent_chat,
            message.sender.id,
            message.sender.name,
            at,
            message.server,
            message.group_name if message.kind is ChatKind.GROUP else message.sender.name,
            language.language or "",
            language.day,
        ),
    )


_IS_CHAT = "channel = ? AND account = ? AND chat_id = ? AND thread_id = ?"


def _key(address: Address) -> tuple[str, str, str, str]:
    return (address.channel, address.account, address.chat_id, address.thread_id or "")


def language(connection: Connection, address: Address) -> Language:
    return language_in(known(connection), address)


def language_after(connection: Connection, message: InboundMessage, today: str) -> Language:
    """The chat's, once that message counts, which may be its first. `today` as in `spoke`."""
    known_so_far = _language(connection, message.address)
    return i18n.after(known_so_far, message, today).language or language(connection, message.address)


def _language(connection: Connection, address: Address) -> ChatLanguage:
    row = connection.execute(f"SELECT language, language_day FROM chat WHERE {_IS_CHAT}", _key(address)).fetchone()
    return ChatLanguage() if row is None else ChatLanguage(_read(row["language"]), row["language_day"])


def _read(language: str) -> Language | None:
    return Language(language) if language else None


def known(connection: Connection) -> tuple[KnownChat, ...]:
    return tuple(_chat(row) for row in connection.execute("SELECT * FROM chat ORDER BY last_at DESC, rowid DESC"))


def private_chat(connection: Connection, channel: str, user_id: str) -> Address | None:
    """The chat where a person last wrote in private."""
    row = connection.execute(
        "SELECT * FROM chat WHERE channel = ? AND user_id = ? AND kind = ? ORDER BY last_at DESC, rowid DESC LIMIT 1",
        (channel, user_id, ChatKind.PRIVATE),
    ).fetchone()
    return None if row is None else _chat(row).address


def moved(connection: Connection, channel: str, old: str, new: str) -> None:
    """Changes a chat's id, and drops the old one's threads."""
    rows = connection.execute(
        "SELECT account, thread_id FROM chat WHERE channel = ? AND chat_id = ? ORDER BY last_at, rowid", (channel, old)
    )
    for account, latest in {row["account"]: row["thread_id"] for row in rows}.items():
        connection.execute(
            "DELETE FROM chat WHERE channel = ? AND account = ?"
            " AND (chat_id = ? AND thread_id = '' OR chat_id = ? AND thread_id != ?)",
            (channel, account, new, old, latest),
        )
        connection.execute(
            "UPDATE chat SET chat_id = ?, thread_id = '' WHERE channel = ? AND account = ? AND chat_id = ?",
            (new, channel, account, old),
        )


def _chat(row: Row) -> KnownChat:
    address = Address(row["channel"], row["chat_id"], row["thread_id"] or None, row["account"])
    return KnownChat(
        address,
        ChatKind(row["kind"]),
        row["parent_chat"],
        row["user_id"],
        row["user_name"],
        row["server"],
        row["title"],
        _read(row["language"]),
    )


_CHOOSE = (
    "INSERT INTO choice (session, name, value) VALUES (?, ?, ?)"
    " ON CONFLICT (session, name) DO UPDATE SET value = excluded.value"
)


def choose(connection: Connection, of: str, name: str, value: str | None) -> None:
    """None removes the choice."""
    if value is None:
        connection.execute("DELETE FROM choice WHERE session = ? AND name = ?", (of, name))
    else:
        connection.execute(_CHOOSE, (of, name, value))


def chosen(connection: Connection, name: str) -> dict[str, str]:
    """The choices of that name, by session or chat."""
    rows = connection.execute("SELECT session, value FROM choice WHERE name = ?", (name,))
    return {row["session"]: row["value"] for row in rows}


SeenRow = tuple[str, str, str]
"""A chat, its server, its last message that is on disk."""


def load_seen(connection: Connection, channel: str) -> list[SeenRow]:
    rows = connection.execute("SELECT chat_id, server, message_id FROM seen WHERE channel = ?", (channel,))
    return [(row["chat_id"], row["server"], row["message_id"]) for row in rows]


def note_seen(connection: Connection, channel: str, rows: Sequence[SeenRow]) -> None:
    """Stores the newer of the given and known positions; ids are numbers that grow with time."""
    connection.executemany(
        "INSERT INTO seen (channel, chat_id, server, message_id) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (channel, chat_id) DO UPDATE SET message_id = excluded.message_id"
        " WHERE CAST(excluded.message_id AS BIGINT) > CAST(seen.message_id AS BIGINT)",
        [(channel, *row) for row in rows],
    )


def forget_seen(connection: Connection, channel: str, chat_id: str) -> None:
    connection.execute("DELETE FROM seen WHERE channel = ? AND chat_id = ?", (channel, chat_id))
