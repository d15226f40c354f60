"""Opens an export: a zip, the folder that it was unpacked to, or its conversations.json. Nothing is unpacked."""

from __future__ import annotations

import os
import stat
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Protocol

from agent.model.base import Json
from gateway.importing.json_stream import elements
from gateway.importing.values import LABELS, ImportKind, ImportRefused

MOST_BYTES = 1_000_000_000
"""Of one file of an export, unpacked."""
_MOST_NAMES = 200_000
_BOMB = 200
"""Times that a file of an export may be larger than packed; text is about ten times."""
_SMALL = 10_000_000
_CONVERSATIONS = "conversations"
_UNIX_LINK = stat.S_IFLNK << 16


class Export(Protocol):
    """Files by name, in whatever folder of the export they are."""

    def names(self, stem: str) -> list[str]:
        """Names of the files `stem.json`, or `stem-000.json` and so on."""
        ...

    def open(self, name: str) -> BinaryIO: ...


def is_part(name: str, stem: str) -> bool:
    """True for `stem.json` and its numbered parts."""
    base = PurePosixPath(name).name
    rest = base.removeprefix(stem).removesuffix(".json")
    return base.startswith(stem) and base.endswith(".json") and (not rest or rest.lstrip("-_").isdecimal())


class _ZipExport:
    def __init__(self, archive: zipfile.ZipFile, label: str) -> None:
        self._archive = archive
        infos = archive.infolist()
        if len(infos) > _MOST_NAMES:
            raise ImportRefused(f"{label} holds more than {_MOST_NAMES:,} files, so it was not read.")
        for info in infos:
            parts = PurePosixPath(info.filename.replace("\\", "/")).parts
            if ".." in parts or info.filename.startswith(("/", "\\")) or ":" in "".join(parts[:1]):
                raise ImportRefused(f"{label} holds a name that leads out of it, so it is no export and was not read.")
            if info.external_attr & (0xF000 << 16) == _UNIX_LINK:
                raise ImportRefused(f"{label} holds a link, so it is no export and was not read.")
        self._infos = {info.filename: info for info in infos if not info.is_dir()}
        self._label = label

    def names(self, stem: str) -> list[str]:
        return _shallowest([name for name in self._infos if is_part(name, stem)])

    def open(self, name: str) -> BinaryIO:
        info = self._infos[name]
        base = PurePosixPath(name).name
        if info.flag_bits & 1:
            raise ImportRefused(f"{self._label} is protected by a password. Unpack it first, and import the folder.")
        if info.file_size > MOST_BYTES:
            raise ImportRefused(_too_large(base, info.file_size))
        if info.file_size > _SMALL and info.file_size > _BOMB * max(1, info.compress_size):
            raise ImportRefused(f"{base} in {self._label} unpacks to far more than any text would, so it was not read.")
        return self._archive.open(info)  # type: ignore[return-value]


class _FolderExport:
    def __init__(self, folder: Path, only: str = "") -> None:
        self._folder = folder
        self._only = only

    def names(self, stem: str) -> list[str]:
        if self._only:
            return [self._only] if stem == _CONVERSATIONS else []
        found: list[str] = []
        for folder in (self._folder, *(one for one in sorted(self._folder.iterdir()) if _is_folder(one))):
            names = (one for one in sorted(folder.iterdir()) if is_part(one.name, stem) and not one.is_symlink())
            found += [one.relative_to(self._folder).as_posix() for one in names]
        return _shallowest(found)

    def open(self, name: str) -> BinaryIO:
        path = self._folder / name
        fd = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            os.close(fd)
            raise ImportRefused(f"{path.name} is not a regular file.")
        if status.st_size > MOST_BYTES:
            os.close(fd)
            raise ImportRefused(_too_large(path.name, status.st_size))
        return os.fdopen(fd, "rb")


@contextmanager
def open_export(path: Path, kind: ImportKind) -> Iterator[Export]:
    """Raises `ImportRefused`, also for errors while it is read."""
    try:
        with ExitStack() as stack:
            yield _opened(path, kind, stack)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        message = f"{path.name} is damaged, or was not downloaded completely. Download the export again."
        raise ImportRefused(message) from error
    except OSError as error:
        reason = (error.strerror or "the system does not say why").lower()
        raise ImportRefused(f"{path} cannot be read: {reason}.") from error


def read_elements(export: Export, stem: str) -> Iterator[Json]:
    """The elements of all files of that name. Raises `ImportRefused`."""
    for name in export.names(stem):
        with export.open(name) as file:
            yield from elements(file, PurePosixPath(name).name, MOST_BYTES)


def _opened(path: Path, kind: ImportKind, stack: ExitStack) -> Export:
    if path.is_dir():
        export: Export = _FolderExport(path)
    elif zipfile.is_zipfile(path):
        export = _ZipExport(stack.enter_context(zipfile.ZipFile(path)), path.name)
    elif path.suffix.lower() == ".zip":
        if path.stat().st_size == 0:
            raise ImportRefused(f"{path.name} is empty.")
        raise zipfile.BadZipFile
    elif path.suffix.lower() == ".json":
        export = _FolderExport(path.parent, path.name)
    else:
        raise ImportRefused(f"{path.name} is neither a zip nor a folder nor conversations.json.")
    if not export.names(_CONVERSATIONS) and not export.names("memories") and not export.names("projects"):
        raise ImportRefused(
            f"{path.name} holds no conversations.json, so it is no export of {LABELS[kind]}.{_hint(path)}"
        )
    return export


def _hint(path: Path) -> str:
    other = looks_like(path) if path.is_dir() else None
    return f" {it_looks_like(other, path)}" if other is not None else ""


def looks_like(folder: Path) -> ImportKind | None:
    """The kind of a folder that is no export."""
    for root in (folder, folder / "workspace"):
        if (root / "memory" / "MEMORY.md").is_file() or (root / "memory" / "HISTORY.md").is_file():
            return ImportKind.NANOBOT
        if any((root / name).is_file() for name in ("SOUL.md", "IDENTITY.md", "AGENTS.md", "MEMORY.md")):
            return ImportKind.OPENCLAW
    if (folder / "conversations.json").is_file():
        return ImportKind.CHATGPT if (folder / "chat.html").is_file() else ImportKind.CLAUDE
    if any(one.suffix.lower() == ".md" or one.name in (".obsidian", "logseq") for one in folder.iterdir()):
        return ImportKind.TEXT
    return None


def it_looks_like(kind: ImportKind, path: Path) -> str:
    """Says which command imports it."""
    what = {
        ImportKind.CLAUDE: "an export of Claude",
        ImportKind.CHATGPT: "an export of ChatGPT",
        ImportKind.TEXT: "a folder of Markdown",
    }.get(kind, f"a workspace of {LABELS[kind]}")
    return f"It looks like {what}: `daybook import {kind} {path}`."


def _shallowest(names: list[str]) -> list[str]:
    if not names:
        return []
    least = min(name.count("/") for name in names)
    return sorted(name for name in names if name.count("/") == least)


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _too_large(name: str, size: int) -> str:
    return f"{name} has {size / 1_000_000:,.0f} MB, more than the {MOST_BYTES // 1_000_000:,} MB that are read at most."
