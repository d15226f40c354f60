"""The chats in which somebody who may has spoken to the bot: where jobs can report to."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from channels.message import Address, ChatKind, InboundMessage


@dataclass(frozen=True, slots=True)
class KnownChat:
    """`user_id`: who spoke last there; in a private chat, its person."""

    address: Address
    kind: ChatKind
    parent_chat: str
    user_id: str
    user_name: str


def spoke(connection: sqlite3.Connection, message: InboundMessage, at: str) -> None:
    """Take note of where somebody speaks."""
    address = message.address
    connection.execute(
        "INSERT OR REPLACE INTO chat VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
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
        ),
    )


def known(connection: sqlite3.Connection) -> tuple[KnownChat, ...]:
    """Every chat, the one used last first."""
    return tuple(_chat(row) for row in connection.execute("SELECT * FROM chat ORDER BY last_at DESC"))


def _chat(row: sqlite3.Row) -> KnownChat:
    address = Address(row["channel"], row["chat_id"], row["thread_id"] or None, row["account"])
    return KnownChat(address, ChatKind(row["kind"]), row["parent_chat"], row["user_id"], row["user_name"])
