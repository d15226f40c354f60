"""A private scope's past sessions for its index: what no context has any more, without recalled text and jobs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import takewhile
from pathlib import Path

from agent.clock import Clock
from agent.memory.scope import Audience, Scope
from agent.search.chunking import Passage, passages
from agent.search.sources import IndexSource, SessionAge, read, signature_of
from agent.session.archive import Archive
from agent.session.entries import BRANCH, RESET, CompactionEntry, Entry, in_newest_version, is_reset
from agent.session.export import Line, lines, spoken
from agent.session.jsonl import read_entry
from agent.session.redaction import redacted

_ME = "Assistant"
_LEAVES = (b'"type":"compaction"', f'"type":"{RESET}"'.encode())
"""Entries with which a part of a talk leaves the context."""
_CHANGES = (b'"type":"redaction"', f'"type":"{BRANCH}"'.encode())
"""Entries with which earlier ones read differently, or no longer count."""
_LONGEST_MARK = max(map(len, (*_LEAVES, *_CHANGES)))


@dataclass(frozen=True, slots=True)
class _Looked:
    """A current transcript, read up to `size` bytes."""

    inode: int
    size: int = 0
    mark: int = -1
    """The last entry in the index."""
    leaves: bool = False
    """A part of it has left the context."""

    def after(self, start: int, data: bytes) -> _Looked:
        """The state with the bytes from `start` to the end."""
        leaves, changes = (max(data.rfind(mark) for mark in marks) for marks in (_LEAVES, _CHANGES))
        last = max(leaves, changes)
        mark = start + last if last >= 0 else self.mark
        return _Looked(self.inode, start + len(data), mark, self.leaves or leaves >= 0)


class PastSessions:
    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._looked: dict[Path, _Looked] = {}

    def sources(self, scope: Scope) -> Iterator[IndexSource]:
        """Past sessions, and the current one once a part has left the context."""
        for source in self._transcripts(scope):
            if source.talk is SessionAge.PAST:
                yield source
                continue
            try:
                looked = self._look(source)
            except FileNotFoundError:
                continue
            except OSError:  # as it is: whoever reads it says why it cannot be
                yield source
                continue
            if looked.leaves:
                yield source._replace(signature=f"{looked.mark} 0 0 {looked.inode} {SessionAge.CURRENT.name}")

    def _look(self, source: IndexSource) -> _Looked:
        """The place up to which a current transcript is indexed. Reads only additions."""
        with source.path.open("rb") as file:
            status = os.fstat(file.fileno())
            known = self._looked.get(source.path)
            if known is None or known.inode != status.st_ino or known.size > status.st_size:
                known = _Looked(status.st_ino)
            if known.size < status.st_size:
                start = max(0, known.size - _LONGEST_MARK)
                file.seek(start)
                known = known.after(start, file.read())
        self._looked[source.path] = known
        return known

    def _transcripts(self, scope: Scope) -> Iterator[IndexSource]:
        if not scope.is_private:
            return
        path = "owner" if scope.audience is Audience.OWNER else f"person/{scope.id}"
        for key, id, file in self._archive.files(path):
            if key.is_aside:
                continue
            try:
                status = file.stat()
            except OSError:  # gone, or a link that leads nowhere
                continue
            age = SessionAge.CURRENT if self._archive.current(key) == id else SessionAge.PAST
            signature = f"{signature_of(status)} {age.name}"
            inside = file.relative_to(self._archive.folder).as_posix()
            yield IndexSource(f"sessions/{file.name}", self._archive.folder, inside, signature, status.st_mtime, age)

    def opened(self, scope: Scope, path: str, clock: Clock) -> Sequence[Passage] | None:
        """The session that hits call `path`, if the scope has it. Blocks; raises `UnreadableFile`."""
        source = next((source for source in self._transcripts(scope) if source.name == path), None)
        data = read(source) if source is not None else None
        if data is None:
            return None
        return _heard([(number, line) for number, entry in _entries(data) for line in lines([entry], clock)])

    def parsed(self, data: bytes, clock: Clock, current: bool) -> Sequence[Passage]:
        if current and not any(mark in data for mark in _LEAVES):
            return ()
        entries = _entries(data)
        end = _left_behind([entry for _, entry in entries]) if current else None
        kept = list(takewhile(lambda numbered: numbered[1].id != end, entries))
        said = spoken([entry for _, entry in kept], clock)
        return _heard([(kept[at][0], line) for at, line in said if not line.is_answered])


def _entries(data: bytes) -> list[tuple[int, Entry]]:
    """The entries of the newest version with their lines, from 1, redacted. Damaged lines are skipped."""
    numbers: list[int] = []
    written: list[Entry] = []
    for number, line in enumerate(data.split(b"\n")[1:], 2):
        try:
            written.append(read_entry(line))
        except ValueError:
            continue
        numbers.append(number)
    counted = zip(numbers, redacted(written), in_newest_version(written), strict=True)
    return [(number, entry) for number, entry, belongs in counted if belongs]


def _left_behind(entries: Sequence[Entry]) -> str:
    for at in range(len(entries) - 1, -1, -1):
        entry = entries[at]
        if isinstance(entry, CompactionEntry):
            return entry.first_kept
        if is_reset(entry):
            return entry.id
    return entries[0].id if entries else ""


def _heard(said: Iterable[tuple[int, Line]]) -> Sequence[Passage]:
    found: list[Passage] = []
    days: dict[date, int] = {}
    for number, line in said:
        day = line.at.date()
        section = days.setdefault(day, len(days))
        for part in passages(line.text):
            text = f"{line.at:%H:%M} {line.who or _ME}: {line.marked(part.text)}"
            found.append(Passage(number, number, text, "", section, day))
    return found
