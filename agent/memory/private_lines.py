"""Detects lines of private memory in a text that others would get, however they are written. Blocks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache, lru_cache, partial
from itertools import pairwise

from agent.formats.decoded import plain, readings
from agent.memory import files
from agent.memory.files import EntryKind
from agent.memory.paths import FileError
from agent.memory.provenance import without_mark
from agent.memory.scope import Audience, Scope

_LEAST = 24
"""Minimum letters and digits for a line to count; a Chinese or Japanese letter counts as three."""
_TOP = ("MEMORY.md", "memory.md", "USER.md", "TOOLS.md", "GROUP.md")
_NOTES = "memory/notes"
_LOGS = "memory"
_BEGINNING = re.compile(r"[ \t]{0,8}(?:[-*+>][ \t])?(?:\[[ xX]\][ \t])?(?:\[?(?:\d{4}-\d{2}-\d{2} )?\d{2}:\d{2}\]? )?")
_PARTS = re.compile(r"[.!?;:…] |[。！？；]|\]\([^)\n]{0,300}\) - ")
_RUN = 8
"""Letters and digits in a row that count as taken from a line."""
_SHARE = 0.8
"""The share of a part in such runs from which it counts as repeated."""
_LONGEST = 50_000
"""Letters and digits of a text that is searched for such runs; whole parts are found in longer texts too."""
_NUMBER = re.compile(r"\d(?:[-./ ]?\d){3,40}")
_DATE = re.compile(r"(?:19|20)\d\d|(?:19|20)\d\d[-./]?[01]\d(?:[-./]?[0-3]\d)?|[0-3]?\d[-./][01]?\d[-./](?:19|20)?\d\d")
_PIECE = re.compile(r"[^\s/]+")
_SURE_CODE = 6
_SHORT_CODE = 4
_MIXED_CODE = 8


@dataclass(frozen=True, slots=True)
class _Part:
    line: str
    plain: str
    is_log: bool
    """In a daily log, which also has what people said."""


@dataclass(frozen=True, slots=True)
class LeavingText:
    """Text that would leave, decoded in many ways. `earlier`: text that has left before, joined in the same ways."""

    texts: tuple[str, ...]
    """The text by itself."""
    joined: tuple[str, ...] = ()
    """Joined with text that has left before."""
    earlier: tuple[str, ...] = ()
    address: str = ""
    """A page's address without its scheme: a line that names it tells its host nothing."""
    own: str = ""
    """The person's own last words, in letters and digits."""
    is_suspect: bool = False
    """Text of others may be the reason: short codes count, too."""


@dataclass(slots=True)
class _Read:
    forms: tuple[str, ...]
    runs: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        if sum(map(len, self.forms)) <= _LONGEST:
            self.runs = {form[at : at + _RUN] for form in self.forms for at in range(len(form) - _RUN + 1)}

    def holds(self, part: str) -> bool:
        return any(part in form for form in self.forms) or _taken(part, self.runs) >= _SHARE * len(part)

    def has_code(self, code: str, *, alone: bool) -> bool:
        """`alone`: no further digit stands beside it."""
        for form in self.forms:
            at = form.find(code)
            while at >= 0:
                beside = form[at - 1 : at] + form[at + len(code) : at + len(code) + 1]
                if not (alone and any(map(str.isdigit, beside))):
                    return True
                at = form.find(code, at + 1)
        return False


def private_line(scope: Scope, text: str) -> str:
    """The first line of the owner's memory in a text for another audience, or ""."""
    return repeated_line(scope, LeavingText((text,))) if scope.audience is Audience.OWNER else ""


def repeated_line(scope: Scope, leaving: LeavingText) -> str:
    """The first line of the scope's memory that leaves with a text, also as the last of several pieces; or ""."""
    alone, joined, own = _read(leaving.texts), _read(leaving.joined), _Read((leaving.own,))
    earlier = cache(partial(_read, leaving.earlier))

    def leaves(part: str) -> bool:
        return alone.holds(part) or (joined.holds(part) and not earlier().holds(part))

    def leaves_code(code: str) -> bool:
        is_short = len(code) < _SURE_CODE
        return alone.has_code(code, alone=is_short) or (
            joined.has_code(code, alone=is_short) and not earlier().has_code(code, alone=is_short)
        )

    for text, is_log in _memory_texts(scope):
        if leaving.address and leaving.address in text:
            text = text.replace(leaving.address, "")
        for part in _parts_of(text, is_log):
            if leaves(part.plain) and not (part.is_log and own.holds(part.plain)):
                return part.line
        for line, code, is_sure in _codes_of(text):
            if (is_sure or leaving.is_suspect) and leaves_code(code) and code not in leaving.own:
                return line
    return ""


def _read(texts: Iterable[str]) -> _Read:
    return _Read(tuple(dict.fromkeys(form for text in texts for form in readings(text))))


def _taken(part: str, runs: set[str]) -> int:
    """The number of letters and digits in runs."""
    if len(part) < _LEAST or not runs:
        return 0
    starts = [at for at in range(len(part) - _RUN + 1) if part[at : at + _RUN] in runs]
    return sum(min(_RUN, after - at) for at, after in pairwise([*starts, len(part)])) if starts else 0


@lru_cache(maxsize=256)
def _parts_of(text: str, is_log: bool) -> tuple[_Part, ...]:
    found = []
    for line in text.splitlines():
        begin = _BEGINNING.match(line)
        rest = without_mark(line[begin.end() :] if begin else line)
        for part in dict.fromkeys((rest, *_PARTS.split(rest))):
            if len(part) >= _LEAST // 3 and _weight(bare := plain(part)) >= _LEAST:
                found.append(_Part(line, bare, is_log))
    return tuple(found)


def _weight(bare: str) -> int:
    return len(bare) if bare.isascii() else sum(3 if "\u2e80" <= letter <= "\ud7ff" else 1 for letter in bare)


@lru_cache(maxsize=256)
def _codes_of(text: str) -> tuple[tuple[str, str, bool], ...]:
    """Line, code, and whether the code is too long to be anything else."""
    found = []
    for line in text.splitlines():
        begin = _BEGINNING.match(line)
        rest = without_mark(line[begin.end() :] if begin else line)
        for number in _NUMBER.findall(rest):
            digits = plain(number)
            if len(digits) >= _SHORT_CODE and not _DATE.fullmatch(number):
                found.append((line, digits, len(digits) >= _SURE_CODE and not _DATE.search(number)))
        for word in _PIECE.findall(rest):
            bare = plain(word) if any(map(str.isdecimal, word)) else ""
            if len(bare) >= _MIXED_CODE and any(map(str.isalpha, bare)) and not bare.startswith("http"):
                found.append((line, bare, False))
    return tuple(found)


def _memory_texts(scope: Scope) -> Iterator[tuple[str, bool]]:
    """Each file's text, and whether it is a day's log."""
    paths = [(scope.folder / name, False) for name in _TOP]
    for folder in (_LOGS, _NOTES):
        try:
            found = files.entries(scope.folder / folder, scope.folder)
        except FileError:
            continue
        names = [entry.name for entry in found if entry.kind is EntryKind.FILE]
        paths += [(scope.folder / folder / name, folder == _LOGS and name[:1].isdigit()) for name in names]
    for path, is_log in paths:
        try:
            file = files.read_text(path, scope.folder)
        except FileError:
            continue
        if file is not None:
            yield file.text, is_log
