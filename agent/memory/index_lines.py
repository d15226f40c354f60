"""The lines of MEMORY.md that point to notes: `- [name](memory/notes/slug.md) - description`. Everything else in the
file is its owner's and comes through byte for byte."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

NEW_NOTES = "## New notes"
"""Heads the section near the top of an index that is longer than the prompt shows."""
_REST = "## Older"
_TITLE_LINES = 20


def _all_lines(text: str) -> int:
    return len(text)


def with_line(index: bytes, path: str, name: str, description: str, shown: Callable[[str], int] = _all_lines) -> bytes:
    """The index with exactly one line for the note at `path`: in its old place, else after the last note's line, else
    at the end. Where the prompt would not show that any more (`shown`: how many lines of a text it has), a new line
    begins a section near the top, where those after it stand too, the newest first."""
    label = name.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
    line = f"- [{label}]({path})" + (f" - {description}" if description else "")
    lines = _lines(index)
    present = [number for number, text in enumerate(lines) if _points_to(text, path)]
    if present:
        lines[present[0]] = line + _ending(lines[present[0]])
        return _joined([text for number, text in enumerate(lines) if number not in present[1:]])
    usual: list[str] = []
    for found, at in _places(lines, line):
        if at < shown(_joined(found).decode("utf-8", "replace")):
            return _joined(found)
        usual = usual or found
    return _joined(usual)


def _places(lines: Sequence[str], line: str) -> Iterator[tuple[list[str], int]]:
    """Where a new line may stand, the usual place first: the lines with it, and which of them it is, from 0."""
    head = next((at for at, text in enumerate(lines[:-1]) if text.strip() == NEW_NOTES), None)
    if head is not None:
        at = head + 1 + (lines[head + 1].strip(" \t\r") == "\n")
        yield [*lines[:at], line + "\n", *lines[at:]], at
    yield _behind_the_others(lines, line)
    top = 0
    if lines and lines[0].rstrip() == "---":  # front matter
        top = next((at + 1 for at, text in enumerate(lines) if at and text.rstrip() == "---"), 0)
    title = top + 1 if lines[top : top + 1] and lines[top].startswith("# ") else top
    while top < title < min(len(lines), top + _TITLE_LINES) and not _BEGINS_PART.match(lines[title]):
        title += 1
    yield _in_new_section(lines, title, line)
    yield _in_new_section(lines, top, line)


def _behind_the_others(before: Sequence[str], line: str) -> tuple[list[str], int]:
    lines = list(before)
    notes = [number for number, text in enumerate(lines) if _ANY_NOTE.match(text)]
    at = notes[-1] + 1 if notes else len(lines)
    if at and not lines[at - 1].endswith("\n"):
        lines[at - 1] += "\n"
    if not notes and lines and lines[-1].strip() and not lines[-1].startswith("- "):
        lines.append("\n")
        at += 1
    lines.insert(at, line + "\n")
    return lines, at


def _in_new_section(lines: Sequence[str], at: int, line: str) -> tuple[list[str], int]:
    gap = ["\n"] if at and lines[at - 1].strip() else []
    rest = [] if at == len(lines) or lines[at].startswith("#") else [f"{_REST}\n", "\n"]
    section = [*gap, f"{NEW_NOTES}\n", "\n", f"{line}\n", "\n", *rest]
    return [*lines[:at], *section, *lines[at:]], at + len(gap) + 2


def without_line(index: bytes, path: str) -> bytes:
    return _joined([text for text in _lines(index) if not _points_to(text, path)])


_LINK = re.compile(r"\s*+[-*+] ++\[")
_ANY_NOTE = re.compile(r"\s*[-*+] +\[.*\]\((?:\./)?memory/notes/[^()]*+\)")
_BEGINS_PART = re.compile(r"#|\s*+(?:[-*+]|\d++[.)])[ \t]")


def _points_to(line: str, path: str) -> bool:
    link = _LINK.match(line)
    return link is not None and (f"]({path})" in line[link.end() :] or f"](./{path})" in line[link.end() :])


def _lines(data: bytes) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", data.decode("utf-8", "surrogateescape"))


def _ending(line: str) -> str:
    return line[len(line.rstrip("\r\n")) :]


def _joined(lines: list[str]) -> bytes:
    return "".join(lines).encode("utf-8", "surrogateescape")
