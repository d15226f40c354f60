"""Detects lines of the owner's private memory in a text. Blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agent.memory import files
from agent.memory.files import EntryKind
from agent.memory.paths import FileError
from agent.memory.provenance import normalized, without_mark
from agent.memory.scope import Audience, Scope

_LEAST = 24
"""Minimum letters and digits for a line to count."""
_TOP = ("MEMORY.md", "memory.md", "USER.md", "TOOLS.md")
_FOLDERS = ("memory", "memory/notes")
_BEGINNING = re.compile(r"[ \t]{0,8}(?:[-*+>][ \t])?(?:\[[ xX]\][ \t])?(?:\[?(?:\d{4}-\d{2}-\d{2} )?\d{2}:\d{2}\]? )?")
_PARTS = re.compile(r"[.!?;:…] |[。！？；]|\]\([^)\n]{0,300}\) - ")


def private_line(scope: Scope, text: str) -> str:
    """The first line of the owner's memory in `text`, ignoring case, spaces and punctuation, or ""."""
    if scope.audience is not Audience.OWNER or len(plain := normalized(text)) < _LEAST:
        return ""
    return next((line for line in _memory_lines(scope) if any(part in plain for part in _comparable_parts(line))), "")


def _comparable_parts(line: str) -> Iterator[str]:
    begin = _BEGINNING.match(line)
    rest = without_mark(line[begin.end() :] if begin else line)
    for part in (rest, *_PARTS.split(rest)):
        if len(part) >= _LEAST // 2 and len(plain := normalized(part)) >= _LEAST:
            yield plain


def _memory_lines(scope: Scope) -> Iterator[str]:
    paths = [scope.folder / name for name in _TOP]
    for folder in _FOLDERS:
        try:
            found = files.entries(scope.folder / folder, scope.folder)
        except FileError:
            continue
        paths += [scope.folder / folder / one.name for one in found if one.kind is EntryKind.FILE]
    for path in paths:
        try:
            file = files.read_text(path, scope.folder)
        except FileError:
            continue
        yield from file.text.splitlines() if file is not None else ()
