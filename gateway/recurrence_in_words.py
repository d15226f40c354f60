"""When a job is due, for people: `every 2 hours`, `every weekday at 08:00`. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from zoneinfo import ZoneInfo

from agent.languages.sentences import Sentence
from gateway.recurrence import At, Cron, Every, When, exists, interval_text, is_twice
from gateway.spoken_time import CalendarName, listed, spoken_day

_ONE = {
    "s": Sentence("every second"),
    "m": Sentence("every minute"),
    "h": Sentence("every hour"),
    "d": Sentence("every day"),
    "w": Sentence("every week"),
}
_SEVERAL: Mapping[str, Callable[[str], Sentence]] = {
    "s": lambda count: Sentence("every {count} seconds", count=count),
    "m": lambda count: Sentence("every {count} minutes", count=count),
    "h": lambda count: Sentence("every {count} hours", count=count),
    "d": lambda count: Sentence("every {count} days", count=count),
    "w": lambda count: Sentence("every {count} weeks", count=count),
}
_STEPS = re.compile(r"(?:\*/(?P<minutes>\d+) \*|0 \*/(?P<hours>\d+)|0 (?P<hourly>\*)) \* \* \*")
_CLOCKS = re.compile(r"(\d{1,2}) (\d{1,2}(?:,\d{1,2})*) (\S+) (\S+) (\S+)")
_WEEKDAYS = re.compile(r"[0-7](?:-[0-7])?(?:,[0-7](?:-[0-7])?)*")
_NTH = re.compile(r"([0-7])(?:#([1-5])|L)")
_NTH_DAY: Mapping[str, Callable[[str], Sentence]] = {
    "1": lambda weekday: Sentence("on the first {weekday} of every month", weekday=weekday),
    "2": lambda weekday: Sentence("on the second {weekday} of every month", weekday=weekday),
    "3": lambda weekday: Sentence("on the third {weekday} of every month", weekday=weekday),
    "4": lambda weekday: Sentence("on the fourth {weekday} of every month", weekday=weekday),
    "5": lambda weekday: Sentence("on the fifth {weekday} of every month", weekday=weekday),
    "L": lambda weekday: Sentence("on the last {weekday} of every month", weekday=weekday),
}
_MONDAY_TO_FRIDAY = [0, 1, 2, 3, 4]


def in_words(when: When) -> Sentence:
    match when:
        case At(moment):
            zone = " UTC" if moment.tzinfo is not None else ""
            day = spoken_day(moment.date(), date.min)
            return Sentence("once, {day} at {time}", day=day, time=f"{moment:%H:%M}{zone}")
        case Every(length, _, until):
            return _to(until, _each(interval_text(length)))
        case Cron(expression, until):
            return _to(until, _at_times(when.each) or _by_calendar(expression))


def _to(until: date | None, words: Sentence) -> Sentence:
    if until is None:
        return words
    return Sentence("{repetition} until {day}", repetition=words, day=spoken_day(until, date.min))


def _each(interval: str) -> Sentence:
    number, unit = interval[:-1], interval[-1]
    return _ONE[unit] if number == "1" else _SEVERAL[unit](number)


def _at_times(expressions: Sequence[str]) -> Sentence | None:
    """Times of the same days, in their order."""
    clocks = [_CLOCKS.fullmatch(expression) for expression in expressions]
    known = [clock for clock in clocks if clock is not None]
    if len(known) < len(expressions) or len({clock.groups()[2:] for clock in known}) > 1:
        return None
    days = _days(*known[0].groups()[2:])
    if days is None:
        return None
    times = sorted(f"{int(hour):02}:{int(clock[1]):02}" for clock in known for hour in clock[2].split(","))
    return Sentence("{days} at {time}", days=days, time=listed(times))


def _by_calendar(expression: str) -> Sentence:
    if steps := _STEPS.fullmatch(expression):
        return _each(f"{steps['minutes']}m" if steps["minutes"] else f"{steps['hours'] or 1}h")
    return Sentence("by the calendar rule `{expression}`", expression=expression)


def _days(day: str, month: str, weekday: str) -> Sentence | None:
    match day, month, weekday:
        case "*", "*", "*":
            return _ONE["d"]
        case "L", "*", "*":
            return Sentence("on the last day of every month")
        case number, "*", "*" if number.isdigit():
            return Sentence("on day {number} of every month", number=int(number))
        case number, of, "*" if number.isdigit() and of.isdigit():
            return Sentence("every year on {day} {month}", day=int(number), month=CalendarName("months", int(of) - 1))
        case "*", "*", days if nth := _NTH.fullmatch(days):
            return _NTH_DAY[nth[2] or "L"](CalendarName("weekdays", (int(nth[1]) - 1) % 7))
        case "*", "*", days if _WEEKDAYS.fullmatch(days):
            return _weekdays(days)
    return None


def _weekdays(field: str) -> Sentence:
    places: list[int] = []
    for part in field.split(","):
        first, _, last = part.partition("-")
        places += [(number - 1) % 7 for number in range(int(first), int(last or first) + 1)]
    if places == _MONDAY_TO_FRIDAY:
        return Sentence("every weekday")
    return Sentence("every {weekdays}", weekdays=listed([CalendarName("weekdays", place) for place in places]))


def remark_on(wall: datetime, zone: ZoneInfo) -> str:
    """A sentence about a time that clocks in `zone` skip, or show twice."""
    if wall.tzinfo is not None:
        return ""
    if not exists(wall, zone):
        return Sentence(
            "There is no {time} that night, because the clocks go forward; I took the next time there is.",
            time=f"{wall:%H:%M}",
        )
    if is_twice(wall, zone):
        offset = f"{wall.replace(tzinfo=zone, fold=0):%z}"
        return Sentence(
            "{time} comes twice that night, because the clocks go back; I took the first (UTC{offset}).",
            time=f"{wall:%H:%M}",
            offset=offset[:3],
        )
    return ""
