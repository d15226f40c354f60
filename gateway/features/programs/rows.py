"""Programs that were begun, each once and with one end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from pydantic import TypeAdapter

from channels.message import InboundMessage
from gateway.store.connection import Connection, Row, days_ago
from gateway.store.redaction_rows import TextColumn

_MESSAGE = TypeAdapter(InboundMessage)
_ARGV = TypeAdapter(tuple[str, ...])
_KEPT_DAYS = 30


class ProgramKind(StrEnum):
    """Who is told of the end: the turn that called it, a turn of its own, or the chat. Names on disk."""

    TURN = "turn"
    APPROVED = "approved"
    BACKGROUND = "background"


class ProgramState(StrEnum):
    WAITING = "waiting"
    RUNNING = "running"
    ENDED = "ended"  # and that is still to be told
    TOLD = "told"


@dataclass(frozen=True, slots=True)
class ProgramRow:
    seq: int
    key: str
    """Of the call that began it."""
    kind: ProgramKind
    session: str
    message: InboundMessage
    """Answered by that call; without its text."""
    argv: tuple[str, ...]
    folder: str
    network: bool
    seconds: int
    state: ProgramState = ProgramState.WAITING
    how: str = ""
    code: int = 0
    output: str = ""
    """Until its end is told."""


def add(connection: Connection, row: ProgramRow, at: str) -> ProgramRow | None:
    """Returns the row with its number; None if the call has begun one before."""
    cursor = connection.execute(
        "INSERT INTO program (key, kind, session, message, argv, folder, network, seconds, state, started_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (
            row.key,
            row.kind,
            row.session,
            _MESSAGE.dump_json(row.message).decode(),
            _ARGV.dump_json(row.argv).decode(),
            row.folder,
            int(row.network),
            row.seconds,
            row.state,
            at,
        ),
    )
    return find(connection, row.key) if cursor.rowcount else None


def find(connection: Connection, key: str) -> ProgramRow | None:
    row = connection.execute("SELECT * FROM program WHERE key = ?", (key,)).fetchone()
    return None if row is None else _row(row)


def open_rows(connection: Connection) -> tuple[ProgramRow, ...]:
    rows = connection.execute("SELECT * FROM program WHERE state != 'told' ORDER BY seq")
    return tuple(_row(row) for row in rows)


def latest(connection: Connection, session: str, most: int) -> tuple[ProgramRow, ...]:
    """A session's programs, newest first."""
    rows = connection.execute("SELECT * FROM program WHERE session = ? ORDER BY seq DESC LIMIT ?", (session, most))
    return tuple(_row(row) for row in rows)


def begin(connection: Connection, seq: int) -> None:
    connection.execute("UPDATE program SET state = 'running' WHERE seq = ?", (seq,))


def end(connection: Connection, seq: int, how: str, code: int, at: str, *, output: str, told: bool) -> None:
    state = ProgramState.TOLD if told else ProgramState.ENDED
    connection.execute(
        "UPDATE program SET state = ?, how = ?, code = ?, output = ?, ended_at = ?"
        " WHERE seq = ? AND state IN ('waiting', 'running')",
        (state, how, code, "" if told else output, at, seq),
    )


def told(connection: Connection, seq: int) -> None:
    connection.execute("UPDATE program SET state = 'told', output = '' WHERE seq = ?", (seq,))


def prune(connection: Connection) -> None:
    connection.execute("DELETE FROM program WHERE state = 'told' AND started_at < ?", (days_ago(_KEPT_DAYS),))


def argv_without(argv: tuple[str, ...], strike: Callable[[str], str]) -> tuple[str, ...]:
    """The words of a command without what is forgotten."""
    line = " ".join(argv)
    if (struck := strike(line)) == line:
        return argv
    words = tuple(map(strike, argv))
    return words if words != argv else (struck,)


def stored_argv_without(stored: str, strike: Callable[[str], str]) -> str:
    argv = _ARGV.validate_json(stored)
    changed = argv_without(argv, strike)
    return stored if changed == argv else _ARGV.dump_json(changed).decode()


TEXTS = (
    TextColumn("program", "output", "output != ''", by_session=True),
    TextColumn("program", "argv", "state = 'told'", stored_argv_without, by_session=True),
)
"""Where `/forget` strikes out text."""


def _row(row: Row) -> ProgramRow:
    return ProgramRow(
        seq=row["seq"],
        key=row["key"],
        kind=ProgramKind(row["kind"]),
        session=row["session"],
        message=_MESSAGE.validate_json(row["message"]),
        argv=_ARGV.validate_json(row["argv"]),
        folder=row["folder"],
        network=bool(row["network"]),
        seconds=row["seconds"],
        state=ProgramState(row["state"]),
        how=row["how"],
        code=row["code"],
        output=row["output"],
    )
