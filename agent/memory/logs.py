"""What is added to a scope's daily logs and to its HISTORY.md, which only grow. Blocks, as all of `files` does."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from agent.clock import Clock
from agent.memory import daily, paragraphs
from agent.memory.files import NotWritten, append, clean
from agent.memory.scope import Scope
from agent.memory.slug import slug


def append_log(scope: Scope, clock: Clock, text: str, heading: str | None = None) -> Path:
    """Add an entry to today's log of the scope: one bullet, `- HH:MM text`. Returns the log's path.

    `heading` stands before it as `## heading`, unless the log's end is already under it; without one, what comes behind
    a finished section (the end of a talk, a part of the journal) stands under `## Notes`.

    Nothing of `text` is left out; what UTF-8 cannot hold shows as U+FFFD. Raises `NotWritten` (blank text, full disk…).
    """
    if not text.strip():
        raise NotWritten("there is nothing to add: the text is empty")
    now = clock.now()
    path = daily.log_path(scope, now.date())
    title = " ".join(clean(heading).split()) if heading else ""

    def addition(before: str) -> str:
        last = daily.last_heading(before)
        wanted = title or (daily.NOTES if daily.is_finished(last) else last)
        start = daily.gap_before_entry(before) if wanted == last else daily.gap(before) + daily.heading_line(wanted)
        return start + daily.entry(now, clean(text))

    append(path, scope.folder, addition, daily.new_log(now.date()))
    return path


def append_section(scope: Scope, clock: Clock, heading: str, body: str) -> Path:
    """Add a section `## HH:MM heading`, the heading as a slug, with `body` as it is to today's log of the scope.
    Returns the log's path. Raises `NotWritten`."""
    now = clock.now()
    path = daily.log_path(scope, now.date())
    section = daily.heading_line(f"{now:%H:%M} {slug(clean(heading))}") + clean(body).strip() + "\n"
    append(path, scope.folder, lambda before: daily.gap(before) + section, daily.new_log(now.date()))
    return path


def append_day(scope: Scope, day: date, section: str) -> Path:
    """Add a finished section, heading and all, to the log of a day, which may be past: a log may grow (invariant 7).
    Returns the log's path. Raises `NotWritten`."""
    path = daily.log_path(scope, day)
    append(path, scope.folder, lambda before: daily.gap(before) + clean(section), daily.new_log(day))
    return path


def append_history(scope: Scope, clock: Clock, paragraph: str, source: str = "", *, extract: bool = False) -> Path:
    """Add a paragraph `[YYYY-MM-DD HH:MM] text`, one line, on an ended or compacted talk to `memory/HISTORY.md`.
    `source` names the talk at its end; a paragraph of the same source is not added twice, and one that comes after the
    `extract` of its source says so. Returns the file's path. Raises `NotWritten`."""
    now = clock.now()
    path = scope.folder / "memory" / "HISTORY.md"

    def addition(before: str) -> str:
        line = paragraphs.addition(before, now, clean(paragraph), source, extract=extract)
        return daily.gap(before) + line if line else ""

    append(path, scope.folder, addition, "# History\n\n")
    return path
