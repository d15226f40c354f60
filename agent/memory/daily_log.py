"""Daily logs and HISTORY.md: their format, and the changes that they allow (invariant 7). Pure.

A HISTORY.md paragraph is one line: `[YYYY-MM-DD HH:MM] text (source)`. A later paragraph that names an extract, made
without a model, replaces it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime
from pathlib import Path

from agent.memory.scope import Scope

_NAME = re.compile(r"(\d{4}-\d{2}-\d{2})\.md", re.ASCII | re.IGNORECASE)
_OPENING = re.compile(r"# [^\n]*\n")
_TIMED = re.compile(r"- (?:\d{2}:\d{2} )?")
_FINISHED = re.compile(r"\d{2}:\d{2} |Journal · ")
NOTES = "Notes"
"""The heading for entries without a section that follow a section."""


def log_path(scope: Scope, day: date) -> Path:
    return scope.folder / "memory" / f"{day.isoformat()}.md"


def day_of(path: Path) -> date | None:
    """The day of `memory/YYYY-MM-DD.md`, in any letter case; None for other paths."""
    match = _NAME.fullmatch(path.name)
    if match is None or path.parent.name.casefold() != "memory":
        return None
    try:
        return date.fromisoformat(match[1])
    except ValueError:
        return None


def is_history(path: Path) -> bool:
    return path.name.casefold() == "history.md" and path.parent.name.casefold() == "memory"


def refusal_to_change(path: Path, today: date) -> str | None:
    """Why `path` may not change, if so."""
    if is_history(path):
        return f"{path.name} only grows, by Daybook itself, when conversations end; memory_append adds to today's log"
    if day_of(path) in (None, today):
        return None
    return f"{path.name} is the log of another day, which is never changed; memory_append adds to today's"


def refusal_to_shorten(path: Path, before: bytes | None, after: bytes | None) -> str | None:
    """Why a log may not change from `before` to `after` (None: no file)."""
    if day_of(path) is None or (after is not None and after.startswith(before or b"")):
        return None
    return f"{path.name} is today's log, which only grows: keep its text and add at its end, or use memory_append"


def strike_out(text: str, mark: str) -> str:
    """`mark` in place of a log's text; title, leading blank lines and first time stay."""
    begin = _OPENING.match(text)
    start = begin.end() if begin is not None else 0
    start += len(text[start:]) - len(text[start:].lstrip("\n"))
    timed = next(filter(None, map(_TIMED.match, text[start:].splitlines())), None)
    return f"{text[:start]}{timed[0] if timed is not None else ''}{mark}"


def new_log(day: date) -> str:
    return f"# {day.isoformat()}\n\n"


def entry(now: datetime, text: str) -> str:
    first, *more = text.strip().splitlines()
    lines = [f"- {now:%H:%M} {first.strip()}", *(f"  {line.rstrip()}".rstrip() for line in more)]
    return "\n".join(lines) + "\n"


def heading_line(heading: str) -> str:
    return f"## {' '.join(heading.split())}\n\n"


def last_heading(log: str) -> str:
    for line in reversed(log.splitlines()):
        if line.startswith(("## ", "##\t")) and (words := line[2:].strip(" \t")):
            return words.rstrip("#").rstrip(" \t") or words[0]
    return ""


def is_finished(heading: str) -> bool:
    return _FINISHED.match(heading) is not None


def blank_line_after(before: str) -> str:
    return "" if before.endswith("\n\n") or not before else "\n"


def gap_before_entry(before: str) -> str:
    last = before.splitlines()[-1] if before else ""
    return "" if last.startswith(("- ", "  ")) else blank_line_after(before)


HISTORY_FILE = "HISTORY.md"
_MOMENT = re.compile(r"\[(\d{4}-\d{2}-\d{2} \d{2}:\d{2})\] ")


def history_path(scope: Scope) -> Path:
    return scope.folder / "memory" / HISTORY_FILE


def day_of_paragraph(line: str) -> date | None:
    match = _MOMENT.match(line)
    try:
        return date.fromisoformat(match[1][:10]) if match else None
    except ValueError:  # hand-written, as 2026-13-40
        return None


def history_addition(before: str, now: datetime, text: str, source: str, *, extract: bool) -> str:
    """The line to append; empty if `source` has a paragraph."""
    words = " ".join(text.split())
    if not source:
        return f"[{now:%Y-%m-%d %H:%M}] {words}\n"
    extracts = (line for line in before.split("\n") if line.endswith(f" (extract of {source})"))
    known = next(filter(None, map(_MOMENT.match, extracts)), None)
    if f" ({source})\n" in before or (extract and known is not None):
        return ""
    if extract:
        return f"[{now:%Y-%m-%d %H:%M}] {words} (extract of {source})\n"
    instead = f"In place of the extract of {known[1]}: " if known is not None else ""
    return f"[{now:%Y-%m-%d %H:%M}] {instead}{words} ({source})\n"


JOURNAL_TITLE = "## Journal · "
"""The beginning of a journal section's heading."""


JOURNAL_MARK = re.compile(r"<!-- journal (\S+) (\d+)-(\d+) (model|extract) -->")


def lines_outside_session(lines: Sequence[str], session: str) -> list[int]:
    """Lines, from 0, that are not in a journal section of the session."""
    kept: list[int] = []
    section: list[int] = []
    for at, line in enumerate(lines):
        if line.startswith("## "):
            kept, section = kept + section, []
        if section or line.startswith(JOURNAL_TITLE):
            section.append(at)
        else:
            kept.append(at)
        if match := JOURNAL_MARK.fullmatch(line.rstrip("\n")):
            kept, section = kept if match[1] == session else kept + section, []
    return kept + section
