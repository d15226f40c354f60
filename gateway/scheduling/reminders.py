"""Reminders that have rung: their buttons, and what an answer refers to. Pure.

A button names the run, not the job: the job has left the file by then, and its id may belong to another.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from agent.clock import utc_stamp
from agent.languages.codes import Language
from channels.message import Button
from gateway.i18n import STRINGS
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
    """What an answer refers to.

    to         where it rings again
    id_again   the id under which it does
    pending    id of the job that would ring for it again already, else empty
    """

    text: str
    to: str
    id_again: str
    pending: str = ""


def shown(text: str) -> str:
    """A reminder as it is shown in a chat, marked so that it is not taken for an answer."""
    return f"⏰ {text}"


def buttons(run: Run, language: Language) -> Buttons:
    """The buttons under a reminder."""
    words = STRINGS[language]
    times = ((words.in_10_minutes, "10m"), (words.in_an_hour, "1h"), (words.tomorrow, "1d"))
    later = tuple(Button(label, f"/jobs snooze #{run.seq} {time}") for label, time in times)
    return ((Button(words.done, f"/jobs done #{run.seq}"),), later)


def number(name: str) -> int | None:
    """The number of the run that a button names; None where the name is the id of a job."""
    match = _NUMBER.fullmatch(name)
    return int(match[1]) if match else None


def of_job(job: Job, jobs: Mapping[str, Job]) -> Reminder:
    """The reminder of a listed job. A recurring one rings again in addition."""
    if isinstance(job.when, At):
        return Reminder(job.text, job.to, job.id, job.id)
    again = _again(job.id)
    return Reminder(job.text, job.to, again, again if again in jobs else "")


def of_run(run: Run, jobs: Mapping[str, Job], zone: ZoneInfo, here: str) -> Reminder:
    """The reminder that rang in a run. `here`: where to ring, if its job is gone."""
    job = jobs.get(run.job)
    if job is None:
        return Reminder(run.text, here, run.job)
    is_over = isinstance(job.when, At)
    due = next_after(job.when, job.zone(zone), _LONG_AGO) if is_over else None
    if due is not None and utc_stamp(due) == run.due:  # it is about to be taken out of the file
        return Reminder(run.text, job.to, job.id, job.id)
    return Reminder(run.text, here if is_over else job.to, _again(run.job))


def _again(id: str) -> str:
    return f"{id.removesuffix(_AGAIN)[: _LONGEST_ID - len(_AGAIN)]}{_AGAIN}"
