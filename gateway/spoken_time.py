"""English for people: sentences, and moments and spans of time as people say them: `tomorrow (Mon 23 Nov) at 15:00`,
`2 hours`. Pure."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Self
from zoneinfo import ZoneInfo

from agent.clock import WEEKDAYS
from agent.languages.codes import Language
from agent.languages.moments import moment_in
from agent.languages.sentences import Sentence, Translatable
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


class SpokenMoment(Translatable):
    """A moment in English words that keeps the moment, and when it was said."""

    __slots__ = ("moment", "now")
    moment: datetime
    now: datetime

    def __new__(cls, text: str, moment: datetime, now: datetime) -> Self:
        made = super().__new__(cls, text)
        made.moment, made.now = moment, now
        return made

    def in_language(self, language: Language) -> str:
        return moment_in(language, self.moment, self.now)


def spoken(moment: datetime, now: datetime, zone: ZoneInfo) -> SpokenMoment:
    """A moment in `zone`: `today at 15:00`, `tomorrow (Mon 23 Nov) at 15:00`, `Fri 4 Dec at 09:00`."""
    here, today = moment.astimezone(zone), now.astimezone(zone).date()
    return SpokenMoment(f"{spoken_day(here.date(), today)} at {here:%H:%M}", here, now)


def spoken_day(day: date, today: date) -> str:
    """`today`, `yesterday`, `tomorrow (Mon 23 Nov)`, `Fri 4 Dec`; with the year where it is another one."""
    dated = f"{WEEKDAYS[day.weekday()]} {day.day} {_MONTHS[day.month - 1]}"
    dated += f" {day.year}" if day.year != today.year else ""
    near = {-1: "yesterday", 0: "today", 1: f"tomorrow ({dated})"}
    return near.get((day - today).days, dated)


def span(length: timedelta) -> Sentence:
    """`20 minutes`, `1 hour`, `3 days`: a whole number of the largest unit that says it well. A negative one as if it
    were positive."""
    seconds = abs(length).total_seconds()
    for one, several, size in _UNITS:
        count = seconds / size
        number = round(count)
        if size == 1 or count >= _ENOUGH or (number and abs(count - number) <= _NEARLY_WHOLE * number):
            return Sentence(one) if number == 1 else Sentence(several, count=number)
    raise AssertionError("unreachable")


def from_now(length: timedelta) -> str:
    """`in 20 minutes`, `2 hours ago`, or `now` for less than a second."""
    if abs(length) < timedelta(seconds=1):
        return "now"
    return f"in {span(length)}" if length > timedelta() else f"{span(length)} ago"


def parts(text: object) -> Json:
    """A text as JSON, for a program with sentences of its own: `{english, values}`, `{moment}`, or as it is."""
    if isinstance(text, Sentence):
        return {"english": text.english, "values": {name: parts(value) for name, value in text.values.items()}}
    return {"moment": text.moment.isoformat()} if isinstance(text, SpokenMoment) else str(text)
