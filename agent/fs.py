"""The only module that writes files: locked, compared with their known state, synced. Everything blocks.

A writer may halt between any two steps (a paused machine) while another takes over, and then go on. So each write
compares the file just before. Nobody waits for ever for a halted process's lock: without it, content goes into a new
file, which is moved into place, and temporary files of the halted process are removed.
"""

from __future__ import annotations

import errno
import logging
import os
import secrets
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO
from weakref import WeakValueDictionary

SCRATCH = ".daybook-tmp"
"""The beginning of names of temporary files; they stay only if the process is killed."""
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_WALKS = os.open in os.supports_dir_fd
_PIECE = 1_000_000
"""Bytes per read while copying."""
_LOOK = 0.005
_LOOKS = 1_000
"""After so many looks, at least 5 seconds of this process, the holder of a lock counts as halted."""
_LOOKS_AGAIN = 10
"""Looks at a lock whose holder was halted before. More than none: another process may just be writing by now."""
_NO_LOCKS = frozenset({errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EBADF})
"""Errors of file systems without locks; `doctor` reports them too."""
_TRIES = 5
"""Attempts at a file that others change at the same time."""

Check = Callable[[], None]
_log = logging.getLogger(__name__)


class ChangedMeanwhile(OSError):
    """Somebody else has written the file, so it is left alone."""

    def __init__(self, name: str) -> None:
        super().__init__(errno.EBUSY, "somebody else has written it meanwhile", name)


class NotRegular(OSError):
    pass


_guards: list[Check] = []


@contextmanager
def guarded(may_write: Check) -> Iterator[None]:
    """Calls `may_write` before each change of a file by this process; it raises `OSError` to refuse."""
    _guards.append(may_write)
    try:
        yield
    finally:
        _guards.remove(may_write)


def _check_guards() -> None:
    for may_write in _guards:
        may_write()


@dataclass(frozen=True, slots=True)
class Folder:
    """Names are resolved by `fd`, which survives a move; on Windows by `path`."""

    path: Path
    fd: int | None

    def open(self, name: str, flags: int, mode: int = 0o600) -> int:
        """A link raises `OSError` ELOOP."""
        flags |= _NO_LINK | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
        return os.open(self._name(name), flags, mode, dir_fd=self.fd)

    def stat(self, name: str) -> os.stat_result | None:
        try:
            return os.stat(self._name(name), dir_fd=self.fd, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def rename(self, old: str, new: str) -> None:
        os.replace(self._name(old), self._name(new), src_dir_fd=self.fd, dst_dir_fd=self.fd)

    def remove(self, name: str) -> None:
        os.unlink(self._name(name), dir_fd=self.fd)

    def names(self) -> list[str]:
        with os.scandir(self.path if self.fd is None else self.fd) as found:
            return [entry.name for entry in found]

    def sync(self) -> None:
        if self.fd is not None:
            os.fsync(self.fd)

    def _name(self, name: str) -> str:
        return name if self.fd is not None else str(self.path / name)


@contextmanager
def folder_at(path: Path) -> Iterator[Folder]:
    """Opens a folder, also behind links. Raises `OSError`."""
    fd = os.open(path, _FOLDER) if _WALKS else None
    try:
        yield Folder(path, fd)
    finally:
        if fd is not None:
            os.close(fd)


_in_process: WeakValueDictionary[tuple[int, int], threading.Lock] = WeakValueDictionary()
_finding = threading.Lock()
_holders: dict[tuple[int, int], int] = {}
"""The thread that has the lock of a folder, by device and inode."""
_passed: set[tuple[int, int]] = set()
"""Device and inode of files and folders that a halted process has locked."""


@contextmanager
def locked(folder: Folder) -> Iterator[None]:
    """Locks out other threads, and other Daybook processes unless they are halted; editors ignore it.

    The folder is locked because files are replaced; a killed process holds nothing. A thread that has the lock already
    goes on; another thread of this process is waited for however long it takes: it is not halted.
    """
    status = folder.path.stat() if folder.fd is None else os.fstat(folder.fd)
    what = status.st_dev, status.st_ino
    if _holders.get(what) == threading.get_ident():
        yield
        return
    with _finding:
        lock = _in_process.setdefault(what, threading.Lock())
    with lock:
        _holders[what] = threading.get_ident()
        try:
            has_it = folder.fd is not None and _lock(folder.fd, folder.path)
            try:
                yield
            finally:
                if has_it and folder.fd is not None:
                    _unlock(folder.fd)
        finally:
            del _holders[what]


if sys.platform == "win32":

    def _lock(fd: int, path: Path) -> bool:
        return True

    def _unlock(fd: int) -> None:
        pass
else:
    import fcntl

    def _lock(fd: int, path: Path) -> bool:
        """False if the process that has the lock is halted."""
        if not _passed and _is_taken(fd):
            return True
        status = os.fstat(fd)
        what = status.st_dev, status.st_ino
        for _ in range(_LOOKS_AGAIN if what in _passed else _LOOKS):  # no clock: it goes on while this is halted
            if _is_taken(fd):
                _passed.discard(what)
                return True
            time.sleep(_LOOK)
        if what not in _passed:
            _passed.add(what)
            _log.warning("%s is locked by a process that stands still; its writes will come to nothing", path)
        return False

    def _is_taken(fd: int) -> bool:
        """Takes the lock if it is free; always succeeds on a file system without locks."""
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.EWOULDBLOCK, *_NO_LOCKS):
                raise
            return error.errno in _NO_LOCKS
        return True

    def _unlock(fd: int) -> None:
        with suppress(OSError):  # the disk may be gone: the write itself is done
            fcntl.flock(fd, fcntl.LOCK_UN)


def check_unchanged(folder: Folder, name: str, known: os.stat_result | None) -> None:
    """Raises `ChangedMeanwhile`."""
    both = known, folder.stat(name)
    then, now = (status and (status.st_ino, status.st_size, status.st_mtime_ns) for status in both)
    if then != now:
        raise ChangedMeanwhile(name)


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
    """Copies at most `most` + 1 bytes of a regular file; returns the number. Raises `OSError`."""
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


def append(folder: Folder, name: str, data: bytes, size: int | None, *, whole: int | None = None) -> None:
    """Appends and syncs; a failed write is taken back. Call under `locked`. `size`: the file's known size, None to make
    the file; `whole`: bytes that stay, all by default. Raises `ChangedMeanwhile`, `OSError`."""
    new = os.O_CREAT | os.O_EXCL if size is None else 0
    try:
        fd = folder.open(name, os.O_RDWR | os.O_APPEND | new)
    except FileExistsError as error:
        raise ChangedMeanwhile(name) from error
    size = size or 0
    whole = size if whole is None else whole
    try:
        is_locked = _lock(fd, folder.path / name)
        _check_guards()
        if _guards or _passed:  # else nobody takes over from anybody, and there may be many names
            _remove_scratch(folder)
        now = os.fstat(fd)
        _check_named(folder, name, now.st_ino, size)
        if is_locked:
            _write(fd, data, whole, size)
            _check_named(folder, name, now.st_ino, whole + len(data))
        else:
            before = read(folder, name, whole)
            mode = stat.S_IMODE(now.st_mode)
            replace(folder, name, before + data, mode, lambda: check_unchanged(folder, name, now))
    finally:
        os.close(fd)
    if size == 0:
        folder.sync()


def _write(fd: int, data: bytes, whole: int, size: int) -> None:
    if whole < size:
        os.ftruncate(fd, whole)
    written = 0
    try:
        while written < len(data):
            written += os.write(fd, data[written:])
        os.fsync(fd)
    except OSError:
        if os.fstat(fd).st_size == whole + written:
            os.ftruncate(fd, whole)
        raise


def _check_named(folder: Folder, name: str, inode: int, size: int) -> None:
    """Raises `ChangedMeanwhile` if the file has another size, or another file has its name."""
    named = folder.stat(name)
    if named is None or (named.st_ino, named.st_size) != (inode, size):
        raise ChangedMeanwhile(name)


def probe(folder: Folder) -> None:
    """Tests that the folder is writable. Call under `locked`. Raises `OSError`."""
    _remove_scratch(folder)
    scratch, fd = _new_scratch(folder)
    try:
        os.write(fd, b"\n")
        os.fsync(fd)
    finally:
        os.close(fd)
        folder.remove(scratch)


def replace(folder: Folder, name: str, data: bytes, mode: int, check: Check) -> None:
    """Replaces a file atomically. `check` runs just before and may raise. Call under `locked`. Raises
    `ChangedMeanwhile`, `OSError`."""
    for _ in range(_TRIES):
        _check_guards()
        _remove_scratch(folder)
        scratch, fd = _new_scratch(folder)
        try:
            with os.fdopen(fd, "wb") as file:
                file.write(data)
                if hasattr(os, "fchmod"):
                    os.fchmod(fd, mode)
                file.flush()
                os.fsync(fd)
            _check_guards()
            check()
            with suppress(FileNotFoundError):  # another writer has removed it, past this one's lock
                folder.rename(scratch, name)
                break
        except BaseException:
            with suppress(OSError):
                folder.remove(scratch)
            raise
    else:
        raise ChangedMeanwhile(name)
    folder.sync()


def remove(folder: Folder, name: str, check: Check) -> None:
    """Deletes a file. `check` runs just before and may raise. Call under `locked`. Raises `OSError`."""
    _check_guards()
    check()
    folder.remove(name)
    folder.sync()


def _new_scratch(folder: Folder) -> tuple[str, int]:
    name = f"{SCRATCH}-{secrets.token_hex(6)}"
    return name, folder.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL)


def _remove_scratch(folder: Folder) -> None:
    """Deletes temporary files of killed processes, and of a halted process, whose move then fails."""
    for name in folder.names():
        if name.startswith(SCRATCH):
            with suppress(FileNotFoundError):
                folder.remove(name)


def rewrite(path: Path, change: Callable[[bytes | None], str | bytes]) -> None:
    """Replaces a file (0600) by `change` of its bytes (None: no file), and makes its folders (0700). Raises
    `ChangedMeanwhile`, `OSError`; the old content stays."""
    make_folder(path.parent)
    with folder_at(path.parent) as folder, locked(folder):
        known = folder.stat(path.name)
        content = change(None if known is None else path.read_bytes())
        data = content.encode() if isinstance(content, str) else content
        replace(folder, path.name, data, 0o600, lambda: check_unchanged(folder, path.name, known))


def atomic_write(path: Path, content: str | bytes) -> None:
    """As `rewrite`, with content that does not depend on the old content."""
    rewrite(path, lambda _: content)


def create(path: Path, data: bytes) -> None:
    """Makes a file (0600) and its folders (0700). Raises `FileExistsError`, `OSError`."""
    make_folder(path.parent)
    _check_guards()
    with folder_at(path.parent) as folder:
        fd = folder.open(path.name, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL)
        try:
            _write(fd, data, 0, 0)
        finally:
            os.close(fd)
        folder.sync()


def put_in_place(written: Path, path: Path) -> None:
    """Syncs a file, then moves it. Raises `OSError`."""
    with written.open("rb+") as file:
        os.fsync(file.fileno())
    make_folder(path.parent)
    _check_guards()
    written.replace(path)
    sync_folder(path.parent)


def make_folder(folder: Path) -> None:
    """Makes a folder and those above it (0700). Raises `OSError`."""
    missing = [path for path in (folder, *folder.parents) if not path.is_dir()]
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    for made in missing:
        sync_folder(made.parent)


def sync_folder(folder: Path) -> None:
    """Syncs a folder; does nothing on Windows. Raises `OSError`."""
    with folder_at(folder) as opened:
        opened.sync()
