"""Orders in plain words: a line that cancels, moves or lists reminders, sets a timer, stops or sums up. Pure."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from agent.languages.codes import ALL_LANGUAGES, Language
from agent.languages.files import read_file


class OrderKind(enum.StrEnum):
    CANCEL = "cancel"
    MOVE = "move"
    DUE = "due"
    TIMER = "timer"
    WAKE = "wake"
    STOP = "stop"
    SUM_UP = "sum_up"
    MODEL = "model"
    """The weather, a joke, a sum: what only a language model can do."""


class Period(enum.StrEnum):
    """Days for which reminders are listed."""

    ALL = ""
    TODAY = "today"
    TOMORROW = "tomorrow"
    WEEK = "week"


class OrderPatterns(BaseModel):
    """Patterns of a whole line, by kind, and the words of the periods, separated by `|`. The group `rest` is what the
    order is about; with `more`, the time that it names."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    cancel: Sequence[str]
    move: Sequence[str]
    due: Sequence[str]
    timer: Sequence[str]
    wake: Sequence[str]
    stop: Sequence[str]
    sum_up: Sequence[str]
    model: Sequence[str]
    articles: str
    """Articles and possessives, separated by `|`."""
    today: str
    tomorrow: str
    week: str


@dataclass(frozen=True, slots=True)
class PlainOrder:
    """`about`: what it is about, in the person's words; `time`: when, where that stands apart."""

    kind: OrderKind
    about: str = ""
    time: str = ""
    period: Period = Period.ALL


def order_in(line: str) -> PlainOrder | None:
    """The order that a whole line is. The order of kinds decides where several fit."""
    for kind, pattern, periods in _forms():
        if match := pattern.fullmatch(line):
            found = {name: (text or "").strip(" ,:") for name, text in match.groupdict().items()}
            rest, more = found.get("rest", ""), found.get("more", "")
            if kind is OrderKind.DUE:
                return PlainOrder(kind, period=periods.get(rest.lower(), Period.ALL))
            if kind is OrderKind.MOVE and more:
                return PlainOrder(kind, about=more, time=rest)
            return PlainOrder(kind, about=f"{rest} {more}".strip())
    return None


def without_articles(text: str) -> str:
    """The text without the articles and possessives before it: of `my old bike`, `old bike`."""
    rest = _articles().sub("", text.strip())
    return rest if rest.strip() else text


_Form = tuple[OrderKind, re.Pattern[str], Mapping[str, Period]]
_FORMS: list[_Form] = []
_ARTICLES: list[re.Pattern[str]] = []
"""Read when they are needed first: a start does not wait for these files."""


def _articles() -> re.Pattern[str]:
    if not _ARTICLES:
        words = [word for language in ALL_LANGUAGES for word in _given(language).articles.split("|")]
        forms = [rf"{word}\s+" if word.isascii() and not word.endswith("'") else word for word in words]
        longest_first = sorted(forms, key=len, reverse=True)
        _ARTICLES.append(re.compile(rf"\A(?:{'|'.join(longest_first)}){{1,2}}", re.IGNORECASE))
    return _ARTICLES[0]


def _forms() -> Sequence[_Form]:
    if not _FORMS:
        _FORMS.extend(_read())
    return _FORMS


def _read() -> Iterator[_Form]:
    given = {language: _given(language) for language in ALL_LANGUAGES}
    for kind in OrderKind:
        for patterns in given.values():
            periods = {
                word: period
                for period, words in zip(
                    (Period.TODAY, Period.TOMORROW, Period.WEEK),
                    (patterns.today, patterns.tomorrow, patterns.week),
                    strict=True,
                )
                for word in words.split("|")
            }
            for pattern in getattr(patterns, kind):
                yield kind, re.compile(pattern, re.IGNORECASE), periods


def _given(language: Language) -> OrderPatterns:
    return OrderPatterns.model_validate(read_file(language)["orders"])
