"""What changed on disk since a session last looked.

The fixed part stays; each change is sent once, with the newest message. What was seen is in the transcript, so nothing
is sent twice or missed over a restart. Blocks.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from agent.clock import Clock
from agent.context.prompt import KEY as SKILLS
from agent.context.prompt import UNREADABLE, file_block, skill_list, skills_seen, unreadable_block
from agent.context.prompt_files import Part, PromptFile, common_places, excerpt, own_places, read
from agent.formats import untrusted
from agent.memory.daily_log import lines_outside_session
from agent.memory.files import FileText, UnreadableFile
from agent.memory.notes import text_lines
from agent.memory.scope import Scope
from agent.session.entries import (
    NO_FILE,
    CompactionEntry,
    Entry,
    Header,
    LineRanges,
    MessageEntry,
    RedactionEntry,
    SeenFile,
)
from agent.settings import MemorySettings
from agent.skills import Skills


def of_numbers(numbers: Iterable[int]) -> LineRanges:
    runs: list[tuple[int, int]] = []
    for number in sorted(set(numbers)):
        if runs and runs[-1][1] + 1 == number:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    return tuple(runs)


def merged(*several: LineRanges) -> LineRanges:
    return of_numbers(number for ranges in several for first, last in ranges for number in range(first, last + 1))


def without_line(ranges: LineRanges, line: int) -> LineRanges:
    return of_numbers(number for first, last in ranges for number in range(first, last + 1) if number != line)


def holds(ranges: LineRanges, first: int, last: int) -> bool:
    return any(begin <= first and last <= end for begin, end in ranges)


def changed_lines(old: str, new: str) -> tuple[int, int, int]:
    """The number of common first lines, and in each text of lines before the common last ones."""
    before, after = old.split("\n"), new.split("\n")
    most = min(len(before), len(after))
    same = next((at for at in range(most) if before[at] != after[at]), most)
    tail = next((at for at in range(most - same) if before[-1 - at] != after[-1 - at]), most - same)
    return same, len(before) - tail, len(after) - tail


def moved(ranges: LineRanges, old: str, new: str) -> LineRanges:
    """The ranges in the new text, without edited lines."""
    same, end, new_end = changed_lines(old, new)
    shift = new_end - end

    def kept() -> Iterator[int]:
        for first, last in ranges:
            yield from range(first, min(last, same) + 1)
            yield from range(max(first, end + 1) + shift, last + shift + 1)

    return of_numbers(kept())


_SETTLED_NS = 2_000_000_000
"""A file changed this recently may change again within its time stamp's resolution, so its stamp proves nothing yet."""

_Stamp = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class FileChanges:
    """Blocks to send, and the files as they are seen then."""

    blocks: tuple[str, ...] = ()
    files: Mapping[str, SeenFile] = field(default_factory=dict)


def seen_by(header: Header, entries: Iterable[Entry]) -> dict[str, SeenFile]:
    seen = dict(header.files)
    for entry in entries:
        if isinstance(entry, MessageEntry):
            seen.update(entry.meta.files)
        elif isinstance(entry, CompactionEntry | RedactionEntry) and entry.system:
            seen = dict(entry.files)
    return seen


class FileWatch:
    """The files of a session's prompt, each read if its stamp changed. What the journal says of the session itself is
    not sent to it."""

    def __init__(
        self,
        scope: Scope,
        clock: Clock,
        settings: MemorySettings,
        skills: Skills | None = None,
        session: str = "",
    ) -> None:
        self._session = session
        self._scope = scope
        self._skills = skills
        self._clock = clock
        self._settings = settings
        self._known: dict[Path, tuple[_Stamp, str]] = {}
        self._texts: dict[Path, tuple[str, str]] = {}
        """The sha and the text of each file as it was read last."""

    def changes(self, seen: Mapping[str, SeenFile]) -> FileChanges:
        """The changes since `seen`. Never raises for a file that cannot be read."""
        blocks: list[str] = []
        files: dict[str, SeenFile] = {}
        for place in self._places():
            before = seen.get(place.key, SeenFile())
            stamp = _stamp(place.path)  # before the read: a change after it is then found the next time
            if (stamp is None and before.sha == NO_FILE) or self._known.get(place.path) == (stamp, before.sha):
                continue
            try:
                file = read(place)
            except UnreadableFile as problem:
                if before != UNREADABLE:
                    blocks.append(unreadable_block(place, problem))
                    files[place.key] = UNREADABLE
                continue
            if file is None:
                if before.sha != NO_FILE:
                    blocks.append(untrusted.marked_block("gone", "This file is no longer there.", name=place.name))
                    files[place.key] = SeenFile()
            elif file.sha != before.sha:
                block, files[place.key] = self._change(place, before, file)
                blocks += [block] if block else []
            if file is not None:
                self._texts[place.path] = (file.sha, file.text)
            if file is not None and stamp is not None and time.time_ns() - stamp[2] > _SETTLED_NS:
                self._known[place.path] = (stamp, file.sha)
        if self._skills is not None and (listed := self._skill_list(self._skills, seen)):
            blocks.append(listed)
            files[SKILLS] = skills_seen(listed)
        return FileChanges(tuple(blocks), files)

    def unseen(self, seen: Mapping[str, SeenFile]) -> frozenset[str]:
        """Keys of files that somebody else changed since."""
        return frozenset(self.changes(seen).files)

    def written(self, paths: Iterable[Path], seen: Mapping[str, SeenFile]) -> dict[str, SeenFile]:
        """The prompt's files among `paths`, as they are now."""
        mine = set(paths)
        now: dict[str, SeenFile] = {}
        for place in self._places():
            if place.path not in mine:
                continue
            try:
                file = read(place)
            except UnreadableFile:
                continue
            if file is not None:
                now[place.key] = self._rewritten(place.path, seen.get(place.key, SeenFile()), file)
                self._texts[place.path] = (file.sha, file.text)
        return now

    def _rewritten(self, path: Path, before: SeenFile, file: FileText) -> SeenFile:
        total = len(text_lines(file.text))
        sha, old = self._texts.get(path, ("", ""))
        if before.sha not in (NO_FILE, sha):  # it was never read here: nothing is known of what the edit left
            return SeenFile(file.sha, file.size, total)
        old = old if before.sha == sha else ""
        same, _, end = changed_lines(old, file.text)
        known = merged(moved(before.known, old, file.text), ((same + 1, min(end, total)),))
        return SeenFile(file.sha, file.size, total, moved(before.shown, old, file.text), known)

    def _skill_list(self, skills: Skills, seen: Mapping[str, SeenFile]) -> str:
        listed = skill_list(skills.usable(self._scope), self._settings)
        return listed if skills_seen(listed).sha != seen.get(SKILLS, SeenFile()).sha else ""

    def _places(self) -> tuple[PromptFile, ...]:
        return (*common_places(self._scope), *own_places(self._scope, self._clock.today(), self._settings))

    def _change(self, place: PromptFile, before: SeenFile, file: FileText) -> tuple[str, SeenFile]:
        """The addition if nothing else changed, else the whole; "" for the session's own journal."""
        data = file.text.encode("utf-8", "replace")
        if before.sha == NO_FILE and place.part is Part.END and self._has_own(file.text):
            return self._added(place, before, file, "", file.text)
        grew = before.sha not in (NO_FILE, UNREADABLE.sha) and before.size < len(data)
        if grew and hashlib.sha256(data[: before.size]).hexdigest() == before.sha:
            old = data[: before.size].decode("utf-8", "replace")
            return self._added(place, before, file, old, data[before.size :].decode("utf-8", "replace"))
        part = excerpt(untrusted.clean(file.text), place.part, self._settings)
        seen = SeenFile(file.sha, file.size, part.total, part.ranges, part.ranges)
        return file_block("rules" if place.is_rules else "changed", place, part), seen

    def _has_own(self, log: str) -> bool:
        lines = text_lines(log)
        return len(lines_outside_session(lines, self._session)) < len(lines)

    def _added(self, place: PromptFile, before: SeenFile, file: FileText, old: str, added: str) -> tuple[str, SeenFile]:
        lines = text_lines(untrusted.clean(added))
        kept = lines_outside_session(lines, self._session) if place.part is Part.END else range(len(lines))
        others = [lines[at] for at in kept]
        is_all = len(others) == len(lines)
        part = excerpt("".join(others), Part.END, self._settings)
        above = old.count("\n")
        total = above + len(lines)
        shown, known = before.shown, before.known
        if old and not old.endswith("\n"):  # the last line has become another
            shown, known = without_line(shown, above + 1), without_line(known, above + 1)
        if not is_all:
            first = above + 1 if not part.is_cut else total - (part.lines[1] - part.lines[0])
            known = merged(known, ((first, total),))
            if not any(line.strip() and not line.startswith("# ") for line in others):
                return "", SeenFile(file.sha, file.size, total, shown, known)
        news = [above + 1 + at for at in kept[slice(part.lines[0] - 1, part.lines[1])]] if part.ranges else []
        if old and not old.endswith("\n"):
            news = [line for line in news if line > above + 1]
        shown, known = merged(shown, of_numbers(news)), merged(known, of_numbers(news))
        seen = SeenFile(file.sha, file.size, total, shown, known)
        beside = ", beside the journal of this conversation" if not is_all else ""
        note = f"Added to the file since you last saw it{beside}:"
        if is_all and part.is_cut:
            note = "The end of what was added:"
        text = part.text.strip("\n")
        return untrusted.marked_block(
            "rules" if place.is_rules else "changed", f"{note}\n{text}", name=place.name
        ), seen


def _stamp(path: Path) -> _Stamp | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return (found.st_ino, found.st_size, found.st_mtime_ns)
