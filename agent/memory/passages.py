"""Markdown cut into passages: a bullet with all that belongs to it, a paragraph, a heading that stands alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_HEADING = re.compile(r"#{1,6}[ \t]+(.*)")
_BULLET = re.compile(r"(?:[-*+]|\d{1,9}[.)])[ \t]")
_LONGEST = 1_200


@dataclass(frozen=True, slots=True)
class Passage:
    """Lines `start` to `end` of a file, counted from 1. `heading`: the last one above."""

    start: int
    end: int
    text: str
    heading: str = ""


def passages(text: str) -> Iterator[Passage]:
    """Every line that is not blank is in exactly one passage, but for headings that have text below them, which those
    passages name."""
    heading, heading_line = "", 0
    told = True  # the heading has a passage below it
    held: list[str] = []
    start = 0

    def flush() -> Iterator[Passage]:
        nonlocal held, told
        body = "\n".join(held).rstrip()
        if body:
            told = True
            yield Passage(start, start + body.count("\n"), body, heading)
        held = []

    def untold() -> Iterator[Passage]:
        if not told:
            yield Passage(heading_line, heading_line, heading)

    for number, line in enumerate(text.split("\n"), 1):
        line = line.rstrip()
        if match := _HEADING.fullmatch(line):
            yield from flush()
            yield from untold()
            heading, heading_line, told = match[1].strip(), number, False
            continue
        if held and _ends(held, line):
            yield from flush()
        if not held:
            if not line:
                continue
            start = number
        held.append(line)
    yield from flush()
    yield from untold()


def _ends(held: list[str], line: str) -> bool:
    """Does a new passage begin with `line`?"""
    in_bullet = _BULLET.match(held[0]) is not None
    if not line:
        return not in_bullet
    if _BULLET.match(line) or sum(map(len, held)) + len(line) > _LONGEST:
        return True
    return not held[-1] and not line.startswith((" ", "\t"))
