"""Files of messages, kept by their content: `media/<aa>/<sha256>.<ending>` beside the sessions.

A file is whole or absent; the same content is kept once. Paths are relative to the folder with `media` in it, so that a
home can be moved. Blocks.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from agent.fs import put_in_place

FOLDER = "media"
_PATH = re.compile(r"media/([0-9a-f]{2})/\1[0-9a-f]{62}\.[a-z0-9]{1,5}")
_MENTION = re.compile(rb"media/[0-9a-f]{2}/[0-9a-f]{64}\.[a-z0-9]{1,5}")
_SCRATCH = "incoming"
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Store:
    root: Path
    """The folder that has `media` in it."""

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        """A new, private file to write into, gone after the block."""
        folder = self.root / FOLDER / _SCRATCH
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = folder / secrets.token_hex(8)
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        try:
            yield path
        finally:
            with contextlib.suppress(OSError):
                path.unlink()

    def keep(self, scratch: Path, ending: str) -> str:
        """Moves a file of `scratch` into the store; returns its path. Raises `OSError`."""
        digest = hashlib.sha256()
        with scratch.open("rb") as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
        name = digest.hexdigest()
        kept = f"{FOLDER}/{name[:2]}/{name}.{ending}"
        scratch.chmod(0o600)
        put_in_place(scratch, self.root / kept)
        return kept

    def place(self, path: str) -> Path:
        """The file of a kept path. Raises `ValueError` for other paths."""
        if not _PATH.fullmatch(path):
            raise ValueError(f"{path!r} is not the path of a kept file")
        return self.root / path

    def clean(self, sessions: Path, before: float) -> int:
        """Deletes files last written before that moment (seconds since 1970) that no transcript names, where it can;
        returns their number."""
        kept = (path for path in (self.root / FOLDER).glob("*/*") if path.is_file())
        old = [path for path in kept if _is_older(path, before)]
        if not old:
            return 0
        named = set(_named(sessions))
        gone = 0
        for path in old:
            if path.relative_to(self.root).as_posix() not in named and _is_older(path, before):  # it may be new by now
                with contextlib.suppress(OSError):
                    path.unlink()
                    gone += 1
        return gone


def _is_older(path: Path, before: float) -> bool:
    try:
        return path.stat().st_mtime < before
    except OSError:
        return False


def _named(sessions: Path) -> Iterator[str]:
    """Paths that transcripts name. Raises `OSError` for an unreadable one: then nothing may be deleted."""
    for transcript in sessions.rglob("*.jsonl"):
        with transcript.open("rb") as file:
            for line in file:
                yield from (match.decode() for match in _MENTION.findall(line))
