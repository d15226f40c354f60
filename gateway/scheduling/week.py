"""Seven days of the schedule: the runs of days past, and the due times to come."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from gateway.recurrence import next_after, resolved
from gateway.scheduling import policy
from gateway.scheduling.job import Job
from gateway.scheduling.policy import Timing
from gateway.scheduling.requests import JobListing
from gateway.store.run_rows import Run, RunStatus

DAYS = 7
_SINGLE = 3
"""Due times of one job that a day lists; of more it lists only the first."""
_DAY = timedelta(days=1)
_SECOND = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class WeekEntry:
    """A due time; `state` None: it is still to come."""

    job: str
    at: datetime
    kind: str
    text: str
    state: RunStatus | None = None
    is_often: bool = False
    """There are more of this job on this day."""


@dataclass(frozen=True, slots=True)
class WeekDay:
    day: date
    entries: Sequence[WeekEntry]


def midnight(day: date, zone: ZoneInfo) -> datetime:
    return resolved(datetime.combine(day, time()), zone)


def week(
    first: date, zone: ZoneInfo, rows: Iterable[JobListing], timing: Callable[[Job], Timing], runs: Sequence[Run]
) -> Sequence[WeekDay]:
    """The days from `first` on. `runs`: the runs begun in them. Takes a while for thousands of jobs."""
    days = [first + number * _DAY for number in range(DAYS)]
    bounds = [midnight(day, zone) for day in [*days, days[-1] + _DAY]]
    planned = [list(_planned(row, timing(row.job), bounds)) for row in rows]
    by_day: list[list[WeekEntry]] = []
    for number in range(DAYS):
        start, end = bounds[number], bounds[number + 1]
        begun = [run for run in runs if start <= run.moment < end]
        ran = _few([WeekEntry(run.job, run.moment, run.kind, run.text, run.state) for run in begun])
        coming = [entry for entries in planned for entry in entries if start <= entry.at < end]
        by_day.append(sorted([*ran, *coming], key=lambda entry: (entry.at, entry.job)))
    return [WeekDay(day, entries) for day, entries in zip(days, by_day, strict=True)]


def _planned(row: JobListing, timing: Timing, bounds: Sequence[datetime]) -> Iterator[WeekEntry]:
    due = row.next_run if row.job.enabled else None
    for start, end in itertools.pairwise(bounds):
        if due is not None and due < start:
            due = _next(timing, start - _SECOND)
        found: list[datetime] = []
        while due is not None and due < end and len(found) <= _SINGLE:
            found.append(due)
            due = _next(timing, due)
        is_often = len(found) > _SINGLE
        for at in found[:1] if is_often else found:
            yield WeekEntry(row.job.id, at, str(row.job.kind), row.job.text, is_often=is_often)


def _next(timing: Timing, after: datetime) -> datetime | None:
    due = next_after(timing.when, timing.zone, after)
    return policy.calm(timing, due) if due is not None else None


def _few(entries: Sequence[WeekEntry]) -> Iterator[WeekEntry]:
    """The entries of a day; where a job has many, only the newest."""
    of_job: dict[str, list[WeekEntry]] = {}
    for entry in entries:
        of_job.setdefault(entry.job, []).append(entry)
    for found in of_job.values():
        yield from found if len(found) <= _SINGLE else [replace(found[-1], is_often=True)]
