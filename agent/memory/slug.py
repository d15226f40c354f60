"""Names for files and headings, in any script."""

from __future__ import annotations

import unicodedata

MAX_BYTES = 120


def slug(text: str) -> str:
    """`text` in small letters, digits and single hyphens, at most `MAX_BYTES` bytes of UTF-8; `note` where it has
    neither letter nor digit. Marks that belong to a letter (Devanagari vowels, accents) are kept."""
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFKC", text).casefold())
    spaced = "".join(c if unicodedata.category(c)[0] in "LNM" else " " for c in folded)
    name = "-".join(spaced.split())
    short = name.encode()[:MAX_BYTES].decode("utf-8", "ignore").strip("-")
    return short or "note"
