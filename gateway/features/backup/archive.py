"""The archive of a home: a compressed tar with a manifest at its end. All functions block.

The database is copied first and the files after it, so that a restored home is as one that was killed in between: what
a transcript has beyond the database is found again, and nothing is done twice.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import io
import os
import shutil
import sqlite3
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, BinaryIO, cast

from pydantic import TypeAdapter, ValidationError

from agent.clock import utc_stamp
from agent.formats.sqlite import connect_read_only
from agent.fs import sync_folder
from agent.languages.sentences import Sentence
from gateway.features.backup.errors import BackupError, backup_errors, damaged, no_backup, unreadable
from gateway.home import Home, version
from gateway.store.connection import postgres_module
from gateway.store.schema import STEPS

MAGIC = b"DAYBOOK-BACKUP-1"
"""An encrypted archive begins so."""
_CIPHER = "gateway.features.backup.cipher"
"""Loaded when it is needed: 4 MB of memory that a gateway need not have."""
_MANIFEST = "manifest.json"
_FORMAT = 1
_RESTORING = ".daybook-restore-"
_COPYING = "daybook-backup-"
_LEFT_S = 3_600.0
"""No restoring takes so long."""
_COPIED = 1 << 20
_LEFT_OUT = (
    "state/gateway.lock",
    "state/gateway.pid",
    "state/gateway.sock",
    "state/active-work/",
    "state/programs/",
    "state/index/",
    "state/memory/",
    "state/memory.db",
    "state/daybook.before-schema",
    "state/daybook.db.moved",
    "state/database-id",
)
"""Of a running process, or made again from the rest."""
_MESSAGES = "state/daybook.db"
_OF_DATABASES = (".db", ".db-wal", ".db-shm", ".lock")
_MOST_MANIFEST = 256 << 20


@dataclass(frozen=True, slots=True)
class ArchivedFile:
    path: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    format: int
    daybook: str
    schema: int
    made_at: str
    """UTC stamp."""
    files: tuple[ArchivedFile, ...]
    skipped: tuple[str, ...] = ()
    """Could not be read, or are links."""

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)


_MANIFEST_OF = TypeAdapter(Manifest)
CopyDatabase = Callable[[Path], None]
"""Writes the messages, wherever they are, to a new SQLite file."""


def write(home: Home, target: Path, passphrase: str | None = None, copy: CopyDatabase | None = None) -> Manifest:
    """Makes the archive of a home, running or not, and reads it back; `target` appears when it is complete. `copy`:
    for messages that are not in SQLite. Raises `BackupError`."""
    if target.exists():
        raise BackupError(Sentence("{file} exists already. Give a new name.", file=target))
    if target.resolve().is_relative_to(home.path.resolve()):
        raise BackupError(
            Sentence("{file} is in the home itself. Give a place outside of {home}.", file=target, home=home.path)
        )
    cannot = Sentence("Can't write {file}", file=target)
    with backup_errors(cannot):
        for left in target.parent.glob(f".{target.name}.*.new"):  # by one that was killed
            left.unlink()
    new = target.with_name(f".{target.name}.{os.getpid()}.new")
    try:
        with backup_errors(cannot):
            with _private(new) as file, tempfile.TemporaryDirectory(prefix=_COPYING) as scratch:
                manifest = _write(home, file, passphrase, copy or _copy_of(home), Path(scratch))
                file.flush()
                os.fsync(file.fileno())
            check(new, passphrase)
            new.rename(target)
            sync_folder(target.parent)
        return manifest
    finally:
        new.unlink(missing_ok=True)


def copy_of(url: str | None) -> CopyDatabase | None:
    """Copies messages out of PostgreSQL; None without a URL."""
    if url is None:
        return None
    copied: CopyDatabase = partial(postgres_module("moving").copy_out, url)
    return copied


def check(source: Path, passphrase: str | None = None) -> Manifest:
    """Reads an archive to its end. Raises `BackupError`."""
    return _read(source, passphrase, None)


def is_encrypted(source: Path) -> bool:
    """Raises `BackupError`."""
    with backup_errors(unreadable(source)), source.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def restore(
    source: Path, home: Home, passphrase: str | None = None, *, force: bool = False
) -> tuple[Manifest, Path | None]:
    """Unpacks an archive beside `home` and puts it in its place when every file was checked. With `force` a home that
    is there is set aside; returns where. Raises `BackupError`, `HomeBusy`."""
    target = home.path
    with backup_errors(Sentence("Can't restore to {folder}", folder=target)):
        is_there = target.exists() and any(target.iterdir())
        if is_there and not force:
            raise BackupError(
                Sentence(
                    "There is a home at {home} already. Give another with --home, or --force to set it aside.",
                    home=target,
                )
            )
        target.parent.mkdir(parents=True, exist_ok=True)
        with home.hold() if is_there else contextlib.nullcontext():
            return _restore(source, target, passphrase)


def _restore(source: Path, target: Path, passphrase: str | None) -> tuple[Manifest, Path | None]:
    for left in target.parent.glob(f"{_RESTORING}*"):  # by one that was killed
        if time.time() - left.stat().st_mtime > _LEFT_S:
            shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=_RESTORING, dir=target.parent) as beside:
        new = Path(beside) / "home"
        new.mkdir(mode=0o700)
        manifest = _read(source, passphrase, new)
        aside = None
        if target.exists() and not any(target.iterdir()):
            target.rmdir()
        if target.exists():
            aside = target.with_name(f"{target.name}.before-restore-{datetime.now(UTC):%Y%m%d-%H%M%S}")
            target.rename(aside)
        new.rename(target)
        sync_folder(target.parent)
        return manifest, aside


def _write(home: Home, file: BinaryIO, passphrase: str | None, copy: CopyDatabase, scratch: Path) -> Manifest:
    out = importlib.import_module(_CIPHER).EncryptingWriter(file, passphrase) if passphrase is not None else None
    files: list[ArchivedFile] = []
    skipped: list[str] = []
    with tarfile.open(fileobj=cast("IO[bytes]", out or file), mode="w|gz", format=tarfile.PAX_FORMAT) as tar:
        for number, (name, copied) in enumerate(_databases(home, copy).items()):
            database = scratch / str(number)
            try:
                copied(database)
            except sqlite3.Error as error:
                if name == _MESSAGES:
                    raise BackupError(
                        Sentence(
                            "{name} can't be read ({why}). `daybook doctor` says what to do.", name=name, why=error
                        )
                    ) from error
                skipped.append(name)
                continue
            if database.exists():
                files.append(_add(tar, database, name))
        for path in _files(home.path):
            name = path.relative_to(home.path).as_posix()
            if name.startswith(_LEFT_OUT) or (name.startswith("state/") and name.endswith(_OF_DATABASES)):
                continue
            try:
                if path.is_symlink():
                    raise OSError("a link")
                files.append(_add(tar, path, name))
            except FileNotFoundError:
                continue  # deleted meanwhile
            except OSError:
                skipped.append(_printable(name))
        manifest = Manifest(_FORMAT, version(), len(STEPS), utc_stamp(datetime.now(UTC)), tuple(files), tuple(skipped))
        _add_bytes(tar, _MANIFEST, _MANIFEST_OF.dump_json(manifest))
    if out is not None:
        out.finish()
    return manifest


def _databases(home: Home, copy: CopyDatabase) -> dict[str, CopyDatabase]:
    """What copies each database of the state, the messages first."""
    found = {_MESSAGES: copy}
    for path in sorted(home.state.rglob("*.db")):
        name = path.relative_to(home.path).as_posix()
        if not name.startswith(_LEFT_OUT):
            found.setdefault(name, _copier(path))
    return found


def _printable(name: str) -> str:
    """A name as text, also one that is no UTF-8."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() or path.is_file():
            yield path


def _copy_of(home: Home) -> CopyDatabase:
    return _copier(home.database)


def _copier(path: Path) -> CopyDatabase:
    def copy(target: Path) -> None:
        if not path.exists():
            return
        with connect_read_only(path) as source, closing(sqlite3.connect(target)) as made:
            source.backup(made)

    return copy


def _add(tar: tarfile.TarFile, path: Path, name: str) -> ArchivedFile:
    """Adds as much of a file as it has now: one that grows is cut where it was. Raises `OSError`."""
    with path.open("rb") as file:
        info = tarfile.TarInfo(f"home/{name}")
        info.size = os.fstat(file.fileno()).st_size
        info.mode = 0o700 if os.fstat(file.fileno()).st_mode & 0o100 else 0o600
        info.mtime = int(os.fstat(file.fileno()).st_mtime)
        reader = _Hashing(file, info.size)
        tar.addfile(info, cast("IO[bytes]", reader))
    return ArchivedFile(_printable(name), info.size, reader.digest.hexdigest())


def _add_bytes(tar: tarfile.TarFile, name: str, data: bytes) -> None:
    info = tarfile.TarInfo(name)
    info.size = len(data)
    tar.addfile(info, io.BytesIO(data))


class _Hashing:
    """Exactly `size` bytes of a file, with their hash; a file that became shorter ends in zeros."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file = file
        self._left = size
        self.digest = hashlib.sha256()

    def read(self, size: int) -> bytes:
        data = self._file.read(min(size, self._left)).ljust(min(size, self._left), b"\0")
        self._left -= len(data)
        self.digest.update(data)
        return data


def _read(source: Path, passphrase: str | None, folder: Path | None) -> Manifest:
    """Reads an archive, and unpacks it to an empty `folder`. Raises `BackupError`."""
    found: dict[str, ArchivedFile] = {}
    manifest: Manifest | None = None
    with backup_errors(unreadable(source)), source.open("rb") as file, _opened(file, source, passphrase) as tar:
        for member in tar:
            data = tar.extractfile(member)
            if data is None or not member.isreg() or manifest is not None:
                raise no_backup(source, member.name)
            if member.name == _MANIFEST:
                manifest = _manifest(data.read(_MOST_MANIFEST), source)
                continue
            name = _safe(member.name, source)
            if name in found:
                raise no_backup(source, name)
            found[name] = _unpack(data, name, folder, member)
    if manifest is None:
        raise BackupError(Sentence("{file} is not complete. Take another backup.", file=source))
    if manifest.files != tuple(found.values()):
        raise damaged(source)
    return manifest


def _manifest(data: bytes, source: Path) -> Manifest:
    try:
        manifest = _MANIFEST_OF.validate_json(data)
    except ValidationError as error:
        raise damaged(source) from error
    if manifest.format > _FORMAT or manifest.schema > len(STEPS):
        versions = {"newer": manifest.daybook, "own": version()}
        raise BackupError(
            Sentence("{file} is of a newer Daybook ({newer}). Update this one ({own}) first.", file=source, **versions)
        )
    return manifest


def _safe(name: str, source: Path) -> str:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or path.parts[:1] != ("home",) or "\\" in name or len(path.parts) < 2:
        raise no_backup(source, name)
    return PurePosixPath(*path.parts[1:]).as_posix()


def _unpack(data: IO[bytes], name: str, folder: Path | None, member: tarfile.TarInfo) -> ArchivedFile:
    digest = hashlib.sha256()
    with contextlib.ExitStack() as stack:
        out: BinaryIO | None = None
        if folder is not None:
            target = folder / name
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if member.size > shutil.disk_usage(folder).free:
                raise BackupError(
                    Sentence("There is not enough space for {name}. Nothing was restored.", name=_printable(name))
                )
            out = stack.enter_context(_private(target))
        while chunk := data.read(_COPIED):
            digest.update(chunk)
            if out is not None:
                out.write(chunk)
        if out is not None:
            out.flush()
            os.fsync(out.fileno())
            if member.mode & 0o100:
                os.fchmod(out.fileno(), 0o700)
            os.utime(out.fileno(), (member.mtime, member.mtime))
    return ArchivedFile(_printable(name), member.size, digest.hexdigest())


@contextmanager
def _opened(file: BinaryIO, source: Path, passphrase: str | None) -> Iterator[tarfile.TarFile]:
    if file.read(len(MAGIC)) == MAGIC:
        if passphrase is None:
            raise BackupError(Sentence("{file} is encrypted. Its passphrase is needed.", file=source))
        reader = cast("IO[bytes]", importlib.import_module(_CIPHER).DecryptingReader(file, passphrase))
    else:
        file.seek(0)
        reader = file
    with tarfile.open(fileobj=reader, mode="r|gz") as tar:
        yield tar


@contextmanager
def _private(path: Path) -> Iterator[BinaryIO]:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        yield file
