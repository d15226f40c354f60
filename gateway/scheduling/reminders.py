"""Reminders: their buttons, and what an answer refers to. Pure.

Buttons name the run, not the job: the job has left the file by then, and another may have its id.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from agent.clock import utc_stamp
from agent.languages.codes import Language
from agent.languages.registry import LANGUAGES
from channels.message import Button
from gateway import recurrence as when_
from gateway.recurrence import At, next_after
from gateway.scheduling.job import Job
from gateway.store.outbox_rows import Buttons
from gateway.store.run_rows import Run

_NUMBER = re.compile(r"#(\d{1,18})")
_AGAIN = "-again"
_LONGEST_ID = 64
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Reminder:
    """The reminder that an answer refers to."""

    text: str
    to: str
    id_again: str
    """The id of the job that repeats it."""
    pending: str = ""
    """The same id if that job exists, else empty."""


def shown(text: str) -> str:
    return f"⏰ {text}"


def buttons(run: Run, language: Language) -> Buttons:
    strings = LANGUAGES[language].reminders
    times = ((strings.in_10_minutes, "10m"), (strings.in_an_hour, "1h"), (strings.tomorrow, "1d"))
    later = tuple(Button(label, f"/jobs snooze #{run.seq} {time}") for label, time in times)
    return ((Button(strings.done, f"/jobs done #{run.seq}"),), later)


def mark_of(job: Job) -> str:
    """A short name of exactly this job: another may have its id when a button is pressed."""
    fields = json.dumps([job.id, job.text, job.to, job.timezone, when_.fields(job.when)])
    return f"@{hashlib.sha256(fields.encode()).hexdigest()[:16]}"


def number(name: str) -> int | None:
    """The number of a run in a button's name; None for a job's id."""
    match = _NUMBER.fullmatch(name)
    return int(match[1]) if match else None


def of_job(job: Job, jobs: Mapping[str, Job]) -> Reminder:
    if isinstance(job.when, At):
        return Reminder(job.text, job.to, job.id, job.id)
    again = _id_again(job.id, job.text, job.to, jobs)
    return Reminder(job.text, job.to, again, again if again in jobs else "")


def of_run(run: Run, jobs: Mapping[str, Job], zone: ZoneInfo, here: str) -> Reminder:
    """The reminder of a run. `here`: where to repeat it, if its job is gone."""
    job = jobs.get(run.job)
    if job is None:
        return Reminder(run.text, here, run.job)
    is_over = isinstance(job.when, At)
    due = next_after(job.when, job.zone(zone), _LONG_AGO) if is_over else None
    if due is not None and utc_stamp(due) == run.due:  # it is about to be taken out of the file
        return Reminder(run.text, job.to, job.id, job.id)
    to = here if is_over else job.to
    return Reminder(run.text, to, _id_again(run.job, run.text, to, jobs))


def _id_again(id: str, text: str, to: str, jobs: Mapping[str, Job]) -> str:
    """An id that is free, or of a job for the same reminder."""
    base = f"{id.removesuffix(_AGAIN)[: _LONGEST_ID - len(_AGAIN)]}{_AGAIN}"
    ids = itertools.chain([base], (f"{base[: _LONGEST_ID - 6]}-{number}" for number in itertools.count(2)))
    return next(name for name in ids if name not in jobs or (jobs[name].text, jobs[name].to) == (text, to))
