"""One session's transcript: JSON lines, append-only.

An entry is synced before it is in memory, so that requests are made of what a crash leaves. One process writes it at a
time; anyone may read it.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agent import fs
from agent.languages.sentences import Sentence
from agent.languages.system_errors import system_says
from agent.session.entries import Entry, Header, RedactionEntry, is_branch, newest_version
from agent.session.jsonl import entry_line, header_line, read_entry, read_header
from agent.session.redaction import redacted

_OUR_ID = re.compile(r"e\d{6,12}", re.ASCII)
_log = logging.getLogger(__name__)


class TranscriptNotWritten(OSError):
    """The step counts as not done. The text is a sentence for the person."""


class TranscriptUnusable(Exception):
    """The first line is missing or damaged."""


@dataclass(frozen=True, slots=True)
class Damage:
    """A skipped line, counted from 1."""

    line: int
    why: str
    torn: bool = False
    """The last line, cut while it was written."""


class Transcript:
    def __init__(
        self,
        path: Path,
        header: Header,
        entries: Sequence[Entry],
        damage: Sequence[Damage],
        lines: int,
        size: int,
        torn: int = 0,
    ) -> None:
        """`lines`: damaged ones too, so that no id is reused. `torn`: bytes behind the last whole line."""
        self.path = path
        self.header = header
        self.damage = tuple(damage)
        self._written = list(entries)
        self._all = redacted(entries)
        self._entries = newest_version(self._all)
        self._next = max([lines, *(int(entry.id[1:]) + 1 for entry in entries if _OUR_ID.fullmatch(entry.id))])
        self._size = size
        self._torn = torn
        self._writing = asyncio.Lock()

    @property
    def entries(self) -> Sequence[Entry]:
        """The entries of the newest version, redacted."""
        return self._entries

    @property
    def all_entries(self) -> Sequence[Entry]:
        """The entries of all versions, redacted."""
        return self._all

    @property
    def size(self) -> int:
        """Bytes of whole lines. In a file of another size somebody else wrote, or the last line is torn."""
        return self._size

    def is_as_on_disk(self) -> bool:
        """True for the expected size, also while writing. Blocks. Raises `OSError`."""
        return self._writing.locked() or self.path.stat().st_size == self._size

    def new_id(self) -> str:
        self._next += 1
        return f"e{self._next - 1:06d}"

    @classmethod
    def create(cls, path: Path, header: Header) -> Transcript:
        """Starts a transcript; never overwrites. Blocks. Raises `TranscriptNotWritten`."""
        line = header_line(header)
        try:
            fs.create(path, line)
        except OSError as error:
            raise TranscriptNotWritten(_sentence(error)) from error
        return cls(path, header, (), (), lines=1, size=len(line))

    @classmethod
    def read(cls, path: Path) -> Transcript:
        """Blocks. Raises `OSError`, and `TranscriptUnusable` for a damaged header; other damage is in `damage` and the
        log."""
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
        return cls(path, header, entries, damage, len(lines), len(data) - len(rest), len(rest))

    async def append(self, *entries: Entry) -> None:
        """Writes and syncs in one piece, unless somebody else has written (invariant 17). Raises `TranscriptNotWritten`
        and leaves the file as it was. A cancelled caller still waits for the disk, so that file and memory agree."""
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
                if not isinstance(error, fs.ChangedMeanwhile):
                    self._torn = 0  # cut off, or the file has another size than is known and is read anew
                if cancelled is None:
                    raise TranscriptNotWritten(_sentence(error)) from error
                _log.error("%s: %s", self.path.name, _sentence(error))
            else:
                self._written.extend(entries)
                if any(isinstance(entry, RedactionEntry) or is_branch(entry) for entry in entries):
                    self._all[:] = redacted(self._written)
                    self._entries[:] = newest_version(self._all)
                else:
                    self._all.extend(entries)
                    self._entries.extend(entries)
                self._size += len(data)
                self._torn = 0
            if cancelled is not None:
                raise cancelled

    def _append(self, data: bytes) -> None:
        with fs.folder_at(self.path.parent) as folder, fs.locked(folder):
            fs.append(folder, self.path.name, data, self._size + self._torn, whole=self._size)


def _parse(lines: Sequence[bytes]) -> tuple[list[Entry], list[Damage]]:
    entries: list[Entry] = []
    damage: list[Damage] = []
    for number, line in enumerate(lines, start=2):
        try:
            entries.append(read_entry(line))
        except ValueError as error:
            damage.append(Damage(number, f"damaged ({error})"))
    return entries, damage


def _sentence(error: OSError) -> str:
    if isinstance(error, fs.ChangedMeanwhile):
        return Sentence("Another program has written into this conversation meanwhile. Send it again.")
    return Sentence(
        "I couldn't write the conversation down: {why}. Make room or check the permissions, then send it again.",
        why=system_says(error),
    )
