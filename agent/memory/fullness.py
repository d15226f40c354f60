"""When the prompt no longer shows the whole of an index (SPEC 2, `max_index_lines` and `max_index_bytes`)."""

from __future__ import annotations

from pathlib import Path

from agent.memory.files import FileText

INDEX_NAMES = ("MEMORY.md", "memory.md")


def is_index(path: Path, folder: Path) -> bool:
    """Whether `path` is the index of the scope whose folder that is."""
    return path.parent == folder and path.name in INDEX_NAMES


def fullness(file: FileText, most_lines: int, most_bytes: int) -> str | None:
    """How much is too much, in words; None where it fits."""
    lines = file.text.count("\n") + (not file.text.endswith("\n") and bool(file.text))
    if lines <= most_lines and file.size <= most_bytes:
        return None
    shown = f"only its first {most_lines:,} lines or {most_bytes:,} bytes are in the prompt"
    return f"{lines:,} lines and {file.size:,} bytes; {shown}"
