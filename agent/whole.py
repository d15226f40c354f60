"""Text that every file, database and platform can hold: without halves of characters (lone surrogates), which JSON can
carry and UTF-8 cannot."""

from __future__ import annotations


def whole(text: str) -> str:
    """The text with halves joined where they belong together, and U+FFFD for each single one."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
