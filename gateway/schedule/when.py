"""When a job is due: once, at equal intervals, or by the calendar. Values, how people write them, and how they read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from cronsim import CronSim, CronSimError

_UNITS = {"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86_400, "w": 604_800}
_INTERVAL = re.compile(r"(?:\d{1,6}\s*(?:min|[smhdw])\s*)+", re.IGNORECASE)
_PART = re.compile(r"(?<!\d)(\d++)\s*+(min|[smhdw])", re.IGNORECASE)
_MOMENT = re.compile(r"(\d{4}-\d{2}-\d{2})[T ](\d{1,2}:\d{2}(?::\d{2})?)\s*(Z|[+-]\d{2}:?\d{2})?", re.IGNORECASE)
SHORTEST = timedelta(minutes=1)
LONGEST = timedelta(days=3660)
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_SIMPLE = re.compile(r"(\d{1,2}) (\d{1,2}) \* \* (\*|[0-7](?:[,-][0-7])*)")


class BadWhen(ValueError):
    """No job can be due by this. One sentence: what was found, and what is allowed."""


@dataclass(frozen=True, slots=True)
class At:
    """Once. `moment` without an offset is wall-clock time in the job's zone."""

    moment: datetime


@dataclass(frozen=True, slots=True)
class Every:
    """At equal intervals, counted from `start` (as in `At`), else from midnight in the job's zone. Whole days are
    counted on the calendar, so that they keep their time of day over a change of clocks."""

    interval: timedelta
    start: datetime | None = None


@dataclass(frozen=True, slots=True)
class Cron:
    """Five fields, as Debian's cron reads them; checked when made by `parse`."""

    expression: str


When = At | Every | Cron


def parse(fields: Mapping[str, str]) -> When:
    """Read `{at}`, `{every}` (with `from`, if wanted) or `{cron}`. Raises `BadWhen`."""
    unknown = sorted(set(fields) - {"at", "every", "cron", "from"})
    if unknown:
        raise BadWhen(f"`when` has no key {unknown[0]!r}; write one of at, every, cron")
    given = [name for name in ("at", "every", "cron") if name in fields]
    if len(given) != 1 or ("from" in fields and given != ["every"]):
        raise BadWhen('`when` must be one of {at: "2026-11-22T15:00"}, {every: 2h}, {cron: "0 8 * * 1-5"}')
    match given[0]:
        case "at":
            return At(moment(fields["at"]))
        case "every":
            return Every(interval(fields["every"]), moment(fields["from"]) if "from" in fields else None)
        case _:
            return cron(fields["cron"])


def moment(text: str) -> datetime:
    """`2026-11-22T15:00`, with an offset or without. Raises `BadWhen`, also for dates that do not exist."""
    match = _MOMENT.fullmatch(text.strip())
    allowed = "write a date and a time such as 2026-11-22T15:00"
    if match is None:
        raise BadWhen(f"{_cut(text)} is not a moment; {allowed}")
    day, clock, offset = match[1], match[2].rjust(5, "0") if len(match[2]) < 6 else match[2].rjust(8, "0"), match[3]
    try:
        found = datetime.fromisoformat(f"{day}T{clock}{(offset or '').upper()}")
    except ValueError as error:
        raise BadWhen(f"{_cut(text)} does not exist ({error}); {allowed}") from error
    return found.astimezone(UTC) if found.tzinfo else found


def interval(text: str) -> timedelta:
    """`2h`, `90m`, `1d`, `1h30m`. Raises `BadWhen`."""
    if not _INTERVAL.fullmatch(text.strip()):
        raise BadWhen(f"{_cut(text)} is not an interval; write 30m, 2h, 1d or 1w")
    length = timedelta(seconds=sum(int(number) * _UNITS[unit.lower()] for number, unit in _PART.findall(text)))
    if not SHORTEST <= length <= LONGEST:
        raise BadWhen(f"{_cut(text)} is out of range; an interval is at least one minute and at most ten years")
    return length


@lru_cache(maxsize=1024)
def cron(text: str) -> Cron:
    """Raises `BadWhen`, also for what never comes (31 February)."""
    expression = " ".join(text.split())
    fields = expression.split(" ")
    allowed = 'five fields: minute, hour, day of month, month, day of week (0 and 7 are Sunday), such as "0 8 * * 1-5"'
    if len(fields) != 5:
        raise BadWhen(f"{_cut(text)} has {len(fields)} fields, not {allowed}")
    try:
        next(CronSim(expression, datetime(2024, 1, 1, tzinfo=UTC)))
    except CronSimError as error:
        raise BadWhen(f"{_cut(text)} cannot be ({str(error).lower()}); write {allowed}") from error
    except StopIteration as error:
        raise BadWhen(f"{_cut(text)} never comes") from error
    return Cron(expression)


def fields(when: When) -> dict[str, str]:
    """As `parse` reads it, and as it stands in `schedule.yaml`."""
    match when:
        case At(moment):
            return {"at": _written(moment)}
        case Every(length, None):
            return {"every": _interval_text(length)}
        case Every(length, start):
            assert start is not None
            return {"every": _interval_text(length), "from": _written(start)}
        case Cron(expression):
            return {"cron": expression}


def in_words(when: When) -> str:
    """For people's eyes: `every 2h`, `08:00 on Monday to Friday`; a cron expression that says more stays as it is."""
    match when:
        case At(moment):
            return f"once, {_written(moment).replace('T', ' ')}"
        case Every(length, _):
            return f"every {_interval_text(length)}"
        case Cron(expression):
            simple = _SIMPLE.fullmatch(expression)
            if simple is None:
                return f"cron {expression}"
            clock = f"{int(simple[2]):02}:{int(simple[1]):02}"
            return f"{clock} every day" if simple[3] == "*" else f"{clock} on {_weekdays(simple[3])}"


def _weekdays(field: str) -> str:
    parts = []
    for part in field.split(","):
        names = [_DAYS[(int(number) - 1) % 7] for number in part.split("-")]
        parts.append(" to ".join(names))
    return ", ".join(parts)


def _written(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds" if moment.second else "minutes")


def _interval_text(length: timedelta) -> str:
    seconds = int(length.total_seconds())
    for unit in ("w", "d", "h", "m"):
        if seconds % _UNITS[unit] == 0:
            return f"{seconds // _UNITS[unit]}{unit}"
    return f"{seconds}s"


def _cut(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:59] + "…")
