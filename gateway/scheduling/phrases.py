"""Plain ways of saying when, in English and German, understood without a model. Pure.

Not what is ambiguous, as `tomorrow` alone or `at 3` without a day: that is for the model.
"""

from __future__ import annotations

import contextlib
import re
from calendar import isleap
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from gateway.recurrence import At, Cron, Every, InvalidWhen, When, interval

_DAYS = (
    "monday|mon|montag|mo",
    "tuesday|tue|dienstag|di",
    "wednesday|wed|mittwoch|mi",
    "thursday|thu|donnerstag|do",
    "friday|fri|freitag|fr",
    "saturday|sat|samstag|sonnabend|sa",
    "sunday|sun|sonntag|so",
)
_WEEKDAY = {name: number for number, names in enumerate(_DAYS) for name in names.split("|")}
_UNITS = {
    "m": "minutes?|mins?|min|minuten?|m",
    "h": "hours?|hrs?|stunden?|std|h",
    "d": "days?|tag(?:e|en)?|d",
    "w": "weeks?|wochen?|w",
}
_ONE = "an?|one|eine[rmn]?|ein"
_UNIT = "|".join(f"(?P<{short}>{names})" for short, names in _UNITS.items())
_DAY = "|".join(sorted(_WEEKDAY, key=len, reverse=True))
_HOURS = (
    "one|eins",
    "two|zwei",
    "three|drei",
    "four|vier",
    "five|fünf",
    "six|sechs",
    "seven|sieben",
    "eight|acht",
    "nine|neun",
    "ten|zehn",
    "eleven|elf",
    "twelve|zwölf",
)
_HOUR = {name: number for number, names in enumerate(_HOURS, 1) for name in names.split("|")}
_LAST_OF_AFTERNOON = 5
"""Who says "at three" in words, and no more, does not mean the night."""
_TIME = (
    rf"(?:(?:at|um|@)\s+)?(?:(?P<word>(?<=\s)(?:{'|'.join(_HOUR)})\b)|(?P<hour>\d{{1,2}}))"
    r"(?:(?::|\.(?=\d\d\b(?!\.)))(?P<minute>\d{2}))?(?:\s*(?P<half>[ap]\.?m\b\.?))?(?:\s*(?P<oclock>o'clock|uhr)\b)?"
)
_RELATIVE = (
    (re.compile(r"(?:this evening|heute abend|tonight|today|heute)\b"), 0),
    (re.compile(r"(?:tomorrow|morgen)\b"), 1),
    (re.compile(r"(?:(?:the )?day after tomorrow|übermorgen)\b"), 2),
)
_KINDS_OF_DAY = (
    (re.compile(r"(?:every\s+weekday|weekdays|werktags|jeden\s+werktag|wochentags)\b"), "1-5"),
    (re.compile(r"(?:daily|täglich|jeden\s+tag|every\s+day)\b"), "*"),
    (re.compile(r"(?:every|each|jeden)\s+(?:weekend|wochenende)\b"), "6,0"),
)
_SOME_DAYS = re.compile(
    rf"(?:every|each|jeden|on|immer)\s+(?P<days>(?:{_DAY})s?(?:\s*(?:,|and|und|&)\s*(?:{_DAY})s?)*)\b"
)
_SOON = re.compile(
    rf"(?P<half>(?:half an|einer halben)\s+(?:hour|stunde))|(?:(?P<number>\d{{1,4}})|(?:{_ONE}))\s*(?:{_UNIT})\b"
)
_SHORT = re.compile(r"(?:\d{1,4}\s*(?:min|[smhdw])\s*)+\b")
_ISO = re.compile(r"(?P<day>\d{4}-\d{2}-\d{2})[T\s]+")
_GERMAN = re.compile(r"(?:am\s+)?(?P<d>\d{1,2})\.(?P<m>\d{1,2})\.(?P<y>\d{4})?\s+")
_MINUTES = re.compile(rf"\s*+,?+\s*+(?:and|und)?+\s*+(\d{{1,3}})\s*+(?:{_UNITS['m']})\b")
_CLOCK = r"\d{1,2}(?:[:.]\d\d\b|\s*(?:[ap]\.?m\b|uhr\b|o'clock\b))"
_SPAN = rf"\d++\s*+(?:{'|'.join(_UNITS.values())})\b"
_GOES_ON = re.compile(
    rf"\s*+,?+\s*+(?:"
    rf"(?:(?:and|und|or|oder|&)\s+)?(?:(?:at|um)\s+)?{_CLOCK}"
    rf"|(?:and|und|or|oder|&|for|für)\s+{_SPAN}"
    rf"|(?:and|und|or|oder|&|except|außer)\s+(?:(?:on|am)\s+)?(?:{_DAY})s?\b"
    rf"|(?:{_DAY})s?\s+(?:(?:at|um)\s+)?\d"
    rf"|(?:at|um|@|on|am|from|von|ab|between|zwischen|until|till|bis|starting|beginning|except|außer)\s+"
    rf"(?:(?:on|at|am|um|from|the)\s+)*(?:\d|(?:{_DAY})s?\b|(?:noon|mid(?:day|night)|night|mittag|mitternacht)\b"
    r"|(?:today|tomorrow|heute|morgen|abend|vormittag|nachmittag)\b)"
    r"|(?:in\s+the|this|in\s+der)\s+(?:morning|afternoon|evening|night|früh|nacht)\b"
    r"|(?:morgens|früh|vormittags|mittags|nachmittags|abends|nachts|utc|gmt|cet|cest|mez|mesz)\b"
    r")",
    re.IGNORECASE,
)
"""More of when, which is not understood here: left out, it would ring at another time than was said."""
_JOINS = re.compile(r"\s*(?:[,:;–-]\s*|(?:to|that|daran,?(?:\s+dass)?|dass)\s+)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ParsedPhrase:
    """A time, and the `rest` of the text."""

    when: When
    rest: str


def read(text: str, now: datetime) -> ParsedPhrase | None:
    """The time at the beginning of `text`, on the wall clock of `now`. Raises `InvalidWhen` for an impossible one."""
    text = text.strip()
    for form in (_soon, _every, _on_a_day, _today):
        found = form(text, now)
        if found is not None:
            when, end = found
            end += text[end:].startswith(".") and text[:end][-1:].isalpha()  # `in 20 min. tea`
            if _GOES_ON.match(text, end):
                return None
            return ParsedPhrase(when, text[end:].removeprefix(_joined(text[end:])).strip())
    return None


def read_at_end(text: str, now: datetime) -> ParsedPhrase | None:
    """`read` for a time at the end: `to call mum tomorrow at 15:00`."""
    text = text.strip()
    for space in re.finditer(r"\s+", text):
        with contextlib.suppress(InvalidWhen):  # it may be no time at all
            found = read(text[space.end() :], now)
            if found is not None and not found.rest:
                what = text[: space.start()]
                return ParsedPhrase(found.when, what.removeprefix(_joined(what)).strip())
    return None


def _joined(rest: str) -> str:
    match = _JOINS.match(rest)
    return match[0] if match else ""


_Found = tuple[When, int] | None


def _soon(text: str, now: datetime) -> _Found:
    """`in 20 minutes`, `in 1h30m`, `in einer halben Stunde`."""
    start = re.match(r"in\s+", text, re.IGNORECASE)
    if start is None:
        return None
    rest, at = text[start.end() :].lower(), start.end()
    if match := _SOON.match(rest):
        if match["half"]:
            return At(_after(now, timedelta(minutes=30))), at + match.end()
        number, unit = int(match["number"] or 1), next(unit for unit in _UNITS if match[unit])
        return _counted(now, number, unit, rest, match.end(), at)
    if match := _SHORT.match(rest):
        return At(_after(now, interval(match[0]))), at + match.end()
    return None


def _counted(now: datetime, number: int, unit: str, rest: str, end: int, at: int) -> _Found:
    """`in 3 days at 10:00`, `in 2 hours and 30 minutes`."""
    if unit in ("d", "w"):
        later = (now.replace(tzinfo=None) + timedelta(days=number * (7 if unit == "w" else 1))).replace(microsecond=0)
        if timed := _time(rest, end):
            return At(datetime.combine(later.date(), time(timed.hour, timed.minute))), at + timed.end
        return At(later), at + end
    length = interval(f"{number}{unit}")
    if unit == "h" and (more := _MINUTES.match(rest, end)):
        return At(_after(now, length + timedelta(minutes=int(more[1])))), at + more.end()
    return At(_after(now, length)), at + end


def _after(now: datetime, length: timedelta) -> datetime:
    """The moment that much later, also where the clocks change."""
    return (now.astimezone(UTC) + length).astimezone(now.tzinfo).replace(microsecond=0)


def _every(text: str, now: datetime) -> _Found:
    """`every day 08:00`, `every weekday at 8`, `jeden Montag um 9 Uhr`, `alle 2 Stunden`."""
    lower = text.lower()
    if match := re.match(rf"(?:every|each|alle|jede[rnsm]?)\s+(?:(?P<number>\d{{1,4}})\s*)?(?:{_UNIT})\b", lower):
        unit = next(unit for unit in _UNITS if match[unit])
        timed = _time(lower, match.end()) if unit == "d" else None
        if timed is not None:
            apart = int(match["number"] or 1)
            return (_cron(timed, "*") if apart == 1 else _days_apart(timed, apart, now)), timed.end
        if unit == "d" and not match["number"]:
            return None  # at what time?
        return Every(interval(f"{match['number'] or 1}{unit}")), match.end()
    for pattern, field in _KINDS_OF_DAY:
        if (match := pattern.match(lower)) and (timed := _time(lower, match.end())):
            return _cron(timed, field), timed.end
    if (match := _SOME_DAYS.match(lower)) and not match[0].startswith("on "):
        names = re.findall(rf"\b({_DAY})s?\b", match["days"])
        if timed := _time(lower, match.end()):
            return _cron(timed, ",".join(str((_WEEKDAY[name] + 1) % 7) for name in names)), timed.end
    return None


def _on_a_day(text: str, now: datetime) -> _Found:
    """`tomorrow 15:00`, `2026-12-24 18:00`, `24.12. um 18 Uhr`, `on Friday at 9:30`."""
    lower = text.lower()
    for pattern, days in _RELATIVE:
        if match := pattern.match(lower):
            evening = "evening" in match[0] or "abend" in match[0] or "tonight" in match[0]
            return _at(now.date() + timedelta(days=days), _time(lower, match.end()), evening=evening)
    if match := _ISO.match(text):
        return _at(_date(match["day"]), _time(lower, match.end()))
    if match := _GERMAN.match(lower):
        return _at(_german(match, now.date()), _time(lower, match.end()))
    if match := re.match(rf"(?:(?:on|am|next|this|nächsten|diesen|kommenden)\s+)?(?P<day>{_DAY})\b\.?,?", lower):
        timed = _time(lower, match.end())
        if timed is None:
            return None
        ahead = (_WEEKDAY[match["day"]] - now.weekday()) % 7
        is_over = ahead == 0 and (timed.hour, timed.minute) <= (now.hour, now.minute)
        return _at(now.date() + timedelta(days=7 if is_over else ahead), timed)
    return None


def _today(text: str, now: datetime) -> _Found:
    """`at 15:00`, `15 Uhr`, `3pm`: the next time that a clock shows it."""
    timed = _time(text.lower(), 0)
    if timed is None or not timed.is_plain:
        return None
    is_over = (timed.hour, timed.minute) <= (now.hour, now.minute)
    return _at(now.date() + timedelta(days=1 if is_over else 0), timed)


@dataclass(frozen=True, slots=True)
class _Timed:
    hour: int
    minute: int
    end: int
    is_plain: bool
    """It can mean nothing but a time of day."""


def _time(text: str, start: int) -> _Timed | None:
    space = re.match(r"[\s,]*", text[start:])
    begin = start + (space.end() if space else 0)
    match = re.match(_TIME, text[begin:])
    if match is None or re.match(r"\w|:\d", text[begin + match.end() :]):
        return None
    hour, minute = _HOUR[match["word"]] if match["word"] else int(match["hour"]), int(match["minute"] or 0)
    named = bool(match["minute"] or match["half"] or match["oclock"])
    if not named and not re.match(r"(?:at|um|@)\s", match[0]):
        return None
    if match["half"]:
        if not 1 <= hour <= 12:
            raise InvalidWhen(f"{match[0].strip()} is not a time of day")
        hour = hour % 12 + (12 if match["half"].startswith("p") else 0)
    elif match["word"] and hour <= _LAST_OF_AFTERNOON:
        hour += 12
    if hour > 23 or minute > 59:
        raise InvalidWhen(f"{match[0].strip()} is not a time of day; write it as 15:00")
    return _Timed(hour, minute, begin + match.end(), named)


def _at(day: date, timed: _Timed | None, *, evening: bool = False) -> _Found:
    if timed is None:
        return None
    hour = timed.hour + 12 if evening and 4 < timed.hour < 12 else timed.hour
    return At(datetime(day.year, day.month, day.day, hour, timed.minute)), timed.end  # noqa: DTZ001  wall clock


def _days_apart(timed: _Timed, days: int, now: datetime) -> Every:
    """Every so many days, first at the next such time."""
    length = interval(f"{days}d")
    first = datetime.combine(now.date(), time(timed.hour, timed.minute))
    is_over = (timed.hour, timed.minute) <= (now.hour, now.minute)
    return Every(length, first + timedelta(days=1 if is_over else 0) - length)


def _cron(timed: _Timed, days: str) -> Cron:
    return Cron(f"{timed.minute} {timed.hour} * * {days}")


def _date(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise InvalidWhen(f"{text} does not exist") from error


def _german(match: re.Match[str], today: date) -> date:
    """A German date; without a year, the next such day."""
    year, month, day = int(match["y"] or today.year), int(match["m"]), int(match["d"])
    if not match["y"]:
        year += (month, day) < (today.month, today.day)
        while (month, day) == (2, 29) and not isleap(year):
            year += 1
    return _date(f"{year}-{month:02}-{day:02}")
