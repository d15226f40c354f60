"""Moments and spans of time as people say them: `tomorrow (Mon 23 Nov) at 15:00`, `2 hours`. In English, and for
whoever shows them in another language. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import Literal, Self
from zoneinfo import ZoneInfo

from agent.clock import WEEKDAYS
from agent.languages.codes import Language
from agent.languages.moments import day_in, moment_in
from agent.languages.registry import LANGUAGES
from agent.languages.sentences import Sentence
from agent.model.base import Json

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_UNITS = (
    ("1 year", "{count} years", 31_557_600),
    ("1 month", "{count} months", 2_629_800),
    ("1 day", "{count} days", 86_400),
    ("1 hour", "{count} hours", 3600),
    ("1 minute", "{count} minutes", 60),
    ("1 second", "{count} seconds", 1),
)
_ENOUGH = 3
"""From so many on, a whole number of a unit is close enough; `90 minutes` is not yet `2 hours`."""
_NEARLY_WHOLE = 0.05


class SpokenMoment(Sentence):
    """A moment in English words that keeps the moment, for those who show it in another language."""

    __slots__ = ("moment", "now", "zone")
    moment: datetime
    now: datetime
    zone: ZoneInfo

    def __new__(cls, text: str, moment: datetime, now: datetime, zone: ZoneInfo) -> Self:
        made = super().__new__(cls, text)
        made.moment, made.now, made.zone = moment, now, zone
        return made

    def in_language(self, language: Language) -> str:
        is_english = language == Language.ENGLISH
        return str(self) if is_english else moment_in(language, self.moment.astimezone(self.zone), self.now)


class SpokenDay(Sentence):
    """A day in English words that keeps the day."""

    __slots__ = ("day", "today")
    day: date
    today: date

    def __new__(cls, text: str, day: date, today: date) -> Self:
        made = super().__new__(cls, text)
        made.day, made.today = day, today
        return made

    def in_language(self, language: Language) -> str:
        return str(self) if language == Language.ENGLISH else day_in(language, self.day, self.today)


class CalendarName(Sentence):
    """The name of a weekday or month, by its place from 0."""

    __slots__ = ("of", "place")
    of: Literal["weekdays", "months"]
    place: int

    def __new__(cls, of: Literal["weekdays", "months"], place: int) -> Self:
        made = super().__new__(cls, _names(Language.ENGLISH, of)[place])
        made.of, made.place = of, place
        return made

    def in_language(self, language: Language) -> str:
        return _names(language, self.of)[self.place]


def _names(language: Language, of: Literal["weekdays", "months"]) -> list[str]:
    strings = LANGUAGES[language].moments
    return (strings.weekdays if of == "weekdays" else strings.months).split()


def listed(texts: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    first, *others = texts
    for text in others[:-1]:
        first = Sentence("{first}, {next}", first=first, next=text)
    return Sentence("{first} and {last}", first=first, last=others[-1]) if others else first


def spoken(moment: datetime, now: datetime, zone: ZoneInfo) -> SpokenMoment:
    """A moment in `zone`: `today at 15:00`, `tomorrow (Mon 23 Nov) at 15:00`, `Fri 4 Dec at 09:00`."""
    here, today = moment.astimezone(zone), now.astimezone(zone).date()
    return SpokenMoment(f"{spoken_day(here.date(), today)} at {here:%H:%M}", moment, now, zone)


def spoken_day(day: date, today: date) -> SpokenDay:
    """`today`, `yesterday`, `tomorrow (Mon 23 Nov)`, `Fri 4 Dec`; with the year where it is another one."""
    dated = f"{WEEKDAYS[day.weekday()]} {day.day} {_MONTHS[day.month - 1]}"
    dated += f" {day.year}" if day.year != today.year else ""
    near = {-1: "yesterday", 0: "today", 1: f"tomorrow ({dated})"}
    return SpokenDay(near.get((day - today).days, dated), day, today)


def span(length: timedelta) -> Sentence:
    """`20 minutes`, `1 hour`, `3 days`: a whole number of the largest unit that says it well. A negative length
    counts as positive."""
    seconds = abs(length).total_seconds()
    for singular, plural, size in _UNITS:
        count = seconds / size
        number = round(count)
        if size == 1 or count >= _ENOUGH or (number and abs(count - number) <= _NEARLY_WHOLE * number):
            return Sentence(singular) if number == 1 else Sentence(plural, count=number)
    raise AssertionError("unreachable")


def from_now(length: timedelta) -> str:
    """`in 20 minutes`, `2 hours ago`, or `now` for less than a second."""
    if abs(length) < timedelta(seconds=1):
        return "now"
    return f"in {span(length)}" if length > timedelta() else f"{span(length)} ago"


def parts(text: object) -> Json:
    """A text as JSON, for a program with sentences of its own: `{english, values}`, `{moment}`, or as it is."""
    if isinstance(text, SpokenMoment):
        return {"moment": text.moment.isoformat()}
    if not isinstance(text, Sentence) or type(text) is not Sentence:
        return str(text)
    return {"english": text.english, "values": {name: parts(value) for name, value in text.values.items()}}
