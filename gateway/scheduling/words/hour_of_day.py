"""Tells which hour of the day is meant: "three" is the afternoon, "8 in the evening" 20:00. Pure."""

from __future__ import annotations

from agent.languages.sentences import Sentence
from gateway.recurrence import InvalidWhen
from gateway.scheduling.words.said import PartOfDay, SaidHour

_HOURS = {
    PartOfDay.MORNING: 8,
    PartOfDay.NOON: 12,
    PartOfDay.AFTERNOON: 15,
    PartOfDay.EVENING: 20,
    PartOfDay.MIDNIGHT: 0,
}
"""The hour that is meant by a part of the day alone."""
_LAST_OF_AFTERNOON = 5
"""A bare "at three" does not mean the night."""


class Unclear(Exception):
    """More than one time can be meant, or none."""


def is_either(clock: SaidHour) -> bool:
    """`at 8`: in the morning, or in the evening?"""
    return clock.is_bare and not clock.is_exact and _LAST_OF_AFTERNOON < clock.hour <= 12


def of_clock(clock: SaidHour, parts: tuple[PartOfDay, ...], *, is_today: bool) -> list[int]:
    """The minutes of the day that a clock time may mean; 24 h and more: of the night after the day."""
    hour, minute = clock.hour, clock.minute
    if hour > 24 or minute > 59 or (hour == 24 and minute):
        raise InvalidWhen(Sentence("{time} is not a time of day; write it as 15:00", time=f"{hour}:{minute:02}"))
    if not parts:
        if clock.is_exact or hour > 12 or hour == 0:
            return [hour * 60 + minute + clock.shift]
        is_before_six = hour == _LAST_OF_AFTERNOON + 1 and clock.shift < 0  # half past five, as Germans say it
        hour += 12 if 1 <= hour <= _LAST_OF_AFTERNOON or is_before_six else 0
        found = [hour * 60 + minute + clock.shift]
        if is_today and hour < 12:
            found.append((hour + 12) * 60 + minute + clock.shift)
        return found
    if len(parts) > 1 and not {PartOfDay.NOON, PartOfDay.MIDNIGHT}.isdisjoint(parts):  # at 3pm, at noon
        raise Unclear
    hours = {_with_part(hour, part) for part in parts}
    if len(hours) > 1:
        raise Unclear
    return [hours.pop() * 60 + minute + clock.shift]


def _with_part(hour: int, part: PartOfDay) -> int:
    match part:
        case PartOfDay.AM | PartOfDay.MORNING | PartOfDay.FORENOON | PartOfDay.DAWN if hour <= 12:
            return hour % 12 if part is not PartOfDay.FORENOON or hour != 12 else 12
        case PartOfDay.PM if 1 <= hour <= 12:
            return hour % 12 + 12
        case PartOfDay.AFTERNOON if 1 <= hour <= 12:
            return hour % 12 + 12
        case PartOfDay.AFTERNOON if 12 < hour < 24:
            return hour
        case PartOfDay.DUSK if 3 <= hour <= 8:
            return hour + 12
        case PartOfDay.DUSK if 15 <= hour <= 20:
            return hour
        case PartOfDay.EVENING if 4 <= hour <= 11:
            return hour + 12
        case PartOfDay.EVENING if 16 <= hour <= 23:
            return hour
        case PartOfDay.EVENING | PartOfDay.NIGHT | PartOfDay.MIDNIGHT if hour in (0, 12, 24):
            return 24 if part is PartOfDay.EVENING else 0
        case PartOfDay.NIGHT if 6 <= hour <= 11:
            return hour + 12
        case PartOfDay.NIGHT if hour < 6 or hour >= 18:
            return hour
        case PartOfDay.NOON if 10 <= hour <= 14:
            return hour
        case PartOfDay.NOON if 1 <= hour <= 2:
            return hour + 12
    raise Unclear


def default(parts: tuple[PartOfDay, ...]) -> int:
    """The minutes of the day of a part of the day; -1 where it has none."""
    if PartOfDay.MIDNIGHT in parts:  # "every night at midnight"
        parts = tuple(part for part in parts if part not in (PartOfDay.NIGHT, PartOfDay.EVENING))
    hours = {_HOURS.get(part, -1) for part in parts}
    if len(hours) != 1:
        raise Unclear
    hour = hours.pop()
    return hour * 60 if hour >= 0 else -1
