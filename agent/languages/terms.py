"""Text to search terms, in any script; without spaces, to pairs of letters with their marks."""

from __future__ import annotations

import re
import unicodedata

from agent.languages.registry import LANGUAGES

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Myanmar, Khmer
    "\u3040-\u30ff\u3100-\u312f\u3400-\u9fff\U00020000-\U0003ffff\uac00-\ud7af"  # kana, Bopomofo, Han, Hangul
)
_MARKED_BLOCKS = (range(0x0300, 0x1E00), range(0xA600, 0xAC00), range(0x10A00, 0x12000), range(0x1E000, 0x1F000))
"""Blocks with the combining marks of all scripts, without those of emoji and keys (\u20e3, \ufe0f)."""
_MARKS = "".join(chr(code) for block in _MARKED_BLOCKS for code in block if unicodedata.category(chr(code))[0] == "M")
_TERM = re.compile(rf"[{_UNSPACED}]+|[^\W_{_UNSPACED}]+(?:[{_MARKS}]+[^\W_{_UNSPACED}]*)*")
_ASCII_TERM = re.compile(r"[^\W_]+")
_MARK = re.compile(rf"[{_MARKS}]")
_LETTER = re.compile(rf".[{_MARKS}]*", re.DOTALL)
_IS_UNSPACED = re.compile(rf"[{_UNSPACED}]")
_LEFT_OUT = re.compile("[\u0300-\u036f\u00ad\u200c\u200d\u2060\ufeff]")
"""Accents and invisible characters within words."""


def fold(text: str) -> str:
    """`text` without case, accents, width variants, and invisible characters in words."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text).casefold()  # in this order: 𝓐 is a form of A
    return unicodedata.normalize("NFC", _LEFT_OUT.sub("", decomposed))


def runs(folded: str) -> list[str]:
    """The words of folded text; unspaced scripts unsplit."""
    return (_ASCII_TERM if folded.isascii() else _TERM).findall(folded)


def terms(folded: str) -> list[str]:
    found: list[str] = []
    for word in runs(folded):
        found += (pairs(word)[:-1] or [word]) if _IS_UNSPACED.match(word) else [word]
    return found


def pairs(run: str) -> list[str]:
    """Each letter of an unspaced run with marks and the next letter; the last alone."""
    if _MARK.search(run) is None:
        return [run[at : at + 2] for at in range(len(run))]
    letters = _LETTER.findall(run)
    return [*map(str.__add__, letters, letters[1:]), *letters[-1:]]


def query_terms(query: str) -> list[str]:
    """Distinct terms, without common ones unless only these are left."""
    every = list(dict.fromkeys(terms(fold(query))))
    return [term for term in every if term not in _COMMON] or every


def is_same_word(term: str, other: str) -> bool:
    """Whether two terms are forms of one word, by how they begin."""
    if term == other:
        return True
    least = max(_LEAST_COMMON, -(-2 * min(len(term), len(other)) // 3))
    return term[:least] == other[:least] and min(len(term), len(other)) >= least


_LEAST_COMMON = 4
"""Letters with which two forms of one word begin."""


def is_common(term: str) -> bool:
    return term in _COMMON


def is_unspaced(term: str) -> bool:
    return _IS_UNSPACED.match(term) is not None


def is_small_talk(term: str) -> bool:
    """Whether a term is a greeting, thanks or praise, or a pair with a particle: it says nothing about a memory."""
    if term in _SMALL_TALK:
        return True
    is_grammar = _HIRAGANA.search(term) is not None or not _PARTICLES.isdisjoint(term)
    return is_grammar and is_unspaced(term)


def is_small_word(term: str) -> bool:
    """Whether a term is small talk by itself, not as a pair with a particle."""
    return term in _SMALL_TALK


_COMMON = frozenset(fold(" ".join(table.common.grammar for table in LANGUAGES.values())).split())
"""Words too common to search for."""
_SMALL_TALK = frozenset(fold(" ".join(table.common.small_talk for table in LANGUAGES.values())).split())
_HIRAGANA = re.compile("[\u3041-\u309f]")
_PARTICLES = frozenset("".join(table.common.particles for table in LANGUAGES.values()))


_POINTS = re.compile(
    "[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u093c]"
)
"""Hebrew and Arabic vowel points, the Arabic tatweel, and the Hindi nukta."""
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
    | {chr(code): str(unicodedata.decimal(chr(code))) for code in range(0x660, 0x1820) if chr(code).isdecimal()}
)
"""Letters with several spellings, and digits of other scripts."""


def fold_for_index(text: str) -> str:
    """`fold` without optional marks and spelling variants. Idempotent."""
    if text.isascii():
        return text.lower()
    return _POINTS.sub("", fold(text)).translate(_LETTERS)
