"""Files on their way out: copied by content before they are written down, so that a later change of the original does
not matter. The copies live in `state/outgoing`, out of reach of every conversation."""

from __future__ import annotations

import hashlib
import logging
import os
import secrets
import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import BinaryIO

from agent.media.sniff import HEAD, Kind, sniffed
from agent.memory.files import copy_out, inside
from agent.memory.paths import FileError, make_private, opened
from agent.memory.scope import Scope
from channels.message import OutboundFile

log = logging.getLogger(__name__)

_KEPT_S = 30 * 86_400
"""As long as the outbox remembers what was sent."""


class Outgoing:
    """`folder` is made when it is needed. All methods block."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, scope: Scope, path: str, most: int) -> OutboundFile:
        """A copy of the file that `path`, relative to the scope's folder, names now. Raises `FileError` with a sentence
        for whoever asked: it leads out, is missing, empty, or has more than `most` bytes."""
        source = inside(scope, path)
        return self._kept(source.name, lambda file: copy_out(source, scope.folder, file, most))

    def keep_text(self, name: str, text: str) -> OutboundFile:
        """A file of our own making. Raises `FileError` where the disk refuses it."""

        def write(file: BinaryIO) -> None:
            file.write(text.encode("utf-8", "replace"))

        return self._kept(name, write)

    def _kept(self, name: str, write: Callable[[BinaryIO], None]) -> OutboundFile:
        make_private(self._folder)
        scratch = self._folder / f"{secrets.token_hex(8)}.new"
        try:
            with os.fdopen(os.open(scratch, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "w+b") as file:
                write(file)
                file.flush()
                os.fsync(file.fileno())
                file.seek(0)
                digest = hashlib.file_digest(file, "sha256").hexdigest()
                file.seek(0)
                kind, _ = sniffed(file.read(HEAD))
            kept = scratch.replace(self._folder / digest)
            with opened(self._folder, self._folder) as folder:
                folder.sync()
        except OSError as error:
            raise FileError(f"{name} could not be copied: {error.strerror or 'the disk refuses'}") from error
        finally:
            scratch.unlink(missing_ok=True)
        return OutboundFile(kept, name, is_image=kind is Kind.PICTURE)

    def prune(self, wanted: Collection[Path]) -> None:
        """Remove old copies, but those that are `wanted`. What the disk refuses stays for the next time."""
        old = time.time() - _KEPT_S
        try:
            for file in self._folder.iterdir() if self._folder.is_dir() else ():
                if file not in wanted and file.stat().st_mtime < old:
                    file.unlink(missing_ok=True)
        except OSError as error:
            log.warning("old files in %s stay: %s", self._folder, error)
