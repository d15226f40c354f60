"""A text as a list shows it."""

from __future__ import annotations


def one_line(text: str, most: int) -> str:
    """Its words on one line of at most so many characters; what was cut ends in `…`."""
    words = " ".join(text.split())
    return words if len(words) <= most else words[: most - 1].rstrip() + "…"
