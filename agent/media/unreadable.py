"""What a file that cannot be read is answered with."""

from __future__ import annotations

TOO_MUCH = "reading it takes more time or memory than it may have"


class Unreadable(Exception):
    """The text says why, as the end of a sentence that begins with the file's name: "it is protected by a password"."""
