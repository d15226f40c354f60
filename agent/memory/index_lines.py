"""The lines of MEMORY.md that point to notes: `- [name](memory/notes/slug.md) - description`. Everything else in the
file is its owner's and comes through byte for byte."""

from __future__ import annotations

import re


def with_line(index: bytes, path: str, name: str, description: str) -> bytes:
    """The index with exactly one line for the note at `path`: in its old place, else after the last note's line, else
    at the end."""
    label = name.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
    line = f"- [{label}]({path})" + (f" - {description}" if description else "")
    lines = _lines(index)
    present = [number for number, text in enumerate(lines) if _points_to(text, path)]
    if present:
        lines[present[0]] = line + _ending(lines[present[0]])
        return _joined([text for number, text in enumerate(lines) if number not in present[1:]])
    notes = [number for number, text in enumerate(lines) if _ANY_NOTE.match(text)]
    at = notes[-1] + 1 if notes else len(lines)
    if at and not lines[at - 1].endswith("\n"):
        lines[at - 1] += "\n"
    if not notes and lines and lines[-1].strip() and not lines[-1].startswith("- "):
        lines.append("\n")
        at += 1
    lines.insert(at, line + "\n")
    return _joined(lines)


def without_line(index: bytes, path: str) -> bytes:
    return _joined([text for text in _lines(index) if not _points_to(text, path)])


_LINK = re.compile(r"\s*+[-*+] ++\[")
_ANY_NOTE = re.compile(r"\s*[-*+] +\[.*\]\((?:\./)?memory/notes/[^()]*+\)")


def _points_to(line: str, path: str) -> bool:
    link = _LINK.match(line)
    return link is not None and (f"]({path})" in line[link.end() :] or f"](./{path})" in line[link.end() :])


def _lines(data: bytes) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", data.decode("utf-8", "surrogateescape"))


def _ending(line: str) -> str:
    return line[len(line.rstrip("\r\n")) :]


def _joined(lines: list[str]) -> bytes:
    return "".join(lines).encode("utf-8", "surrogateescape")
