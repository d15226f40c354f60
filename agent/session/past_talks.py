"""A private scope's own talks, for its memory index: what was said and answered, as far as no context holds it any
more. What was recalled and the text of jobs are never among it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date

from agent.clock import Clock
from agent.memory.index.cutting import Passage, passages
from agent.memory.index.sources import Source, Talk, read, signature_of
from agent.memory.scope import Audience, Scope
from agent.session.archive import Archive
from agent.session.entries import CompactionEntry, Entry, MarkEntry, MessageEntry, read_entry
from agent.session.reading import lines
from agent.session.redaction import redacted

_JOBS = "jobs"
"""In a session's path: a job's own, isolated session."""
_ME = "Assistant"


class PastTalks:
    def __init__(self, archive: Archive) -> None:
        self._archive = archive

    def sources(self, scope: Scope) -> Iterator[Source]:
        if not scope.is_private:
            return
        path = "owner" if scope.audience is Audience.OWNER else f"person/{scope.id}"
        for key, id, file in self._archive.files(path):
            if _JOBS in key.path.split("/"):
                continue
            try:
                status = file.stat()
            except FileNotFoundError:
                continue
            talk = Talk.CURRENT if self._archive.current(key) == id else Talk.PAST
            signature = f"{signature_of(status)} {talk.name}"
            inside = file.relative_to(self._archive.folder).as_posix()
            yield Source(f"sessions/{file.name}", self._archive.folder, inside, signature, status.st_mtime, talk)

    def opened(self, scope: Scope, path: str, clock: Clock) -> Sequence[Passage] | None:
        """What was said in the talk that hits call `path`, as they show it; None where the scope has no such talk.
        Blocks; raises `Unreadable`."""
        source = next((source for source in self.sources(scope) if source.name == path), None)
        data = read(source) if source is not None else None
        return None if data is None else self._heard(_entries(data), None, clock)

    def parsed(self, data: bytes, clock: Clock, current: bool) -> Sequence[Passage]:
        if current and b'"type":"compaction"' not in data and b'"type":"reset"' not in data:
            return ()
        entries = _entries(data)
        end = _left_behind([entry for _, entry in entries]) if current else None
        return self._heard(entries, end, clock)

    def _heard(self, entries: Sequence[tuple[int, Entry]], end: str | None, clock: Clock) -> Sequence[Passage]:
        """Up to the entry `end`."""
        found: list[Passage] = []
        days: dict[date, int] = {}
        for number, entry in entries:
            if entry.id == end:
                break
            if isinstance(entry, MessageEntry):
                found += _said(number, entry, clock, days)
        return found


def _entries(data: bytes) -> list[tuple[int, Entry]]:
    """With their lines, from 1, without the words that were forgotten. What is damaged or torn is skipped."""
    numbers: list[int] = []
    written: list[Entry] = []
    for number, line in enumerate(data.split(b"\n")[1:], 2):
        try:
            written.append(read_entry(line))
        except (ValueError, RecursionError):
            continue
        numbers.append(number)
    return list(zip(numbers, redacted(written), strict=True))


def _left_behind(entries: Sequence[Entry]) -> str:
    """The id of the first entry that the context still holds."""
    for at in range(len(entries) - 1, -1, -1):
        entry = entries[at]
        if isinstance(entry, CompactionEntry):
            return entry.first_kept
        if isinstance(entry, MarkEntry) and entry.type == "reset":
            return entry.id
    return entries[0].id if entries else ""


def _said(number: int, entry: MessageEntry, clock: Clock, days: dict[date, int]) -> Iterator[Passage]:
    for line in lines([entry], clock):
        day = line.at.date()
        section = days.setdefault(day, len(days))
        for part in passages(line.text):
            text = f"{line.at:%H:%M} {line.who or _ME}: {part.text}"
            yield Passage(number, number, text, "", section, day)
