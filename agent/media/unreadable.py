"""The reason why a file cannot be read."""

from __future__ import annotations

TOO_MUCH = "reading it takes more time or memory than it may have"


class Unreadable(Exception):
    """The end of a sentence about the file: "it is protected by a password"."""
