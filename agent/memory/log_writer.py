"""Appends to a scope's daily logs and HISTORY.md. Blocks."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from agent.clock import Clock
from agent.formats.plain_text import slug
from agent.languages.sentences import Sentence
from agent.memory import daily_log
from agent.memory.files import NotWritten, append, clean
from agent.memory.scope import Scope


def append_log(scope: Scope, clock: Clock, text: str, heading: str | None = None) -> Path:
    """Adds an entry `- HH:MM text` to today's log, below `## heading`; without one, after a finished section, below `##
    Notes`. Raises `NotWritten` (blank text, full disk…)."""
    if not text.strip():
        raise NotWritten(Sentence("there is nothing to add: the text is empty"))
    now = clock.now()
    path = daily_log.log_path(scope, now.date())
    title = " ".join(clean(heading).split()) if heading else ""

    def addition(before: str) -> str:
        last = daily_log.last_heading(before)
        wanted = title or (daily_log.NOTES if daily_log.is_finished(last) else last)
        start = (
            daily_log.gap_before_entry(before)
            if wanted == last
            else daily_log.blank_line_after(before) + daily_log.heading_line(wanted)
        )
        return start + daily_log.entry(now, clean(text))

    append(path, scope.folder, addition, daily_log.new_log(now.date()))
    return path


def append_section(scope: Scope, clock: Clock, heading: str, body: str) -> Path:
    """Adds a section `## HH:MM heading` (as a slug) to today's log. Raises `NotWritten`."""
    now = clock.now()
    path = daily_log.log_path(scope, now.date())
    section = daily_log.heading_line(f"{now:%H:%M} {slug(clean(heading))}") + clean(body).strip() + "\n"
    append(
        path, scope.folder, lambda before: daily_log.blank_line_after(before) + section, daily_log.new_log(now.date())
    )
    return path


def append_day(scope: Scope, day: date, section: str) -> Path:
    """Adds a complete section to any day's log. Raises `NotWritten`."""
    path = daily_log.log_path(scope, day)
    append(
        path, scope.folder, lambda before: daily_log.blank_line_after(before) + clean(section), daily_log.new_log(day)
    )
    return path


def append_history(scope: Scope, clock: Clock, paragraph: str, source: str = "", *, extract: bool = False) -> Path:
    """Adds a one-line paragraph to HISTORY.md, once per source; the paragraph after an `extract` names it. Raises
    `NotWritten`."""
    now = clock.now()
    path = daily_log.history_path(scope)

    def addition(before: str) -> str:
        line = daily_log.history_addition(before, now, clean(paragraph), source, extract=extract)
        return daily_log.blank_line_after(before) + line if line else ""

    append(path, scope.folder, addition, "# History\n\n")
    return path
