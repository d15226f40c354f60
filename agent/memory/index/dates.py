"""Days that a question names: "on 3 May", "last Tuesday", "im März", "上周", "2023". Against the user's today.

A span is a first and a last day. What can be ahead or behind (a month without a year) is taken as the last one past,
for memories are of what was.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta
from typing import TypeAlias

from agent.memory.words import fold

Span: TypeAlias = tuple[date, date]

_MONTH_NAMES = (
    "january jan januar janner enero janvier",
    "february feb februar febrero fevrier",
    "march mar marz maerz marzo mars",
    "april apr abril avril",
    "may mai mayo",
    "june jun juni junio juin",
    "july jul juli julio juillet",
    "august aug agosto aout",
    "september sept sep septiembre septembre",
    "october oct oktober okt octubre octobre",
    "november nov noviembre novembre",
    "december dec dezember dez diciembre decembre",
)
_WEEKDAY_NAMES = (
    "monday mon montag lunes lundi",
    "tuesday tue dienstag martes mardi",
    "wednesday wed mittwoch miercoles mercredi",
    "thursday thu donnerstag jueves jeudi",
    "friday fri freitag viernes vendredi",
    "saturday sat samstag sonnabend sabado samedi",
    "sunday sun sonntag domingo dimanche",
)
_MONTHS = {name: at for at, names in enumerate(_MONTH_NAMES, 1) for name in names.split()}
_WEEKDAYS = {name: at for at, names in enumerate(_WEEKDAY_NAMES) for name in names.split()}
_NUMBERS = {
    word: at
    for at, words in enumerate(
        ("", "a an one ein eine einem einer un une una", "two zwei dos deux 两", "three drei tres trois",
         "four vier cuatro quatre", "five funf cinco cinq", "six sechs seis", "seven sieben siete sept",
         "eight acht ocho huit",
         "nine neun nueve neuf", "ten zehn diez dix")
    )
    for word in words.split()
}  # fmt: skip
_HAN_DIGITS = {character: at for at, character in enumerate("零一二三四五六七八九")} | {"两": 2, "天": 7, "日": 7}
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_WEEKDAY = "|".join(sorted(_WEEKDAYS, key=len, reverse=True))
_NUMBER = r"\d{1,3}|" + "|".join(_NUMBERS)
_YEAR = r"(?:19|20)\d\d"
_HAN = "[一二三四五六七八九十两]|十[一二]|\\d{1,3}"
_ISO = re.compile(r"(?<!\d)(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)")
_DOTTED = re.compile(r"(?<!\d)(\d{1,2})\.(\d{1,2})\.(\d{4})?(?!\d)")
_DAY_MONTH = re.compile(
    rf"\b(\d{{1,2}})(?:st|nd|rd|th|\.|er)?(?: of| de)? ?\b({_MONTH})\b\.?,?(?:(?: de| of)? ({_YEAR}))?"
)
_MONTH_DAY = re.compile(rf"\b({_MONTH})\.? (\d{{1,2}})(?:st|nd|rd|th)?\b(?!\d)(?:,? ({_YEAR}))?")
_MONTH_ALONE = re.compile(
    rf"\b(?:(in|im|of|during|early|late|mid|by|since|until|before|after|this|last|next|en|de|von|seit|letzten) )?"
    rf"({_MONTH})\b(?:,?(?: de| of)? ({_YEAR}))?"
)
_ONLY_YEAR = re.compile(rf"(?<![\d-])({_YEAR})(?![\d-])")
_HAN_DATE = re.compile(r"(?:(\d{4})年)?(?:(去年|今年))?(\d{1,2}|十[一二]?|[一二三四五六七八九])月(?:(\d{1,2})[日号])?")
_HAN_YEAR = re.compile(r"(?<!\d)(\d{4})年(?!\d{1,2}月)")
_RELATIVE_DAY = (
    (re.compile(r"day before yesterday|\bvorgestern\b|anteayer|avant-?hier|前天|一昨日|おととい"), 2),
    (re.compile(r"(?<!before )\byesterday\b|\bgestern\b|\bayer\b"
        r"|(?<!avant-)(?<!avant )\bhier\b(?= soir|\?|$)|昨天|昨日|昨晚|きのう"), 1),
    (re.compile(r"\btoday\b|\btonight\b|\bheute\b|\bhoy\b|aujourd.?hui|今天|今日|今晚|今早|きょう"), 0),
)  # fmt: skip
_AGO = re.compile(
    rf"\b({_NUMBER}) (day|week|month|year)s? ago|\bvor ({_NUMBER}) (tag|woche|monat|jahr)(?:en|n|e)?\b"
    rf"|\bhace ({_NUMBER}) (dia|semana|mes|ano)(?:e?s)?\b|\bil y a ({_NUMBER}) (jour|semaine|mois|an)s?\b"
)
_HAN_AGO = re.compile(rf"({_HAN})(?:个)?(天|日|周|星期|礼拜|月|年)(?:之)?前")
_UNITS = {
    "day": 1, "tag": 1, "dia": 1, "jour": 1, "天": 1, "日": 1, "week": 7, "woche": 7, "semana": 7, "semaine": 7,
    "周": 7, "星期": 7, "礼拜": 7, "month": 30, "monat": 30, "mes": 30, "mois": 30, "月": 30, "year": 365, "jahr": 365,
    "ano": 365, "an": 365, "年": 365,
}  # fmt: skip
_ON_WEEKDAY = re.compile(
    rf"\b(?:(last|this|on|letzten|am|diesen|el|le|past) )({_WEEKDAY})\b(?: (pasado|dernier))?"
    rf"|\b({_WEEKDAY}) (?:pasado|dernier|last week)\b"
)
_HAN_WEEKDAY = re.compile(r"(上上|上|这|本)?(?:个)?(?:周|星期|礼拜)([一二三四五六日天])")
_WEEK = (
    (re.compile(r"\b(?:last|past|previous) week\b|letzte[rn]? woche|semana pasada|semaine derniere"
        r"|上(?:个)?(?:周|星期|礼拜)(?![一二三四五六日天末])|先週"), -1),
    (re.compile(r"\bthis week\b|diese[rn]? woche|esta semana|cette semaine"
        r"|(?:这|本)(?:个)?(?:周|星期|礼拜)(?![一二三四五六日天末])|今週"), 0),
)  # fmt: skip
_WEEKEND = (
    (re.compile(r"\b(?:last|past) weekend\b|letztes wochenende|fin de semana pasado"
        r"|week-?end dernier|上(?:个)?周末|先週末"), -1),
    (re.compile(r"\bthis weekend\b|dieses wochenende|这(?:个)?周末|周末"), 0),
)  # fmt: skip
_LAST_MONTH = re.compile(r"\b(?:last|past) month\b|letzte[nr]? monat|mes pasado|mois dernier|上(?:个)?月|先月")
_THIS_MONTH = re.compile(r"\bthis month\b|diese[nrm]? monat|este mes|ce mois|(?:这|本)(?:个)?月|今月")
_LAST_YEAR = re.compile(r"\b(?:last|past) year\b|letzte[sn]? jahr|ano pasado|(?:an|annee) dernier|去年")
_AMBIGUOUS = frozenset({"may", "mar", "mars", "jan", "sept", "dec", "mon"})
"""Words that are more often something else."""


def days_named(query: str, today: date) -> tuple[Span, ...]:
    """The spans that a question names, the most exact kind alone (a month beside a day is that day's)."""
    text = " ".join(fold(query[:2_000]).split())
    for kind in (_days, _weekdays, _about, _weeks, _months, _years):
        found = tuple(dict.fromkeys(kind(text, today)))
        if found:
            return found
    return ()


def _days(text: str, today: date) -> Iterator[Span]:
    for match in _ISO.finditer(text):
        yield from _day(int(match[1]), int(match[2]), int(match[3]), today)
    for match in _DOTTED.finditer(text):
        yield from _day(match[3] and int(match[3]), int(match[2]), int(match[1]), today)
    for match in _DAY_MONTH.finditer(text):
        yield from _day(match[3] and int(match[3]), _MONTHS[match[2]], int(match[1]), today)
    for match in _MONTH_DAY.finditer(text):
        yield from _day(match[3] and int(match[3]), _MONTHS[match[1]], int(match[2]), today)
    for match in _HAN_DATE.finditer(text):
        if match[4]:
            yield from _day(_han_year(match, today), _han_number(match[3]), int(match[4]), today)
    for pattern, back in _RELATIVE_DAY:
        if pattern.search(text):
            day = _back(today, back)
            yield day, day


def _weekdays(text: str, today: date) -> Iterator[Span]:
    for match in _ON_WEEKDAY.finditer(text):
        wanted = _WEEKDAYS[match[2] or match[4]]
        day = _back(today, (today.weekday() - wanted) % 7 or 7)
        yield day, day
    for match in _HAN_WEEKDAY.finditer(text):
        weeks = {"上上": 2, "上": 1}.get(match[1] or "", 0)
        day = _back(today, today.weekday() - (_HAN_DIGITS[match[2]] - 1) + 7 * weeks)
        if day > today:
            day = _back(day, 7)
        yield day, day


def _about(text: str, today: date) -> Iterator[Span]:
    """So many days, weeks, months ago: more or less."""
    for match in _AGO.finditer(text):
        number, unit = next((match[at], match[at + 1]) for at in (1, 3, 5, 7) if match[at])
        yield _around(today, _number(number), _UNITS[unit])
    for match in _HAN_AGO.finditer(text):
        yield _around(today, _han_number(match[1]), _UNITS[match[2]])


def _weeks(text: str, today: date) -> Iterator[Span]:
    monday = _back(today, today.weekday())
    for pattern, weeks in _WEEKEND:
        if pattern.search(text):
            saturday = _back(monday, 2 if weeks or today.weekday() < 5 else -5)
            yield saturday, _back(saturday, -1)
            return
    for pattern, weeks in _WEEK:
        if pattern.search(text):
            first = _back(monday, -7 * weeks)
            yield first, _back(first, -6)


def _months(text: str, today: date) -> Iterator[Span]:
    for match in _MONTH_ALONE.finditer(text):
        if match[1] or match[3] or match[2] not in _AMBIGUOUS:
            yield from _month(match[3] and int(match[3]), _MONTHS[match[2]], today)
    for match in _HAN_DATE.finditer(text):
        if not match[4]:
            yield from _month(_han_year(match, today), _han_number(match[3]), today)
    if _LAST_MONTH.search(text):
        last = _back(today.replace(day=1), 1)
        yield last.replace(day=1), last
    if _THIS_MONTH.search(text):
        yield today.replace(day=1), today


def _years(text: str, today: date) -> Iterator[Span]:
    for pattern in (_HAN_YEAR, _ONLY_YEAR):
        for match in pattern.finditer(text):
            year = int(match[1])
            if date.min.year < year < date.max.year:
                yield date(year, 1, 1), date(year, 12, 31)
    if _LAST_YEAR.search(text) and today.year > 1:
        yield date(today.year - 1, 1, 1), date(today.year - 1, 12, 31)


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
        yield first, (first + timedelta(days=32)).replace(day=1) - timedelta(days=1)


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
    return int(word) if word.isdecimal() else _NUMBERS[word]


def _han_number(word: str) -> int:
    if word.isdecimal():
        return int(word)
    if word.startswith("十"):
        return 10 + (_HAN_DIGITS[word[1]] if len(word) > 1 else 0)
    return _HAN_DIGITS[word]


def _han_year(match: re.Match[str], today: date) -> int | None:
    if match[1]:
        return int(match[1])
    return {"去年": today.year - 1, "今年": today.year}.get(match[2] or "")
