"""What became of one message: its end in the inbox, and whether all that answers it has left the outbox."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MessageOutcome:
    """`done`: the message has its end, and nothing that its turn sends is waiting. `end` is the inbox's outcome; `turn`
    begins the keys of what was sent."""

    done: bool
    end: str
    turn: str


def outcome(connection: sqlite3.Connection, channel: str, message_id: str) -> MessageOutcome | None:
    """None for a message that was never taken in."""
    row = connection.execute(
        "SELECT state, outcome, turn, chat_id FROM inbox WHERE channel = ? AND account = '' AND id = ?",
        (channel, message_id),
    ).fetchone()
    if row is None:
        return None
    turn = row["turn"] or f"command:{channel}:{message_id}"
    waiting = connection.execute(
        "SELECT 1 FROM outbox WHERE state IN ('waiting', 'sending') AND channel = ? AND chat_id = ?"
        " AND substr(key, 1, ?) = ?",
        (channel, row["chat_id"], len(turn) + 1, f"{turn}:"),
    ).fetchone()
    return MessageOutcome(row["state"] == "done" and waiting is None, row["outcome"], turn)
