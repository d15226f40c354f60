"""Jobs: how far each is, and each claimed due time (invariant 11)."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from channels.message import Address
from gateway.store.connection import Connection, Row, days_ago

_KEPT_DAYS = 400
"""Longer than a year: a yearly job shows its last run."""

BY_HAND = "by-hand:"
"""Begins the due time of a run that somebody asked for."""

OFF = " off"
"""Ends the spec of a job that is not to run."""


class RunStatus(enum.StrEnum):
    WAITING = "waiting"  # to be begun, or begun again, at `next_try`
    RUNNING = "running"
    DELIVERING = "delivering"
    DELIVERED = "delivered"
    SILENT = "silent"  # there was nothing to say
    DONE = "done"  # of a built-in job, which delivers by itself
    FAILED = "failed"
    MISSED = "missed"  # too long ago when it was found
    STOPPED = "stopped"  # by a person

    @property
    def is_open(self) -> bool:
        return self in _OPEN


_OPEN = (RunStatus.WAITING, RunStatus.RUNNING, RunStatus.DELIVERING)
_IS_OPEN = "state IN ('waiting', 'running', 'delivering')"


@dataclass(frozen=True, slots=True)
class JobRow:
    """How far a job is; stamps are UTC."""

    id: str
    spec: str
    settled: str
    """No due time up to here is run any more."""
    failures: int = 0
    paused: bool = False

    @property
    def is_off(self) -> bool:
        return self.paused or self.spec.endswith(OFF)


@dataclass(frozen=True, slots=True)
class Run:
    """A due time that was claimed."""

    job: str
    due: str
    kind: str
    text: str
    address: Address | None
    late: bool
    once: bool
    """Its job has no other due time."""
    state: RunStatus
    started_at: str
    attempts: int = 0
    """Attempts begun."""
    next_try: str = ""
    error: str = ""
    ended_at: str = ""
    seq: int = 0
    """0 before it was claimed."""

    @property
    def key(self) -> str:
        """The name of the current attempt, and the id of a prompt's message."""
        return f"job:{self.job}:{self.due}:{self.attempts}"

    @property
    def sends_as(self) -> str:
        """The beginning of the keys of its messages in the outbox."""
        if self.kind != "prompt" or self.address is None:
            return self.key
        return ":".join(part for part in (self.address.channel, self.address.account, self.key) if part)

    @property
    def moment(self) -> datetime:
        return datetime.fromisoformat(self.due.removeprefix(BY_HAND))

    @property
    def by_hand(self) -> bool:
        return self.due.startswith(BY_HAND)

    def is_early(self, now: datetime) -> bool:
        """True if its due time is still to come: the clock was put back."""
        return self.state is RunStatus.WAITING and not self.by_hand and self.moment > now


def jobs(connection: Connection) -> dict[str, JobRow]:
    rows = connection.execute("SELECT * FROM job")
    return {
        row["id"]: JobRow(row["id"], row["spec"], row["settled"], row["failures"], bool(row["paused"])) for row in rows
    }


def put(connection: Connection, rows: Iterable[JobRow]) -> None:
    connection.executemany(
        "INSERT INTO job (id, spec, settled, failures, paused) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT (id) DO UPDATE SET spec = excluded.spec, settled = excluded.settled,"
        " failures = excluded.failures, paused = excluded.paused",
        [(row.id, row.spec, row.settled, row.failures, int(row.paused)) for row in rows],
    )


def claim(connection: Connection, run: Run, settled: str) -> int | None:
    """Claims a due time; its job is settled up to there. Returns the run's number, or None: it was claimed before and
    must not run again."""
    address = run.address or Address("", "")
    row = connection.execute(
        "INSERT INTO run (job, due, kind, text, channel, account, chat_id, thread_id, late, once, state,"
        " attempts, next_try, error, started_at, ended_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT DO NOTHING RETURNING seq",
        (
            run.job,
            run.due,
            run.kind,
            run.text,
            address.channel,
            address.account,
            address.chat_id,
            address.thread_id,
            int(run.late),
            int(run.once),
            run.state,
            run.attempts,
            run.next_try,
            run.error,
            run.started_at,
            run.ended_at,
        ),
    ).fetchone()
    connection.execute("UPDATE job SET settled = ? WHERE id = ?", (settled, run.job))
    return None if row is None else int(row["seq"])


def update(connection: Connection, run: Run) -> None:
    address = run.address or Address("", "")
    connection.execute(
        "UPDATE run SET channel = ?, account = ?, chat_id = ?, thread_id = ?, state = ?, attempts = ?, next_try = ?,"
        " error = ?, ended_at = ? WHERE job = ? AND due = ?",
        (
            address.channel,
            address.account,
            address.chat_id,
            address.thread_id,
            run.state,
            run.attempts,
            run.next_try,
            run.error,
            run.ended_at,
            run.job,
            run.due,
        ),
    )


def open_runs(connection: Connection) -> tuple[Run, ...]:
    return tuple(_run(row) for row in connection.execute(f"SELECT * FROM run WHERE {_IS_OPEN} ORDER BY seq"))


def last_runs(connection: Connection) -> Mapping[str, Run]:
    rows = connection.execute("SELECT * FROM run WHERE seq IN (SELECT max(seq) FROM run GROUP BY job)")
    return {row["job"]: _run(row) for row in rows}


def history(connection: Connection, job: str | None, most: int) -> tuple[Run, ...]:
    where, arguments = ("WHERE job = ?", (job,)) if job is not None else ("", ())
    rows = connection.execute(f"SELECT * FROM run {where} ORDER BY seq DESC LIMIT ?", (*arguments, most))
    return tuple(_run(row) for row in rows)


def begun_between(connection: Connection, start: str, end: str) -> tuple[Run, ...]:
    rows = connection.execute("SELECT * FROM run WHERE started_at >= ? AND started_at < ? ORDER BY seq", (start, end))
    return tuple(_run(row) for row in rows)


def numbered(connection: Connection, seq: int) -> Run | None:
    row = connection.execute("SELECT * FROM run WHERE seq = ?", (seq,)).fetchone()
    return _run(row) if row is not None else None


def prune(connection: Connection) -> None:
    connection.execute(f"DELETE FROM run WHERE NOT {_IS_OPEN} AND ended_at < ?", (days_ago(_KEPT_DAYS),))


def _run(row: Row) -> Run:
    address = Address(row["channel"], row["chat_id"], row["thread_id"], row["account"]) if row["channel"] else None
    return Run(
        job=row["job"],
        due=row["due"],
        kind=row["kind"],
        text=row["text"],
        address=address,
        late=bool(row["late"]),
        once=bool(row["once"]),
        state=RunStatus(row["state"]),
        started_at=row["started_at"],
        attempts=row["attempts"],
        next_try=row["next_try"],
        error=row["error"],
        ended_at=row["ended_at"],
        seq=row["seq"],
    )
