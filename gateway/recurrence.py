"""When a job is due: once, at intervals, or by the calendar. Pure.

A wall-clock time that does not exist is due at the next valid minute, one that exists twice at the first (Debian's
cron.8). A cron expression with a wildcard hour or minute, and an interval of less than a day, go by elapsed time.
Due times are in UTC.
"""

from __future__ import annotations

import heapq
import itertools
import re
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from agent.clock import WEEKDAYS
from agent.languages.sentences import Sentence

_UNITS = {"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86_400, "w": 604_800}
_INTERVAL = re.compile(r"(?:\d{1,6}\s*(?:min|[smhdw])\s*)+", re.IGNORECASE)
_PART = re.compile(r"(?<!\d)(\d++)\s*+(min|[smhdw])", re.IGNORECASE)
_MOMENT = re.compile(r"(\d{4}-\d{2}-\d{2})[T ](\d{1,2}:\d{2}(?::\d{2})?)\s*(Z|[+-]\d{2}:?\d{2})?", re.IGNORECASE)
BETWEEN = "; "
"""Between two cron expressions."""
SHORTEST = timedelta(minutes=1)
LONGEST = timedelta(days=3660)

FORMS = ('{at: "2026-11-22T15:00"}', "{every: 2h}", '{cron: "0 8 * * 1-5"}')


class InvalidWhen(ValueError):
    """One sentence: what was found, and what is allowed."""


@dataclass(frozen=True, slots=True)
class At:
    """Once; without an offset, `moment` is wall-clock time in the job's zone."""

    moment: datetime


@dataclass(frozen=True, slots=True)
class Every:
    """A schedule from `start` (as in `At`), else midnight in the job's zone, to its last day. Whole days are counted on
    the calendar."""

    interval: timedelta
    start: datetime | None = None
    until: date | None = None


@dataclass(frozen=True, slots=True)
class Cron:
    """Five fields, as Debian's cron reads them, or several times such fields with `;` between them; checked by `cron`.
    `until`: the last day."""

    expression: str
    until: date | None = None

    @property
    def each(self) -> list[str]:
        """The expressions of five fields."""
        return self.expression.split(BETWEEN)


When = At | Every | Cron


def parse(fields: Mapping[str, str]) -> When:
    """Reads `{at}`, `{every}` (and `from`) or `{cron}`, the latter two with `until`. Raises `InvalidWhen`."""
    unknown = sorted(set(fields) - {"at", "every", "cron", "from", "until"})
    if unknown:
        raise InvalidWhen(Sentence("`when` has no key {key}; write one of `at`, `every`, `cron`", key=repr(unknown[0])))
    given = [name for name in ("at", "every", "cron") if name in fields]
    if len(given) != 1 or ("from" in fields and given != ["every"]) or ("until" in fields and given == ["at"]):
        raise InvalidWhen(Sentence("`when` must be one of {forms}", forms=", ".join(FORMS)))
    until = _day(fields["until"]) if "until" in fields else None
    match given[0]:
        case "at":
            return At(moment(fields["at"]))
        case "every":
            return Every(interval(fields["every"]), moment(fields["from"]) if "from" in fields else None, until)
        case _:
            return replace(cron(fields["cron"]), until=until)


def moment(text: str) -> datetime:
    """Reads `2026-11-22T15:00`, with an offset or without. Raises `InvalidWhen`."""
    match = _MOMENT.fullmatch(text.strip())
    if match is None:
        raise InvalidWhen(
            Sentence("{text} is not a moment; write a date and a time such as 2026-11-22T15:00", text=_cut(text))
        )
    day, clock, offset = match[1], match[2].rjust(5, "0") if len(match[2]) < 6 else match[2].rjust(8, "0"), match[3]
    try:
        found = datetime.fromisoformat(f"{day}T{clock}{(offset or '').upper()}")
    except ValueError as error:
        raise InvalidWhen(
            Sentence("{text} does not exist; write a date and a time such as 2026-11-22T15:00", text=_cut(text))
        ) from error
    return found.astimezone(UTC) if found.tzinfo else found


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text.strip())
    except ValueError as error:
        raise InvalidWhen(Sentence("{text} is not a day; write it as 2026-12-24", text=_cut(text))) from error


def interval(text: str) -> timedelta:
    """Reads `2h`, `90m`, `1d`, `1h30m`. Raises `InvalidWhen`."""
    if not _INTERVAL.fullmatch(text.strip()):
        raise InvalidWhen(Sentence("{text} is not an interval; write `30m`, `2h`, `1d` or `1w`", text=_cut(text)))
    length = timedelta(seconds=sum(int(number) * _UNITS[unit.lower()] for number, unit in _PART.findall(text)))
    if not SHORTEST <= length <= LONGEST:
        raise InvalidWhen(
            Sentence(
                "{text} is out of range; an interval is at least one minute and at most ten years", text=_cut(text)
            )
        )
    return length


@lru_cache(maxsize=1024)
def cron(text: str) -> Cron:
    """Checks cron expressions. Raises `InvalidWhen`, also for one that never comes (31 February)."""
    return Cron(BETWEEN.join(_checked(part) for part in text.split(BETWEEN.strip())))


def _checked(text: str) -> str:
    expression = " ".join(text.split())
    fields = expression.split(" ")
    allowed = Sentence(
        "five fields: minute, hour, day of month, month, day of week (0 and 7 are Sunday), such as `0 8 * * 1-5`"
    )
    if len(fields) != 5:
        raise InvalidWhen(
            Sentence("{text} is not a cron expression; write {allowed}", text=_cut(text), allowed=allowed)
        )
    try:
        next(CronSim(expression, datetime(2024, 1, 1, tzinfo=UTC)))
    except CronSimError as error:
        why = f"`{str(error).lower()}`"  # cronsim's, in English
        raise InvalidWhen(
            Sentence(
                "{text} is not a cron expression ({why}); write {allowed}", text=_cut(text), why=why, allowed=allowed
            )
        ) from error
    except StopIteration as error:
        raise InvalidWhen(Sentence("{text} never comes", text=_cut(text))) from error
    return expression


def fields(when: When) -> dict[str, str]:
    """The fields in `schedule.yaml`, as `parse` reads them."""
    match when:
        case At(moment):
            return {"at": _written(moment)}
        case Every(length, start, until):
            begun = {"from": _written(start)} if start is not None else {}
            return {"every": interval_text(length), **begun, **_last_day(until)}
        case Cron(expression, until):
            return {"cron": expression, **_last_day(until)}


def _last_day(until: date | None) -> dict[str, str]:
    return {"until": until.isoformat()} if until is not None else {}


def _written(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds" if moment.second else "minutes")


def interval_text(length: timedelta) -> str:
    seconds = int(length.total_seconds())
    for unit in ("w", "d", "h", "m"):
        if seconds % _UNITS[unit] == 0:
            return f"{seconds // _UNITS[unit]}{unit}"
    return f"{seconds}s"


def _cut(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:59] + "…")


_DAY = timedelta(days=1)
_MINUTE = timedelta(minutes=1)
_ORIGIN = datetime(2000, 1, 1)  # noqa: DTZ001  a wall-clock time, in whichever zone
_MANY = 400
"""Due times: more than a year has days."""
_SPANS = (timedelta(hours=1), timedelta(days=1), timedelta(days=32), timedelta(days=366))
"""Back from now: the last due time after a year away is looked for nearby first."""


def resolved(wall: datetime, zone: ZoneInfo) -> datetime:
    """When clocks in `zone` first show `wall`; unchanged with an offset."""
    if wall.tzinfo is not None:
        return wall.astimezone(UTC)
    found = wall.replace(fold=0)
    while not exists(found, zone):
        found = found.replace(second=0, microsecond=0) + _MINUTE
    return found.replace(tzinfo=zone).astimezone(UTC)


def exists(wall: datetime, zone: ZoneInfo) -> bool:
    local = wall.replace(tzinfo=zone, fold=0)
    return local.astimezone(UTC).astimezone(zone).replace(tzinfo=None, fold=0) == wall.replace(tzinfo=None, fold=0)


def is_twice(wall: datetime, zone: ZoneInfo) -> bool:
    first, second = (wall.replace(tzinfo=zone, fold=fold) for fold in (0, 1))
    return exists(wall, zone) and first.utcoffset() != second.utcoffset()


def next_after(when: When, zone: ZoneInfo, after: datetime) -> datetime | None:
    try:
        match when:
            case At(moment):
                due = resolved(moment, zone)
                return due if due > after else None
            case Every():
                return _within(_next_interval(when, zone, after), when.until, zone)
            case Cron():
                each = [_next_cron(expression, zone, after) for expression in when.each]
                first = min((time for time in each if time is not None), default=None)
                return _within(first, when.until, zone)
    except OverflowError:  # the end of the calendar
        return None


def _within(due: datetime | None, until: date | None, zone: ZoneInfo) -> datetime | None:
    return None if due is not None and until is not None and due.astimezone(zone).date() > until else due


def last_until(when: When, zone: ZoneInfo, after: datetime, until: datetime) -> tuple[datetime | None, datetime | None]:
    """The last due time in (`after`, `until`], and the first later one."""
    last = then = None
    for start in (*(until - span for span in _SPANS if until - span > after), after):
        last, then = None, next_after(when, zone, start)
        while then is not None and then <= until:
            last, then = then, next_after(when, zone, then)
        if last is not None:
            break
    return last, then


def runs_within(when: When, gap: timedelta) -> bool:
    """True where two due times are closer than `gap`, of some minutes at least. Takes milliseconds."""
    match when:
        case At():
            return False
        case Every(interval):
            return interval < gap
        case Cron():
            # Times of day repeat, and days that are next to each other come within a year of them.
            found = heapq.merge(*(_from(expression, _ORIGIN) for expression in when.each))
            times = [time.replace(tzinfo=UTC) for time in itertools.islice(found, _MANY)]
            return any(later - time < gap for time, later in itertools.pairwise(times))


def _next_interval(every: Every, zone: ZoneInfo, after: datetime) -> datetime | None:
    start = every.start or _ORIGIN
    if every.interval % _DAY:
        first = resolved(start, zone)
        steps = (after - first) // every.interval + 1
        return first + max(steps, 1 if every.start else 0) * every.interval
    wall = start.astimezone(zone).replace(tzinfo=None) if start.tzinfo else start
    here = after.astimezone(zone).replace(tzinfo=None)
    steps = max((here - wall) // every.interval, 1 if every.start else 0)
    while (due := resolved(wall + steps * every.interval, zone)) <= after:
        steps += 1
    return due


def _next_cron(expression: str, zone: ZoneInfo, after: datetime) -> datetime | None:
    for found in _from(expression, after.astimezone(zone)):
        due = found.astimezone(UTC)
        if due > after:
            return due
    return None


def _from(expression: str, after: datetime) -> CronSim:
    """`CronSim(expression, after)`, parsed once, which costs as much as finding a due time."""
    found = copy(_read(expression, after.tzinfo))
    found.dt = after.replace(microsecond=0, tzinfo=found.dt.tzinfo)
    return found


@lru_cache(maxsize=1024)
def _read(expression: str, zone: tzinfo | None) -> CronSim:
    return CronSim(expression, _ORIGIN.replace(tzinfo=zone))


def local(moment: datetime, zone: ZoneInfo) -> str:
    """A moment with its zone, for the model: `2026-11-22 Sun 15:00 Europe/Berlin`."""
    here = moment.astimezone(zone)
    return f"{here:%Y-%m-%d} {WEEKDAYS[here.weekday()]} {here:%H:%M} {zone.key}"


def iso(moment: datetime | None, zone: ZoneInfo) -> str | None:
    return moment.astimezone(zone).isoformat(timespec="seconds") if moment is not None else None
