"""Feasts in the nine languages of `date_words`, with their days in a year. Islamic ones follow the tabular calendar, at
most a day off."""

from __future__ import annotations

import math
from calendar import monthrange
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from typing import TypeAlias

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
    """The nth (or last: -1) Monday (0) to Sunday of a month; None if there is none."""
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
    """In Beijing (J. Meeus, "Astronomical Algorithms", chapter 49)."""
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
        firsts = (_islamic_day(one, month, day) for one in range(max(1, about - 1), about + 3))
        return [_span(first, -1, days) for first in firsts if first.year == year]

    return found


def _islamic_day(year: int, month: int, day: int) -> date:
    before = 354 * (year - 1) + (3 + 11 * year) // 30 + 29 * (month - 1) + month // 2
    return date.fromordinal(_EPOCH_OF_ISLAM + before + day - 1)


def _span(day: date, first: int, last: int) -> Span:
    return day + timedelta(days=first), day + timedelta(days=last)


_MONDAY, _THURSDAY, _SUNDAY = 0, 3, 6
_NAMES: Sequence[tuple[str, Feast]] = (
    # fixed days
    (
        "new year s day, new years day, neujahr, neujahrstag, ano nuevo, dia de ano nuevo, nouvel an, jour de l an"
        ", первое января, راس السنه, 元旦, 元日, 신정, 새해 첫날",
        _fixed(1, 1),
    ),
    (
        "new year, новый год, нового года, новому году, новым годом, новогодние",
        lambda year: [(date(year - 1, 12, 31), date(year, 1, 1))],
    ),
    ("正月, お正月", _fixed(1, 1, 3)),
    ("epiphany, heilige drei konige, dreikonigstag, dia de reyes, los reyes magos, epifania, epiphanie", _fixed(1, 6)),
    ("рождество, рождества, рождеству, рождеством, рождестве, 정교회 성탄절", _fixed(1, 6, 2)),
    (
        "valentine s day, valentines day, valentinstag, san valentin, saint valentin, st valentin"
        ", день святого валентина, дня святого валентина, عيد الحب, 情人节, 情人節, バレンタイン, バレンタインデー"
        ", 발렌타인데이, 밸런타인데이",
        _fixed(2, 14),
    ),
    ("st patrick s day, st patricks day, saint patrick s day", _fixed(3, 17)),
    ("april fools day, april fool s day", _fixed(4, 1)),
    ("ゴールデンウィーク, golden week", lambda year: [(date(year, 4, 29), date(year, 5, 5))]),
    (
        "tag der arbeit, dia del trabajo, fete du travail, первомаи, عيد العمال, 劳动节, 勞動節, 근로자의 날",
        _fixed(5, 1),
    ),
    ("день победы, дня победы", _fixed(5, 9)),
    ("independence day", _fixed(7, 4)),
    ("bastille day, fete nationale", _fixed(7, 14)),
    ("お盆", _fixed(8, 13, 4)),
    ("国庆节, 國慶節, 国庆", _fixed(10, 1, 7)),
    ("tag der deutschen einheit", _fixed(10, 3)),
    (
        "halloween, хэллоуин, хеллоуин, хэллоуина, хэллоуине, هالوين, الهالوين, 万圣节, 萬聖節, ハロウィン"
        ", ハロウィーン, 할로윈, 핼러윈",
        _fixed(10, 31),
    ),
    ("all saints day, all saints, allerheiligen, toussaint, todos los santos", _fixed(11, 1)),
    ("day of the dead, dia de muertos, dia de los muertos", _fixed(11, 1, 2)),
    ("st martin s day, martinstag", _fixed(11, 11)),
    ("双十一, 雙十一", _fixed(11, 11)),
    ("nikolaustag, st nicholas day", _fixed(12, 6)),
    (
        "christmas eve, heiligabend, heiliger abend, heiligen abend, nochebuena, reveillon de noel, veille de noel"
        ", сочельник, ليله عيد الميلاد, 平安夜, 圣诞夜, クリスマスイブ, クリスマス・イブ"
        ", 크리스마스이브, 크리스마스 이브",
        _fixed(12, 24),
    ),
    ("christmas day, jour de noel, dia de navidad", _fixed(12, 25)),
    ("boxing day", _fixed(12, 26)),
    (
        "christmas, xmas, weihnachten, weihnachtsfest, weihnachtstage, navidad, navidades, noel, католическое рождество"
        ", الكريسماس, كريسماس, عيد الميلاد, عيد الميلاد المجيد, 圣诞节, 聖誕節, 圣诞, 聖誕, クリスマス"
        ", 크리스마스, 성탄절",
        _fixed(12, 24, 3),
    ),
    (
        "new year s eve, new years eve, silvester, silvesterabend, nochevieja, saint sylvestre, st sylvestre"
        ", reveillon du nouvel an, reveillon, канун нового года, ليله راس السنه, 大晦日, 跨年",
        _fixed(12, 31),
    ),
    # days of the week in a month
    ("mother s day, mothers day, muttertag, dia de la madre, 母亲节, 母親節, 母の日", _weekday(5, _SUNDAY, 2)),
    ("fete des meres", _weekday(5, _SUNDAY, -1)),
    ("memorial day", _weekday(5, _MONDAY, -1)),
    ("father s day, fathers day, fete des peres, 父亲节, 父親節, 父の日", _weekday(6, _SUNDAY, 3)),
    ("labor day", _weekday(9, _MONDAY, 1)),
    (
        "thanksgiving, thanksgiving day, dia de accion de gracias, accion de gracias, action de graces, action de grace"
        ", день благодарения, дня благодарения, عيد الشكر, 感恩节, 感恩節, 感謝祭, 추수감사절",
        _weekday(11, _THURSDAY, 4),
    ),
    ("black friday", _weekday(11, _THURSDAY, 4, later=1)),
    # by Easter
    ("karneval, fasching, fastnacht, carnaval, карнавал", _easter(-52, -46)),
    ("mardi gras, faschingsdienstag, shrove tuesday, martes de carnaval", _easter(-47, -47)),
    ("rosenmontag", _easter(-48, -48)),
    ("ash wednesday, aschermittwoch, miercoles de ceniza, mercredi des cendres", _easter(-46, -46)),
    ("palm sunday, palmsonntag, domingo de ramos, dimanche des rameaux", _easter(-7, -7)),
    ("holy week, karwoche, semana santa, semaine sainte", _easter(-7, 0)),
    ("good friday, karfreitag, viernes santo, vendredi saint", _easter(-2, -2)),
    (
        "easter, ostern, osterfest, ostertage, osterfeiertage, paques, pascua, عيد الفصح, عيد القيامه, 复活节, 復活節"
        ", イースター, 復活祭, 부활절",
        _easter(-2, 1),
    ),
    ("easter sunday, ostersonntag, domingo de resurreccion, domingo de pascua", _easter(0, 0)),
    ("easter monday, ostermontag, lundi de paques, lunes de pascua", _easter(1, 1)),
    ("пасха, пасху, пасхи, пасхе, пасхои", _orthodox_easter(0, 1)),
    ("ascension day, christi himmelfahrt, himmelfahrt, vatertag, jeudi de l ascension, l ascension", _easter(39, 39)),
    ("pentecost, whitsun, pfingsten, pentecostes, pentecote, троица, троицу", _easter(48, 50)),
    ("pfingstmontag, whit monday, lundi de pentecote", _easter(50, 50)),
    # by the moon
    (
        "chinese new year, lunar new year, spring festival, chinesisches neujahr, chinesische neujahr"
        ", chinesischen neujahr, ano nuevo chino, nouvel an chinois, китаискии новыи год, китаиского нового года"
        ", 春节, 春節, 农历新年, 農曆新年, 过年, 過年, 大年初一, 旧正月, 설날, 구정",
        _chinese(1, 1, 0, 6),
    ),
    ("除夕, 年三十, 大年三十", _chinese(1, 1, -1, -1)),
    ("元宵节, 元宵節, lantern festival", _chinese(1, 15, 0, 0)),
    ("端午节, 端午節, 端午, 단오, dragon boat festival", _chinese(5, 5, 0, 0)),
    (
        "mid autumn festival, moon festival, mondfest, 中秋节, 中秋節, 中秋, 十五夜, 추석, chuseok",
        _chinese(8, 15, -1, 1),
    ),
    ("ramadan, ramazan, ramadhan, рамадан, рамадана, рамадане, رمضان, 斋月, 라마단, ラマダン", _islamic(9, 1, 30)),
    (
        "eid al fitr, eid ul fitr, zuckerfest, ramadanfest, aid el fitr, ураза баирам, عيد الفطر, 开斋节",
        _islamic(10, 1, 3),
    ),
    (
        "eid al adha, eid ul adha, opferfest, aid el kebir, fiesta del cordero, курбан баирам, عيد الاضحي, 古尔邦节",
        _islamic(12, 10, 4),
    ),
)


FEASTS = {fold_for_index(name): feast for names, feast in _NAMES for name in names.split(", ")}
"""By folded name, with spaces for hyphens and apostrophes."""
