"""Questions that wait for somebody's yes or no, over restarts."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from channels.message import Address


@dataclass(frozen=True, slots=True)
class Question:
    """`id` names it in buttons; `kind` says who takes the answer, `subject` is what they need for it. `asked`: the
    platform's id of the only person who may answer. `until`: ISO 8601, UTC. `is_fresh`: nothing else was said by them
    since, so that a bare word answers it."""

    id: str
    kind: str
    address: Address
    asked: str
    subject: str
    until: str
    is_fresh: bool = True


def add(connection: sqlite3.Connection, question: Question) -> None:
    """Write a question down. One of the same id is left as it is."""
    address = question.address
    connection.execute(
        "INSERT OR IGNORE INTO question VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            question.id,
            question.kind,
            address.channel,
            address.account,
            address.chat_id,
            address.thread_id,
            question.asked,
            question.subject,
            question.until,
            int(question.is_fresh),
        ),
    )


def open_questions(connection: sqlite3.Connection, now: str) -> tuple[Question, ...]:
    """Oldest first; what ran out is forgotten."""
    prune(connection, now)
    rows = connection.execute("SELECT * FROM question ORDER BY rowid")
    return tuple(
        Question(
            id=row["id"],
            kind=row["kind"],
            address=Address(row["channel"], row["chat_id"], row["thread_id"], row["account"]),
            asked=row["asked"],
            subject=row["subject"],
            until=row["until"],
            is_fresh=bool(row["fresh"]),
        )
        for row in rows
    )


def prune(connection: sqlite3.Connection, now: str) -> None:
    """Forget what ran out."""
    connection.execute("DELETE FROM question WHERE until <= ?", (now,))


def about(connection: sqlite3.Connection, id: str, subject: str) -> None:
    """What it is about reads otherwise now."""
    connection.execute("UPDATE question SET subject = ? WHERE id = ?", (subject, id))


def stale(connection: sqlite3.Connection, id: str) -> None:
    """Something else was said since."""
    connection.execute("UPDATE question SET fresh = 0 WHERE id = ?", (id,))


def close(connection: sqlite3.Connection, id: str) -> None:
    connection.execute("DELETE FROM question WHERE id = ?", (id,))
