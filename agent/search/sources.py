"""The sources of an index: a scope's Markdown, extra paths, past sessions. Everything blocks."""

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
from agent.fs import Folder
from agent.languages.sentences import Sentence
from agent.languages.system_errors import system_says
from agent.memory import daily_log, files, notes
from agent.memory.paths import UnreadableFile, entered, open_folder
from agent.memory.scope import Audience, Scope
from agent.search.aliases import aliases_in, has_aliases
from agent.search.chunking import Chunker, Passage, passages, speech, windows
from agent.search.forms_of_address import greeted_in
from agent.search.memory_tests import FILE as TESTS
from agent.search.rows import NewFile, NewPassage, NewSection
from agent.search.text_kinds import TextKind, kind_of
from agent.search.tokenizer import tokens

MAX_BYTES = 64_000_000
_RULES = frozenset({"AGENTS.md", "CLAUDE.md", "SOUL.md", "IDENTITY.md"})  # instructions, not memories
_OUR_MARK = re.compile(
    r"^<!-- (?:journal \S{1,300} \d+-\d+ (?:model|extract)"
    r"|imported \S{1,40} \S{1,200} \S{1,40}"
    r"|Proposed for \S{1,300} on \d{4}-\d\d-\d\d \d\d:\d\d \([^\n]*) -->$",
    re.MULTILINE,
)
"""Our machine marks in memory files (`journal.progress`, `memory.consolidated`, the gateway's imports)."""
_OUR_HEADING = re.compile(r"Journal · [^·\n]{1,200} · \d\d:\d\d-\d\d:\d\d(?: \([a-z ]{1,40}\))?")
_DAY_IN_NAME = re.compile(
    r"(?:^|/)((?:19|20)\d\d)([-_./]?)(\d\d)\2(\d\d)(?:(?!\d)[^/]*)?\.md$", re.IGNORECASE | re.ASCII
)
_TOP_LEVEL = re.compile(r"(?:(?:people|groups)/[^/]+/)?[^/]+")
"""Files at the top of a scope's folder."""
_DEEPEST = 40
"""Levels of folders."""


class SessionAge(enum.Enum):
    CURRENT = enum.auto()
    PAST = enum.auto()


class IndexSource(NamedTuple):
    """A file to index. `name` is its path in hits; it is read at `inside`, below `root`. `changed` in seconds since the
    epoch."""

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
        return int(self.signature.split(" ", 1)[0])


class SessionSources(Protocol):
    """Past conversations of private scopes that are in no context, without recalled text and jobs."""

    def sources(self, scope: Scope) -> Iterator[IndexSource]: ...

    def parsed(self, data: bytes, clock: Clock, current: bool) -> Sequence[Passage]:
        """A passage per message, with the transcript's line numbers; a section per day. `current`: omit the session's
        context."""
        ...


def markdown(scope: Scope, extra: Sequence[Path], gaps: list[str]) -> Iterator[IndexSource]:
    """A scope's Markdown; links are not followed. Unreadable places are added to `gaps`."""
    yield from _markdown_below(scope.folder, scope.folder, "", gaps, at_top=scope.audience is Audience.OWNER)
    if scope.audience is not Audience.OWNER:
        return
    for path in extra:
        try:
            status = path.lstat()
        except OSError as error:
            gaps.append(_unread(path, system_says(error)))
            continue
        if stat.S_ISDIR(status.st_mode):
            yield from _markdown_below(path, path, f"{path.as_posix()}/", gaps)
        elif stat.S_ISREG(status.st_mode):
            yield IndexSource(path.as_posix(), path.parent, path.name, signature_of(status), status.st_mtime)


def _markdown_below(
    root: Path, folder: Path, prefix: str, gaps: list[str], *, at_top: bool = False
) -> Iterator[IndexSource]:
    try:
        with open_folder(folder, root) as top:
            yield from _walk(top, root, prefix, "", gaps, at_top=at_top)
    except FileNotFoundError:
        return
    except UnreadableFile as error:
        gaps.append(Sentence("{why}.", why=error.reason))
    except OSError as error:
        gaps.append(_unread(folder.name, system_says(error)))


def _unread(place: object, why: object) -> Sentence:
    return Sentence("{file} cannot be read: {why}.", file=place, why=why)


def _walk(
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
            except FileNotFoundError:  # deleted meanwhile
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
            with entered(folder, name) as deeper:
                yield from _walk(deeper, root, prefix, f"{within}{name}/", gaps, depth=depth + 1)
        except FileNotFoundError:
            continue
        except (OSError, UnreadableFile) as error:
            gaps.append(_unread(f"{within}{name}", system_says(error) if isinstance(error, OSError) else error))


def signature_of(status: os.stat_result) -> str:
    """Size, times and inode, so that a replaced file differs even with the old times."""
    return f"{status.st_size} {status.st_mtime_ns} {status.st_ctime_ns} {status.st_ino}"


def read(source: IndexSource) -> bytes | None:
    """None if it is gone. Raises `UnreadableFile`."""
    return files.read_bytes(source.path, source.root, MAX_BYTES)


Going = Callable[[], None]
"""Called with every passage; may raise to abort a large file."""


def parsed(source: IndexSource, data: bytes, clock: Clock, cut: Chunker, going: Going) -> NewFile:
    """A file ready to be stored. Raises `UnreadableFile` for binary data."""
    file = files.text_of(data, source.name)
    head = notes.parse(file.text[:9_000])
    title = f"{head.line('name')} {head.line('description')}"
    split_text = _paragraphs if source.path.name == daily_log.HISTORY_FILE else passages
    text = _OUR_MARK.sub("", file.text)  # keeps line numbers
    found = [passage for passage in _checking(split_text(text), going) if not _is_template_text(source, passage)]
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
    """A file's rows. `found` may have days of its own; `created`: when an undated file was begun."""
    own = daily_log.day_of(source.path) or _day_of_name(source)
    changed = day_of_change(source, clock)
    sections: list[list[Passage]] = []  # runs: a day may come twice after a clock change
    section_numbers: list[int] = []
    for passage in found:
        if not sections or sections[-1][0].section != passage.section:
            sections.append([])
        sections[-1].append(passage)
        section_numbers.append(len(sections) - 1)
    kinds = [kind_of(section) for section in sections]
    return NewFile(
        source.name,
        source.signature,
        sha,
        [
            NewSection(
                day or changed,
                day is not None,
                tokens(f"{title} {_OUR_HEADING.sub('', passage.heading)}"),
                kind,
                passage.day or own or created,
            )
            for section, kind in zip(sections, kinds, strict=True)
            for passage in section[:1]
            for day in (passage.day or own or _unless_future(passage.names, changed),)
        ],
        [
            NewPassage(
                passage.start,
                passage.end,
                section_number,
                speech(passage.text).speaker,
                len(words),
                " ".join(words),
                passage.text,
            )
            for section_number, passage in zip(section_numbers, _checking(found, going), strict=True)
            for words in (tokens(passage.text),)
        ],
        list(windows(found, cut)),
        greeted=[
            pair
            for section, kind in zip(sections, kinds, strict=True)
            if kind == TextKind.PEOPLE
            for pair in greeted_in(section)
        ],
    )


def _unless_future(day: date | None, changed: date) -> date | None:
    """A day in the future is a plan, not the day of writing."""
    return day if day is not None and day <= changed else None


def _day_of_name(source: IndexSource) -> date | None:
    """The day in names like `2026-05-08 standup.md`, `20260508.md`, `2026/05/08.md`."""
    match = _DAY_IN_NAME.search(source.inside)
    try:
        return date(int(match[1]), int(match[3]), int(match[4])) if match else None
    except ValueError:
        return None


def has_day(path: str) -> bool:
    """True for logs, history and sessions."""
    file = PurePath(path)
    return path.startswith("sessions/") or file.name == daily_log.HISTORY_FILE or _DAY_IN_NAME.search(path) is not None


def _checking(found: Iterable[Passage], going: Going) -> Iterator[Passage]:
    for passage in found:
        going()
        yield passage


def _paragraphs(text: str) -> Iterator[Passage]:
    """HISTORY.md: a passage per line, a section per day."""
    for number, line in enumerate(text.split("\n"), 1):
        day = daily_log.day_of_paragraph(line)
        for part in passages(line):
            yield replace(part, start=number, end=number, section=number, day=day)


def day_of_change(source: IndexSource, clock: Clock) -> date:
    try:
        return clock.local(datetime.fromtimestamp(source.changed, UTC)).date()
    except (ValueError, OverflowError, OSError):  # a wrong clock
        return clock.today()


def _day(written: str) -> date | None:
    try:
        return date.fromisoformat(written[:10])
    except ValueError:
        return None


_EARLIER_TEMPLATE_LINES = {
    "MEMORY.md": (
        "Facts that matter in nearly every talk, a line each. Lines with a link point to a note that says more.",
    )
}
"""Lines of earlier versions of the template, which are still in the homes that they began."""


@cache
def _template_lines() -> Mapping[str, frozenset[str]]:
    begun = (file for file in files_of_package("workspace_template").iterdir() if file.name.endswith(".md"))
    return {
        file.name: frozenset(
            map(
                _without_heading_marks,
                (*file.read_text("utf-8").splitlines(), *_EARLIER_TEMPLATE_LINES.get(file.name, ())),
            )
        )
        for file in begun
    }


def _is_template_text(source: IndexSource, passage: Passage) -> bool:
    """Whether it is unchanged template text, which would match many questions."""
    if not _TOP_LEVEL.fullmatch(source.inside):
        return False
    lines = [line for line in passage.text.splitlines() if line.strip()]
    shipped = _template_lines().get(source.path.name)
    return shipped is not None and all(_without_heading_marks(line) in shipped for line in lines)


def _without_heading_marks(line: str) -> str:
    return line.strip().lstrip("#").strip()
