"""The workspace files in a prompt, and how much of each."""

from __future__ import annotations

import enum
import os
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from pathlib import Path

from agent.memory.files import FileText, OutOfReach, read_text
from agent.memory.notes import count_fitting, index_lines_shown, text_lines
from agent.memory.scope import Audience, Scope
from agent.session.entries import LineRanges
from agent.settings import MemorySettings

_COMMON = (("AGENTS.md", "CLAUDE.md"), ("SOUL.md",), ("IDENTITY.md",))
"""For every audience. The first of each that exists counts."""
_OWNERS_RULES = frozenset({"TOOLS.md"})
_OTHER_NAMES = {"MEMORY.md": ("MEMORY.md", "memory.md")}
_COMMON_NAMES = frozenset(name for names in _COMMON for name in names)


class Part(enum.Enum):
    BEGINNING = "beginning"
    INDEX = "index"  # the beginning, within the limits of the memory index
    END = "end"  # the newest notes are the ones that matter


@dataclass(frozen=True, slots=True)
class PromptFile:
    """A workspace file of the prompt. Links may not lead out of `root`, those of a `common` file (for every audience)
    only to another common file."""

    path: Path
    root: Path
    key: str
    """Relative to the workspace."""
    name: str
    """The name that the conversation's tools know."""
    part: Part
    common: bool = False

    @property
    def is_rules(self) -> bool:
        """True if its text is to be followed, not only known."""
        return self.common or self.key in _OWNERS_RULES


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A part of a file. `lines`: the first and last shown (from 1; 0, 0 for no whole line), of `total`."""

    text: str
    lines: tuple[int, int]
    total: int

    @property
    def is_cut(self) -> bool:
        return self.total > 0 and self.lines != (1, self.total)

    @property
    def ranges(self) -> LineRanges:
        """The lines shown that are not blank."""
        return (self.lines,) if self.lines[1] and self.text.strip() else ()


def common_places(scope: Scope) -> tuple[PromptFile, ...]:
    return tuple(_place(scope, scope.workspace, names, Part.BEGINNING, common=True) for names in _COMMON)


def own_places(scope: Scope, today: date, settings: MemorySettings) -> tuple[PromptFile, ...]:
    """The scope's own files, then its daily logs, oldest first."""
    own = [
        _place(
            scope, scope.folder, _OTHER_NAMES.get(name, (name,)), Part.INDEX if name == "MEMORY.md" else Part.BEGINNING
        )
        for name in scope.prompt_files
    ]
    days = [today - timedelta(days=back) for back in reversed(range(settings.daily_log_days))]
    logs = [_place(scope, folder, (f"{day.isoformat()}.md",), Part.END) for folder in scope.log_folders for day in days]
    return (*own, *logs)


def read(place: PromptFile) -> FileText | None:
    """The file; None if there is none. Raises `UnreadableFile`."""
    if place.common and place.path.is_symlink():
        target = Path(os.path.realpath(place.path))  # `resolve` raises what differs by version for a loop
        if target.parent != Path(os.path.realpath(place.root)) or target.name not in _COMMON_NAMES:
            raise OutOfReach(f"{place.name} is a link to another file; put the text itself there")
    return read_text(place.path, place.root)


def excerpt(text: str, part: Part, settings: MemorySettings) -> Excerpt:
    """The part within its limits, cut at a line's end."""
    lines = text_lines(text)
    match part:
        case Part.INDEX:
            return _excerpt(lines, 0, index_lines_shown(lines, settings))
        case Part.BEGINNING:
            return _excerpt(lines, 0, count_fitting(lines, settings.max_file_chars))
        case Part.END:
            kept = count_fitting(lines[::-1], settings.max_daily_chars)
            if lines and not kept:  # the newest entry alone is too long: its end is better than nothing of the day
                return Excerpt(lines[-1][-settings.max_daily_chars :], (0, 0), len(lines))
            return _excerpt(lines, len(lines) - kept, len(lines))


def _excerpt(lines: list[str], start: int, end: int) -> Excerpt:
    shown = (start + 1, end) if end > start else (0, 0)
    return Excerpt("".join(lines[start:end]), shown, len(lines))


def _place(scope: Scope, folder: Path, names: tuple[str, ...], part: Part, *, common: bool = False) -> PromptFile:
    found = names if len(names) == 1 else (name for name in names if _says_something(folder / name))
    return _named(scope, folder, next(iter(found), names[0]), part, common)


def _says_something(path: Path) -> bool:
    """False for an empty file too, as programs find in place of a missing one."""
    with suppress(OSError, ValueError):
        return path.lstat().st_size > 0
    return False


@lru_cache(maxsize=2048)
def _named(scope: Scope, folder: Path, file: str, part: Part, common: bool) -> PromptFile:
    """The file's place, cached: taking paths apart takes longer than looking at the files."""
    path = folder / file
    reach = scope.folder if path.is_relative_to(scope.folder) else scope.workspace
    root = scope.workspace if common else reach
    name = path.relative_to(root).as_posix()
    if scope.audience is Audience.GROUP and not common and root is not scope.folder:
        name = f"{name} of your owner, shared with this group"
    return PromptFile(path, root, path.relative_to(scope.workspace).as_posix(), name, part, common)
