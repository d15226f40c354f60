"""How much of an index the prompt shows (SPEC 2, `max_index_lines` and `max_index_bytes`), and when that is not all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from agent.memory.files import FileText, clean
from agent.settings import MemorySettings

INDEX_NAMES = ("MEMORY.md", "memory.md")


def is_index(path: Path, folder: Path) -> bool:
    """Whether `path` is the index of the scope whose folder that is."""
    return path.parent == folder and path.name in INDEX_NAMES


def text_lines(text: str) -> list[str]:
    """Its lines with their ends, counted as tools and the search index count them: a newline alone ends one."""
    *whole, rest = text.split("\n")
    return [*(f"{line}\n" for line in whole), *([rest] if rest else [])]


def within(lines: Sequence[str], limit: int, size: Callable[[str], int] = len) -> int:
    """How many of `lines` fit `limit` together."""
    used = 0
    for count, line in enumerate(lines):
        used += size(line)
        if used > limit:
            return count
    return len(lines)


def index_lines_shown(lines: Sequence[str], settings: MemorySettings) -> int:
    """How many lines of an index are in the prompt."""
    return within(lines[: settings.max_index_lines], settings.max_index_bytes, _bytes)


def lines_shown(path: Path, folder: Path, text: str, settings: MemorySettings) -> int:
    """The same of the file that notes have their lines in, whichever it is in that scope."""
    lines = text_lines(clean(text))
    return index_lines_shown(lines, settings) if is_index(path, folder) else within(lines, settings.max_file_chars)


def _bytes(line: str) -> int:
    return len(line.encode("utf-8", "replace"))


def fullness(file: FileText, most_lines: int, most_bytes: int) -> str | None:
    """How much is too much, in words; None where it fits."""
    lines = file.text.count("\n") + (not file.text.endswith("\n") and bool(file.text))
    if lines <= most_lines and file.size <= most_bytes:
        return None
    shown = f"only its first {most_lines:,} lines or {most_bytes:,} bytes are in the prompt"
    return f"{lines:,} lines and {file.size:,} bytes; {shown}"
