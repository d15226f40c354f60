"""The files that keep long outputs of programs, below a scope's folder."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from agent import fs
from agent.memory.files import MAX_BYTES
from agent.memory.paths import FileError, open_parent

log = logging.getLogger(__name__)

FOLDER = "programs"


@dataclass(frozen=True, slots=True)
class RedactedOutput:
    """A file's bytes before and after something in it was forgotten."""

    name: str
    before: bytes
    after: bytes


def keep(folder: Path, seq: int, output: bytes) -> str:
    """Writes an output below `folder`; returns its name, empty where that is not possible."""
    name = f"{FOLDER}/{seq}.log"
    try:
        _write(folder, name, output)
    except (OSError, FileError) as error:
        log.warning("a long output could not be kept: %s", error)
        return ""
    return name


def redact(folder: Path, strike: Callable[[str], str]) -> tuple[RedactedOutput, ...]:
    """Rewrites the files that `strike` changes; returns the changes. Raises `OSError`, `FileError`."""
    found = []
    for file in sorted((folder / FOLDER).glob("*.log")):
        name = f"{FOLDER}/{file.name}"
        before = _read(folder, name)
        after = strike(before.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
        if after != before:
            _write(folder, name, after)
            found.append(RedactedOutput(name, before, after))
    return tuple(found)


def bring_back(folder: Path, changes: Iterable[RedactedOutput]) -> None:
    """Undoes the changes of the files that nobody has changed since. Raises `OSError`, `FileError`."""
    for change in changes:
        with suppress(FileNotFoundError):
            if _read(folder, change.name) == change.after:
                _write(folder, change.name, change.before)


def _read(folder: Path, name: str) -> bytes:
    with open_parent(folder / name, folder) as (parent, real):
        return fs.read(parent, real, MAX_BYTES + 1)


def _write(folder: Path, name: str, data: bytes) -> None:
    with open_parent(folder / name, folder, make=True) as (parent, real), fs.locked(parent):
        fs.replace(parent, real, data, 0o600, lambda: None)
