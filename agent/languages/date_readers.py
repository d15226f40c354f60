"""Readers for names of days by kind: written days, feasts, weekdays, "two weeks ago", seasons…"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TypeAlias

from agent.languages import date_words as words
from agent.languages.date_relations import WEEKDAY_RANK
from agent.languages.date_words import ANYWHERE, Region
from agent.languages.feasts import FEASTS, Span, nth_weekday
from agent.languages.needed import Searched
from agent.languages.terms import fold_for_index

_SATURDAY = 5
_OLDEST, _YOUNGEST = 1_900, 2_200
"""Years in which feasts are computed."""
_AND = frozenset(fold_for_index("and und y et и و 和 と").split())
_PARTS = ((1, 10), (10, 20), (21, 31))
"""Days of the early, middle and late part of a month."""
_MONTHS_OF_PARTS = ((1, 4), (5, 8), (9, 12))
_TO_COME = (date.max, date.min)
"""An empty span, for future days, which must not be read as past ones."""


@dataclass(frozen=True, slots=True)
class DatedText(Searched):
    """A folded text, read on `today`."""

    today: date
    region: Region = ANYWHERE
    year: int | None = None
    """The only one named, as in "last year"."""


_Found: TypeAlias = tuple[tuple[int, int, int], date, date]
"""Start of the match, start and end of the name; and the days that it means."""


# days ------------------------------------------------------------------------------------------------------------


def _days_of_month(read: DatedText) -> Iterator[_Found]:
    for match in read.find(words.DAYS_OF_MONTH):
        is_pair = match[3].strip() in _AND and match[1] is None
        yield from _from_to(read, match, match[6], words.MONTHS[match[5]], (match[2], match[4]), is_pair=is_pair)
    for match in read.find(words.MONTH_DAYS):
        if match[4].strip() not in _AND or match[1]:
            yield from _from_to(read, match, match[6], words.MONTHS[match[2]], (match[3], match[5]), is_pair=False)
    for match in read.find(words.HAN_DAYS):
        days = (match[3], match[5])
        yield from _from_to(read, match, match[1], _number(match[2]), days, is_pair=match[4] in _AND)


def _from_to(
    read: DatedText, match: re.Match[str], year: str | None, month: int, days: tuple[str, str], *, is_pair: bool
) -> Iterator[_Found]:
    for last, _ in _day(year or read.year, month, int(days[1]), read.today):
        for first, _ in _day(last.year, month, int(days[0]), read.today):
            spans = [(first, first), (last, last)] if is_pair else [(first, last)]
            yield from (_found_at(match, *span) for span in spans)


def written(read: DatedText) -> Iterator[_Found]:
    def days(match: re.Match[str], year: int | str | None, month: int, day: str) -> Iterator[_Found]:
        return (_found_at(match, *span) for span in _day(year or read.year, month, int(day), read.today))

    for match in read.find(words.ISO):
        yield from days(match, match[1], int(match[2]), match[3])
    for match in read.find(words.DOTTED):
        yield from days(match, match[3], int(match[2]), match[1])
    for match in read.find(words.DAY_MONTH):
        yield from days(match, match[3], words.MONTHS[match[2]], match[1])
    for match in read.find(words.MONTH_DAY):
        yield from days(match, match[3], words.MONTHS[match[1]], match[2])
    for match in read.find(words.HAN_DATE):
        if match[4]:
            yield from days(match, _han_year(match, read.today), _number(match[3]), match[4])


def _slashed(read: DatedText) -> Iterator[_Found]:
    """Days in the user's order if known and valid, else in both."""
    for match in read.find(words.SLASHED):
        first, second, year = int(match[1]), int(match[2] or match[4]), int(match[3] or match[5])
        if year < 100:
            year += 2_000 if 2_000 + year <= read.today.year + 1 else 1_900
        day_first = list(_day(year, second, first, read.today))
        month_first = list(_day(year, first, second, read.today))
        preferred = {None: [], True: month_first, False: day_first}[read.region.month_first]
        yield from (_found_at(match, *span) for span in preferred or dict.fromkeys(day_first + month_first))


def _feasts(read: DatedText) -> Iterator[_Found]:
    for match in read.find(words.FEAST):
        before, name, after = match[1] or "", match[2].replace("-", " "), match[3] or ""
        if before or after or match[4] or name not in words.SHY_FEASTS:
            yield from _feast(read, match, 2, match[4], f"{before} {after}")
    for match in read.find(words.HAN_FEAST):
        yield from _feast(read, match, 3, match[1], match[2] or "")


def _feast(read: DatedText, match: re.Match[str], name: int, written: str | None, about: str) -> Iterator[_Found]:
    days = FEASTS[match[name].replace("-", " ")]
    year = int(written) if written else read.year
    if words.NEXT.search(about):
        yield _found_at(match, *_TO_COME, head=name)
        return
    years = range(read.today.year - 2, read.today.year + 2) if year is None else (year,)
    spans = [span for candidate in years if _OLDEST <= candidate <= _YOUNGEST for span in days(candidate)]
    if year is None:
        is_last = words.LAST.search(about) is not None
        spans = (
            [max(past)]
            if (past := [span for span in spans if span[is_last] <= read.today - timedelta(is_last)])
            else []
        )
    yield from (_found_at(match, *span, head=name) for span in spans)


def _days_back(read: DatedText) -> Iterator[_Found]:
    for pattern, back in words.DAYS_BACK:
        for match in read.find(pattern):
            yield _found_at(match, *_single(_days_before(read.today, back)))
    for match in read.find(words.FRENCH_YESTERDAY):
        if words.FRENCH.search(read.text):
            yield _found_at(match, *_single(_days_before(read.today, 1)))


def _weekdays(read: DatedText) -> Iterator[_Found]:
    today = read.today
    for match in read.find(words.ON_WEEKDAY):
        name = 2 if match[2] else 4
        if match[name] in words.SHORT_WEEKDAYS and match[1] not in words.BEFORE_SHORT:
            continue
        wanted = words.WEEKDAYS[match[name]]
        day = _days_before(today, (today.weekday() - wanted) % 7 or 7)
        if match[3] or match[5]:
            day = _days_before(today, 7 + today.weekday() - wanted)
        yield _found_at(match, *_single(day), head=name)
    for match in read.find(words.HAN_WEEKDAY):
        weeks = words.WEEKS_BACK.get(match[1] or "", 0)
        wanted = words.HAN_WEEKDAYS[match[2] or match[3] or match[4]]
        day = _days_before(today, today.weekday() - wanted + 7 * weeks)
        yield _found_at(match, *_single(_days_before(day, 7) if day > today else day))


def _short_ago(read: DatedText) -> Iterator[_Found]:
    for pattern, number, unit in words.SHORT_AGO:
        for match in read.find(pattern):
            yield _found_at(match, *_roughly(read.today, number, unit))


def _about(read: DatedText) -> Iterator[_Found]:
    today = read.today
    for pattern in (*words.AGO, words.HAN_AGO):
        for match in read.find(pattern):
            yield _found_at(match, *_roughly(today, _number(match[1]) if match[1] else 1, words.UNITS[match[2]]))
    for match in read.find(words.FEW_AGO):
        unit = words.UNITS[match[2]]
        yield _found_at(match, _days_before(today, 6 * unit), _days_before(today, 2 * unit))


# weeks -----------------------------------------------------------------------------------------------------------


def _weeks_of_month(read: DatedText) -> Iterator[_Found]:
    for match in read.find(words.OF_MONTH):
        ordinal, month, year = (1, 5, 6) if match[1] else (10, 11, 12)
        number = words.ORDINALS[match[ordinal]]
        weekday = match[4] or match[9]
        wanted = words.WEEKDAYS[weekday] if weekday else None
        is_weekend = bool(match[2] or match[7])
        for first, last in _month(match[year] or read.year, words.MONTHS[match[month]], read.today):
            yield from (_found_at(match, *span) for span in _nth(first, last, number, wanted, is_weekend=is_weekend))
    for match in read.find(words.HAN_OF_MONTH):
        name = match[6] or match[7] or match[8]
        wanted = words.HAN_WEEKDAYS[name] if name else None
        number = words.ORDINALS[match[3]]
        for first, last in _month(match[1] or read.year, _number(match[2]), read.today):
            yield from (
                _found_at(match, *span) for span in _nth(first, last, number, wanted, is_weekend=bool(match[4]))
            )


def _nth(first: date, last: date, number: int, weekday: int | None, *, is_weekend: bool) -> Iterator[Span]:
    """Weeks count from the month's first day, or (-1) its last."""
    if weekday is not None or is_weekend:
        day = nth_weekday(first.year, first.month, _SATURDAY if weekday is None else weekday, number)
        if day is not None:
            yield (day, _days_before(day, -1)) if is_weekend else (day, day)
    elif number < 0:
        yield _days_before(last, 6), last
    else:
        yield _days_before(first, 7 - 7 * number), min(last, _days_before(first, 1 - 7 * number))


def _parts_of_month(read: DatedText) -> Iterator[_Found]:
    for match in read.find(words.PART_OF_MONTH):
        yield from _part(read, match, match[1], match[3] or read.year, words.MONTHS[match[2]])
    for match in read.find(words.HAN_PART_OF_MONTH):
        yield from _part(read, match, match[4], _han_year(match, read.today) or read.year, _number(match[3]))


def _part(read: DatedText, match: re.Match[str], part: str, year: int | str | None, month: int) -> Iterator[_Found]:
    begin, end = _PARTS[words.PARTS[part]]
    for first, last in _month(year, month, read.today):
        yield _found_at(match, first.replace(day=begin), last.replace(day=min(end, last.day)))


def _weekends(read: DatedText) -> Iterator[_Found]:
    today = read.today
    monday = _days_before(today, today.weekday())
    for pattern, back in words.WEEKEND:
        found = list(read.find(pattern))
        for match in found:
            saturday = _days_before(monday, 2 if back or today.weekday() < _SATURDAY else -_SATURDAY)
            yield _found_at(match, saturday, _days_before(saturday, -1))
        if found:
            return


def _weeks(read: DatedText) -> Iterator[_Found]:
    monday = _days_before(read.today, read.today.weekday())
    for pattern, back in words.WEEK:
        for match in read.find(pattern):
            first = _days_before(monday, 7 * back)
            yield _found_at(match, first, _days_before(first, -6))


# months, seasons, years ------------------------------------------------------------------------------------------


def _months(read: DatedText) -> Iterator[_Found]:
    sure = {at for match in read.find(words.TWO_MONTHS) for at in (match.start(1), match.start(2))}
    for match in read.find(words.MONTH_ALONE):
        if match[1] or match[3] or match[2] not in words.AMBIGUOUS or match.start(2) in sure:
            for span in _month(match[3] or read.year, words.MONTHS[match[2]], read.today):
                yield _found_at(match, *span, head=2)
    for match in read.find(words.HAN_DATE):
        if not match[4]:
            for span in _month(_han_year(match, read.today) or read.year, _number(match[3]), read.today):
                yield _found_at(match, *span)
    for pattern, back in words.MONTH:
        for match in read.find(pattern):
            first = read.today.replace(day=1)
            for _ in range(back):
                first = _days_before(first, 1).replace(day=1)
            yield _found_at(match, first, min(read.today, _end_of_month(first)))


def _seasons(read: DatedText) -> Iterator[_Found]:
    for match in read.find(words.SEASON):
        before, after = match[1] or "", match[4] or ""
        if match[2] or after or match[5] or before not in ("", "the"):
            name = 2 if match[2] else 3
            yield from _season(read, match, name, match[5], f"{before} {after}", is_over_two=bool(match[6]))
    for match in read.find(words.HAN_SEASON):
        name = next(group for group in (3, 4, 5, 6) if match[group])
        yield from _season(read, match, name, match[1], match[2] or "")


def _season(
    read: DatedText, match: re.Match[str], name: int, written: str | None, about: str, *, is_over_two: bool = False
) -> Iterator[_Found]:
    season = words.SEASONS[match[name]]
    month = (season + 2 if read.region.is_southern else season) % 4 * 3 + 3
    year = int(written) if written else read.year
    if words.NEXT.search(about):
        yield _found_at(match, *_TO_COME, head=name)
        return
    if year is None:
        back = 2 if about.endswith("before last") else 1 if words.LAST.search(about) else 0
        spans = [_quarter(read.today.year - less, month) for less in range(4)]
        begun = [span for span in spans if span[0] <= read.today and (not back or span[1] < read.today)]
        spans = begun[max(0, back - 1) :][:1]
    else:
        spans = [_quarter(year, month)] + ([_quarter(year - 1, month)] if month == 12 and not is_over_two else [])
        spans = [span for span in spans if span[0] <= read.today] or spans
    yield from (_found_at(match, *span, head=name) for span in spans if span[0] > date.min)


def _quarter(year: int, month: int) -> Span:
    if not date.min.year < year < date.max.year:
        return date.min, date.min
    first = date(year, month, 1)
    return first, _end_of_month(date(year + (month + 2) // 13, (month + 1) % 12 + 1, 1))


def _parts_of_year(read: DatedText) -> Iterator[_Found]:
    for match in read.find(words.PART_OF_YEAR):
        begin, end = _MONTHS_OF_PARTS[words.PARTS[match[1]]]
        yield _found_at(match, date(int(match[2]), begin, 1), _end_of_month(date(int(match[2]), end, 1)))


def _years(read: DatedText) -> Iterator[_Found]:
    for pattern in (words.HAN_YEAR, words.ONLY_YEAR):
        for match in read.find(pattern):
            year = int(match[1])
            if date.min.year < year < date.max.year:
                yield _found_at(match, date(year, 1, 1), date(year, 12, 31))
    yield from relative_years(read)


def relative_years(read: DatedText) -> Iterator[_Found]:
    for pattern, back in words.YEAR:
        if (year := read.today.year - back) > 0:
            for match in read.find(pattern):
                yield _found_at(match, date(year, 1, 1), min(read.today, date(year, 12, 31)))


KINDS: tuple[tuple[int, Callable[[DatedText], Iterator[_Found]]], ...] = (
    (0, _days_of_month),
    (0, written),
    (0, _slashed),
    (0, _feasts),
    (3, _weeks_of_month),
    (3, _parts_of_month),
    (0, _days_back),
    (WEEKDAY_RANK, _weekdays),
    (2, _short_ago),
    (2, _about),
    (3, _weekends),
    (3, _weeks),
    (4, _months),
    (5, _seasons),
    (5, _parts_of_year),
    (6, _years),
)
"""Readers with their ranks. A longer name comes before those that it contains."""
SPOKEN = frozenset({_feasts, _seasons})
"""Names that people also use when they talk about those days, so they stay search words."""

# helpers ---------------------------------------------------------------------------------------------------------


def _found_at(match: re.Match[str], first: date, last: date, *, head: int = 0) -> _Found:
    return (match.start(), match.start(head), match.end()), first, last


def _single(day: date) -> Span:
    return day, day


def _day(year: int | str | None, month: int, day: int, today: date) -> Iterator[Span]:
    """The day, in the latest past year if none is given; nothing if it does not exist."""
    years = [int(year)] if year else range(today.year, max(0, today.year - 5), -1)
    for candidate in years:
        try:
            found = date(candidate, month, day)
        except ValueError:
            continue
        if year or found <= today:
            yield found, found
            return


def _month(year: int | str | None, month: int, today: date) -> Iterator[Span]:
    if not 1 <= month <= 12:
        return
    year_meant = int(year) if year else today.year if month <= today.month else today.year - 1
    if 1 <= year_meant < date.max.year:
        first = date(year_meant, month, 1)
        yield first, _end_of_month(first)


def _end_of_month(first: date) -> date:
    return first.replace(day=monthrange(first.year, first.month)[1])


def _roughly(today: date, number: int, unit: int) -> Span:
    middle = _days_before(today, number * unit)
    slack = 0 if unit == 1 and number <= 2 else max(1, unit // 2 if unit < 365 else 180)
    return _days_before(middle, slack), min(today, _days_before(middle, -slack))


def _days_before(day: date, days: int) -> date:
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
