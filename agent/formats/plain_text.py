"""Text that every file, database and platform can hold: without halves of characters (lone surrogates), which JSON can
carry and UTF-8 cannot.

Names for files and headings, in any script.
"""

from __future__ import annotations

import unicodedata


def whole(text: str) -> str:
    """The text with halves joined where they belong together, and U+FFFD for each single one."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


MAX_BYTES = 120


def slug(text: str) -> str:
    """`text` in small letters, digits and single hyphens, at most `MAX_BYTES` bytes of UTF-8; `note` where it has
    neither letter nor digit. Marks that belong to a letter (Devanagari vowels, accents) are kept."""
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFKC", text).casefold())
    spaced = "".join(c if unicodedata.category(c)[0] in "LNM" else " " for c in folded)
    name = "-".join(spaced.split())
    short = name.encode()[:MAX_BYTES].decode("utf-8", "ignore").strip("-")
    return short or "note"
