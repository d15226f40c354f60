"""Opens an export: a zip, the folder that it was unpacked to, or its conversations.json. Nothing is unpacked."""

from __future__ import annotations

import os
import stat
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Protocol

from agent.languages.sentences import Sentence, joined
from agent.model.base import Json
from gateway.features.imports.json_stream import elements
from gateway.features.imports.trees import FolderTree, it_looks_like, looks_like
from gateway.features.imports.values import LABELS, MOST_BYTES, ImportKind, ImportRefused
from gateway.features.imports.zips import CheckedZip, readable, too_large

_CONVERSATIONS = "conversations"


class Export(Protocol):
    """Files by name, in whatever folder of the export they are."""

    def names(self, stem: str) -> list[str]:
        """Names of the files `stem.json`, or `stem-000.json` and so on."""
        ...

    def open(self, name: str) -> IO[bytes]: ...


def is_part(name: str, stem: str) -> bool:
    """True for `stem.json` and its numbered parts."""
    base = PurePosixPath(name).name
    rest = base.removeprefix(stem).removesuffix(".json")
    return base.startswith(stem) and base.endswith(".json") and (not rest or rest.lstrip("-_").isdecimal())


class _ZipExport:
    def __init__(self, zipped: CheckedZip, label: str) -> None:
        if zipped.links:
            raise ImportRefused(Sentence("{name} holds a link, so it is no export and was not read.", name=label))
        self._zip = zipped

    def names(self, stem: str) -> list[str]:
        return _shallowest([name for name in self._zip.names if is_part(name, stem)])

    def open(self, name: str) -> IO[bytes]:
        return self._zip.open(name)


class _FolderExport:
    def __init__(self, folder: Path, only: str = "") -> None:
        self._folder = folder
        self._only = only

    def names(self, stem: str) -> list[str]:
        if self._only:
            return [self._only] if stem == _CONVERSATIONS else []
        found: list[str] = []
        for folder in (self._folder, *(inner for inner in sorted(self._folder.iterdir()) if _is_folder(inner))):
            names = (file for file in sorted(folder.iterdir()) if is_part(file.name, stem) and not file.is_symlink())
            found += [file.relative_to(self._folder).as_posix() for file in names]
        return _shallowest(found)

    def open(self, name: str) -> IO[bytes]:
        path = self._folder / name
        fd = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            os.close(fd)
            raise ImportRefused(Sentence("{name} is not a regular file.", name=path.name))
        if status.st_size > MOST_BYTES:
            os.close(fd)
            raise ImportRefused(too_large(path.name, status.st_size))
        return os.fdopen(fd, "rb")


@contextmanager
def open_export(path: Path, kind: ImportKind) -> Iterator[Export]:
    """Raises `ImportRefused`, also for errors while it is read."""
    with readable(path, Sentence("Download the export again.")), ExitStack() as stack:
        yield _opened(path, kind, stack)


def read_elements(export: Export, stem: str) -> Iterator[Json]:
    """The elements of all files of that name. Raises `ImportRefused`."""
    for name in export.names(stem):
        with export.open(name) as file:
            yield from elements(file, PurePosixPath(name).name, MOST_BYTES)


def _opened(path: Path, kind: ImportKind, stack: ExitStack) -> Export:
    if path.is_dir():
        export: Export = _FolderExport(path)
    elif path.exists() and not path.is_file():
        raise ImportRefused(Sentence("{name} is not a regular file.", name=path.name))
    elif zipfile.is_zipfile(path):
        export = _ZipExport(CheckedZip(stack.enter_context(zipfile.ZipFile(path)), path.name), path.name)
    elif path.suffix.lower() == ".zip":
        if path.stat().st_size == 0:
            raise ImportRefused(Sentence("{name} is empty.", name=path.name))
        raise zipfile.BadZipFile
    elif path.suffix.lower() == ".json":
        export = _FolderExport(path.parent, path.name)
    else:
        raise ImportRefused(Sentence("{name} is neither a zip nor a folder nor conversations.json.", name=path.name))
    if not export.names(_CONVERSATIONS) and not export.names("memories") and not export.names("projects"):
        names = {"name": path.name, "kind": LABELS[kind]}
        refused = Sentence("{name} holds no conversations.json, so it is no export of {kind}.", **names)
        raise ImportRefused(joined([refused, _hint(path)], " "))
    return export


def _hint(path: Path) -> str:
    other = looks_like(FolderTree(path)) if path.is_dir() else None
    return it_looks_like(other, path) if other is not None else ""


def _shallowest(names: list[str]) -> list[str]:
    if not names:
        return []
    least = min(name.count("/") for name in names)
    return sorted(name for name in names if name.count("/") == least)


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()
