"""What of an index fits the prompt (`max_index_lines`, `max_index_bytes`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from agent.memory.files import FileText, clean
from agent.settings import MemorySettings

INDEX_NAMES = ("MEMORY.md", "memory.md")


def is_index(path: Path, folder: Path) -> bool:
    return path.parent == folder and path.name in INDEX_NAMES


def text_lines(text: str) -> list[str]:
    """Lines with ends, as tools and the search index count."""
    *whole, rest = text.split("\n")
    return [*(f"{line}\n" for line in whole), *([rest] if rest else [])]


def count_fitting(lines: Sequence[str], limit: int, size: Callable[[str], int] = len) -> int:
    used = 0
    for count, line in enumerate(lines):
        used += size(line)
        if used > limit:
            return count
    return len(lines)


def index_lines_shown(lines: Sequence[str], settings: MemorySettings) -> int:
    sized = lines[: settings.max_index_lines]
    return count_fitting(sized, settings.max_index_bytes, lambda line: len(line.encode("utf-8", "replace")))


def lines_shown(path: Path, folder: Path, text: str, settings: MemorySettings) -> int:
    """Lines in the prompt of MEMORY.md or GROUP.md."""
    lines = text_lines(clean(text))
    return (
        index_lines_shown(lines, settings) if is_index(path, folder) else count_fitting(lines, settings.max_file_chars)
    )


def fullness(file: FileText, most_lines: int, most_bytes: int) -> str | None:
    """A sentence on how far a file exceeds the prompt, if so."""
    lines = file.text.count("\n") + (not file.text.endswith("\n") and bool(file.text))
    if lines <= most_lines and file.size <= most_bytes:
        return None
    shown = f"only its first {most_lines:,} lines or {most_bytes:,} bytes are in the prompt"
    return f"{lines:,} lines and {file.size:,} bytes; {shown}"
