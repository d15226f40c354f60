"""The shape of a paragraph in HISTORY.md: one line, `[YYYY-MM-DD HH:MM] text (source)`. Pure text.

The file only grows. Where no model could be asked, an extract stands there first; the paragraph that is made later
follows at the end and says whose place it takes.
"""

from __future__ import annotations

import re
from datetime import date, datetime

FILE = "HISTORY.md"
_MOMENT = re.compile(r"\[(\d{4}-\d{2}-\d{2} \d{2}:\d{2})\] ")


def day_of(line: str) -> date | None:
    """The day that a paragraph begins with; None for any other line."""
    match = _MOMENT.match(line)
    try:
        return date.fromisoformat(match[1][:10]) if match else None
    except ValueError:  # a hand wrote 2026-13-40
        return None


def addition(before: str, now: datetime, text: str, source: str, *, extract: bool) -> str:
    """The line to add to a file that ends with `before`; nothing where what `source` names is told already."""
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
