"""Mends words in which a letter is wrong. Pure.

A letter is missing, too many, of the key beside its own, or in its neighbour's place. The first and the last letter
count: endings say more than a slip. A time word, and what a language lists as `lookalikes`, is meant as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from agent.languages.codes import Language
from agent.languages.files import read_file
from agent.languages.order_words import flat, words_of
from agent.languages.registry import LANGUAGES

_DECIDE = frozenset(
    (
        *("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
        *("january", "february", "march", "april", "may", "june", "july", "august", "september", "october"),
        *("november", "december", "today", "tonight", "tomorrow", "after_tomorrow", "quarter", "minute", "hour"),
        *("today morning", "tomorrow morning", "noon", "midnight", "morning", "afternoon", "evening"),
        *("morning?", "afternoon?", "evening?"),
    )
)
"""The times that decide when."""
_LEAST = 5
"""Letters of a word that is mended."""
_ANY_LETTER = 8
"""Letters of a word in which one may be any other."""
_WORD = re.compile(r"[^\W\d_]+")
_KEYS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_BESIDE = frozenset(
    pair
    for row, upper in zip(_KEYS, ("", *_KEYS), strict=False)
    for at, key in enumerate(row)
    for other in (row[at + 1 : at + 2], upper[at : at + 1], upper[at + 1 : at + 2])
    if other
    for pair in (key + other, other + key)
)


def mended(text: str, language: Language, *, orders: bool = False) -> str:
    """The text with misspelt words of time mended. `orders`: those of orders as well."""
    return _WORD.sub(lambda found: _meant(found[0], language, orders), text) if LANGUAGES[language].spaced else text


@lru_cache(maxsize=8192)
def _meant(word: str, language: Language, orders: bool) -> str:
    own = flat(word)
    times, words, real = _times(language), words_of(language).known if orders else frozenset[str](), _real(language)
    if len(own) < _LEAST or own in times or own in words or own in real:
        return word
    near = {known: times.get(known, "") for known in (*times, *words) if _is_near(own, known)}
    if any(near.values()) and len(set(near.values())) > 1:  # another time, or no time
        return word
    return max(sorted(near), key=len, default=word)


def _is_near(word: str, other: str) -> bool:
    if word[0] != other[0] or abs(len(word) - len(other)) > 1 or len(other) < _LEAST:
        return False
    if len(word) != len(other):
        short, long = sorted((word, other), key=len)
        is_ending = short[-1] != long[-1] or long[-2:] == "ee"  # "annulée"
        return not is_ending and any(long[:at] + long[at + 1 :] == short for at in range(1, len(long) - 1))
    differs = [at for at, (a, b) in enumerate(zip(word, other, strict=True)) if a != b]
    if len(differs) == 2:
        return differs[1] == differs[0] + 1 and sorted(word) == sorted(other)
    if len(differs) != 1 or differs[0] == len(word) - 1:
        return False
    is_any = len(word) >= _ANY_LETTER and differs[0] < len(word) - 2  # "recuerdas", "recuerdes"
    return is_any or word[differs[0]] + other[differs[0]] in _BESIDE


@lru_cache
def _times(language: Language) -> Mapping[str, str]:
    """The meanings of words of time, by word."""
    return {word: name for name, word in _single(language) if name in _DECIDE and len(word) >= _LEAST}


@lru_cache
def _real(language: Language) -> frozenset[str]:
    """Words that are meant as they are."""
    table, given = LANGUAGES[language], words_of(language)
    listed = f"{table.common.grammar} {table.common.small_talk} {given.given.lookalikes}"
    return frozenset((*map(flat, listed.split()), *given.talk, *(word for _, word in _single(language))))


def _single(language: Language) -> Iterator[tuple[str, str]]:
    """The meaning and the word, for each word of time."""
    time = read_file(language)["time"]
    assert isinstance(time, dict)
    words, numbers = time["words"], time["numbers"]
    assert isinstance(words, dict) and isinstance(numbers, dict)
    for name, phrases in (*words.items(), *(("number", text) for text in numbers.values() if isinstance(text, str))):
        for word in _WORD.findall(str(phrases)) if name == "number" else map(str.strip, str(phrases).split("|")):
            if _WORD.fullmatch(word):
                yield name, flat(word)
