"""Finds English words in an answer that is to be in another language."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache

from agent.languages.codes import Language
from agent.languages.files import read_file
from agent.languages.sentences import sentences_of

_GROUPS = ("reminders", "chat", "approvals", "programs", "journal", "offline", "moments")
"""Of English: the texts that are no sentences of the code."""
_ALWAYS = frozenset(
    [
        "the",
        "you",
        "your",
        "and",
        "with",
        "this",
        "that",
        "here",
        "there",
        "every",
        "next",
        "today",
        "tomorrow",
        "please",
        "are",
        "have",
        "it",
        "of",
        "is",
    ]
)
_CODE = re.compile(r"```.*?```|`[^`]*`|https?://\S+", re.DOTALL)
_WORD = re.compile(r"(?<![0-9a-zÀ-ɏ])[a-zÀ-ɏ]{2,}(?:['’][a-zÀ-ɏ]+)?(?![0-9a-zÀ-ɏ])", re.IGNORECASE)
"""Letters beside digits are of a code."""
"""Of Latin letters, because Chinese and Japanese stand beside them without a space."""


def english_in(answer: str, language: Language, *quoted: str) -> list[str]:
    """The English words of an answer, apart from what is to be typed (in backticks) and what it quotes."""
    for one in quoted:
        answer = answer.replace(one, " ")
    return [word for word in _words(_CODE.sub(" ", answer)) if word in _english(language)]


@cache
def _english(language: Language) -> frozenset[str]:
    """Words of our English sentences that our sentences in that language never use."""
    english = [*sentences_of(language), *_of_groups(Language.ENGLISH)]
    own = [*sentences_of(language).values(), *_of_groups(language)]
    return _ALWAYS | (_all_words(english) - _all_words(own))


def _of_groups(language: Language) -> list[str]:
    return [text for group in _GROUPS for text in _texts(read_file(language)[group])]


def _all_words(texts: list[str]) -> frozenset[str]:
    return frozenset(word for text in texts for word in _words(_CODE.sub(" ", text)))


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        for one in value.values():
            yield from _texts(one)
    elif isinstance(value, str):
        yield value
