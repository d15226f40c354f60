"""The chats in which somebody has spoken to the bot who may, or who asked to: where messages can be sent."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from channels.message import Address, ChatKind, InboundMessage


@dataclass(frozen=True, slots=True)
class KnownChat:
    """`user_id`: who spoke last there; in a private chat, its person. `title`: a group's name, else that person's, for
    people's eyes."""

    address: Address
    kind: ChatKind
    parent_chat: str
    user_id: str
    user_name: str
    server: str = ""
    title: str = ""


def spoke(connection: sqlite3.Connection, message: InboundMessage, at: str) -> None:
    """Take note of where somebody speaks."""
    address = message.address
    connection.execute(
        "INSERT OR REPLACE INTO chat (channel, account, chat_id, thread_id, kind, parent_chat, user_id, user_name,"
        " last_at, server, title) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            address.channel,
            address.account,
            address.chat_id,
            address.thread_id or "",
            message.kind,
            message.parent_chat,
            message.sender.id,
            message.sender.name,
            at,
            message.server,
            message.group_name if message.kind is ChatKind.GROUP else message.sender.name,
        ),
    )


def known(connection: sqlite3.Connection) -> tuple[KnownChat, ...]:
    """Every chat, the one used last first."""
    return tuple(_chat(row) for row in connection.execute("SELECT * FROM chat ORDER BY last_at DESC, rowid DESC"))


def private_chat(connection: sqlite3.Connection, channel: str, user_id: str) -> Address | None:
    """Where a person was last heard in private on a channel."""
    row = connection.execute(
        "SELECT * FROM chat WHERE channel = ? AND user_id = ? AND kind = ? ORDER BY last_at DESC, rowid DESC LIMIT 1",
        (channel, user_id, ChatKind.PRIVATE),
    ).fetchone()
    return None if row is None else _chat(row).address


def moved(connection: sqlite3.Connection, channel: str, old: str, new: str) -> None:
    """A chat has another id, and no threads of the old one."""
    connection.execute(
        "UPDATE OR REPLACE chat SET chat_id = ?, thread_id = '' WHERE channel = ? AND chat_id = ?", (new, channel, old)
    )


def _chat(row: sqlite3.Row) -> KnownChat:
    address = Address(row["channel"], row["chat_id"], row["thread_id"] or None, row["account"])
    return KnownChat(
        address,
        ChatKind(row["kind"]),
        row["parent_chat"],
        row["user_id"],
        row["user_name"],
        row["server"],
        row["title"],
    )
