"""What is added to a scope's daily logs and to its HISTORY.md, which only grow. Blocks, as all of `files` does."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from agent.clock import Clock
from agent.formats.plain_text import slug
from agent.memory import daily_log
from agent.memory.files import NotWritten, append, clean
from agent.memory.scope import Scope


def append_log(scope: Scope, clock: Clock, text: str, heading: str | None = None) -> Path:
    """Add an entry to today's log of the scope: one bullet, `- HH:MM text`. Returns the log's path.

    `heading` stands before it as `## heading`, unless the log's end is already under it; without one, what comes behind
    a finished section (the end of a talk, a part of the journal) stands under `## Notes`.

    Nothing of `text` is left out; what UTF-8 cannot hold shows as U+FFFD. Raises `NotWritten` (blank text, full disk…).
    """
    if not text.strip():
        raise NotWritten("there is nothing to add: the text is empty")
    now = clock.now()
    path = daily_log.log_path(scope, now.date())
    title = " ".join(clean(heading).split()) if heading else ""

    def addition(before: str) -> str:
        last = daily_log.last_heading(before)
        wanted = title or (daily_log.NOTES if daily_log.is_finished(last) else last)
        start = (
            daily_log.gap_before_entry(before)
            if wanted == last
            else daily_log.gap(before) + daily_log.heading_line(wanted)
        )
        return start + daily_log.entry(now, clean(text))

    append(path, scope.folder, addition, daily_log.new_log(now.date()))
    return path


def append_section(scope: Scope, clock: Clock, heading: str, body: str) -> Path:
    """Add a section `## HH:MM heading`, the heading as a slug, with `body` as it is to today's log of the scope.
    Returns the log's path. Raises `NotWritten`."""
    now = clock.now()
    path = daily_log.log_path(scope, now.date())
    section = daily_log.heading_line(f"{now:%H:%M} {slug(clean(heading))}") + clean(body).strip() + "\n"
    append(path, scope.folder, lambda before: daily_log.gap(before) + section, daily_log.new_log(now.date()))
    return path


def append_day(scope: Scope, day: date, section: str) -> Path:
    """Add a finished section, heading and all, to the log of a day, which may be past: a log may grow (invariant 7).
    Returns the log's path. Raises `NotWritten`."""
    path = daily_log.log_path(scope, day)
    append(path, scope.folder, lambda before: daily_log.gap(before) + clean(section), daily_log.new_log(day))
    return path


def append_history(scope: Scope, clock: Clock, paragraph: str, source: str = "", *, extract: bool = False) -> Path:
    """Add a paragraph `[YYYY-MM-DD HH:MM] text`, one line, on an ended or compacted talk to `memory/HISTORY.md`.
    `source` names the talk at its end; a paragraph of the same source is not added twice, and one that comes after the
    `extract` of its source says so. Returns the file's path. Raises `NotWritten`."""
    now = clock.now()
    path = scope.folder / "memory" / "HISTORY.md"

    def addition(before: str) -> str:
        line = daily_log.history_addition(before, now, clean(paragraph), source, extract=extract)
        return daily_log.gap(before) + line if line else ""

    append(path, scope.folder, addition, "# History\n\n")
    return path
