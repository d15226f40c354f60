"""What is due in a chat on one day. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from gateway.schedule.due import next_after, resolved
from gateway.schedule.job import Job, Kind

_INSTANT = timedelta(microseconds=1)


def agenda(jobs: Iterable[Job], to: Collection[str], day: date, zone: ZoneInfo) -> Sequence[tuple[datetime, Job]]:
    """The first due time of each job that reports to one of `to`, on that day of `zone`, earliest first. Not those of
    Daybook's own, nor what is paused."""
    start, end = (resolved(datetime.combine(one, time()), zone) for one in (day, day + timedelta(days=1)))
    found: list[tuple[datetime, Job]] = []
    for job in jobs:
        if job.kind is Kind.BUILT_IN or not job.enabled or job.to not in to:
            continue
        due = next_after(job.when, job.zone(zone), start - _INSTANT)
        if due is not None and due < end:
            found.append((due.astimezone(zone), job))
    return sorted(found, key=lambda one: (one[0], one[1].id))
