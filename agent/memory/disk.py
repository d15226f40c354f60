"""Durable file operations in an open folder: locked, atomic, synced."""

from __future__ import annotations

import os
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

from agent.memory.paths import Folder

_PIECE = 1_000_000
"""Bytes per read while copying."""
SCRATCH = ".daybook-tmp"
"""The temporary name of new content; left over only if the process is killed."""

if sys.platform == "win32":
    _process_lock = threading.RLock()

    @contextmanager
    def locked(folder: Folder) -> Iterator[None]:
        """Locks out other threads that write to any folder."""
        with _process_lock:
            yield
else:
    import fcntl

    @contextmanager
    def locked(folder: Folder) -> Iterator[None]:
        """Locks out other Daybook processes that write to the folder; editors ignore it. Do not nest.

        The folder is locked because files are replaced; a killed process holds nothing.
        """
        assert folder.fd is not None
        fcntl.flock(folder.fd, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(folder.fd, fcntl.LOCK_UN)


class NotRegular(OSError):
    pass


def read(folder: Folder, name: str, limit: int) -> bytes:
    """Never waits for a pipe or device. Raises `OSError`."""
    with _open_regular(folder, name) as file:
        return file.read(limit)


def tail(folder: Folder, name: str, limit: int) -> bytes:
    """Raises `OSError`."""
    with _open_regular(folder, name) as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - limit))
        return file.read(limit)


def copy(folder: Folder, name: str, to: BinaryIO, most: int) -> int:
    """Copies at most `most` + 1 bytes of a regular file; returns their number. Raises `OSError`."""
    with _open_regular(folder, name) as file:
        copied = 0
        while copied <= most and (piece := file.read(min(_PIECE, most + 1 - copied))):
            to.write(piece)
            copied += len(piece)
        return copied


def _open_regular(folder: Folder, name: str) -> BinaryIO:
    fd = folder.open(name, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0))
    mode = os.fstat(fd).st_mode
    if not stat.S_ISREG(mode):
        os.close(fd)
        raise NotRegular(0, "it is a folder" if stat.S_ISDIR(mode) else "it is not a regular file")
    return os.fdopen(fd, "rb")


def append(folder: Folder, name: str, data: bytes) -> None:
    """Appends and syncs; a failed write is taken back. Call under `locked`. Raises `OSError`."""
    fd = folder.open(name, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:
        before = os.fstat(fd).st_size
        written = 0
        try:
            while written < len(data):
                written += os.write(fd, data[written:])
            os.fsync(fd)
        except OSError:
            if os.fstat(fd).st_size == before + written:
                os.ftruncate(fd, before)
            raise
    finally:
        os.close(fd)
    if before == 0:
        folder.sync()


def probe(folder: Folder) -> None:
    """Tests that the folder is writable. Call under `locked`. Raises `OSError`."""
    with suppress(FileNotFoundError):
        folder.remove(SCRATCH)
    fd = folder.open(SCRATCH, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        os.write(fd, b"\n")
        os.fsync(fd)
    finally:
        os.close(fd)
        folder.remove(SCRATCH)


def replace(folder: Folder, name: str, data: bytes, mode: int, check: Callable[[], None]) -> None:
    """Replaces a file atomically. `check` runs just before and may raise. Call under `locked`. Raises `OSError`."""
    with suppress(FileNotFoundError):
        folder.remove(SCRATCH)  # left by a killed process
    fd = folder.open(SCRATCH, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(data)
            if hasattr(os, "fchmod"):
                os.fchmod(fd, mode)
            file.flush()
            os.fsync(fd)
        check()
        folder.rename(SCRATCH, name)
    except BaseException:
        with suppress(OSError):
            folder.remove(SCRATCH)
        raise
    folder.sync()
