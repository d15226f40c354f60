"""Provenance marks: ` (from: report.pdf)` at the end of entries made from untrusted text. No model writes them; edited
lines keep them, owners can delete them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

_MOST_SOURCES = 3
_OTHERS = "others"
_LONGEST_NAME = 60
_RUN = 24
"""Letters and digits in a row that unrelated texts do not share."""
_BEGIN, _END = " (from: ", ")"
_MARK = re.compile(r" \(from: ([^()\n]{1,400})\)")
_NOT_BARE = {code: None for code in range(128) if not chr(code).isalnum()}
_UNSAFE = re.compile(r"[\s(),;<>\[\]\"`*_|\x00-\x1f\x7f]+")
_NEW_BLOCK = re.compile(r"[ \t]{0,8}(?:[-*+]|\d{1,9}[.)])[ \t]|#|<!--|```|~~~")
_BY_ITSELF = re.compile(r"[\[*]{0,3}\d|[^:：\n]{1,90}[:：]")
"""A line that a search may show alone: it begins with a time, a day or a speaker."""
_HEADING = re.compile(r"#{1,6}(?=[ \t])")
_FENCE = re.compile(r"(?:[-*+][ \t]+)?(`{3,}|~{3,})")
_MOST_CHARS, _MOST_LINES = 1_000, 5
"""Limits of a block until its next mark: searches and prompts show parts of longer ones."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """`sources` apply to all writes; text that repeats a `marked` line gets that line's sources."""

    sources: tuple[str, ...] = ()
    marked: tuple[str, ...] = ()

    def of(self, text: str) -> tuple[str, ...]:
        marked = {run: line for line in self.marked for run in _runs(normalized(without_mark(line)))}
        repeated = dict.fromkeys(marked[run] for run in _runs(normalized(text)) if run in marked) if marked else {}
        return tuple(dict.fromkeys((*self.sources, *(name for line in repeated for name in sources_in(line)))))


_current: ContextVar[Provenance | None] = ContextVar("provenance", default=None)


@contextmanager
def provenance_of_writes(provenance: Provenance) -> Iterator[None]:
    """Marks all Markdown written inside, in threads too."""
    token = _current.set(provenance)
    try:
        yield
    finally:
        _current.reset(token)


def normalized(text: str) -> str:
    """Letters and digits only, normalised for comparison."""
    if text.isascii():
        return text.lower().translate(_NOT_BARE)
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))


def mark_of(sources: Iterable[str]) -> str:
    names = list(dict.fromkeys(filter(None, map(_name, sources))))
    if len(names) > _MOST_SOURCES:
        names = [*names[:_MOST_SOURCES], _OTHERS]
    return f"{_BEGIN}{', '.join(names)}{_END}" if names else ""


def with_mark(text: str, sources: Sequence[str]) -> str:
    present = frozenset(sources_in(text))
    missing = [name for name in sources if _name(name) not in present]
    return text.rstrip() + mark_of(missing) if missing and text.strip() else text


def sources_in(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name.strip() for found in _MARK.findall(text) for name in found.split(",")))


def marked_lines(text: str) -> tuple[str, ...]:
    return tuple(line for line in text.split("\n") if _BEGIN in line and _MARK.search(line))


def without_mark(text: str) -> str:
    return _MARK.sub("", text)


def own_mark(text: str) -> str:
    current = _current.get()
    return with_mark(text, current.of(text)) if current is not None else text


def add_marks(before: str, after: str) -> str:
    """`after` with marks on new lines: from the provenance in force, and from lines that they replace."""
    current = _current.get()
    if current is None or before == after:
        return after
    old, new = before.split("\n"), after.split("\n")
    first, last = _common_ends(old, new)
    was, now = old[first : len(old) - last], new[first : len(new) - last]
    kept = set(now)
    inherited = [name for line in was if line not in kept for name in sources_in(line)]
    known = set(was)
    fresh = [first + at for at, line in enumerate(now) if line.strip() and line not in known]
    sources = tuple(dict.fromkeys((*current.of("\n".join(new[at] for at in fresh)), *inherited))) if fresh else ()
    sources = sources[: _MOST_SOURCES + 1]  # the most that a mark names
    if not sources:
        return after
    positions = _lines_to_mark(new, fresh) or _last_text_line(new)
    if not positions:  # only front matter
        new.insert(len(new) - (not new[-1]), mark_of(sources))
    for at in positions:
        end = "\r" if new[at].endswith("\r") else ""
        new[at] = with_mark(new[at].removesuffix("\r"), sources) + end
    return "\n".join(new)


def add_marks_to_bytes(before: bytes | None, after: bytes) -> bytes:
    """Invalid UTF-8 is returned unchanged."""
    if _current.get() is None:
        return after
    try:
        return add_marks((before or b"").decode(), after.decode()).encode()
    except UnicodeDecodeError:
        return after


def _runs(text: str) -> Iterator[str]:
    return (text[at : at + _RUN] for at in range(len(text) - _RUN + 1))


def _common_ends(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    most = min(len(old), len(new))
    first = next((at for at in range(most) if old[at] != new[at]), most)
    most -= first
    return first, next((at for at in range(most) if old[-1 - at] != new[-1 - at]), most)


def _lines_to_mark(lines: Sequence[str], fresh: Sequence[int]) -> list[int]:
    """The last new line of each bullet, paragraph or part of a long one. Skips front matter, headings with text below;
    fences and comments if possible."""
    head, new = _front_matter_end(lines), set(fresh)
    ends: list[int] = []
    candidates: list[int] = []
    spare: list[int] = []
    chars, fence = 0, ""
    for at in range(head, len(lines)):
        is_heading = not fence and _HEADING.match(lines[at])
        if mark := _FENCE.match(lines[at].lstrip()):
            fence = "" if fence and mark[1].startswith(fence) else fence or mark[1]
        if at not in new:
            continue
        line, below = without_mark(lines[at]), without_mark(lines[at + 1]) if at + 1 in new else ""
        chars += len(line)
        candidates += [at] if _takes_mark(lines[at]) or (is_heading and _has_no_text_below(lines, at)) else []
        spare += [at] if not is_heading and any(map(str.isalnum, lines[at])) else []
        is_end = not below or _NEW_BLOCK.match(below) or _BY_ITSELF.match(below) or len(candidates) == _MOST_LINES
        is_end = is_end or bool(_BY_ITSELF.match(line) and not _NEW_BLOCK.match(line))
        if is_end or chars + len(below) > _MOST_CHARS:
            ends += (candidates or spare)[-1:]
            candidates, spare, chars = [], [], 0
    return ends


def _has_no_text_below(lines: Sequence[str], at: int) -> bool:
    heading = _HEADING.match(lines[at])
    below = next((lines[number] for number in range(at + 1, len(lines)) if lines[number].strip()), "#")
    next_heading = _HEADING.match(below)
    return below == "#" or bool(heading and next_heading and len(next_heading[0]) <= len(heading[0]))


def _last_text_line(lines: Sequence[str]) -> list[int]:
    head = _front_matter_end(lines)
    return [at for at in range(len(lines)) if at >= head and lines[at].strip()][-1:]


def _front_matter_end(lines: Sequence[str]) -> int:
    if not lines or lines[0].strip() != "---":
        return 0
    return next((at + 1 for at in range(1, len(lines)) if lines[at].strip() == "---"), 0)


def _takes_mark(line: str) -> bool:
    text = line.strip()
    return not text.startswith(("#", "<!--", "```", "~~~")) and any(map(str.isalnum, text))


def _name(source: str) -> str:
    words = _UNSAFE.sub(" ", source).strip()
    return words if len(words) <= _LONGEST_NAME else words[: _LONGEST_NAME - 1].rstrip() + "…"
