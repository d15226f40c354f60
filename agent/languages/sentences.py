"""Sentences whose English stands in the code: `said(language, "{count} files", count=3)`. The other languages' files
have them in their table `sentences`, by the English. Pure but for the first reading of a file.

Whoever doesn't know for whom a text is makes a `Sentence`, and whoever shows it translates.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import LiteralString, Self

from agent.languages.codes import Language
from agent.languages.files import read_file


class Sentence(str):
    """An English text that keeps its template and values, for those who show it in another language."""

    __slots__ = ("english", "values")
    english: str
    values: Mapping[str, object]

    def __new__(cls, english: str, /, **values: object) -> Self:
        made = super().__new__(cls, english.format(**values) if values else english)
        made.english, made.values = english, values
        return made

    def in_language(self, language: Language) -> str:
        known = sentences_of(language).get(self.english, self.english)
        values = {name: translated(language, value) for name, value in self.values.items()}
        return known.format(**values) if values else known


class SentenceSeries(Sentence):
    """Several texts, one after another. `between` is no word."""

    __slots__ = ("between", "texts")
    between: str
    texts: tuple[str, ...]

    def __new__(cls, between: str, texts: Iterable[str]) -> Self:
        texts = tuple(texts)
        made = super().__new__(cls, between.join(texts))
        made.between, made.texts = between, texts
        return made

    def in_language(self, language: Language) -> str:
        return self.between.join(str(translated(language, text)) for text in self.texts)


def said(language: Language, english: LiteralString, /, **values: object) -> str:
    """The sentence with its `{values}` filled in; those that are a `Sentence` are translated too."""
    text = sentences_of(language).get(english, english)
    return text.format(**{name: translated(language, value) for name, value in values.items()}) if values else text


def translated(language: Language, text: object) -> object:
    """A `Sentence` in that language; anything else as it is."""
    return text.in_language(language) if isinstance(text, Sentence) else text


def sentence_of(error: Exception) -> str:
    """What an error says, translatable if it was made so."""
    first = error.args[0] if error.args else ""
    return first if isinstance(first, Sentence) else str(error)


def sentences_of(language: Language) -> Mapping[str, str]:
    """By the English ones; none for English. Blocks for some milliseconds, the first time."""
    table = read_file(language).get("sentences", {})
    assert isinstance(table, dict)
    return table  # type: ignore[return-value]  # the tests of the files hold that all are texts
