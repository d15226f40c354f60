"""Days that a question names: "on 3 May", "last Tuesday", "im März", "上周", "2023". Against the user's today.

A span is a first and a last day. What can be ahead or behind (a month without a year) is taken as the last one past,
for memories are of what was.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator
from datetime import date, timedelta
from typing import TypeAlias

from agent.memory.index import date_words as words
from agent.memory.index.folding import folded

Span: TypeAlias = tuple[date, date]
_SATURDAY = 5
_HEADING = 200
_OLDEST = 1_900


def days_named(query: str, today: date) -> tuple[Span, ...]:
    """The spans that a question names, the most exact kind alone (a month beside a day is that day's)."""
    text = " ".join(folded(query[:2_000]).split())
    for kind in (_days, _weekdays, _about, _weeks, _months, _years):
        found = tuple(dict.fromkeys(kind(text, today)))
        if found:
            return found
    return ()


def without_days(query: str) -> str:
    """A question, folded, without the words that name its days."""
    text = " ".join(folded(query[:2_000]).split())
    for pattern in words.PHRASES:
        text = pattern.sub(" ", text)
    return text


def written_day(text: str) -> date | None:
    """The day that is written out in a text, with its year; None where there is none."""
    found = _written(" ".join(folded(text[:_HEADING]).split()), date.min)
    return next((first for first, _ in found if first.year >= _OLDEST), None)


def _days(text: str, today: date) -> Iterator[Span]:
    yield from _written(text, today)
    for pattern, back in words.DAYS_BACK:
        if pattern.search(text):
            day = _back(today, back)
            yield day, day


def _written(text: str, today: date) -> Iterator[Span]:
    for match in words.ISO.finditer(text):
        yield from _day(int(match[1]), int(match[2]), int(match[3]), today)
    for match in words.DOTTED.finditer(text):
        yield from _day(match[3] and int(match[3]), int(match[2]), int(match[1]), today)
    for match in words.DAY_MONTH.finditer(text):
        yield from _day(match[3] and int(match[3]), words.MONTHS[match[2]], int(match[1]), today)
    for match in words.MONTH_DAY.finditer(text):
        yield from _day(match[3] and int(match[3]), words.MONTHS[match[1]], int(match[2]), today)
    for match in words.HAN_DATE.finditer(text):
        if match[4]:
            yield from _day(_han_year(match, today), _number(match[3]), int(match[4]), today)


def _weekdays(text: str, today: date) -> Iterator[Span]:
    for match in words.ON_WEEKDAY.finditer(text):
        wanted = words.WEEKDAYS[match[2] or match[3]]
        day = _back(today, (today.weekday() - wanted) % 7 or 7)
        yield day, day
    for match in words.HAN_WEEKDAY.finditer(text):
        weeks = words.WEEKS_BACK.get(match[1] or "", 0)
        wanted = words.HAN_WEEKDAYS[match[2] or match[3] or match[4]]
        day = _back(today, today.weekday() - wanted + 7 * weeks)
        if day > today:
            day = _back(day, 7)
        yield day, day


def _about(text: str, today: date) -> Iterator[Span]:
    """So many days, weeks, months ago: more or less."""
    short = [_around(today, number, unit) for pattern, number, unit in words.SHORT_AGO if pattern.search(text)]
    if short:
        yield from short
        return
    for pattern in (*words.AGO, words.HAN_AGO):
        for match in pattern.finditer(text):
            yield _around(today, _number(match[1]) if match[1] else 1, words.UNITS[match[2]])
    for match in words.FEW_AGO.finditer(text):
        unit = words.UNITS[match[2]]
        yield _back(today, 6 * unit), _back(today, 2 * unit)


def _weeks(text: str, today: date) -> Iterator[Span]:
    monday = _back(today, today.weekday())
    for pattern, back in words.WEEKEND:
        if pattern.search(text):
            saturday = _back(monday, 2 if back or today.weekday() < _SATURDAY else -_SATURDAY)
            yield saturday, _back(saturday, -1)
            return
    for pattern, back in words.WEEK:
        if pattern.search(text):
            first = _back(monday, 7 * back)
            yield first, _back(first, -6)


def _months(text: str, today: date) -> Iterator[Span]:
    for match in words.MONTH_ALONE.finditer(text):
        if match[1] or match[3] or match[2] not in words.AMBIGUOUS:
            yield from _month(match[3] and int(match[3]), words.MONTHS[match[2]], today)
    for match in words.HAN_DATE.finditer(text):
        if not match[4]:
            yield from _month(_han_year(match, today), _number(match[3]), today)
    for pattern, back in words.MONTH:
        if pattern.search(text):
            first = today.replace(day=1)
            for _ in range(back):
                first = _back(first, 1).replace(day=1)
            yield first, min(today, _end_of_month(first))


def _years(text: str, today: date) -> Iterator[Span]:
    for pattern in (words.HAN_YEAR, words.ONLY_YEAR):
        for match in pattern.finditer(text):
            year = int(match[1])
            if date.min.year < year < date.max.year:
                yield date(year, 1, 1), date(year, 12, 31)
    for pattern, back in words.YEAR:
        if pattern.search(text) and today.year > back:
            yield date(today.year - back, 1, 1), min(today, date(today.year - back, 12, 31))


def _day(year: int | str | None, month: int, day: int, today: date) -> Iterator[Span]:
    """Nothing where there is no such day."""
    years = [int(year)] if year else range(today.year, max(0, today.year - 5), -1)
    for one in years:
        try:
            found = date(one, month, day)
        except ValueError:
            continue
        if year or found <= today:
            yield found, found
            return


def _month(year: int | str | None, month: int, today: date) -> Iterator[Span]:
    if not 1 <= month <= 12:
        return
    one = int(year) if year else today.year if month <= today.month else today.year - 1
    if 1 <= one < date.max.year:
        first = date(one, month, 1)
        yield first, _end_of_month(first)


def _end_of_month(first: date) -> date:
    return first.replace(day=monthrange(first.year, first.month)[1])


def _around(today: date, number: int, unit: int) -> Span:
    middle = _back(today, number * unit)
    slack = 0 if unit == 1 and number <= 2 else max(1, unit // 2 if unit < 365 else 180)
    return _back(middle, slack), min(today, _back(middle, -slack))


def _back(day: date, days: int) -> date:
    try:
        return day - timedelta(days=days)
    except OverflowError:
        return date.min if days > 0 else date.max


def _number(word: str) -> int:
    if word.isdecimal():
        return int(word)
    return words.NUMBERS[word]


def _han_year(match: re.Match[str], today: date) -> int | None:
    if match[1]:
        return int(match[1])
    if not match[2]:
        return None
    return today.year - (match[2] in ("去年", "昨年", "작년"))
