"""Checks what several gateways on one home need: a database, clocks that agree, a file system with locks."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from filelock import FileLock, Timeout

from agent.formats.sqlite import StorageUnavailable
from agent.languages.sentences import Sentence
from channels.checks import Finding
from gateway.config import Config
from gateway.home import Home
from gateway.setup.probe import compare_clock
from gateway.store.connection import Connection, homes, reading
from gateway.store.lease import processes, server

_MOST_SKEW = timedelta(seconds=5)


def check_shared(home: Home, config: Config) -> Iterator[Finding]:
    """Checks a home on PostgreSQL; finds nothing where the messages are in SQLite."""
    url = config.postgres_url
    if url is None:
        return
    try:
        with reading(home.database, url) as connection:
            yield from _belongs(home, connection)
            if connection is None:
                yield Finding("database", True, "PostgreSQL answers; its tables are made at the first start")
                return
            yield from _database(connection)
    except StorageUnavailable as error:
        yield Finding("database", False, str(error), "mend that, or correct `database_url` in config.yaml")
        return
    yield from _files(home)


def _belongs(home: Home, connection: Connection | None) -> Iterator[Finding]:
    """A gateway starts only where the database and the home name each other, or neither names any."""
    other = "correct `database_url` in config.yaml: each home has a database of its own"
    begun = home.claim.with_suffix(".new")  # of a first start that was cut off, which the next completes
    known = [file.read_text("ascii").strip() for file in (home.claim, begun) if file.exists()]
    named = set() if connection is None else homes(connection)
    if home.claim.exists() and known[0] not in named:
        yield Finding("database", False, "this home's messages are in another database", other)
    elif named and named.isdisjoint(known):
        yield Finding("database", False, "this database belongs to another home", other)
    elif not home.claim.exists() and home.database.exists():
        yield Finding(
            "database",
            False,
            Sentence("the messages of this home are still in {database}", database=home.database),
            "move them with `daybook migrate URL`, or remove `database_url` from config.yaml",
        )


def _database(connection: Connection) -> Iterator[Finding]:
    known = processes(connection)
    version, there = server(connection)
    yield Finding(
        "database", True, Sentence("PostgreSQL {version} answers; gateways: {count}", version=version, count=len(known))
    )
    yield compare_clock(datetime.fromtimestamp(there, UTC), "PostgreSQL", _MOST_SKEW)


def _files(home: Home) -> Iterator[Finding]:
    """Tries locks and fsync in the home, on which several computers rely."""
    probe = home.state / "doctor.lock"
    first, second = (FileLock(probe, timeout=0, thread_local=False, is_singleton=False) for _ in range(2))
    try:
        with first:
            try:
                second.acquire()
            except Timeout:
                works = True
            else:
                works = False
                second.release()
        descriptor = os.open(probe, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        why = error.strerror or str(error)
        yield Finding(
            "database",
            False,
            Sentence("the home's file system refuses what several gateways need: {why}", why=why),
            "mount it with locks, as NFS 4 has them",
        )
        return
    finally:
        with contextlib.suppress(OSError):
            probe.unlink()
    if not works:
        yield Finding(
            "database",
            False,
            "the home's file system has no locks, so two gateways could write one file",
            "mount it with locks, as NFS 4 has them",
        )
