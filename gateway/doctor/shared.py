"""What several gateways on one home need: their database, clocks that agree, a file system with locks."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator

from filelock import FileLock, Timeout

from agent.formats.sqlite import StorageUnavailable
from gateway.config import Config
from gateway.home import Home
from gateway.setup.probe import Finding
from gateway.spoken_time import Sentence
from gateway.store.connection import Connection
from gateway.store.lease import processes, server
from gateway.store.reading import reading

_MOST_SKEW = 5.0


def check_shared(home: Home, config: Config) -> Iterator[Finding]:
    """Nothing where the messages are in SQLite."""
    url = config.postgres_url
    if url is None:
        return
    try:
        with reading(home.database, url) as connection:
            if connection is None:
                yield Finding("database", True, "PostgreSQL answers; its tables are made at the first start")
                return
            yield from _database(connection)
    except StorageUnavailable as error:
        yield Finding("database", False, str(error), "start PostgreSQL, or correct `database_url` in config.yaml")
        return
    yield from _files(home)


def _database(connection: Connection) -> Iterator[Finding]:
    known = processes(connection)
    version, there = server(connection)
    yield Finding(
        "database", True, Sentence("PostgreSQL {version} answers; gateways: {count}", version=version, count=len(known))
    )
    skew = abs(there - time.time())
    if skew > _MOST_SKEW:
        yield Finding(
            "database",
            False,
            Sentence(
                "the clocks of this computer and of the database differ by {seconds} seconds", seconds=round(skew)
            ),
            "let both follow a time server (NTP)",
        )


def _files(home: Home) -> Iterator[Finding]:
    """Tries in the home what several computers rely on."""
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
