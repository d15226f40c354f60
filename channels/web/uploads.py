"""Uploaded files, stored under random handles before a message names them."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from channels import media_types

_HANDLE = re.compile(r"[0-9a-f]{32}")
_SCRATCH = ".new"
_UNUSED_SECONDS = 86_400
"""Lifetime of a file that no message names."""


@dataclass(frozen=True, slots=True)
class IncomingUpload:
    file: BinaryIO
    scratch: Path
    destination: Path

    def keep(self) -> str:
        """Keeps the file and returns its handle."""
        self.file.flush()
        os.fsync(self.file.fileno())
        self.scratch.rename(self.destination)
        return self.destination.name


class Uploads:
    """`folder` is created when needed. All methods block, and raise `OSError` if the disk refuses."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @contextlib.contextmanager
    def incoming(self) -> Iterator[IncomingUpload]:
        """A new file to write; deleted at the end unless kept."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = secrets.token_hex(16)
        scratch = self._folder / f"{handle}{_SCRATCH}"
        try:
            with os.fdopen(os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                yield IncomingUpload(file, scratch, self._folder / handle)
        finally:
            scratch.unlink(missing_ok=True)

    def find(self, handle: str) -> Path | None:
        if not _HANDLE.fullmatch(handle):
            return None
        path = self._folder / handle
        return path if path.is_file() else None

    def mark_used(self, handle: str) -> Path | None:
        """Like `find`, but marks the file as new, so that a running `prune` leaves it."""
        path = self.find(handle)
        if path is not None:
            os.utime(path)
        return path

    def copy(self, handle: str, to: Path, most: int) -> bool:
        """False if the file has more than `most` bytes."""
        source = self.find(handle)
        if source is None:
            raise FileNotFoundError(handle)
        if source.stat().st_size > most:
            return False
        shutil.copyfile(source, to)
        return True

    def prune(self, named: Collection[str]) -> None:
        """Deletes files named by no message and older than a day."""
        old = time.time() - _UNUSED_SECONDS
        for file in self._folder.iterdir() if self._folder.is_dir() else ():
            if file.name not in named and file.stat().st_mtime < old:
                file.unlink(missing_ok=True)


def picture_type(file: Path) -> str:
    """One of `PICTURE_TYPES` by the file's bytes, else empty. Blocks; raises `OSError`."""
    with file.open("rb") as stream:
        return media_types.picture_type(stream.read(media_types.HEAD))


def shown_type(file: Path) -> str:
    """One of `PICTURE_TYPES` or `SOUND_TYPES` by the file's bytes, else empty. Blocks; raises `OSError`."""
    with file.open("rb") as stream:
        head = stream.read(media_types.HEAD)
    return media_types.picture_type(head) or media_types.sound_type(head)
