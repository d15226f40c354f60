"""Due times, on the calendar of a zone. Pure; moments are aware, and what comes out is UTC.

A wall-clock time that does not exist is due at the next valid minute; one that exists twice is due once, the first time
(Debian's rules; https://man.debian.org/cron.8). A cron expression with a wildcard hour or minute, and an interval of
less than a day, go by elapsed time instead, through both changes of the clocks.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from copy import copy
from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo

from cronsim import CronSim

from gateway.schedule.when import At, Cron, Every, When

_DAY = timedelta(days=1)
_MINUTE = timedelta(minutes=1)
_ORIGIN = datetime(2000, 1, 1)  # noqa: DTZ001  a wall-clock time, in whichever zone
_MANY = 400
"""Due times in a row: more than there are days in a year, and than a dense expression has in a day."""
_SPANS = (timedelta(hours=1), timedelta(days=1), timedelta(days=32), timedelta(days=366))


def resolved(wall: datetime, zone: ZoneInfo) -> datetime:
    """The moment at which a wall clock in `zone` shows `wall`; an aware `wall` is that moment already."""
    if wall.tzinfo is not None:
        return wall.astimezone(UTC)
    found = wall.replace(fold=0)
    while not exists(found, zone):
        found = found.replace(second=0, microsecond=0) + _MINUTE
    return found.replace(tzinfo=zone).astimezone(UTC)


def exists(wall: datetime, zone: ZoneInfo) -> bool:
    """Whether clocks in `zone` ever show `wall`."""
    local = wall.replace(tzinfo=zone, fold=0)
    return local.astimezone(UTC).astimezone(zone).replace(tzinfo=None, fold=0) == wall.replace(tzinfo=None, fold=0)


def is_twice(wall: datetime, zone: ZoneInfo) -> bool:
    """Whether clocks in `zone` show `wall` two times."""
    one, other = (wall.replace(tzinfo=zone, fold=fold) for fold in (0, 1))
    return exists(wall, zone) and one.utcoffset() != other.utcoffset()


def next_after(when: When, zone: ZoneInfo, after: datetime) -> datetime | None:
    """The first due time later than `after`; None where there is none."""
    try:
        match when:
            case At(moment):
                due = resolved(moment, zone)
                return due if due > after else None
            case Every():
                return _next_interval(when, zone, after)
            case Cron(expression):
                return _next_cron(expression, zone, after)
    except OverflowError:  # the end of the calendar
        return None


def last_until(when: When, zone: ZoneInfo, after: datetime, until: datetime) -> tuple[datetime | None, datetime | None]:
    """The last due time later than `after` and not later than `until`, None where there is none; and the first one
    later than `until`."""
    last = then = None
    for start in _starts(after, until):
        last, then = _last(when, zone, start, until)
        if last is not None:
            break
    return last, then


def runs_within(when: When, gap: timedelta) -> bool:
    """Whether two due times lie nearer than `gap` of at least some minutes. Takes some milliseconds."""
    match when:
        case At():
            return False
        case Every(interval):
            return interval < gap
        case Cron(expression):
            # Times of day repeat, and days that are next to each other come within a year of them.
            times = [time.replace(tzinfo=UTC) for time in itertools.islice(_from(expression, _ORIGIN), _MANY)]
            return any(later - time < gap for time, later in itertools.pairwise(times))


def _starts(after: datetime, until: datetime) -> Iterator[datetime]:
    """Nearer ones first, for whoever asks after a year away what was due last."""
    for span in _SPANS:
        if until - span <= after:
            break
        yield until - span
    yield after


def _last(when: When, zone: ZoneInfo, after: datetime, until: datetime) -> tuple[datetime | None, datetime | None]:
    last, due = None, next_after(when, zone, after)
    while due is not None and due <= until:
        last, due = due, next_after(when, zone, due)
    return last, due


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
    """As `CronSim(expression, after)`, but reads the expression once: that costs as much as finding what is due."""
    found = copy(_read(expression, after.tzinfo))
    found.dt = after.replace(microsecond=0, tzinfo=found.dt.tzinfo)
    return found


@lru_cache(maxsize=1024)
def _read(expression: str, zone: tzinfo | None) -> CronSim:
    return CronSim(expression, _ORIGIN.replace(tzinfo=zone))
