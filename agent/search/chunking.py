"""Splits Markdown into passages (a bullet, a paragraph, a lone heading), and groups these into windows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date

from agent.languages.dates import written_day
from agent.languages.terms import fold
from agent.memory.provenance import sources_in, with_mark

_HEADING = re.compile(r"(#{1,6})[ \t]++(.*)")
_BULLET = re.compile(r"(?:[-*+]|\d{1,9}[.)])[ \t]")
_TIME = r"\[?\d{1,2}:\d{2}(?::\d{2})?(?:[ ]?[ap]m)?\]?[ \t]+(?:[-–][ \t]+)?"
_ISO_DAY = r"(?:\*\*)?\[?(\d{4}-\d{2}-\d{2})(?!\d)"
_DATED_LINE = re.compile(rf"(?:[-*+][ \t]+)?{_ISO_DAY}")
_OWN_LINE = re.compile(rf"{_TIME}|{_ISO_DAY}", re.IGNORECASE)
_FENCE = re.compile(r"(?:[-*+][ \t]+)?(`{3,}|~{3,})")
_SPEAKER = re.compile(
    rf"(?:[-*+][ \t]+)?(?:{_TIME})?(?:\*\*)?"
    r"([^\W\d_][\w.'’-]{0,24}(?:[ ][^\W\d_][\w.'’-]{0,24}){0,2})"
    r"(?:\*\*)?[ \t]?(?::(?:\*\*)?[ \t]|：)",
    re.IGNORECASE,
)
_TIMED = re.compile(rf"(?:[-*+][ \t]+)?{_TIME}", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]]*[ \t]+|[。！？；]+")
_LETTERS_OF_DAY = 20
"""In the longest form of a day: Wednesday, 24 September 2025."""
_LONGEST = 1_200
"""Characters to which lines are joined."""
_LONGEST_LINE = 1_600
"""Longer lines are split at the end of a sentence."""
_SYLLABLE = re.compile("[\u3040-\u30ff\u3100-\u312f\u3400-\u9fff\uac00-\ud7af\U00020000-\U0003ffff]")
_SYLLABLE_WEIGHT = 4
"""A Chinese, Japanese or Korean character counts as four letters."""


@dataclass(frozen=True, slots=True)
class Passage:
    """Lines `start` to `end` (from 1). Neighbours with the same headings and day share a `section`. `day` overrides the
    file's."""

    start: int
    end: int
    text: str
    heading: str = ""
    section: int = 0
    day: date | None = None
    names: date | None = None
    """The day at its beginning or in a heading."""


@dataclass(frozen=True, slots=True)
class Speech:
    """A speaker's words, `- 09:30 Anna: …`."""

    speaker: str
    """Folded, or empty."""
    words: str


def passages(text: str) -> Iterator[Passage]:
    """Every line that is not blank is in a passage; headings only without text below."""
    for passage in _whole_passages(text):
        if len(passage.text) <= max(_LONGEST, _LONGEST_LINE):
            yield passage
        else:
            sources = sources_in(passage.text)
            for part in _split_long(passage.text):
                yield replace(passage, text=with_mark(part, sources))


@dataclass(frozen=True, slots=True)
class Chunker:
    """Sizes of windows, in letters."""

    size: int = 800
    overlap: int = 266
    sections: bool = True
    """Never across a heading."""


def windows(found: Sequence[Passage], cut: Chunker) -> Iterator[tuple[int, int]]:
    """First and last passage of each window, by position; windows overlap."""
    sizes = [_letters(passage.text) for passage in found]
    at = 0
    while at < len(found):
        end, size = at, 0
        while end < len(found) and (found[end].section == found[at].section or not cut.sections):
            size += sizes[end]
            if end > at and size > cut.size:
                break
            end += 1
        yield at, end - 1
        if end == len(found) or (cut.sections and found[end].section != found[at].section):
            at = end
            continue
        back, shared = end, 0
        while back - 1 > at and shared + sizes[back - 1] <= cut.overlap:
            back -= 1
            shared += sizes[back]
        at = back


def is_bullet(text: str) -> bool:
    return _BULLET.match(text) is not None


def has_time(text: str) -> bool:
    return _TIMED.match(text) is not None


def speech(text: str) -> Speech:
    match = _SPEAKER.match(text)
    return Speech(fold(match[1]), text[match.end() :]) if match else Speech("", text)


@dataclass(slots=True)
class _Headings:
    open: list[tuple[int, str, date | None]] = field(default_factory=list)

    def add(self, level: int, text: str) -> None:
        while self.open and self.open[-1][0] >= level:
            self.open.pop()
        self.open.append((level, text, written_day(text)))

    @property
    def text(self) -> str:
        return " / ".join(text for _, text, day in self.open if day is None or not _is_only_day(text))

    @property
    def day(self) -> date | None:
        return next((day for _, _, day in reversed(self.open) if day is not None), None)


def _whole_passages(text: str) -> Iterator[Passage]:
    above = _Headings()
    heading_line = section = 0
    heading_used = True  # it has text or a heading below
    pending: list[str] = []
    fence = ""
    start = size = 0
    section_day: date | None = None

    def flush() -> Iterator[Passage]:
        nonlocal pending, heading_used, section, section_day
        at = start
        for turn in _speaker_turns(pending):
            body = "\n".join(turn).rstrip()
            if body:
                heading_used = True
                dated = _DATED_LINE.match(body)
                day = (written_day(dated[1]) if dated else None) or above.day
                section += day != section_day
                section_day = day
                yield Passage(at, at + body.count("\n"), body, above.text, section, names=day)
            at += len(turn)
        pending = []

    def lone_heading() -> Iterator[Passage]:
        _, heading, day = above.open[-1] if above.open else (0, "", None)
        if not heading_used and heading and (day is None or not _is_only_day(heading)):
            yield Passage(heading_line, heading_line, heading, "", section, names=day)

    for number, line in enumerate(_lines(text), 1):
        if not fence and (match := _HEADING.fullmatch(line)):
            yield from flush()
            level = len(match[1])
            if not above.open or above.open[-1][0] >= level:
                yield from lone_heading()
            above.add(level, match[2].strip())
            heading_line, heading_used, section_day = number, False, above.day
            section += 1
            continue
        if pending and not fence and _begins_passage(pending, line, size):
            yield from flush()
        if pending and fence and size + len(line) > _LONGEST:
            yield from flush()
        if mark := _FENCE.match(line.lstrip()):
            fence = "" if fence and mark[1].startswith(fence) else fence or mark[1]
        if not pending:
            if not line:
                continue
            start, size = number, 0
        pending.append(line)
        size += len(line)
    yield from flush()
    yield from lone_heading()


def _speaker_turns(lines: list[str]) -> Iterator[list[str]]:
    """One list per turn if somebody speaks twice in lines without bullets."""
    names = [match[1] if (match := _SPEAKER.match(line)) else "" for line in lines]
    speakers = [name for name in names if name]
    if len(speakers) == len(set(speakers)) or _BULLET.match(lines[0]):
        yield lines
        return
    begins = sorted({0, *(at for at, name in enumerate(names) if name)})
    for begin, end in zip(begins, [*begins[1:], len(lines)], strict=True):
        yield lines[begin:end]


def _is_only_day(heading: str) -> bool:
    return sum(char.isalpha() for char in heading) <= _LETTERS_OF_DAY


def _lines(text: str) -> Iterator[str]:
    """Lines one at a time, for large files."""
    at = 0
    while (end := text.find("\n", at)) >= 0:
        yield text[at:end].rstrip()
        at = end + 1
    yield text[at:].rstrip()


def _begins_passage(pending: list[str], line: str, size: int) -> bool:
    in_bullet = _BULLET.match(pending[0]) is not None
    if not line:
        return not in_bullet
    if _BULLET.match(line) or _OWN_LINE.match(line) or size + len(line) > _LONGEST:
        return True
    return not pending[-1] and not line.startswith((" ", "\t"))


def _split_long(text: str) -> Iterator[str]:
    at = 0
    while len(text) - at > _LONGEST_LINE:
        ends = [match.end() for match in _SENTENCE_END.finditer(text, at + _LONGEST // 2, at + _LONGEST)]
        cut = ends[-1] if ends else at + _LONGEST
        if part := text[at:cut].strip():
            yield part
        at = cut
    if part := text[at:].strip():
        yield part


def _letters(text: str) -> int:
    return len(text) + (0 if text.isascii() else (_SYLLABLE_WEIGHT - 1) * len(_SYLLABLE.findall(text)))
