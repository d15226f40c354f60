"""Markdown cut into passages, a bullet with all that belongs to it, a paragraph, a heading that stands alone; and
passages put together to windows, for what only several of them say."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from agent.memory.words import fold, is_unspaced

_HEADING = re.compile(r"#{1,6}[ \t]+(.*)")
_BULLET = re.compile(r"(?:[-*+]|\d{1,9}[.)])[ \t]")
_SPEAKER = re.compile(
    r"(?:[-*+][ \t]+)?(?:\d{1,2}:\d{2}[ \t]+)?"
    r"([^\W\d_][\w.'’-]{0,24}(?:[ ][^\W\d_][\w.'’-]{0,24}){0,2})[ \t]?(?::[ \t]|：)"
)
_SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]]*[ \t]+|[。！？；]+")
_LONGEST = 1_200
"""Characters to which lines are joined."""
_LONGEST_LINE = 1_600
"""A longer line is cut at a sentence's end."""
_UNSPACED_WEIGHT = 4
"""A character of a script without spaces says about as much as four letters."""


@dataclass(frozen=True, slots=True)
class Passage:
    """Lines `start` to `end` of a file, counted from 1. `heading`: the last one above; `section` counts the headings
    above. `day`: where it has one of its own, whatever the file's is."""

    start: int
    end: int
    text: str
    heading: str = ""
    section: int = 0
    day: date | None = None


@dataclass(frozen=True, slots=True)
class Speech:
    """A passage that is somebody's words: `- 09:30 Anna: …`. `speaker` folded, empty where nobody is named."""

    speaker: str
    words: str


def passages(text: str) -> Iterator[Passage]:
    """Every line that is not blank is in a passage, one that is not too long in exactly one, but for headings that
    have text below them, which those passages name."""
    for whole in _whole(text):
        if len(whole.text) <= max(_LONGEST, _LONGEST_LINE):
            yield whole
        else:
            for part in _parts(whole.text):
                yield Passage(whole.start, whole.end, part, whole.heading, whole.section)


@dataclass(frozen=True, slots=True)
class Cut:
    """How passages are put together: in letters; `sections`: never over a heading."""

    size: int = 800
    overlap: int = 266
    sections: bool = True


def windows(found: Sequence[Passage], cut: Cut) -> Iterator[tuple[int, int]]:
    """First and last passage, by place in `found`, of each window of neighbours; they overlap."""
    sizes = [_weight(one.text) for one in found]
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


def speech(text: str) -> Speech:
    match = _SPEAKER.match(text)
    return Speech(fold(match[1]), text[match.end() :]) if match else Speech("", text)


def _whole(text: str) -> Iterator[Passage]:
    heading, heading_line, section = "", 0, 0
    told = True  # the heading has a passage below it
    held: list[str] = []
    start = size = 0

    def flush() -> Iterator[Passage]:
        nonlocal held, told
        body = "\n".join(held).rstrip()
        if body:
            told = True
            yield Passage(start, start + body.count("\n"), body, heading, section)
        held = []

    def untold() -> Iterator[Passage]:
        if not told:
            yield Passage(heading_line, heading_line, heading, "", section)

    for number, line in enumerate(_lines(text), 1):
        if match := _HEADING.fullmatch(line):
            yield from flush()
            yield from untold()
            heading, heading_line, told = match[1].strip(), number, False
            section += 1
            continue
        if held and _ends(held, line, size):
            yield from flush()
        if not held:
            if not line:
                continue
            start, size = number, 0
        held.append(line)
        size += len(line)
    yield from flush()
    yield from untold()


def _lines(text: str) -> Iterator[str]:
    """As `split("\\n")`, one at a time: a file may be large."""
    at = 0
    while (end := text.find("\n", at)) >= 0:
        yield text[at:end].rstrip()
        at = end + 1
    yield text[at:].rstrip()


def _ends(held: list[str], line: str, size: int) -> bool:
    """Does a new passage begin with `line`?"""
    in_bullet = _BULLET.match(held[0]) is not None
    if not line:
        return not in_bullet
    if _BULLET.match(line) or size + len(line) > _LONGEST:
        return True
    return not held[-1] and not line.startswith((" ", "\t"))


def _parts(text: str) -> Iterator[str]:
    at = 0
    while len(text) - at > _LONGEST_LINE:
        ends = [match.end() for match in _SENTENCE_END.finditer(text, at + _LONGEST // 2, at + _LONGEST)]
        cut = ends[-1] if ends else at + _LONGEST
        if part := text[at:cut].strip():
            yield part
        at = cut
    if part := text[at:].strip():
        yield part


def _weight(text: str) -> int:
    return len(text) if text.isascii() else sum(_UNSPACED_WEIGHT if is_unspaced(one) else 1 for one in text)
