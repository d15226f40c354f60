"""As much of a passage as is shown, and exactly which lines of its file that is. Blocks: reads the file again."""

from __future__ import annotations

import re
from dataclasses import dataclass

from agent.memory.files import FileError, read_text
from agent.memory.scope import Scope
from agent.memory.search import Hit

CUT = " […]"
_BULLET = re.compile(r"\A[-*+] (?=\S)(?!context )")


@dataclass(frozen=True, slots=True)
class QuotedLines:
    """Lines of a file that were shown, first and last; `path` relative to the workspace. `is_part`: something of them
    was left out."""

    path: str
    lines: tuple[int, int]
    is_part: bool = False


@dataclass(frozen=True, slots=True)
class Quotation:
    text: str
    source: QuotedLines


class Quotations:
    """Of one scope; each file is read once."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._lines: dict[str, list[str]] = {}

    def quote(self, hit: Hit, most: int) -> Quotation:
        """At most so many characters of a passage, cut at a line's end where there is one."""
        text = hit.text
        if len(text) > most:
            end = text.rfind("\n", 0, most + 1)
            text = text[:end] if end > 0 else text[:most]
        path = (self._scope.folder / hit.path).relative_to(self._scope.workspace).as_posix()
        last = self._last_line(hit, text)
        shown = QuotedLines(path, (hit.start_line, last or hit.end_line), last is None)
        return Quotation(text if text == hit.text else text + CUT, shown)

    def _last_line(self, hit: Hit, text: str) -> int | None:
        """Where the text ends, if from the passage's first line on it is what the file says; blank lines between do
        not count."""
        lines, number = self._of_file(hit.path), hit.start_line - 1
        for line in text.split("\n"):
            while line.strip() and number < len(lines) and not lines[number].strip():
                number += 1
            if number >= len(lines) or lines[number].rstrip() != line.rstrip():
                return None
            number += 1
        return number

    def _of_file(self, path: str) -> list[str]:
        if path not in self._lines:
            try:
                file = read_text(self._scope.folder / path, self._scope.folder)
            except FileError:
                file = None
            self._lines[path] = file.text.split("\n") if file is not None else []
        return self._lines[path]


def without_bullet(text: str) -> str:
    """A passage without the mark of the bullet that it is: the mark says nothing, and takes room. What would then begin
    like the label of a search's text keeps it."""
    return _BULLET.sub("", text)
