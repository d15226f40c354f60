"""Days, times and numbers in a sentence: "tomorrow at 15:00", „am Montag (23. November) um 15:00“, `12.345,6`. Pure."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import date, datetime

from agent.languages.codes import Language
from agent.languages.registry import LANGUAGES
from agent.languages.sentences import said

_DAY_IN_PATH = re.compile(r"(\d{4})-?(\d\d)-?(\d\d)")


def day_in(language: Language, day: date, today: date) -> str:
    strings = LANGUAGES[language].moments
    near = {-1: strings.yesterday, 0: strings.today, 1: strings.tomorrow}.get((day - today).days)
    return dated_in(language, day, today) if near is None else near


def dated_in(language: Language, day: date, today: date) -> str:
    """The day by its date, which stays true: "on Monday 23 November"."""
    strings = LANGUAGES[language].moments
    return (strings.dated if day.year == today.year else strings.with_year).format(
        weekday=strings.weekdays.split()[day.weekday()],
        day=strings.first if day.day == 1 else day.day,
        month=strings.months.split()[day.month - 1],
        year=day.year,
    )


def place_in(language: Language, path: str, today: date) -> str:
    """The day of a log or session by its path; "what lasts" for a file without a day."""
    if match := _DAY_IN_PATH.search(path):
        with suppress(ValueError):  # no day after all
            return day_in(language, date(*map(int, match.groups())), today)
    return said(language, "what lasts")


def headed(text: str) -> str:
    """The text with a capital, as at the beginning of a line."""
    return f"{text[:1].upper()}{text[1:]}"


def moment_in(language: Language, moment: datetime, now: datetime) -> str:
    """A moment in its own time zone, as said at `now`."""
    day = day_in(language, moment.date(), now.astimezone(moment.tzinfo).date())
    return LANGUAGES[language].moments.at.format(day=day, time=f"{moment:%H:%M}")


def number_in(language: Language, value: float, decimals: int = 0) -> str:
    """The number as the language writes it: `12,345.6`, `12.345,6`."""
    strings = LANGUAGES[language]
    return f"{value:,.{decimals}f}".translate({ord(","): strings.thousands, ord("."): strings.decimal})
