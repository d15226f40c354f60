"""The parts of a time as they were said, before it is known which moment they mean. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Which(StrEnum):
    """Which of the weekdays of one name."""

    COMING = ""
    THIS = "this"
    NEXT = "next"
    THIS_WEEK = "this week"
    NEXT_WEEK = "next week"
    AFTER_NEXT_WEEK = "the week after next"
    WEEK_LATER = "a week later"


class Unit(StrEnum):
    MINUTE = "minute"
    HOUR = "hour"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    YEAR = "year"


class PartOfDay(StrEnum):
    """Parts of a day, and halves of it."""

    DAWN = "dawn"
    MORNING = "morning"
    FORENOON = "forenoon"
    NOON = "noon"
    AFTERNOON = "afternoon"
    DUSK = "dusk"
    EVENING = "evening"
    NIGHT = "night"
    MIDNIGHT = "midnight"
    AM = "am"
    PM = "pm"


@dataclass(frozen=True, slots=True)
class Near:
    days: int


@dataclass(frozen=True, slots=True)
class Weekday:
    number: int
    which: Which = Which.COMING


@dataclass(frozen=True, slots=True)
class Date:
    """`month` None: the next such day. `months_on`: of this month, the next; `years_on` the same."""

    day: int
    month: int | None = None
    year: int | None = None
    months_on: int | None = None
    years_on: int | None = None


@dataclass(frozen=True, slots=True)
class Nth:
    """The first (1) to fifth, or last (-1), weekday of a month; `weekday` None: the month's first or last day."""

    number: int
    weekday: int | None
    months_on: int | None = None


Day = Near | Weekday | Date | Nth


@dataclass(frozen=True, slots=True)
class SaidHour:
    """An hour as it was said. `is_exact`: it can't be the other half of the day. `shift`: minutes, as in "quarter to".
    `is_bare`: only a number was said. `is_joined`: "and" joins it to its minutes, which may be another hour ("alle 8 e
    14")."""

    hour: int
    minute: int = 0
    is_exact: bool = False
    shift: int = 0
    is_bare: bool = False
    is_joined: bool = False


@dataclass(frozen=True, slots=True)
class Span:
    months: int = 0
    days: int = 0
    minutes: float = 0

    def __add__(self, other: Span) -> Span:
        return Span(self.months + other.months, self.days + other.days, self.minutes + other.minutes)


@dataclass(frozen=True, slots=True)
class Repeat:
    """Every `number` units; `unit` None: the unit is said elsewhere."""

    number: int = 1
    unit: Unit | None = None


@dataclass(frozen=True, slots=True)
class Said:
    days: tuple[Day, ...] = ()
    clocks: tuple[SaidHour, ...] = ()
    parts: tuple[PartOfDay, ...] = ()
    weekdays: str = ""
    """As a field of cron."""
    span: Span | None = None
    before: Span | None = None
    repeat: Repeat | None = None
    until: Day | None = None
    zone: str = ""
    is_unclear: bool = False
    """More was said than can be told, or the same part twice."""

    def __bool__(self) -> bool:
        return self != Said()

    def __add__(self, other: Said) -> Said:
        return Said(
            self.days + other.days,
            self.clocks + other.clocks,
            self.parts + other.parts,
            self.weekdays or other.weekdays,
            self.span or other.span,
            self.before or other.before,
            _together(self.repeat, other.repeat),
            self.until or other.until,
            self.zone or other.zone,
            is_unclear=self.is_unclear
            or other.is_unclear
            or any(
                bool(own) and bool(others) and own != others
                for own, others in (
                    (self.span, other.span),
                    (self.before, other.before),
                    (self.until, other.until),
                    (self.zone, other.zone),
                    (self.weekdays, other.weekdays),
                )
            )
            or _contradict(self.repeat, other.repeat),
        )


def _together(repeat: Repeat | None, other: Repeat | None) -> Repeat | None:
    """`every` with `of the month`, `every second` with `week`."""
    if repeat is None or other is None:
        return repeat or other
    return Repeat(max(repeat.number, other.number), repeat.unit or other.unit)


def _contradict(repeat: Repeat | None, other: Repeat | None) -> bool:
    if repeat is None or other is None:
        return False
    return None not in (repeat.unit, other.unit) and repeat.unit != other.unit
