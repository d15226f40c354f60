"""The time for which a gateway may serve a home that others would serve too."""

from __future__ import annotations

import errno
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from gateway.store.claims import IS_SCOPE, PART
from gateway.store.connection import Connection
from gateway.store.database import Database, OnLost
from gateway.store.shares import HOLDS_LOCK

LEASE = 8.0
"""Seconds without a write after which a gateway gives up."""
_BEATS = 6
"""Signs of life in that time."""
_CLOCK = getattr(time, "CLOCK_BOOTTIME", None)
"""Counts, unlike the monotonic clock, also while the machine is suspended. Not on every platform."""


def _seconds_now() -> float:
    return time.monotonic() if _CLOCK is None else time.clock_gettime(_CLOCK)


class LeaseOver(OSError):
    """Another gateway may have taken over, so nothing is written any more."""

    def __init__(self) -> None:
        super().__init__(errno.ESTALE, "another gateway may have taken over")


@dataclass(frozen=True, slots=True)
class KnownConnection:
    """A connection to a platform. `health`: of `channels.message.Health`, a second old at most; `trouble`: what is
    wrong."""

    name: str
    health: str
    trouble: str


@dataclass(frozen=True, slots=True)
class KnownProcess:
    """A gateway of the home, on whatever computer."""

    host: str
    pid: int
    leads: bool
    scopes: int
    """Number of people and groups that it serves."""
    seconds: float
    """Since it last did something in the database."""
    connections: tuple[KnownConnection, ...]
    """Of channels that have several, or whose only one may be in any gateway."""


def processes(connection: Connection) -> tuple[KnownProcess, ...]:
    """The gateways that live, the leader first."""
    rows = connection.execute(
        f"SELECT number, host, process.pid, leads, count(key) FILTER (WHERE {IS_SCOPE}) AS scopes,"
        " extract(epoch FROM clock_timestamp() - max(state_change))::float8 AS seconds"
        " FROM process JOIN pg_stat_activity ON pg_stat_activity.pid = backend"
        f" LEFT JOIN claim ON claim.process = number WHERE {HOLDS_LOCK} GROUP BY number ORDER BY leads DESC, number"
    ).fetchall()
    parts = connection.execute(
        "SELECT process, key, health, trouble FROM claim WHERE starts_with(key, ?) ORDER BY length(key), key", (PART,)
    ).fetchall()
    return tuple(
        KnownProcess(
            host,
            pid,
            leads,
            scopes,
            seconds,
            tuple(KnownConnection(key.removeprefix(PART), *how) for process, key, *how in parts if process == number),
        )
        for number, host, pid, leads, scopes, seconds in rows
    )


def server(connection: Connection) -> tuple[str, float]:
    """The version of PostgreSQL, and its clock in seconds since 1970."""
    row = connection.execute("SELECT current_setting('server_version'), extract(epoch FROM clock_timestamp())::float8")
    version, seconds = row.fetchone()
    return str(version), float(seconds)


class Lease:
    """Commits something at short intervals, so that PostgreSQL keeps the connection of this process; ends the process
    when that could not be done in time."""

    def __init__(
        self,
        database: Database,
        on_lost: OnLost,
        seconds: float = LEASE,
        now: Callable[[], float] = _seconds_now,
    ) -> None:
        self._database = database
        self._on_lost = on_lost
        self._seconds = seconds
        self._now = now
        self._confirmed = now()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._renew, name="daybook-lease", daemon=True)
        self._thread.start()

    def check(self) -> None:
        """Ends the process if it stood still for so long that another may serve the home."""
        if self._is_over:
            self._on_lost(f"this gateway could not write for {self._seconds:.0f} seconds: another may have taken over")

    def check_write(self) -> None:
        """Does `check` before anything is written. Raises `LeaseOver` where the time is over."""
        if self._is_over:
            self.check()
            raise LeaseOver

    def end(self) -> None:
        """Blocks for a moment."""
        self._over.set()
        self._thread.join()

    @property
    def _is_over(self) -> bool:
        return not self._over.is_set() and self._now() - self._confirmed > self._seconds

    def _renew(self) -> None:
        while not self._over.wait(self._seconds / _BEATS):
            self.check()
            begun = self._now()
            if self._database.confirm(_nothing, self._seconds):
                self._confirmed = begun
            self.check()


def _nothing(connection: Connection) -> None:
    connection.execute("SELECT 1")
