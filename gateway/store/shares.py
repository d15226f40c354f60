"""What each of several gateways on one home has to do: who has died, who leads, whose messages wait.

Each process holds a lock by the connection through which it writes. PostgreSQL ends the connection of a silent one; one
without a lock is dead, and the leader removes it with its claims. All of this runs in the writer thread.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from channels.message import Address
from gateway.store import inbox_rows, outbox_rows
from gateway.store.claims import CHANGES, ProcessClaims
from gateway.store.connection import Connection
from gateway.store.inbox_rows import InboxRow
from gateway.store.outbox_rows import SpeechRow

log = logging.getLogger(__name__)

LOCK = 0x0D41B00C
"""Class of our advisory locks: 0 is the leader's, the others are processes by number."""
DEATH = "death"
"""Tells the others that some of them may have been given the people of a gateway that has ended."""
HOLDS_LOCK = f"""
EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND classid = {LOCK} AND objid = process.number
        AND pg_locks.pid = backend AND granted
        AND pg_locks.database = (SELECT oid FROM pg_database WHERE datname = current_database()))
"""
_PROCESSES = f"SELECT number, number != ? AND pg_try_advisory_xact_lock({LOCK}, number) FROM process"
_LEADER = f"SELECT host, pid FROM process WHERE leads AND {HOLDS_LOCK}"


@dataclass(frozen=True, slots=True)
class Standing:
    """How a process stands among the others. `leader`: the host and process that leads, if it is another. `living` and
    `dead`, for the leader: numbers of processes; it has to `bury` the dead."""

    leads: bool
    leader: tuple[str, int] | None
    living: tuple[int, ...] = ()
    dead: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class WorkFound:
    messages: tuple[InboxRow, ...]
    chats: tuple[Address, ...]
    """With messages to be sent."""
    speech: tuple[SpeechRow, ...]
    wanted: frozenset[str]
    """Scopes of the process that another one waits for."""


def stand(connection: Connection, claims: ProcessClaims) -> Standing:
    """Tries to lead; the leader gives unclaimed work to somebody."""
    number = claims.number
    if not claims.leads and not _try_to_lead(connection, number):
        leader = connection.execute(_LEADER).fetchone()
        return Standing(False, None if leader is None else (leader[0], leader[1]))
    _give_away(connection, claims)
    processes = [(process, is_dead) for process, is_dead in connection.execute(_PROCESSES, (number,)).fetchall()]
    living = tuple(process for process, is_dead in processes if not is_dead)
    return Standing(True, None, living, tuple(process for process, is_dead in processes if is_dead))


def bury(
    connection: Connection, claims: ProcessClaims, dead: Collection[int], hung: Iterable[int], attempts: int
) -> None:
    """Removes dead processes and gives their work to others; for the leader. `hung` and `attempts` as in
    `inbox_rows.hung`."""
    for process in dead:
        inbox_rows.blame(connection, process)
        removed = connection.execute("DELETE FROM process WHERE number = ? RETURNING host, pid", (process,))
        for host, pid in removed.fetchall():
            log.warning("the gateway on %s (process %s) has ended; the others take over its part", host, pid)
    inbox_rows.hung(connection, hung, attempts)
    _give_away(connection, claims)
    if dead:
        connection.execute("SELECT pg_notify(?, ?)", (CHANGES, DEATH))


def _give_away(connection: Connection, claims: ProcessClaims) -> None:
    for session in inbox_rows.unclaimed_sessions(connection):
        claims.claim(connection, session)


def find(connection: Connection, claims: ProcessClaims, known: Collection[int]) -> WorkFound:
    """Finds the work of a process. `known`: messages that it has already."""
    return WorkFound(
        inbox_rows.claimed_rows(connection, claims.number, known),
        outbox_rows.chats_to_serve(connection, claims.number, leads=claims.leads),
        outbox_rows.claimed_speech(connection, claims.number),
        claims.wanted(connection),
    )


def _try_to_lead(connection: Connection, number: int) -> bool:
    (leads,) = connection.execute(f"SELECT pg_try_advisory_lock({LOCK}, 0)").fetchone()
    if leads:
        connection.execute("UPDATE process SET leads = (number = ?)", (number,))
    return bool(leads)


def take_no_more(connection: Connection, process: int) -> None:
    """Has new people and groups given to other processes."""
    connection.execute("UPDATE process SET takes = false WHERE number = ?", (process,))


def leave(connection: Connection, process: int) -> None:
    """Gives all claims up, and has the others look."""
    connection.execute("DELETE FROM process WHERE number = ?", (process,))
    connection.execute("SELECT pg_notify(?, '0')", (CHANGES,))
