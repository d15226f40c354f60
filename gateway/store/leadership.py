"""Which of several gateways serves a home: the one whose connection holds the lock of the database.

A leader writes through that connection alone, so who lost the lock can write nothing: the server refuses it. A leader
that is silent is cut off by the others before one of them takes its place.
"""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import socket
from collections.abc import Callable
from pathlib import Path

import psycopg

from agent.formats.sqlite import StorageUnavailable
from gateway.home import Home, HomeBusy, write_private
from gateway.store.database import Database
from gateway.store.lease import Lease
from gateway.store.postgres import PostgresEngine, PostgresRow, sentence

log = logging.getLogger(__name__)

_SILENT = 10.0
"""Seconds after which the others cut a leader off: it has given up before."""
_LOOK = 1.0
"""Seconds between two tries to lead."""
_LOCK = 0x0D41B00C
"""Our advisory lock in the database."""

_TABLES = """
CREATE TABLE IF NOT EXISTS gateway_process (
    id TEXT PRIMARY KEY,
    host TEXT NOT NULL,
    pid INTEGER NOT NULL,
    backend INTEGER NOT NULL,             -- of the server, that serves its connection
    leads BOOLEAN NOT NULL,
    started_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    seen_at TIMESTAMPTZ NOT NULL
);
CREATE TABLE IF NOT EXISTS home (id TEXT PRIMARY KEY);
"""
_SEEN = """
INSERT INTO gateway_process (id, host, pid, backend, leads, seen_at)
    VALUES (%s, %s, %s, pg_backend_pid(), false, clock_timestamp())
    ON CONFLICT (id) DO UPDATE SET backend = excluded.backend, leads = false, seen_at = excluded.seen_at
"""
_HOLDER = """
SELECT pg_locks.pid AS backend, host, gateway_process.pid,
       coalesce(seen_at < clock_timestamp() - make_interval(secs => %s), true) AS is_silent
    FROM pg_locks LEFT JOIN gateway_process ON backend = pg_locks.pid
    WHERE locktype = 'advisory' AND objid = %s AND granted
    AND pg_locks.database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""
_BEGIN = """
UPDATE gateway_process SET leads = (id = %s);
"""
_FORGET = "DELETE FROM gateway_process WHERE seen_at < clock_timestamp() - make_interval(secs => 600)"


class Candidate:
    """A gateway that would serve the home. All methods block."""

    def __init__(self, url: str) -> None:
        """Raises `StorageUnavailable`."""
        self.id = secrets.token_hex(8)
        self.engine = PostgresEngine(url)
        try:
            with self.engine.session.transaction():
                self.engine.session.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK + 1,))  # two may begin at once
                self.engine.session.execute(_TABLES)
        except psycopg.Error as error:
            self.engine.close()
            raise StorageUnavailable(f"Can't prepare {self.engine.name}: {sentence(error)}.") from error

    def look(self) -> tuple[str, int | None] | None:
        """Tries to lead. Returns None if it leads now, else the host and process that does. Raises
        `StorageUnavailable`."""
        run = self.engine.session.execute
        try:
            run(_SEEN, (self.id, socket.gethostname(), os.getpid()))
            (leads,) = run("SELECT pg_try_advisory_lock(%s)", (_LOCK,)).fetchall()[0]
            if leads:
                run(_FORGET)
                run(_BEGIN, (self.id,))
                return None
            holder = run(_HOLDER, (_SILENT, _LOCK)).fetchone()
            if holder is None:
                return "?", None
            if holder["is_silent"]:
                log.warning("the gateway on %s (process %s) is silent and is cut off", holder["host"], holder["pid"])
                run("SELECT pg_terminate_backend(%s)", (holder["backend"],))
            return holder["host"] or "?", holder["pid"]
        except psycopg.Error as error:
            raise StorageUnavailable(f"{self.engine.name} can't be used: {sentence(error)}.") from error

    def close(self) -> None:
        self.engine.close()

    def claim(self, home: Home) -> None:
        """Binds the database to this home, once. Raises `StorageUnavailable` where either belongs to another."""
        session, known = self.engine.session, _read(home.claim)
        row = session.execute("SELECT id FROM home").fetchone()
        if row is not None and known == "" and row["id"] == _read(_begun(home)) and not home.database.exists():
            _begun(home).rename(home.claim)  # as `claim` was about to
            return
        if not known and home.database.exists():
            raise StorageUnavailable(
                f"The messages of this home are in {home.database}. Move them first: `daybook migrate URL`."
            )
        if row is not None and row["id"] != known:
            raise StorageUnavailable(
                f"{self.engine.name} belongs to another home. Give this one a database of its own in `database_url`."
            )
        if row is None and known:
            raise StorageUnavailable(f"This home's messages are not in {self.engine.name}, but in another database.")
        if row is None:
            claim(session, home)


def claim(session: psycopg.Connection[PostgresRow], home: Home) -> None:
    """Binds a database and a home to each other. Raises `OSError`, `psycopg.Error`."""
    id, begun = secrets.token_hex(16), _begun(home)
    begun.unlink(missing_ok=True)
    write_private(begun, f"{id}\n")
    with session.transaction():
        session.execute("DELETE FROM home")
        session.execute("INSERT INTO home VALUES (%s)", (id,))
    begun.rename(home.claim)


def is_claimed(session: psycopg.Connection[PostgresRow], home: Home) -> bool:
    """True if the database belongs to a home, unless that is this one, whose move was cut off."""
    row = session.execute("SELECT id FROM home").fetchone()
    return row is not None and row["id"] != _read(_begun(home))


def _begun(home: Home) -> Path:
    return home.claim.with_suffix(".new")


def _read(file: Path) -> str:
    return file.read_text(encoding="ascii").strip() if file.exists() else ""


async def lead(home: Home, url: str, *, waits: bool, on_lost: Callable[[], None]) -> tuple[Database, Lease]:
    """The database, once this process is the one that serves the home. `waits` False: raises `HomeBusy` where another
    does. `on_lost` ends this process when it no longer is; it is called in another thread.

    Raises `StorageUnavailable`.
    """
    candidate = await _elected(home, url, waits)
    try:
        await asyncio.to_thread(candidate.engine.migrate)
        await asyncio.to_thread(candidate.claim, home)
    except BaseException:
        candidate.close()
        raise
    database = Database(candidate.engine, on_lost=on_lost)
    return database, Lease(database, candidate.id, on_lost)


async def _elected(home: Home, url: str, waits: bool) -> Candidate:
    candidate: Candidate | None = None
    elected = False
    told = ""
    try:
        while True:
            try:
                if candidate is None:
                    candidate = await asyncio.to_thread(Candidate, url)
                leader = await asyncio.to_thread(candidate.look)
            except StorageUnavailable as error:
                if not waits:
                    raise
                if candidate is not None:
                    candidate.close()
                candidate, now = None, f"{error} Waiting for it."
            else:
                if leader is None:
                    elected = True
                    return candidate
                host, pid = leader
                if not waits:
                    raise HomeBusy(home.path, pid, host)
                who = f"process {pid or '?'} on {host}"
                now = f"Another gateway serves this home ({who}). This one takes over if it ends."
            if now != told:
                log.warning("%s", now)  # at a terminal, too, where nothing else says why nothing happens
                told = now
            await asyncio.sleep(_LOOK)
    finally:
        if candidate is not None and not elected:
            candidate.close()
