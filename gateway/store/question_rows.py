"""Open yes-or-no questions, outcomes that a session has not seen yet, and yeses that last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import TypeAdapter

from channels.message import Address
from gateway.store.connection import Connection

_WORDS = TypeAdapter(tuple[str, ...])


@dataclass(frozen=True, slots=True)
class StoredQuestion:
    """`kind` says who takes the answer, `subject` what they need."""

    id: str
    """Names it in buttons."""
    kind: str
    address: Address
    asked: str
    """The platform id of the only person who may answer."""
    subject: str
    until: str
    """ISO 8601, UTC."""
    is_fresh: bool = True
    """True if a bare word answers it."""


@dataclass(frozen=True, slots=True)
class AllowedWords:
    """Leading words that need no yes. `state`: what the yes is bound to; where it has changed, the owner is asked
    again."""

    id: str
    words: tuple[str, ...]
    state: str


def add(connection: Connection, question: StoredQuestion) -> None:
    """Stores a question unless its id is known."""
    address = question.address
    connection.execute(
        "INSERT INTO question (id, kind, channel, account, chat_id, thread_id, asked, subject, until, fresh)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
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


def open_questions(connection: Connection, now: str) -> tuple[StoredQuestion, ...]:
    """The open questions, oldest first; expired ones are deleted."""
    prune(connection, now)
    rows = connection.execute("SELECT * FROM question ORDER BY rowid")
    return tuple(
        StoredQuestion(
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


def prune(connection: Connection, now: str) -> None:
    connection.execute("DELETE FROM question WHERE until <= ?", (now,))


def about(connection: Connection, id: str, subject: str) -> None:
    connection.execute("UPDATE question SET subject = ? WHERE id = ?", (subject, id))


def stale(connection: Connection, id: str) -> None:
    connection.execute("UPDATE question SET fresh = 0 WHERE id = ?", (id,))


def close(connection: Connection, id: str) -> None:
    connection.execute("DELETE FROM question WHERE id = ?", (id,))


def add_outcome(connection: Connection, id: str, session: str, text: str, at: str, oldest: str) -> None:
    """Stores an outcome unless its `id` is known; deletes those older than `oldest`."""
    connection.execute("DELETE FROM outcome WHERE at < ?", (oldest,))
    connection.execute(
        "INSERT INTO outcome (id, session, text, at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (id, session, text, at),
    )


def outcomes_of(connection: Connection, session: str) -> dict[str, str]:
    """A session's outcomes by id, oldest first."""
    rows = connection.execute("SELECT id, text FROM outcome WHERE session = ? ORDER BY rowid", (session,))
    return {row["id"]: row["text"] for row in rows}


def drop_outcomes(connection: Connection, ids: Sequence[str]) -> None:
    connection.executemany("DELETE FROM outcome WHERE id = ?", [(id,) for id in ids])


def allow(connection: Connection, allowed: AllowedWords, at: str) -> None:
    connection.execute(
        "INSERT INTO allowed_words (id, words, state, at) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (id) DO UPDATE SET words = excluded.words, state = excluded.state, at = excluded.at",
        (allowed.id, _WORDS.dump_json(allowed.words).decode(), allowed.state, at),
    )


def allowed_words(connection: Connection) -> Sequence[AllowedWords]:
    rows = connection.execute("SELECT * FROM allowed_words ORDER BY at, id")
    return [AllowedWords(row["id"], _WORDS.validate_json(row["words"]), row["state"]) for row in rows]


def take_back(connection: Connection, id: str) -> bool:
    return connection.execute("DELETE FROM allowed_words WHERE id = ?", (id,)).rowcount > 0
