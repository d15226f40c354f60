"""Text folded for the index: as `words.fold`, and without what writers of some languages leave out as they like."""

from __future__ import annotations

import re
import unicodedata

from agent.memory.words import fold

_POINTS = re.compile(
    "[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u093c]"
)
"""Hebrew and Arabic vowel points, the stroke that only widens a word, and the dot below letters of Hindi."""
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
        "ँ": "ं",
    }
    | {chr(one): str(unicodedata.decimal(chr(one))) for one in range(0x660, 0x1820) if chr(one).isdecimal()}
)
"""Letters that are spelt in several ways, and digits of other scripts."""


def folded(text: str) -> str:
    """Idempotent."""
    if text.isascii():
        return text.lower()
    return _POINTS.sub("", fold(text)).translate(_LETTERS)
