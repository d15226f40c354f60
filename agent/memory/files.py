"""The only module that reads and writes workspace files. Blocks.

Owners may edit files at any moment: nothing is cached, and writes read the current content under the lock. Past logs
and HISTORY.md only grow (invariant 7).
"""

from __future__ import annotations

import enum
import hashlib
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from typing import BinaryIO

from agent import fs
from agent.formats.plain_text import repair_surrogates
from agent.languages.sentences import Sentence
from agent.languages.system_errors import system_says
from agent.memory import daily_log
from agent.memory.history import record_around
from agent.memory.patch import addition_of, edit_of
from agent.memory.paths import (
    FOLDERS,
    FileError,
    OutOfReach,
    UnreadableFile,
    folded_name,
    inside,
    name_below,
    open_folder,
    open_parent,
)
from agent.memory.provenance import add_marks, add_marks_to_bytes

__all__ = [
    "MAX_BYTES",
    "EntryKind",
    "FileError",
    "FileText",
    "FolderEntry",
    "NotWritten",
    "OutOfReach",
    "UnreadableFile",
    "append",
    "check_writable",
    "clean",
    "copy_out",
    "decoded",
    "entries",
    "inside",
    "put_back",
    "read_bytes",
    "read_text",
    "remove",
    "rewrite",
    "sha_of",
    "text_of",
]

MAX_BYTES = 4_000_000
"""Larger files are not read."""

_TAIL_BYTES = 65_536  # searched for the last heading before an append
_NEW_FILE = 0o600
_TRIES = 5
"""Attempts at a file that others change at the same time."""
_BUSY = Sentence("{name} is being changed by another program; try again in a moment")


class NotWritten(FileError):
    """The file is unchanged."""


@dataclass(frozen=True, slots=True)
class FileText:
    text: str
    sha: str
    """SHA-256 in hex."""
    size: int


class EntryKind(enum.StrEnum):
    FILE = "file"
    FOLDER = "folder"
    LINK = "link"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class FolderEntry:
    """`size` in bytes; `changed` in UTC."""

    name: str
    kind: EntryKind
    size: int
    changed: datetime


def read_text(path: Path, root: Path) -> FileText | None:
    """A text file at or below `root`. Invalid UTF-8 becomes U+FFFD. Raises `UnreadableFile`, and `OutOfReach` for a
    link out of `root`."""
    name = name_below(path, root)
    with _reading(name):
        try:
            with open_parent(path, root) as (folder, real_name):
                return text_of(_read_limited(folder, real_name, name), name)
        except FileNotFoundError:
            return None


def read_bytes(path: Path, root: Path, limit: int = MAX_BYTES) -> bytes | None:
    """The bytes of a regular file of at most `limit`; otherwise as `read_text`."""
    name = name_below(path, root)
    with _reading(name):
        try:
            with open_parent(path, root) as (folder, real_name):
                return _read_limited(folder, real_name, name, limit)
        except FileNotFoundError:
            return None


def copy_out(path: Path, root: Path, to: BinaryIO, most: int) -> None:
    """Copies a regular file. Raises as `read_text`, also for a missing or empty file or one larger than `most`."""
    name = name_below(path, root)
    with _reading(name), open_parent(path, root) as (folder, real_name):
        size = fs.copy(folder, real_name, to, most)
    if size > most:
        raise UnreadableFile(
            Sentence(
                "{name} is larger than {most} MB, the most that can be sent there", name=name, most=f"{most / 1e6:.0f}"
            )
        )
    if size == 0:
        raise UnreadableFile(Sentence("{name} is empty", name=name))


def entries(path: Path, root: Path) -> list[FolderEntry]:
    """The folder's entries by name, without following links. Raises `UnreadableFile`."""
    name = name_below(path, root)
    with _reading(name):
        try:
            with (
                open_folder(path, root) as folder,
                os.scandir(folder.path if folder.fd is None else folder.fd) as found,
            ):
                seen = [_folder_entry(item) for item in found if not item.name.startswith(fs.SCRATCH)]
                return sorted((entry for entry in seen if entry is not None), key=lambda entry: entry.name)
        except FileNotFoundError:
            return []


def rewrite(path: Path, root: Path, today: date, change: Callable[[bytes | None], bytes]) -> FileText:
    """Atomically replaces a file by `change` of its bytes (None: no file).

    `change` may raise `FileError`, and runs again if the file changed meanwhile. Raises `NotWritten`, also for a daily
    log that would shrink or is of another day.
    """
    takes_marks = path.suffix.lower() in (".md", ".txt")
    now = _write(
        path,
        root,
        lambda before: add_marks_to_bytes(before, change(before)) if takes_marks else change(before),
        lambda real, before, after: (
            daily_log.refusal_to_change(real, today) or daily_log.refusal_to_shorten(real, before, after)
        ),
    )
    assert now is not None
    return now


def put_back(
    path: Path, root: Path, today: date, change: Callable[[bytes | None], bytes | None], *, redacts: bool = False
) -> FileText | None:
    """Rewrites a file as undo, forget and imports may: `change` may delete it (None) and shorten today's log; with
    `redacts` also change past logs and HISTORY.md."""
    return _write(
        path, root, change, lambda real, before, after: None if redacts else daily_log.refusal_to_change(real, today)
    )


def _write(
    path: Path,
    root: Path,
    change: Callable[[bytes | None], bytes | None],
    refusal: Callable[[Path, bytes | None, bytes | None], str | None],
) -> FileText | None:
    name = name_below(path, root)
    with _writing(path, root, name) as (folder, real_name):
        real = folder.path / real_name
        for _ in range(_TRIES):
            known = folder.stat(real_name)
            _raise_refusal(_read_only_refusal(name, known) or _folder_refusal(name, known))
            before = _read_limited(folder, real_name, name) if known is not None else None
            _raise_refusal(refusal(real, before, before))  # whatever the new content
            after = change(before)
            _raise_refusal(refusal(real, before, after))
            if after == before:
                return _file_text(after) if after is not None else None
            check = partial(fs.check_unchanged, folder, real_name, known)
            try:
                check()
                with record_around(edit_of(name, before, after)):
                    if after is None:
                        fs.remove(folder, real_name, check)
                    else:
                        mode = stat.S_IMODE(known.st_mode) if known is not None else _NEW_FILE
                        fs.replace(folder, real_name, after, mode, check)
            except fs.ChangedMeanwhile:
                continue
            return _file_text(after) if after is not None else None
        raise NotWritten(Sentence(_BUSY, name=name))


def remove(path: Path, root: Path, today: date, may_go: Callable[[bytes], None] = lambda data: None) -> FileText | None:
    """Deletes a file, but no daily log; returns its text. `may_go` may raise `FileError`. Raises `NotWritten` with the
    present text if it changes meanwhile."""
    name = name_below(path, root)
    with _writing(path, root, name, make=False) as (folder, real_name):
        real = folder.path / real_name
        known = folder.stat(real_name)
        try:
            data = _read_limited(folder, real_name, name)
        except FileNotFoundError:
            return None
        refusal = daily_log.refusal_to_change(real, today) or daily_log.refusal_to_shorten(real, data, None)
        _raise_refusal(refusal or _read_only_refusal(name, known))
        may_go(data)
        try:
            with record_around(edit_of(name, data, None)):
                fs.remove(folder, real_name, partial(fs.check_unchanged, folder, real_name, known))
        except fs.ChangedMeanwhile as changed_meanwhile:
            now = decoded(_read_limited(folder, real_name, name)) if folder.stat(real_name) is not None else ""
            raise NotWritten(
                Sentence(
                    "{name} was just changed by somebody else, so it is kept. It says now:\n{now}", name=name, now=now
                )
            ) from changed_meanwhile
        return _file_text(data)


def check_writable(path: Path, root: Path) -> None:
    """Makes the file's folder. Raises `NotWritten` if the file could not be written."""
    name = name_below(path, root)
    with _writing(path, root, name) as (folder, real_name):
        known = folder.stat(real_name)
        if known is not None and not stat.S_ISREG(known.st_mode):
            raise NotWritten(Sentence("{name} was not written: it is no regular file", name=name))
        _raise_refusal(_read_only_refusal(name, known) or _folder_refusal(name, known))
        fs.probe(folder)


def add(path: Path, root: Path, data: bytes) -> None:
    """Writes a new file of any kind; an existing file stays. Raises `NotWritten`."""
    name = name_below(path, root)
    with _writing(path, root, name) as (folder, real_name):
        if (known := folder.stat(real_name)) is None:
            _raise_refusal(_folder_refusal(name, known))
            fs.replace(folder, real_name, data, _NEW_FILE, lambda: None)


def clean(text: str) -> str:
    """Text without lone surrogates and NUL."""
    return repair_surrogates(text).replace("\0", "\N{REPLACEMENT CHARACTER}")


def text_of(data: bytes, name: str) -> FileText:
    """Raises `UnreadableFile` for UTF-16 and binary data."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise UnreadableFile(Sentence("{name} is UTF-16 text; save it as UTF-8", name=name))
    if b"\0" in data:
        raise UnreadableFile(Sentence("{name} is a binary file", name=name))
    return _file_text(data)


def _file_text(data: bytes) -> FileText:
    return FileText(decoded(data), sha_of(data), len(data))


def sha_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def decoded(data: bytes) -> str:
    return data.decode("utf-8-sig", "replace")


def append(path: Path, root: Path, addition: Callable[[str], str], beginning: str) -> None:
    """Appends `addition` of the file's end to a text of any size. A new file starts with `beginning`. Raises
    `NotWritten`."""
    name = name_below(path, root)
    with _writing(path, root, name) as (folder, real_name):
        for _ in range(_TRIES):
            known = folder.stat(real_name)
            _raise_refusal(_read_only_refusal(name, known) or _folder_refusal(name, known))
            end = fs.tail(folder, real_name, _TAIL_BYTES) if known is not None else b""
            if b"\0" in end:
                raise UnreadableFile(Sentence("{name} is a binary file, or UTF-16 text; save it as UTF-8", name=name))
            data = _bytes_to_append(
                end.decode("utf-8", "replace"), lambda before: add_marks("", addition(before)), beginning
            )
            if not data:
                return
            size = known.st_size if known is not None else 0
            try:
                with record_around(addition_of(name, size, end, data, existed=known is not None)):
                    fs.check_unchanged(folder, real_name, known)
                    fs.append(folder, real_name, data, None if known is None else size)
            except fs.ChangedMeanwhile:
                continue
            return
        raise NotWritten(Sentence(_BUSY, name=name))


def _bytes_to_append(before: str, addition: Callable[[str], str], beginning: str) -> bytes:
    start = "" if before else beginning
    if before and not before.endswith("\n"):
        start = "\n"
    added = addition(before + start)
    return (start + added).encode() if added else b""


def _folder_entry(item: os.DirEntry[str]) -> FolderEntry | None:
    try:
        status = item.stat(follow_symlinks=False)
    except FileNotFoundError:  # deleted meanwhile
        return None
    kinds = {stat.S_IFREG: EntryKind.FILE, stat.S_IFDIR: EntryKind.FOLDER, stat.S_IFLNK: EntryKind.LINK}
    changed = datetime.fromtimestamp(status.st_mtime, UTC)
    return FolderEntry(item.name, kinds.get(stat.S_IFMT(status.st_mode), EntryKind.OTHER), status.st_size, changed)


def _read_limited(folder: fs.Folder, real_name: str, name: str, limit: int = MAX_BYTES) -> bytes:
    data = fs.read(folder, real_name, limit + 1)
    if len(data) > limit:
        raise UnreadableFile(
            Sentence(
                "{name} is larger than {most} MB; it can only be made smaller by hand",
                name=name,
                most=limit // 1_000_000,
            )
        )
    return data


def _raise_refusal(refusal: str | None) -> None:
    if refusal is not None:
        raise NotWritten(refusal)


def _folder_refusal(name: str, known: os.stat_result | None) -> str | None:
    """Refuses a file with the name of one of Daybook's folders, which could then never be made."""
    if known is not None or "/".join(map(folded_name, name.split("/"))) not in FOLDERS:
        return None
    return Sentence("{name} is the name of a folder here; give the file another name, such as {name}.md", name=name)


def _read_only_refusal(name: str, known: os.stat_result | None) -> str | None:
    """Refuses a read-only file, which a rename would replace all the same."""
    if known is None or not stat.S_ISREG(known.st_mode) or known.st_mode & stat.S_IWUSR:
        return None
    return Sentence("{name} was not written: its owner has made it read-only", name=name)


@contextmanager
def _writing(path: Path, root: Path, name: str, *, make: bool = True) -> Iterator[tuple[fs.Folder, str]]:
    try:
        with open_parent(path, root, make=make) as (folder, real_name), fs.locked(folder):
            yield folder, real_name
    except OSError as error:
        raise NotWritten(Sentence("{name} was not written: {why}", name=name, why=system_says(error))) from error


@contextmanager
def _reading(name: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UnreadableFile(Sentence("{name} cannot be read: {why}", name=name, why=system_says(error))) from error
