"""Feasts with their days in a year. Islamic ones follow the tabular calendar, at most a day off."""

from __future__ import annotations

import math
from calendar import monthrange
from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta
from typing import TypeAlias

from agent.languages.registry import DATES
from agent.languages.terms import fold_for_index

Span: TypeAlias = tuple[date, date]
Feast: TypeAlias = Callable[[int], Sequence[Span]]
"""The days in a year; a lunar feast may have two spans, or none."""

_EPOCH_OF_ISLAM = 227_015
"""1 Muharram of the year 1, as an ordinal of `date`."""
_NEW_MOON = 730_125.597_66 + 8 / 24
"""The first of the year 2000 in Beijing, as a fractional ordinal."""
_MONTH_OF_MOON = 29.530_588_861


def nth_weekday(year: int, month: int, weekday: int, number: int) -> date | None:
    """The nth (last: -1) Monday (0) to Sunday of a month."""
    if number > 0:
        first = date(year, month, 1)
        found = first + timedelta(days=(weekday - first.weekday()) % 7 + 7 * (number - 1))
    else:
        last = date(year, month, monthrange(year, month)[1])
        found = last - timedelta(days=(last.weekday() - weekday) % 7)
    return found if found.month == month else None


def _fixed(month: int, day: int, days: int = 1) -> Feast:
    return lambda year: [_span(date(year, month, day), 0, days - 1)]


def _weekday(month: int, weekday: int, number: int, later: int = 0) -> Feast:

    def found(year: int) -> Sequence[Span]:
        day = nth_weekday(year, month, weekday, number)
        return [_span(day, later, later)] if day is not None else []

    return found


def _easter(first: int, last: int) -> Feast:

    def found(year: int) -> Sequence[Span]:
        century, rest = divmod(year, 100)
        moon = (19 * (year % 19) + century - century // 4 - (century - (century + 8) // 25 + 1) // 3 + 15) % 30
        week = (32 + 2 * (century % 4) + 2 * (rest // 4) - moon - rest % 4) % 7
        month, day = divmod(moon + week - 7 * ((year % 19 + 11 * moon + 22 * week) // 451) + 114, 31)
        return [_span(date(year, month, day + 1), first, last)]

    return found


def _orthodox_easter(first: int, last: int) -> Feast:
    def found(year: int) -> Sequence[Span]:
        moon = (19 * (year % 19) + 15) % 30
        month, day = divmod(moon + (2 * (year % 4) + 4 * (year % 7) - moon + 34) % 7 + 114, 31)
        julian = year // 100 - year // 400 - 2  # days between the calendars
        return [_span(date(year, month, day + 1), first + julian, last + julian)]

    return found


def _chinese(month: int, day: int, first: int, last: int) -> Feast:
    """A lunar month begins with the last new moon before the sun enters a certain sign."""

    def found(year: int) -> Sequence[Span]:
        enters = {1: (2, 19), 5: (6, 21), 8: (9, 23)}[month]
        return [_span(_new_moon(date(year, *enters)), day - 1 + first, day - 1 + last)]

    return found


def _new_moon(until: date) -> date:
    """The day in Beijing (J. Meeus, "Astronomical Algorithms", chapter 49)."""
    number = math.floor((until.toordinal() + 1 - _NEW_MOON) / _MONTH_OF_MOON) + 1
    while (day := _moment_of_new_moon(number)) >= until.toordinal() + 1:
        number -= 1
    return date.fromordinal(math.floor(day))


def _moment_of_new_moon(number: int) -> float:
    """A fractional ordinal; `number` counts from 2000."""
    sun = math.radians(2.5534 + 29.105_356_70 * number)
    moon = math.radians(201.5643 + 385.816_935_28 * number)
    node = math.radians(160.7108 + 390.670_502_84 * number)
    return (
        _NEW_MOON
        + _MONTH_OF_MOON * number
        - 0.407_20 * math.sin(moon)
        + 0.172_41 * math.sin(sun)
        + 0.016_08 * math.sin(2 * moon)
        + 0.010_39 * math.sin(2 * node)
        + 0.007_39 * math.sin(moon - sun)
        - 0.005_14 * math.sin(moon + sun)
        + 0.002_08 * math.sin(2 * sun)
    )


def _islamic(month: int, day: int, days: int) -> Feast:
    """Includes a day more on either side, for sightings."""

    def found(year: int) -> Sequence[Span]:
        about = (year - 622) * 33 // 32
        firsts = (_islamic_day(islamic_year, month, day) for islamic_year in range(max(1, about - 1), about + 3))
        return [_span(first, -1, days) for first in firsts if first.year == year]

    return found


def _islamic_day(year: int, month: int, day: int) -> date:
    before = 354 * (year - 1) + (3 + 11 * year) // 30 + 29 * (month - 1) + month // 2
    return date.fromordinal(_EPOCH_OF_ISLAM + before + day - 1)


def _span(day: date, first: int, last: int) -> Span:
    return day + timedelta(days=first), day + timedelta(days=last)


_MONDAY, _THURSDAY, _SUNDAY = 0, 3, 6
_FEASTS: Mapping[str, Feast] = {
    # fixed days
    "new_years_day": _fixed(1, 1),
    "new_year": lambda year: [(date(year - 1, 12, 31), date(year, 1, 1))],
    "new_year_days": _fixed(1, 1, 3),
    "epiphany": _fixed(1, 6),
    "orthodox_christmas": _fixed(1, 6, 2),
    "valentine": _fixed(2, 14),
    "st_patrick": _fixed(3, 17),
    "april_fools": _fixed(4, 1),
    "golden_week": lambda year: [(date(year, 4, 29), date(year, 5, 5))],
    "labour_day": _fixed(5, 1),
    "victory_day": _fixed(5, 9),
    "independence_day": _fixed(7, 4),
    "bastille_day": _fixed(7, 14),
    "obon": _fixed(8, 13, 4),
    "china_national_day": _fixed(10, 1, 7),
    "german_unity": _fixed(10, 3),
    "halloween": _fixed(10, 31),
    "all_saints": _fixed(11, 1),
    "day_of_the_dead": _fixed(11, 1, 2),
    "st_martin": _fixed(11, 11),
    "singles_day": _fixed(11, 11),
    "st_nicholas": _fixed(12, 6),
    "christmas_eve": _fixed(12, 24),
    "christmas_day": _fixed(12, 25),
    "boxing_day": _fixed(12, 26),
    "christmas": _fixed(12, 24, 3),
    "new_years_eve": _fixed(12, 31),
    # days of the week in a month
    "mothers_day": _weekday(5, _SUNDAY, 2),
    "mothers_day_french": _weekday(5, _SUNDAY, -1),
    "memorial_day": _weekday(5, _MONDAY, -1),
    "fathers_day": _weekday(6, _SUNDAY, 3),
    "us_labor_day": _weekday(9, _MONDAY, 1),
    "thanksgiving": _weekday(11, _THURSDAY, 4),
    "black_friday": _weekday(11, _THURSDAY, 4, later=1),
    # by Easter
    "carnival": _easter(-52, -46),
    "shrove_tuesday": _easter(-47, -47),
    "shrove_monday": _easter(-48, -48),
    "ash_wednesday": _easter(-46, -46),
    "palm_sunday": _easter(-7, -7),
    "holy_week": _easter(-7, 0),
    "good_friday": _easter(-2, -2),
    "easter": _easter(-2, 1),
    "easter_sunday": _easter(0, 0),
    "easter_monday": _easter(1, 1),
    "orthodox_easter": _orthodox_easter(0, 1),
    "ascension": _easter(39, 39),
    "pentecost": _easter(48, 50),
    "whit_monday": _easter(50, 50),
    # by the moon
    "chinese_new_year": _chinese(1, 1, 0, 6),
    "chinese_new_years_eve": _chinese(1, 1, -1, -1),
    "lantern_festival": _chinese(1, 15, 0, 0),
    "dragon_boat_festival": _chinese(5, 5, 0, 0),
    "mid_autumn": _chinese(8, 15, -1, 1),
    "ramadan": _islamic(9, 1, 30),
    "eid_al_fitr": _islamic(10, 1, 3),
    "eid_al_adha": _islamic(12, 10, 4),
}
FEASTS = {
    fold_for_index(name): _FEASTS[feast]
    for words in DATES
    for feast, names in words.feasts.items()
    for name in names.split(", ")
}
"""By folded name, with spaces for hyphens and apostrophes."""
