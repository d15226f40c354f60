"""Sentences whose English stands in the code: `said(language, "{count} files", count=3)`. The other languages' files
have them in their table `sentences`, by the English. Pure but for the first reading of a file.

Whoever doesn't know for whom a text is makes a `Sentence`, and whoever shows it translates. `str` of an error that was
made of a `Sentence` is that `Sentence`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import LiteralString, Self, TypeVar, cast

from agent.languages.codes import Language
from agent.languages.files import read_file

_Json = TypeVar("_Json")


class Translatable(str):
    """An English text that can be said in another language."""

    __slots__ = ()

    def __str__(self) -> str:  # what an error says stays translatable
        return self

    def in_language(self, language: Language) -> str:
        raise NotImplementedError


class Sentence(Translatable):
    """Keeps its template and values."""

    __slots__ = ("english", "values")
    english: str
    values: Mapping[str, object]

    def __new__(cls, english: str, /, **values: object) -> Self:
        made = super().__new__(cls, english.format(**values) if values else english)
        made.english, made.values = english, values
        return made

    def in_language(self, language: Language) -> str:
        return _said(language, self.english, self.values)


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


def joined(texts: Iterable[str], between: str = "\n\n") -> str:
    """The texts that are not empty as one text; those that are a `Sentence` stay translatable."""
    return SentenceSeries(between, filter(None, texts))


def said(language: Language, english: LiteralString, /, **values: object) -> str:
    """The sentence with its `{values}` filled in; those that are `Translatable` in the language, too."""
    return _said(language, english, values)


def _said(language: Language, english: str, values: Mapping[str, object]) -> str:
    text = sentences_of(language).get(english, english)
    return text.format(**{name: translated(language, value) for name, value in values.items()}) if values else text


def translated(language: Language, text: object) -> object:
    """A `Translatable`, or an error that says one, in that language; anything else as it is."""
    if isinstance(text, BaseException):
        text = str(text)
    return text.in_language(language) if isinstance(text, Translatable) else text


def all_translated(language: Language, value: _Json) -> _Json:
    """JSON with every `Translatable` in it, however deep, in that language."""
    made: object = translated(language, value)
    if isinstance(value, Mapping):
        made = {key: all_translated(language, inner) for key, inner in value.items()}
    elif isinstance(value, list | tuple):
        made = [all_translated(language, inner) for inner in value]
    return cast(_Json, made)


def sentences_of(language: Language) -> Mapping[str, str]:
    """A language's sentences by the English ones; none for English. Blocks for some milliseconds, the first time."""
    table = read_file(language).get("sentences", {})
    assert isinstance(table, dict)
    return table  # type: ignore[return-value]  # the tests of the files hold that all are texts
