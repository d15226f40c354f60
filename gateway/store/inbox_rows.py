"""The inbox: messages from arrival to their one end."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from pydantic import TypeAdapter

from channels.message import InboundMessage, Origin, UnreadableEvent
from gateway.store import chat_rows, outbox_rows, web_rows
from gateway.store.claims import SCOPE_OF
from gateway.store.connection import Connection, Row, days_ago

_MESSAGE = TypeAdapter(InboundMessage)
OVERHEARD_KEPT = 50
"""Messages of a group that did not call the bot and wait to be shown with the next one that does."""
_ALBUM_REACH = 1_000
"""Messages of the whole inbox between the first and the last of one album; they come within moments."""
_KEPT_DAYS = 9
"""Ids of finished messages are remembered for longer than Telegram may offer an update again (a day) and than its ids
may start anew (a week of silence)."""


@dataclass(frozen=True, slots=True)
class InboxRow:
    seq: int
    session: str
    message: InboundMessage
    turn: str = ""
    """The turn that took the message, else empty."""
    attempts: int = 0
    """Processes that took it and were not asked to end."""
    overheard: bool = False
    died_alone: int = 0
    """Processes that died working on nothing else."""
    stood_still: int = 0
    """Processes whose event loop hung."""
    language: str = ""
    """Code of the chat's language when the message was written down or found at the start; empty where nobody
    answers it."""


@dataclass(frozen=True, slots=True)
class MessageStatus:
    done: bool = False
    outcome: str = ""
    turn: str = ""
    """The turn that answered; the keys of its replies begin with it."""
    known: bool = False


@dataclass(frozen=True, slots=True)
class InboxCounts:
    waiting: int
    oldest: str
    unreadable: int


def _row(row: Row) -> InboxRow:
    return InboxRow(
        seq=row["seq"],
        session=row["session"],
        message=_MESSAGE.validate_json(row["message"]),
        turn=row["turn"],
        attempts=row["attempts"],
        overheard=row["state"] == "overheard",
        died_alone=row["died_alone"],
        stood_still=row["stood_still"],
    )


def admit(
    connection: Connection,
    message: InboundMessage,
    session: str,
    turn: str = "",
    *,
    overheard: bool,
    at: str,
    today: str,
) -> InboxRow | None:
    """Stores a message, bound to its `turn`; None for a repeat. `today`: the user's day, ISO 8601."""
    address, attempts = message.address, int(bool(turn))
    row = connection.execute(
        "INSERT INTO inbox (channel, account, id, state, session, turn, attempts, chat_id, platform_id,"
        " message, received_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING seq",
        (
            address.channel,
            address.account,
            message.id,
            "overheard" if overheard else "waiting",
            session,
            turn,
            attempts,
            address.chat_id,
            message.platform_id,
            _MESSAGE.dump_json(message).decode(),
            at,
        ),
    ).fetchone()
    if row is None:
        return None
    if overheard:
        _drop_old_overheard(connection, session)
    elif message.origin is not Origin.JOB:
        chat_rows.spoke(connection, message, at, today, session)
        web_rows.said(connection, message, at)
    language = "" if overheard else chat_rows.language(connection, address)
    return InboxRow(row["seq"], session, message, turn, attempts, overheard, language=language)


def rest_of_album(connection: Connection, message: InboundMessage, session: str) -> tuple[InboxRow, ...]:
    """Takes the overheard rest of the album in which `message` calls the bot: it waits for an answer now."""
    rows = []
    for found in connection.execute(
        "SELECT * FROM inbox WHERE state = 'overheard' AND session = ? ORDER BY seq", (session,)
    ).fetchall():
        row = _row(found)
        heard = row.message
        if not _same_album(heard, message):
            continue
        called = dataclasses.replace(heard, calls_bot=True)
        connection.execute(
            "UPDATE inbox SET state = 'waiting', message = ? WHERE seq = ?",
            (_MESSAGE.dump_json(called).decode(), row.seq),
        )
        rows.append(InboxRow(row.seq, row.session, called))
    return tuple(rows)


def of_called_album(connection: Connection, message: InboundMessage, session: str) -> bool:
    """True if another message of its album called the bot, even if answered."""
    near = connection.execute(
        "SELECT message FROM inbox WHERE channel = ? AND account = ? AND chat_id = ? AND session = ?"
        " AND state IN ('waiting', 'done') AND outcome != 'overheard' AND message != ''"
        " AND seq > (SELECT max(seq) FROM inbox) - ?",
        (message.address.channel, message.address.account, message.address.chat_id, session, _ALBUM_REACH),
    )
    others = (_MESSAGE.validate_json(row["message"]) for row in near)
    return any(other.calls_bot and _same_album(other, message) for other in others)


def _same_album(message: InboundMessage, other: InboundMessage) -> bool:
    """True if both belong to one album, whose name counts within a chat and sender."""
    return (message.album, message.address, message.sender.id) == (other.album, other.address, other.sender.id)


def _drop_old_overheard(connection: Connection, session: str) -> None:
    connection.execute(
        "UPDATE inbox SET state = 'done', outcome = 'overheard' WHERE state = 'overheard' AND session = ? AND seq <="
        " (SELECT seq FROM inbox WHERE state = 'overheard' AND session = ? ORDER BY seq DESC LIMIT 1 OFFSET ?)",
        (session, session, OVERHEARD_KEPT),
    )


def keep_unreadable(connection: Connection, event: UnreadableEvent, at: str) -> None:
    connection.execute(
        "INSERT INTO inbox (channel, account, id, state, outcome, session, chat_id, platform_id, message,"
        " received_at) VALUES (?, ?, ?, 'unreadable', ?, '', '', '', ?, ?) ON CONFLICT DO NOTHING",
        (event.channel, event.account, event.id, event.why, event.raw, at),
    )


def reword(connection: Connection, edited: InboundMessage) -> tuple[InboxRow, ...]:
    """Changes a message without a turn; returns the changed rows."""
    rows = connection.execute(
        "SELECT * FROM inbox WHERE channel = ? AND account = ? AND chat_id = ? AND platform_id = ? AND turn = ''"
        " AND state IN ('waiting', 'overheard')",
        (edited.address.channel, edited.address.account, edited.address.chat_id, edited.platform_id),
    ).fetchall()
    changed = []
    for found in rows:
        old = _row(found)
        if old.message.sender.id != edited.sender.id:
            continue
        text = dataclasses.replace(old.message, text=edited.text)
        connection.execute("UPDATE inbox SET message = ? WHERE seq = ?", (_MESSAGE.dump_json(text).decode(), old.seq))
        changed.append(InboxRow(old.seq, old.session, text, overheard=old.overheard))
    return tuple(changed)


def was_read_otherwise(connection: Connection, edited: InboundMessage, offer: str) -> bool:
    """True if a turn has read another version, and no message of key `offer` was written."""
    address = edited.address
    rows = connection.execute(
        "SELECT * FROM inbox WHERE channel = ? AND account = ? AND chat_id = ? AND platform_id = ? AND turn != ''"
        " AND state IN ('waiting', 'done') AND outcome IN ('', 'reply', 'silence', 'error')",
        (address.channel, address.account, address.chat_id, edited.platform_id),
    ).fetchall()
    read = [_row(row).message for row in rows]
    others = [version for version in read if version.sender.id == edited.sender.id and version.text != edited.text]
    return bool(others) and connection.execute("SELECT 1 FROM outbox WHERE key = ?", (offer,)).fetchone() is None


def take(
    connection: Connection,
    seqs: Iterable[int],
    turn: str,
    *,
    counted: Collection[int] = (),
    alone: bool = False,
) -> None:
    """Binds messages to a turn. `counted`: those for which this is one more attempt; `alone`: nothing else runs."""
    connection.executemany(
        "UPDATE inbox SET turn = ?, attempts = attempts + ?, trying_alone = greatest(trying_alone, ?) WHERE seq = ?",
        [(turn, int(seq in counted), int(alone), seq) for seq in seqs],
    )


def separate(connection: Connection, turns: Mapping[int, str], attempts: int) -> None:
    """Gives messages their own turns, each with at least so many attempts. The first gets the preview."""
    first = min(turns)
    (shared,) = connection.execute("SELECT turn FROM inbox WHERE seq = ?", (first,)).fetchone()
    if shared != turns[first]:
        outbox_rows.move_preview(connection, shared, turns[first])
    connection.executemany(
        "UPDATE inbox SET turn = ?, attempts = greatest(attempts, ?) WHERE seq = ?",
        [(turn, attempts, seq) for seq, turn in turns.items()],
    )


def take_over(connection: Connection, *, died: bool) -> None:
    """Notes how the last process ended. A death with one message alone counts for it."""
    in_trial = connection.execute(
        "UPDATE inbox SET died_alone = died_alone + 1, trying_alone = 0 WHERE state = 'waiting' AND trying_alone = 1"
    )
    if died and not in_trial.rowcount:
        connection.execute("UPDATE inbox SET died_alone = 0 WHERE state = 'waiting' AND died_alone > 0")


def hung(connection: Connection, seqs: Iterable[int], attempts: int) -> None:
    """Records the messages that were being answered when an event loop hung, after `take_over` or `blame`. They have at
    least so many `attempts` from then on, so that each is tried alone the next time, which counts. Other processes may
    have tried them before the stacks of the one that hung were there."""
    connection.executemany(
        "UPDATE inbox SET attempts = greatest(attempts, ?),"
        " stood_still = CASE WHEN died_alone > 0 THEN stood_still + 1 ELSE greatest(stood_still, 1) END"
        " WHERE seq = ? AND state = 'waiting'",
        [(attempts, seq) for seq in seqs],
    )


def forgive(connection: Connection, seqs: Iterable[int]) -> None:
    connection.executemany(
        "UPDATE inbox SET attempts = greatest(0, attempts - 1), trying_alone = 0 WHERE seq = ?",
        [(seq,) for seq in seqs],
    )


def finish(connection: Connection, seqs: Iterable[int], outcome: str) -> None:
    connection.executemany(
        "UPDATE inbox SET state = 'done', outcome = ? WHERE seq = ? AND state IN ('waiting', 'overheard')",
        [(outcome, seq) for seq in seqs],
    )


def forget_answer_with(connection: Connection, rows: Iterable[InboxRow]) -> None:
    """Removes from finished messages what only their answers needed: a token."""
    for row in rows:
        if row.message.answer_with:
            known = dataclasses.replace(row.message, answer_with="")
            connection.execute(
                "UPDATE inbox SET message = ? WHERE seq = ? AND state = 'done'",
                (_MESSAGE.dump_json(known).decode(), row.seq),
            )


def overheard_before(connection: Connection, session: str, seq: int) -> tuple[InboxRow, ...]:
    rows = connection.execute(
        "SELECT * FROM inbox WHERE state = 'overheard' AND session = ? AND seq < ? ORDER BY seq", (session, seq)
    )
    return tuple(_row(row) for row in rows)


def open_rows(connection: Connection) -> tuple[InboxRow, ...]:
    return _with_languages(connection, connection.execute("SELECT * FROM inbox WHERE state = 'waiting' ORDER BY seq"))


def _with_languages(connection: Connection, found: Iterable[Row]) -> tuple[InboxRow, ...]:
    rows = [_row(row) for row in found]
    languages = {address: chat_rows.language(connection, address) for address in {row.message.address for row in rows}}
    return tuple(dataclasses.replace(row, language=languages[row.message.address]) for row in rows)


def unclaimed_sessions(connection: Connection) -> list[str]:
    """The sessions with waiting messages whose scope no process has."""
    rows = connection.execute(
        "SELECT DISTINCT session FROM inbox WHERE state = 'waiting'"
        f" AND NOT EXISTS (SELECT 1 FROM claim WHERE key = {SCOPE_OF})"
    )
    return [row["session"] for row in rows]


def claimed_rows(connection: Connection, process: int, known: Collection[int]) -> tuple[InboxRow, ...]:
    """The waiting messages of the scopes that a process has, but for those that it knows."""
    rows = connection.execute(
        f"SELECT inbox.* FROM inbox JOIN claim ON key = {SCOPE_OF}"
        " WHERE state = 'waiting' AND process = ? AND NOT seq = ANY (?) ORDER BY seq",
        (process, list(known)),
    )
    return _with_languages(connection, rows)


def blame(connection: Connection, process: int) -> None:
    """Does `take_over` for the messages of a process that died."""
    own = f"state = 'waiting' AND {SCOPE_OF} IN (SELECT key FROM claim WHERE process = ?)"
    in_trial = connection.execute(
        f"UPDATE inbox SET died_alone = died_alone + 1, trying_alone = 0 WHERE {own} AND trying_alone = 1", (process,)
    )
    if not in_trial.rowcount:
        connection.execute(f"UPDATE inbox SET died_alone = 0 WHERE {own} AND died_alone > 0", (process,))


def is_waiting(connection: Connection, seq: int) -> bool:
    return bool(connection.execute("SELECT 1 FROM inbox WHERE state = 'waiting' AND seq = ?", (seq,)).fetchone())


def numbered(connection: Connection, seqs: Iterable[int]) -> tuple[InboxRow, ...]:
    found = (connection.execute("SELECT * FROM inbox WHERE seq = ?", (seq,)).fetchone() for seq in seqs)
    return tuple(_row(row) for row in found if row is not None)


def find(connection: Connection, channel: str, message_id: str) -> InboxRow | None:
    """A message that was admitted, whatever became of it."""
    row = connection.execute(
        "SELECT * FROM inbox WHERE channel = ? AND id = ? AND state IN ('waiting', 'done')", (channel, message_id)
    ).fetchone()
    return None if row is None else _row(row)


def fate(connection: Connection, channel: str, account: str, message_id: str) -> MessageStatus:
    """A message's status; not done if it is unknown or its reply is still to be sent."""
    row = connection.execute(
        "SELECT state, outcome, turn, chat_id FROM inbox WHERE channel = ? AND account = ? AND id = ?",
        (channel, account, message_id),
    ).fetchone()
    if row is None:
        return MessageStatus()
    turn = row["turn"] or f"command:{channel}:{message_id}"
    waiting = connection.execute(
        "SELECT 1 FROM outbox WHERE state IN ('waiting', 'sending') AND channel = ? AND chat_id = ?"
        " AND substr(key, 1, ?) = ?",
        (channel, row["chat_id"], len(turn) + 1, f"{turn}:"),
    ).fetchone()
    return MessageStatus(row["state"] == "done" and waiting is None, row["outcome"], turn, known=True)


def counts(connection: Connection) -> InboxCounts:
    waiting, oldest = connection.execute(
        "SELECT count(*), coalesce(min(received_at), '') FROM inbox WHERE state = 'waiting'"
    ).fetchone()
    (unreadable,) = connection.execute("SELECT count(*) FROM inbox WHERE state = 'unreadable'").fetchone()
    return InboxCounts(waiting, oldest, unreadable)


def waiting_since(connection: Connection, before: str) -> int:
    query = "SELECT count(*) FROM inbox WHERE state = 'waiting' AND received_at < ?"
    return int(connection.execute(query, (before,)).fetchone()[0])


def prune(connection: Connection) -> None:
    connection.execute("DELETE FROM inbox WHERE state = 'done' AND received_at < ?", (days_ago(_KEPT_DAYS),))


def move_chat(connection: Connection, channel: str, old: str, new: str) -> None:
    connection.execute(
        "INSERT INTO moved (channel, old_chat, new_chat) VALUES (?, ?, ?)"
        " ON CONFLICT (channel, old_chat) DO UPDATE SET new_chat = excluded.new_chat",
        (channel, old, new),
    )
    chat_rows.moved(connection, channel, old, new)
    connection.execute(
        "UPDATE outbox SET chat_id = ?, thread_id = NULL, edits = '' WHERE channel = ? AND chat_id = ?"
        " AND state IN ('waiting', 'sending')",
        (new, channel, old),
    )


def moved_chats(connection: Connection) -> Sequence[tuple[str, str, str]]:
    return [(row["channel"], row["old_chat"], row["new_chat"]) for row in connection.execute("SELECT * FROM moved")]
