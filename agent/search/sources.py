"""What a scope's index is made of: the Markdown in its folder, the owner's further paths, and the talks of a private
scope that have left the context. Everything blocks."""

from __future__ import annotations

import enum
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import cache
from importlib.resources import files as files_of_package
from pathlib import Path, PurePath
from typing import NamedTuple, Protocol

from agent.clock import Clock
from agent.memory import daily_log, files, notes
from agent.memory.paths import Folder, UnreadableFile, opened
from agent.memory.scope import Audience, Scope
from agent.search.aliases import aliases_in, has_aliases
from agent.search.chunking import Chunker, Passage, passages, speech, windows
from agent.search.memory_tests import FILE as TESTS
from agent.search.rows import NewFile, NewPassage, NewSection
from agent.search.text_kinds import kind_of
from agent.search.tokenizer import tokens

MAX_BYTES = 64_000_000
_RULES = frozenset({"AGENTS.md", "CLAUDE.md", "SOUL.md", "IDENTITY.md"})  # how to work, not what is remembered
_OUR_MARK = re.compile(
    r"^<!-- (?:journal \S{1,300} \d+-\d+ (?:model|extract)"
    r"|Proposed for \S{1,300} on \d{4}-\d\d-\d\d \d\d:\d\d \([^\n]*) -->$",
    re.MULTILINE,
)
"""What we write for ourselves into files of memory (`journal.marks`, `memory.curated`)."""
_OUR_HEADING = re.compile(r"Journal · [^·\n]{1,200} · \d\d:\d\d-\d\d:\d\d(?: \([a-z ]{1,40}\))?")
_DAY_IN_NAME = re.compile(
    r"(?:^|/)((?:19|20)\d\d)([-_./]?)(\d\d)\2(\d\d)(?:(?!\d)[^/]*)?\.md$", re.IGNORECASE | re.ASCII
)
_OF_A_SCOPE = re.compile(r"(?:(?:people|groups)/[^/]+/)?[^/]+")
"""Where a scope has the files with which it begins."""
_DEEPEST = 40
"""Folders within folders."""


class SessionAge(enum.Enum):
    CURRENT = enum.auto()
    PAST = enum.auto()


class IndexSource(NamedTuple):
    """A file to be indexed. `name` is what hits call it; it is read at `inside`, a path below `root`. `signature`
    differs where the file was changed; `changed` in seconds since the epoch."""

    name: str
    root: Path
    inside: str
    signature: str
    changed: float
    talk: SessionAge | None = None

    @property
    def path(self) -> Path:
        return self.root / self.inside

    @property
    def size(self) -> int:
        """In bytes."""
        return int(self.signature.split(" ", 1)[0])


class SessionSources(Protocol):
    """A private scope's own past talks: what was said and answered, as far as no context holds it any more; nothing of
    what was recalled, and nothing of jobs."""

    def sources(self, scope: Scope) -> Iterator[IndexSource]: ...

    def parsed(self, data: bytes, clock: Clock, current: bool) -> Sequence[Passage]:
        """A passage for each thing said, its lines those of the transcript, a section a day. `current`: the talk goes
        on, and what its context holds is left out."""
        ...


def markdown(scope: Scope, extra: Sequence[Path], gaps: list[str]) -> Iterator[IndexSource]:
    """The scope's Markdown; links are not followed. What cannot be looked into is named in `gaps`."""
    yield from _below(scope.folder, scope.folder, "", gaps, at_top=scope.audience is Audience.OWNER)
    if scope.audience is not Audience.OWNER:
        return
    for path in extra:
        try:
            status = path.lstat()
        except OSError as error:
            gaps.append(f"{path} cannot be read: {(error.strerror or 'it is missing').lower()}.")
            continue
        if stat.S_ISDIR(status.st_mode):
            yield from _below(path, path, f"{path.as_posix()}/", gaps)
        elif stat.S_ISREG(status.st_mode):
            yield IndexSource(path.as_posix(), path.parent, path.name, signature_of(status), status.st_mtime)


def _below(root: Path, folder: Path, prefix: str, gaps: list[str], *, at_top: bool = False) -> Iterator[IndexSource]:
    try:
        with opened(folder, root) as top:
            yield from _walked(top, root, prefix, "", gaps, at_top=at_top)
    except FileNotFoundError:
        return
    except UnreadableFile as error:
        gaps.append(f"{error.reason}.")
    except OSError as error:
        gaps.append(f"{folder.name} cannot be read: {(error.strerror or 'the system does not say why').lower()}.")


def _walked(
    folder: Folder, root: Path, prefix: str, within: str, gaps: list[str], *, at_top: bool = False, depth: int = 0
) -> Iterator[IndexSource]:
    inner: list[str] = []
    with os.scandir(folder.path if folder.fd is None else folder.fd) as found:
        for item in found:
            name = item.name
            if name.startswith("."):
                continue
            try:
                status = item.stat(follow_symlinks=False)
            except FileNotFoundError:  # deleted while the folder was being listed
                continue
            if stat.S_ISDIR(status.st_mode):
                inner.append(name)
            elif stat.S_ISREG(status.st_mode) and name[-3:].lower() == ".md" and not (at_top and name in _RULES):
                inside = f"{within}{name}"
                if f"/{prefix}{inside}".endswith(f"/{TESTS}"):
                    continue
                yield IndexSource(prefix + inside, root, inside, signature_of(status), status.st_mtime)
    for name in inner if depth < _DEEPEST else ():
        try:
            with folder.entered(name) as deeper:
                yield from _walked(deeper, root, prefix, f"{within}{name}/", gaps, depth=depth + 1)
        except FileNotFoundError:
            continue
        except (OSError, UnreadableFile) as error:
            why = error.strerror if isinstance(error, OSError) else str(error)
            gaps.append(f"{within}{name} cannot be read: {(why or 'the system does not say why').lower()}.")


def signature_of(status: os.stat_result) -> str:
    """Size, both times and the inode: a file put in another's place has the old one's times at most."""
    return f"{status.st_size} {status.st_mtime_ns} {status.st_ctime_ns} {status.st_ino}"


def read(source: IndexSource) -> bytes | None:
    """None where it is gone. Raises `Unreadable`."""
    return files.read_bytes(source.path, source.root, MAX_BYTES)


Going = Callable[[], None]
"""Called with every passage, for a large file takes long; what it raises ends the work."""


def parsed(source: IndexSource, data: bytes, clock: Clock, cut: Chunker, going: Going) -> NewFile:
    """Cut into what is indexed. Raises `Unreadable` for what is no text."""
    file = files.text_of(data, source.name)
    head = notes.parse(file.text[:9_000])
    title = f"{head.line('name')} {head.line('description')}"
    cut_up = _paragraphs if source.path.name == daily_log.HISTORY_FILE else passages
    text = _OUR_MARK.sub("", file.text)  # its line stays, and is blank
    found = [one for one in _told(cut_up(text), going) if not _is_as_shipped(source, one)]
    new = new_file(source, file.sha, title, found, clock, cut, going, created=_day(head.line("created")))
    about = (source.path.stem, *map(head.line, ("name", "description", "type")))
    return replace(new, names=list(aliases_in(found, about))) if has_aliases(source.name) else new


def new_file(
    source: IndexSource,
    sha: str,
    title: str,
    found: Sequence[Passage],
    clock: Clock,
    cut: Chunker,
    going: Going,
    created: date | None = None,
) -> NewFile:
    """`found` may know its days; else they are those of the file. `created`: when a file without a day was begun."""
    own = daily_log.day_of(source.path) or _day_of_name(source)
    changed = day_of_change(source, clock)
    sections: list[list[Passage]] = []  # runs: where a clock went back, a day comes twice
    places: list[int] = []
    for one in found:
        if not sections or sections[-1][0].section != one.section:
            sections.append([])
        sections[-1].append(one)
        places.append(len(sections) - 1)
    return NewFile(
        source.name,
        source.signature,
        sha,
        [
            NewSection(
                day or changed,
                day is not None,
                tokens(f"{title} {_OUR_HEADING.sub('', one.heading)}"),
                kind_of(section),
                one.day or own or created,
            )
            for section in sections
            for one in section[:1]
            for day in (one.day or own or _past(one.names, changed),)
        ],
        [
            NewPassage(
                one.start,
                one.end,
                place,
                speech(one.text).speaker,
                len(words),
                " ".join(words),
                one.text,
            )
            for place, one in zip(places, _told(found, going), strict=True)
            for words in (tokens(one.text),)
        ],
        list(windows(found, cut)),
    )


def _past(day: date | None, changed: date) -> date | None:
    """What was written of a day to come is a plan: it was not written on it."""
    return day if day is not None and day <= changed else None


def _day_of_name(source: IndexSource) -> date | None:
    """Of a file that is named by its day in some other way: `2026-05-08 standup.md`, `20260508.md`, `2026/05/08.md`."""
    match = _DAY_IN_NAME.search(source.inside)
    try:
        return date(int(match[1]), int(match[3]), int(match[4])) if match else None
    except ValueError:
        return None


def has_day(path: str) -> bool:
    """Whether what stands in a file was written on a day that its name or each line tells: logs, history and talks."""
    file = PurePath(path)
    return path.startswith("sessions/") or file.name == daily_log.HISTORY_FILE or _DAY_IN_NAME.search(path) is not None


def _told(found: Iterable[Passage], going: Going) -> Iterator[Passage]:
    for one in found:
        going()
        yield one


def _paragraphs(text: str) -> Iterator[Passage]:
    """Of HISTORY.md: a line each, a section of the day that it begins with."""
    for number, line in enumerate(text.split("\n"), 1):
        day = daily_log.day_of_paragraph(line)
        for part in passages(line):
            yield replace(part, start=number, end=number, section=number, day=day)


def day_of_change(source: IndexSource, clock: Clock) -> date:
    try:
        return clock.local(datetime.fromtimestamp(source.changed, UTC)).date()
    except (ValueError, OverflowError, OSError):  # a clock gone mad
        return clock.today()


def _day(written: str) -> date | None:
    """Of `2026-05-08`, with a time behind it or without; None where it is no day."""
    try:
        return date.fromisoformat(written[:10])
    except ValueError:
        return None


@cache
def _shipped() -> Mapping[str, frozenset[str]]:
    """The lines of each file with which a workspace begins."""
    begun = (file for file in files_of_package("workspace_template").iterdir() if file.name.endswith(".md"))
    return {file.name: frozenset(map(_bare, file.read_text("utf-8").splitlines())) for file in begun}


def _is_as_shipped(source: IndexSource, passage: Passage) -> bool:
    """Nobody has written any of it: a field without a value, or a sentence of ours on what a file is for, would answer
    every question that holds one of its words."""
    if not _OF_A_SCOPE.fullmatch(source.inside):
        return False
    lines = [line for line in passage.text.splitlines() if line.strip()]
    shipped = _shipped().get(source.path.name)
    return shipped is not None and all(_bare(line) in shipped for line in lines)


def _bare(line: str) -> str:
    """A line, as a heading has it too, which stands in a passage without its marks."""
    return line.strip().lstrip("#").strip()
