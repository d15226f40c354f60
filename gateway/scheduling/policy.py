"""Decides for one job and one moment: wait, run, or skip what was missed. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

from gateway.recurrence import When, last_until, next_after, resolved

LATE_AFTER = timedelta(minutes=2)
"""A run that begins later than this after its due time says so."""
RETRIES = tuple(timedelta(seconds=seconds) for seconds in (30, 60, 300, 900, 3600))
"""The waits before each try after a failure."""
ALERT_AFTER = 2
PAUSE_AFTER = 10
"""Failures in a row after which a job is paused."""


@dataclass(frozen=True, slots=True)
class Quiet:
    """Quiet hours, from `start` to `end` on the clock of `zone`; over midnight where `end` is earlier."""

    start: time
    end: time
    zone: ZoneInfo

    def over_at(self, moment: datetime) -> datetime:
        """The end of the quiet hours around `moment`, else `moment` itself."""
        local = moment.astimezone(self.zone)
        clock = local.time()
        over_midnight = self.end < self.start
        inside = clock >= self.start or clock < self.end if over_midnight else self.start <= clock < self.end
        if not inside:
            return moment
        day = local.date() + timedelta(days=1 if over_midnight and clock >= self.start else 0)
        return max(moment, resolved(datetime.combine(day, self.end), self.zone))


@dataclass(frozen=True, slots=True)
class Timing:
    """All that a job's due times depend on."""

    when: When
    zone: ZoneInfo
    catch_up: timedelta
    """For how long a missed run is made up for."""
    quiet: Quiet | None = None


@dataclass(frozen=True, slots=True)
class Wait:
    """There is nothing to do before `until`; None: ever."""

    until: datetime | None


@dataclass(frozen=True, slots=True)
class PlannedRun:
    due: datetime
    late: bool
    then: datetime | None = field(default=None, compare=False)
    """The next due time."""


@dataclass(frozen=True, slots=True)
class Missed:
    """A due time that is too long ago."""

    due: datetime
    then: datetime | None = field(default=None, compare=False)
    """The next due time."""


def plan(timing: Timing, settled: datetime, now: datetime) -> Wait | PlannedRun | Missed:
    """What to do now. Of several due times since `settled`, only the last counts."""
    settled = min(settled, now)  # the clock was put back: what was run is known, the rest may come
    first = next_after(timing.when, timing.zone, settled)
    if first is None or first > now:
        return Wait(first)
    if (until := calm(timing, now)) > now:
        return Wait(until)
    last, then = last_until(timing.when, timing.zone, first, now)
    due = last or first
    late = now - calm(timing, due)
    if late > max(timing.catch_up, LATE_AFTER):
        return Missed(due, then)
    return PlannedRun(due, late > LATE_AFTER, then)


def next_run(timing: Timing, settled: datetime, now: datetime) -> datetime | None:
    match plan(timing, settled, now):
        case PlannedRun():
            return now.astimezone(UTC)
        case Missed():
            due = next_after(timing.when, timing.zone, now)
        case Wait(due):
            pass
    return None if due is None else calm(timing, due)


def calm(timing: Timing, moment: datetime) -> datetime:
    """When a job that is due at `moment` may run: after the quiet hours, if it heeds them."""
    return timing.quiet.over_at(moment) if timing.quiet is not None else moment
