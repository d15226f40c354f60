"""A scope's index file with two connections, so that searches do not wait for indexing; in memory if the disk cannot be
written. All but `reading` is for the one writing thread."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from time import monotonic

from filelock import FileLock, Timeout

from agent.formats.sqlite import StorageUnavailable
from agent.languages.sentences import Sentence
from agent.languages.system_errors import system_says
from agent.memory.paths import make_private
from agent.search.database import Damaged
from agent.search.store import IndexStore

_log = logging.getLogger(__name__)

_LOCK_WAIT = 10.0
"""Seconds to wait for another process without a deadline."""


class IndexFile:
    """A scope's index; `path` None: in memory. `scope` and `cut` as in `database.create_index`."""

    def __init__(self, path: Path | None, scope: str, cut: str) -> None:
        self.path = path
        self.reader: IndexStore | None = None
        self.reading = threading.RLock()
        """Held by whoever uses the reader, or puts another in its place."""
        self._scope = scope
        self._cut = cut
        self._writer: IndexStore | None = None
        self._inode = 0

    @property
    def writer(self) -> IndexStore:
        assert self._writer is not None
        return self._writer

    @property
    def in_memory(self) -> bool:
        return self._writer is not None and self._writer is self.reader

    @property
    def bytes(self) -> int:
        parts = _with_sidecars(self.path) if self.path is not None else []
        return sum(file.stat().st_size for file in parts if file.exists())

    def is_new(self) -> bool:
        """Open the file if needed; true if it was not open before. Raises `Damaged`, `StorageUnavailable`."""
        if self.in_memory:
            return False
        inode = _inode(self.path) if self.path is not None else 0
        if self._writer is not None and inode == self._inode:
            return False
        if inode:
            self.open()
        else:
            self.begin_anew()
        return True

    def open(self) -> None:
        """Raises `Damaged`, `StorageUnavailable`."""
        assert self.path is not None
        with self.reading:
            self._close()
            self._writer = IndexStore.open(self.path, self._scope, self._cut)
            self.reader = IndexStore.open(self.path, self._scope, self._cut)
            self._inode = _inode(self.path)

    def begin_anew(self) -> None:
        """Start an empty index; in memory if the disk refuses."""
        try:
            if self.path is not None:
                with self.alone(None), self.replacement():
                    return
        except (StorageUnavailable, Damaged) as error:
            _log.error("cannot write the search index %s, keeping it in memory: %s", self.path, error)
        with self.reading:
            self._close()
            self._writer = self.reader = IndexStore.create(None, self._scope, self._cut)

    @contextmanager
    def replacement(self) -> Iterator[IndexStore]:
        """An empty index that replaces the present one on success. Raises `Damaged`, `StorageUnavailable`."""
        assert self.path is not None
        replacement = self.path.with_name(f"{self.path.name}.new")
        delete_index(replacement)
        try:
            with closing(IndexStore.create(replacement, self._scope, self._cut)) as store:
                yield store
            self._swap_in(replacement)
            self.open()
        except BaseException:
            with suppress(StorageUnavailable):  # deleted the next time
                delete_index(replacement)
            raise

    @contextmanager
    def alone(self, deadline: float | None) -> Iterator[bool]:
        """Exclude other writers; yields False if one holds the lock until `deadline`. Raises `StorageUnavailable`."""
        if self.path is None or self.in_memory:
            with self.reading:  # one connection for both
                yield True
            return
        wait = _LOCK_WAIT if deadline is None else max(0.0, deadline - monotonic())
        try:
            make_private(self.path.parent)
            lock = FileLock(self.path.with_name(f"{self.path.name}.lock"), mode=0o600)
            lock.acquire(timeout=wait, poll_interval=0.01)
        except Timeout:
            if deadline is None:
                raise StorageUnavailable(Sentence("another process is writing the search index")) from None
            yield False
            return
        except OSError as error:
            raise _unwritable(error) from error
        try:
            yield True
        finally:
            lock.release()

    def close(self) -> None:
        with self.reading:
            self._close()

    def _swap_in(self, replacement: Path) -> None:
        """Replace the file, and remove the old log, which must not be applied to the new one."""
        assert self.path is not None
        try:
            with self.reading:
                self._close()
                for side in _with_sidecars(self.path)[1:]:
                    side.unlink(missing_ok=True)
                replacement.replace(self.path)
        except OSError as error:
            raise _unwritable(error) from error

    def _close(self) -> None:
        for store in {id(store): store for store in (self._writer, self.reader) if store is not None}.values():
            store.close()
        self._writer = self.reader = None
        self._inode = 0


def _inode(file: Path) -> int:
    """0 for a missing file."""
    try:
        return file.stat().st_ino
    except OSError:  # other problems show on opening
        return 0


def _with_sidecars(file: Path) -> list[Path]:
    return [file.with_name(f"{file.name}{ending}") for ending in ("", "-wal", "-shm", "-journal")]


def _unwritable(error: OSError) -> StorageUnavailable:
    return StorageUnavailable(Sentence("the search index cannot be written ({why})", why=system_says(error)))


def delete_index(file: Path) -> None:
    """Raises `StorageUnavailable`."""
    try:
        for part in _with_sidecars(file):
            part.unlink(missing_ok=True)
    except OSError as error:
        raise _unwritable(error) from error
