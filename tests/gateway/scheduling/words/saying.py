"""What a phrase is read as, in the notation of the corpus."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple
from zoneinfo import ZoneInfo

from agent.languages.codes import Language
from gateway.recurrence import At, Cron, InvalidWhen, When
from gateway.scheduling.words.meaning import HourMissing, Timed
from gateway.scheduling.words.phrases import read

BERLIN = ZoneInfo("Europe/Berlin")
MOMENTS = (
    datetime(2026, 12, 9, 19, 30, tzinfo=BERLIN),
    datetime(2027, 3, 28, 1, 30, tzinfo=BERLIN),
    datetime(2027, 1, 31, 10, 15, tzinfo=BERLIN),
)
UNCLEAR = "?"
_CORPUS = Path(__file__).with_name("corpus")


class Case(NamedTuple):
    said: str
    now: datetime
    value: str


def corpus(language: Language) -> Iterator[Case]:
    for line in (_CORPUS / f"{language}.tsv").read_text(encoding="utf-8").splitlines():
        said, *values = line.split("\t")
        for now, value in zip(MOMENTS, values if len(values) > 1 else values * 3, strict=True):
            yield Case(said, now, value)


class Order(NamedTuple):
    said: str
    value: str
    task: str


def orders(language: Language) -> Iterator[Order]:
    for line in (_CORPUS / f"{language}.orders.tsv").read_text(encoding="utf-8").splitlines():
        yield Order(*line.split("\t"))


def value_of(said: str, now: datetime, language: Language) -> tuple[str, str]:
    """The value, and the rest of the text."""
    try:
        phrase = read(said, now, (language,))
    except InvalidWhen:
        return UNCLEAR, ""
    if phrase is None or phrase.time is None:
        return UNCLEAR, ""
    when = phrase.time.when if isinstance(phrase.time, Timed) else None
    if isinstance(when, At) and (when.moment if when.moment.tzinfo else when.moment.replace(tzinfo=BERLIN)) <= now:
        return UNCLEAR, ""
    if isinstance(phrase.time, HourMissing):
        return f"?hour {phrase.time.day or ''}".strip(), phrase.rest
    zone = f" in {phrase.time.zone}" if phrase.time.zone else ""
    return _written(phrase.time.when) + zone, phrase.rest


def _written(when: When) -> str:
    if isinstance(when, At):
        wall = when.moment.astimezone(BERLIN).replace(tzinfo=None) if when.moment.tzinfo else when.moment
        return f"{wall:%Y-%m-%d %H:%M}"
    until = f" until {when.until}" if when.until is not None else ""
    if isinstance(when, Cron):
        return f"cron {when.expression}{until}"
    if when.start is not None:
        return f"every {when.interval.days}d from {when.start + when.interval:%Y-%m-%d %H:%M}{until}"
    return f"every {_short(when.interval)}{until}"


def _short(length: timedelta) -> str:
    minutes = int(length.total_seconds()) // 60
    return f"{minutes}m" if minutes % 60 else f"{minutes // 60}h"
