"""One writer thread for one database, with group commit.

Waiting work shares one transaction and one fsync, each piece under its own savepoint. Nobody is answered before the
commit, and the event loop never touches the disk.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import queue
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from agent.formats.sqlite import StorageUnavailable, connect
from agent.languages.sentences import Sentence
from gateway.store.connection import Connection, Engine
from gateway.store.schema import migrate, remove_copies

T = TypeVar("T")
P = ParamSpec("P")
Work = Callable[[Connection], Any]
OnLost = Callable[[str], None]
"""Ends the process: another may serve the home now. Gets the reason, without a full stop; called in any thread."""

log = logging.getLogger(__name__)

_LARGEST_BATCH = 256
_COMPANY = 0.05


class _Job:
    """`patient`: it waits a moment to share a commit. `purges`: the write-ahead log is emptied after it."""

    def __init__(
        self, work: Work, loop: asyncio.AbstractEventLoop | None, *, patient: bool = False, purges: bool = False
    ) -> None:
        self.work = work
        self.patient = patient
        self.purges = purges
        self.loop = loop
        self.done: asyncio.Future[Any] | None = loop.create_future() if loop else None
        self.result: Any = None
        self.error: Exception | None = None

    def settle(self) -> None:
        """Wakes the waiting coroutine, from the writer thread."""
        if self.loop is None or self.done is None:
            if self.error is not None:
                log.error("a write that nothing waits for failed: %s", self.error)
            return
        try:
            self.loop.call_soon_threadsafe(self._deliver, self.done)
        except RuntimeError:
            pass  # the loop has ended: whoever waited is gone with it

    def _deliver(self, done: asyncio.Future[Any]) -> None:
        if done.cancelled():
            return
        if self.error is not None:
            done.set_exception(self.error)
        else:
            done.set_result(self.result)


class _Confirmed(_Job):
    def __init__(self, work: Work) -> None:
        super().__init__(work, None)
        self.committed = threading.Event()

    def settle(self) -> None:
        super().settle()
        if self.error is None:
            self.committed.set()


class Database:
    """All methods but `open` belong to the event loop's thread."""

    def __init__(self, engine: Engine, company: float = _COMPANY, on_lost: OnLost = lambda why: None) -> None:
        """`company`: seconds that `note` waits to share a commit. `on_lost` is called in the writer thread, before
        anybody is told, when the engine can't be used any more."""
        self._engine = engine
        self._company = company
        self._on_lost = on_lost
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._write_until_closed, name="daybook-store", daemon=True)
        self._thread.start()

    @classmethod
    async def open(cls, path: Path, company: float = _COMPANY) -> Database:
        """Opens or creates the file (mode 0600) and migrates it. Raises `StorageUnavailable`."""
        return cls(await asyncio.to_thread(SqliteEngine, path), company)

    async def run(self, work: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Runs `work` in the writer thread and returns after its commit. Several callers go on in the order of their
        calls. Raises what `work` raises, with its changes undone, and `StorageUnavailable`."""
        job = _Job(lambda connection: work(connection, *args, **kwargs), asyncio.get_running_loop())
        self._jobs.put(job)
        assert job.done is not None
        result: T = await job.done
        return result

    def post(self, work: Callable[Concatenate[Connection, P], object], *args: P.args, **kwargs: P.kwargs) -> None:
        """Runs `work` soon; a failure is logged."""
        self._jobs.put(_Job(lambda connection: work(connection, *args, **kwargs), None))

    def note(self, work: Callable[Concatenate[Connection, P], object], *args: P.args, **kwargs: P.kwargs) -> None:
        """Does `post`, in the commit of whatever else is written within a moment."""
        self._jobs.put(_Job(lambda connection: work(connection, *args, **kwargs), None, patient=True))

    @property
    def is_shared(self) -> bool:
        return self._engine.is_shared

    def confirm(self, work: Callable[[Connection], object], seconds: float) -> bool:
        """Runs `work` in the writer thread, for any other thread. True once it is committed, False if it is
        not within so many seconds."""
        job = _Confirmed(work)
        self._jobs.put(job)
        return job.committed.wait(seconds)

    def purge(self) -> None:
        """Removes what was overwritten or deleted from the disk, soon; what another process reads stays until the log
        restarts."""
        self._jobs.put(_Job(lambda _: None, None, purges=True))

    async def aclose(self) -> None:
        """Finishes what waits, then closes."""
        self._jobs.put(None)
        await asyncio.to_thread(self._thread.join)

    def _write_until_closed(self) -> None:
        open_ = True
        while open_:
            batch, open_ = self._next_batch()
            self._commit(batch)
        self._engine.close()

    def _next_batch(self) -> tuple[list[_Job], bool]:
        batch: list[_Job] = []
        job = self._jobs.get()
        until = time.monotonic() + self._company
        while job is not None:
            batch.append(job)
            if len(batch) == _LARGEST_BATCH:
                return batch, True
            if not job.patient:
                until = 0.0
            try:
                job = self._jobs.get(timeout=max(0.0, until - time.monotonic()))
            except queue.Empty:
                return batch, True
        return batch, False

    def _commit(self, batch: list[_Job]) -> None:
        engine, why = self._engine, ""
        try:
            engine.keep_named()
            connection = engine.connection
            connection.execute(engine.begin)
            for job in batch:
                connection.execute("SAVEPOINT job")
                try:
                    job.result = job.work(connection)
                except Exception as error:
                    if engine.is_refusal(error):
                        raise  # the disk, not the work: the whole batch fails
                    job.error = error
                    connection.execute("ROLLBACK TO job")
                connection.execute("RELEASE job")
            connection.execute("COMMIT")
            engine.keep_named()  # nobody is told of what is in no file
        except (StorageUnavailable, engine.errors) as error:
            self._undo()
            why = engine.sentence(error)
            refusal = StorageUnavailable(f"{engine.name} could not be written: {why}")
            refusal.__cause__ = error
            for job in batch:
                job.error = refusal
        if engine.is_lost:
            self._on_lost(why)
        elif any(job.purges for job in batch):
            self._remove_deleted()
        for job in batch:
            job.settle()

    def _undo(self) -> None:
        engine = self._engine
        with contextlib.suppress(engine.errors):  # of a lost connection: the server undoes it
            if engine.in_transaction and not engine.is_lost:
                engine.connection.execute("ROLLBACK")

    def _remove_deleted(self) -> None:
        try:
            self._engine.purge()
        except (OSError, self._engine.errors) as error:
            log.warning("what was deleted could not be removed from %s: %s", self._engine.name, error)


class SqliteEngine:
    """One file, made and migrated."""

    begin = "BEGIN IMMEDIATE"
    errors = sqlite3.Error
    is_lost = False
    is_shared = False

    def __init__(self, path: Path) -> None:
        """Raises `StorageUnavailable`."""
        self.name = path.name
        self._path = path
        self._names = tuple(path.with_name(f"{path.name}{ending}") for ending in ("", "-wal", "-shm"))
        self._open()

    def _open(self) -> None:
        path = self._path
        try:
            self.connection = connect(path, wal=True)
            self.connection.row_factory = sqlite3.Row
            self.connection.create_function("greatest", 2, max, deterministic=True)  # PostgreSQL's name of it
            migrate(self.connection, path)
            self.connection.execute("SELECT count(*) FROM sqlite_master").fetchone()  # makes the log beside it
            self._files, self._is_open = self._named(), True
        except (OSError, sqlite3.Error) as error:
            raise StorageUnavailable(
                Sentence("Can't open {file}: {why}. `daybook doctor` says what to do.", file=path, why=error)
            ) from error

    def keep_named(self) -> None:
        """Makes sure that the files have their names. What a deleted log holds goes into the database, and a new log
        begins. A deleted database is not made again here: what it held would seem never to have been. A database that
        could not be opened the last time is opened now."""
        named = self._named()
        if named == self._files and self._is_open:
            return
        if named[0] != self._files[0]:
            raise _not_named(self._path, is_gone=named[0] is None)
        if self._is_open:
            self._empty_log()
        self._is_open = False
        self.connection.close()
        self._open()

    def _empty_log(self) -> None:
        if self.connection.in_transaction:
            raise _not_named(self._path.with_name(f"{self.name}-wal"), is_gone=True)
        log.error("%s-wal was deleted; what was in it is written into %s, and a new one begins", self.name, self.name)
        busy, *_ = self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            raise StorageUnavailable(f"{self.name}-wal was deleted while another program reads {self.name}")

    def _named(self) -> tuple[tuple[int, int] | None, ...]:
        """Device and inode that each of its files' names leads to; None where there is no file."""
        return tuple(map(_identity, self._names))

    def sentence(self, error: Exception) -> str:
        """Also sets the error's cause: SQLite keeps back what the system said, so the disk is tried again."""
        if isinstance(error, StorageUnavailable):
            return str(error).removesuffix(".")
        probe = self._path.with_name(f"{self._path.name}.probe")
        try:
            probe.write_bytes(b"\0" * 4096)
        except OSError as reason:
            error.__cause__ = error.__cause__ or reason
        finally:
            with contextlib.suppress(OSError):
                probe.unlink(missing_ok=True)
        return str(error)

    def is_refusal(self, error: Exception) -> bool:
        return isinstance(error, sqlite3.OperationalError)

    @property
    def in_transaction(self) -> bool:
        return self.connection.in_transaction

    def purge(self) -> None:
        self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        remove_copies(self._path)

    def close(self) -> None:
        self.connection.close()


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StorageUnavailable(f"{path.name} cannot be looked at ({error.strerror})") from error
    return found.st_dev, found.st_ino


def _not_named(path: Path, *, is_gone: bool) -> StorageUnavailable:
    why = "it is gone" if is_gone else "another file is in its place"
    refusal = StorageUnavailable(f"{path.name} was moved or deleted under the running Daybook: {why}")
    refusal.__cause__ = OSError(errno.ENOENT if is_gone else errno.ESTALE, why, str(path))
    return refusal
