"""The gateways that share a home: who they are, which of them leads, and what of a dead one goes to the others.

Each holds a lock of the database by the connection through which it writes, so a gateway that lost it can't write: the
server refuses it. The server ends the connection of a silent gateway; who has no lock is removed with its claims.
"""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import socket
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import psycopg

from agent.formats.sqlite import StorageUnavailable
from agent.languages.sentences import Sentence
from gateway.home import Home, HomeBusy, write_private
from gateway.store.claims import CHANGES, ProcessClaims
from gateway.store.postgres import PostgresEngine, PostgresRow, WrongDatabase, sentence, unusable
from gateway.store.shares import HOLDS_LOCK, LOCK

log = logging.getLogger(__name__)

_LOOK = 1.0
"""Seconds between two tries to join."""
_PREPARING = LOCK + 1
_PATIENCE_MS = 15_000
"""For a lock that another gateway has while both start."""
_SILENT_MS = 10_000
"""After which PostgreSQL cuts a gateway off, which has given up before (`lease.LEASE`)."""
_TABLES = """
DROP TABLE IF EXISTS gateway_process;
CREATE TABLE IF NOT EXISTS process (
    number INTEGER GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    host TEXT NOT NULL,
    pid INTEGER NOT NULL,
    backend INTEGER NOT NULL,             -- of the server, that serves its connection
    leads BOOLEAN NOT NULL DEFAULT false,
    takes BOOLEAN NOT NULL DEFAULT true,  -- false: it is ending
    started_at TIMESTAMPTZ NOT NULL DEFAULT now()
);
CREATE TABLE IF NOT EXISTS claim (        -- which process serves a scope, sends to a chat, or has a connection
    key TEXT COLLATE "C" PRIMARY KEY,
    process INTEGER NOT NULL REFERENCES process ON DELETE CASCADE
);
ALTER TABLE claim                         -- of a connection to Discord, with what is wrong
    ADD COLUMN IF NOT EXISTS health TEXT NOT NULL DEFAULT 'off',
    ADD COLUMN IF NOT EXISTS trouble TEXT NOT NULL DEFAULT '';
CREATE INDEX IF NOT EXISTS claim_process ON claim (process);
CREATE TABLE slot (                       -- what one process does at a time, and none for a while afterwards
    key TEXT PRIMARY KEY,
    process INTEGER REFERENCES process ON DELETE SET NULL,
    free_at TIMESTAMPTZ NOT NULL
);
CREATE TABLE IF NOT EXISTS home (id TEXT PRIMARY KEY);
CREATE OR REPLACE FUNCTION daybook_changed() RETURNS trigger LANGUAGE plpgsql
    AS $$ BEGIN PERFORM pg_notify('{changes}', TG_TABLE_NAME); RETURN NULL; END $$;
"""
WATCHED = ("access", "pairing", "moved", "choice", "question", "usage", "job", "run")
"""Tables that gateways keep in memory: each hears of the others' changes."""
_WATCH = """
CREATE OR REPLACE TRIGGER daybook_changed AFTER INSERT OR UPDATE OR DELETE ON {table}
    FOR EACH ROW EXECUTE FUNCTION daybook_changed();
"""
"""For each row: a statement that changes none notifies nobody, and a transaction notifies of a table once."""


def join(home: Home, url: str, local: Collection[str], *, alone: bool) -> tuple[PostgresEngine, ProcessClaims]:
    """Connects and becomes a process of the home; the tables are made or brought up to date. `local` as in
    `ProcessClaims`; `alone`: there must be no other. Blocks. Raises `HomeBusy`, `StorageUnavailable`, `OSError`."""
    engine = PostgresEngine(url)
    try:
        engine.check_own(url)
        with _preparing(engine) as other:
            if alone and other is not None:
                raise HomeBusy(home.path, other[1], other[0])
            engine.migrate(alone=other is None)
            _watch(engine)
            bind(engine, home)
            number = _enter(engine)
    except psycopg.Error as error:
        engine.close()
        raise unusable(engine, error) from error
    except BaseException:
        engine.close()
        raise
    return engine, ProcessClaims(number, local)


@contextmanager
def alone(home: Home, url: str) -> Iterator[PostgresEngine]:
    """A connection while no gateway serves the home, and none begins. Blocks. Raises `HomeBusy`,
    `StorageUnavailable`."""
    with closing(PostgresEngine(url)) as engine:
        engine.check_own(url)
        try:
            with _preparing(engine) as other:
                if other is not None:
                    raise HomeBusy(home.path, other[1], other[0])
                engine.migrate(alone=True)
                yield engine
        except psycopg.Error as error:
            raise unusable(engine, error) from error


@contextmanager
def _preparing(engine: PostgresEngine) -> Iterator[tuple[str, int] | None]:
    """Makes our tables beside those of the store. Inside, no process joins; yields the host and process id of
    one that has joined, if any. Raises `psycopg.Error`, `StorageUnavailable`."""
    session = engine.session
    try:
        session.execute(f"SET lock_timeout = {_PATIENCE_MS}".encode())
        session.execute("SELECT pg_advisory_lock(%s, 0)", (_PREPARING,))
    except psycopg.errors.LockNotAvailable as error:
        raise StorageUnavailable(
            Sentence(
                "Another gateway has been preparing {name} for {seconds} seconds. If none is starting, end its "
                "connection (pg_terminate_backend).",
                name=engine.name,
                seconds=_PATIENCE_MS // 1000,
            )
        ) from error
    try:
        if session.execute("SELECT 1 WHERE to_regclass('slot') IS NULL").fetchone() is not None:
            with session.transaction():
                session.execute(_TABLES.replace("{changes}", CHANGES).encode())
        other = session.execute(f"SELECT host, pid FROM process WHERE {HOLDS_LOCK}".encode()).fetchone()
        yield None if other is None else (other[0], other[1])
    finally:
        if not session.closed:
            session.execute("SELECT pg_advisory_unlock(%s, 0)", (_PREPARING,))
            session.execute("SET lock_timeout = 0")


def _watch(engine: PostgresEngine) -> None:
    known = engine.session.execute(
        "SELECT tgrelid::regclass::text FROM pg_trigger WHERE tgname = 'daybook_changed' AND tgtype & 1 = 1"
    )
    missing = set(WATCHED) - {row[0] for row in known}
    with engine.session.transaction():
        for table in sorted(missing):
            engine.session.execute(_WATCH.replace("{table}", table).encode())


def _enter(engine: PostgresEngine) -> int:
    session = engine.session
    with session.transaction():
        row = session.execute(
            "INSERT INTO process (host, pid, backend) VALUES (%s, %s, pg_backend_pid()) RETURNING number",
            (socket.gethostname(), os.getpid()),
        ).fetchone()
        assert row is not None
        number = int(row[0])
        session.execute("SELECT pg_advisory_lock(%s, %s)", (LOCK, number))
        for limit in ("idle_session_timeout", "idle_in_transaction_session_timeout"):
            session.execute(f"SET {limit} = {_SILENT_MS}".encode())
    return number


def bind(engine: PostgresEngine, home: Home) -> None:
    """Binds the database to this home, once. Raises `WrongDatabase` where either belongs to another."""
    session, known = engine.session, _read(home.claim)
    row = session.execute("SELECT id FROM home").fetchone()
    if row is not None and known == "" and row["id"] == _read(_begun(home)) and not home.database.exists():
        _begun(home).rename(home.claim)  # as `bind_anew` was about to
        return
    if not known and home.database.exists():
        raise WrongDatabase(
            Sentence(
                "The messages of this home are in {file}. Move them first: `daybook migrate URL`.", file=home.database
            )
        )
    if row is not None and row["id"] != known:
        raise WrongDatabase(
            Sentence(
                "{name} belongs to another home. Give this one a database of its own in `database_url`.",
                name=engine.name,
            )
        )
    if row is None and known:
        raise WrongDatabase(
            Sentence("This home's messages are not in {name}, but in another database.", name=engine.name)
        )
    if row is None:
        bind_anew(session, home)


def bind_anew(session: psycopg.Connection[PostgresRow], home: Home) -> None:
    """Binds a database and a home to each other. Raises `OSError`, `psycopg.Error`."""
    id, begun = secrets.token_hex(16), _begun(home)
    begun.unlink(missing_ok=True)
    write_private(begun, f"{id}\n")
    with session.transaction():
        session.execute("DELETE FROM home")
        session.execute("INSERT INTO home VALUES (%s)", (id,))
    begun.rename(home.claim)


def belongs_to_another(session: psycopg.Connection[PostgresRow], home: Home) -> bool:
    """True if the database belongs to a home, unless that is this one, whose move was cut off."""
    row = session.execute("SELECT id FROM home").fetchone()
    return row is not None and row["id"] != _read(_begun(home))


def _begun(home: Home) -> Path:
    return home.claim.with_suffix(".new")


def _read(file: Path) -> str:
    return file.read_text(encoding="ascii").strip() if file.exists() else ""


@contextmanager
def listening(engine: PostgresEngine, url: str, heard: Callable[[str], None]) -> Iterator[None]:
    """Calls `heard`, in a thread of its own, with numbers of processes that have work, and tables that others changed.
    What comes while the connection is lost is found by the next look."""
    over, own = threading.Event(), engine.session.info.backend_pid

    def listen() -> None:
        while not over.is_set():
            try:
                with psycopg.connect(url, autocommit=True, connect_timeout=5, application_name="daybook") as session:
                    session.execute(f"LISTEN {CHANGES}".encode())
                    for table in WATCHED:  # before, nobody listened
                        heard(table)
                    while not over.is_set():
                        for notification in session.notifies(timeout=_LOOK / 2):
                            if notification.pid != own or notification.payload.isdecimal():
                                heard(notification.payload)
            except psycopg.Error as error:
                log.info("changes by other gateways are not heard for now: %s", sentence(error))
                over.wait(_LOOK)

    thread = threading.Thread(target=listen, name="daybook-listener", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


async def joined(home: Home, url: str, local: Collection[str], *, waits: bool) -> tuple[PostgresEngine, ProcessClaims]:
    """Does `join`; with `waits`, as soon as the database can be used. Without, raises `HomeBusy` where a gateway serves
    the home. Raises `WrongDatabase`, `StorageUnavailable`, `OSError`."""
    told = ""
    while True:
        try:
            return await asyncio.to_thread(join, home, url, local, alone=not waits)
        except WrongDatabase:
            raise
        except StorageUnavailable as error:
            if not waits:
                raise
            if str(error) != told:
                told = str(error)
                log.warning("%s Waiting for it.", told)
        await asyncio.sleep(_LOOK)
