"""Parts of a message as the model reads it (written by `context.header`)."""

from __future__ import annotations

import re
from datetime import date

from agent.formats import untrusted

NO_TEXT = "(no text)"


_DOCUMENT = re.compile(r'^<daybook-document name="([^"]*)"', re.MULTILINE)


_HEADER = re.compile(r"\A\[(\d{4}-\d{2}-\d{2}) \w{3} \d{2}:\d{2} [^\n]*\]\n")


def day_in_header(text: str) -> date | None:
    """None without a header."""
    match = _HEADER.match(text)
    try:
        return date.fromisoformat(match[1]) if match else None
    except ValueError:
        return None


def person_text(text: str) -> str:
    return untrusted.without_blocks(_HEADER.sub("", text, count=1)).strip()


def enclosures(text: str) -> list[str]:
    return _DOCUMENT.findall(text)
