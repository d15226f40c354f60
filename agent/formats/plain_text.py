"""Text that every file, database and platform can hold, and slugs in any script."""

from __future__ import annotations

import unicodedata


def repair_surrogates(text: str) -> str:
    """Joins paired surrogates and replaces lone ones: JSON can carry them, UTF-8 cannot."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


MAX_BYTES = 120


def slug(text: str) -> str:
    """Lower-case letters, combining marks, digits and single hyphens, at most `MAX_BYTES` bytes, or `note`."""
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFKC", text).casefold())
    spaced = "".join(c if unicodedata.category(c)[0] in "LNM" else " " for c in folded)
    name = "-".join(spaced.split())
    short = name.encode()[:MAX_BYTES].decode("utf-8", "ignore").strip("-")
    return short or "note"
