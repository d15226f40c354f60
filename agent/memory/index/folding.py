"""Text folded for the index: as `words.fold`, and without what writers of some languages leave out as they like."""

from __future__ import annotations

import re

from agent.memory.words import fold

_POINTS = re.compile("[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0640\u064b-\u065f\u0670]")
"""Hebrew and Arabic vowel points, and the stroke that only widens a word."""
_LETTERS = str.maketrans(
    {
        "œ": "oe",
        "æ": "ae",
        "ø": "o",
        "đ": "d",
        "ł": "l",
        "ı": "i",
        "أ": "ا",
        "إ": "ا",
        "آ": "ا",
        "ٱ": "ا",
        "ى": "ي",
        "ة": "ه",
    }
)


def folded(text: str) -> str:
    """Idempotent."""
    if text.isascii():
        return text.lower()
    return _POINTS.sub("", fold(text)).translate(_LETTERS)
