"""One session's transcript: JSON lines, append-only (SPEC 4).

An entry is synced to the file before it is in memory, and memory has nothing else: what is read after a crash is what
requests were made of before. One process writes a transcript at a time (the home's lock); anyone may read it.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agent.fs import make_folder, sync_folder
from agent.session.entries import Entry, Header, RedactionEntry
from agent.session.jsonl import entry_line, header_line, read_entry, read_header
from agent.session.redaction import redacted

_OUR_ID = re.compile(r"e\d{6,12}", re.ASCII)
_log = logging.getLogger(__name__)


class TranscriptNotWritten(OSError):
    """A step could not be written and counts as not done: the message stays where it came from. The text is a sentence
    for the person."""


class TranscriptUnusable(Exception):
    """The file is no transcript: its first line is missing or damaged."""


@dataclass(frozen=True, slots=True)
class Damage:
    """A line that was skipped. `line` is counted from 1. `torn`: the last one, cut while it was written."""

    line: int
    why: str
    torn: bool = False


class Transcript:
    """Made by `create` or `read`."""

    def __init__(
        self, path: Path, header: Header, entries: Sequence[Entry], damage: Sequence[Damage], lines: int, size: int
    ) -> None:
        """`lines`: whole lines in the file, damaged ones too, so that the id of a lost entry is not reused."""
        self.path = path
        self.header = header
        self.damage = tuple(damage)
        self._written = list(entries)
        self._entries = redacted(entries)
        self._next = max([lines, *(int(entry.id[1:]) + 1 for entry in entries if _OUR_ID.fullmatch(entry.id))])
        self._size = size
        self._torn = any(found.torn for found in damage)
        self._writing = asyncio.Lock()

    @property
    def entries(self) -> Sequence[Entry]:
        """The entries, redacted."""
        return self._entries

    @property
    def size(self) -> int:
        """Bytes of whole lines. A file of another size was changed by somebody else, or has a torn last line."""
        return self._size

    def is_as_on_disk(self) -> bool:
        """True where the file has the expected size, also while it is being written. Blocks. Raises `OSError`."""
        return self._writing.locked() or self.path.stat().st_size == self._size

    def new_id(self) -> str:
        """A new id for an entry of this transcript."""
        self._next += 1
        return f"e{self._next - 1:06d}"

    @classmethod
    def create(cls, path: Path, header: Header) -> Transcript:
        """Starts a transcript; an existing one is never overwritten. Blocks. Raises `TranscriptNotWritten`."""
        line = header_line(header)
        try:
            make_folder(path.parent)
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            try:
                _write(handle, line)
            finally:
                os.close(handle)
            sync_folder(path.parent)
        except OSError as error:
            raise TranscriptNotWritten(_sentence(error)) from error
        return cls(path, header, (), (), lines=1, size=len(line))

    @classmethod
    def read(cls, path: Path) -> Transcript:
        """Reads a transcript without changing it. Blocks. Raises `OSError`, and `TranscriptUnusable` for a damaged
        header; other damage costs its lines only, and is in `damage` and the log."""
        data = path.read_bytes()
        *lines, rest = data.split(b"\n")
        if not lines:
            raise TranscriptUnusable(f"{path.name} has no whole line")
        try:
            header = read_header(lines[0])
        except ValueError as error:
            raise TranscriptUnusable(f"the first line of {path.name} is damaged: {error}") from error
        entries, damage = _parse(lines[1:])
        if rest:
            damage.append(Damage(len(lines) + 1, "cut while it was written", torn=True))
        for found in damage:
            _log.warning("%s, line %d skipped: %s", path.name, found.line, found.why)
        return cls(path, header, entries, damage, lines=len(lines), size=len(data) - len(rest))

    async def append(self, *entries: Entry) -> None:
        """Writes entries in one piece, and syncs them. Raises `TranscriptNotWritten` and leaves the file as it was.

        A cancelled caller still waits for the disk, so that file and memory agree.
        """
        data = b"".join(entry_line(entry) for entry in entries)
        async with self._writing:
            writing = asyncio.get_running_loop().run_in_executor(None, self._append, data)
            cancelled: asyncio.CancelledError | None = None
            while not writing.done():
                try:
                    await asyncio.wait([writing])
                except asyncio.CancelledError as asked:
                    cancelled = asked
            try:
                writing.result()
            except OSError as error:
                if cancelled is None:
                    raise TranscriptNotWritten(_sentence(error)) from error
                _log.error("%s: %s", self.path.name, _sentence(error))
            else:
                self._written.extend(entries)
                if any(isinstance(entry, RedactionEntry) for entry in entries):
                    self._entries[:] = redacted(self._written)
                else:
                    self._entries.extend(entries)
                self._size += len(data)
            if cancelled is not None:
                raise cancelled

    def _append(self, data: bytes) -> None:
        handle = os.open(self.path, os.O_WRONLY | os.O_APPEND)
        try:
            if self._torn:
                os.ftruncate(handle, self._size)
                self._torn = False
            try:
                _write(handle, data)
            except OSError:
                self._torn = True
                os.ftruncate(handle, self._size)
                raise
        finally:
            os.close(handle)


def _parse(lines: Sequence[bytes]) -> tuple[list[Entry], list[Damage]]:
    entries: list[Entry] = []
    damage: list[Damage] = []
    for number, line in enumerate(lines, start=2):
        try:
            entries.append(read_entry(line))
        except ValueError as error:
            damage.append(Damage(number, f"damaged ({error})"))
    return entries, damage


def _write(handle: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]
    os.fsync(handle)


def _sentence(error: OSError) -> str:
    reason = (error.strerror or "unknown error").lower()
    return f"The talk could not be written to disk ({reason}). Make room or check the permissions, then send it again."
