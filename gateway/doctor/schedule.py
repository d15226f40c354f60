"""What `doctor` looks for in the schedule: a file that cannot be read, jobs that fail, and when the next are due."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import TypeVar
from zoneinfo import ZoneInfo

from agent.memory.files import FileError, read_text
from gateway.doctor.finding import Finding
from gateway.home import Home
from gateway.schedule import jobs_file
from gateway.schedule.due import next_after
from gateway.schedule.job import Job
from gateway.schedule.jobs import FILE
from gateway.schedule.jobs_file import BadFile
from gateway.schedule.moments import local
from gateway.store import run_rows
from gateway.store.database import reading
from gateway.store.run_rows import Run, State

T = TypeVar("T")

_SHOWN = 5


def check(home: Home, workspace: Path, zone: ZoneInfo, now: datetime, on: Collection[str]) -> Iterator[Finding]:
    """Of the schedule in one workspace. `on`: the channels that are on."""
    path = workspace / FILE
    cure = f"mend {path}; until then all jobs go on as they were"
    try:
        read = read_text(path, workspace)
        found = jobs_file.read(read.text if read is not None else "")
    except (BadFile, FileError) as error:
        yield Finding("schedule", False, f"{FILE} cannot be read: {error}", cure)
        return
    for problem in found.problems:
        cure = f"mend {path}; until then that job goes on as it was, and the rest of the file holds"
        yield Finding("schedule", False, f"{FILE}, {problem}", cure)
    for job in found.jobs:
        if job.enabled and (channel := job.off_channel(on)):
            what = f"{job.id} reports to {job.to}, but {channel} is off"
            yield Finding("schedule", False, what, f"switch {channel} on in config.yaml, or change `to` in {path}")
    last = last_runs(home)
    for run in last.values():
        if run.state in (State.FAILED, State.WAITING) and run.error:
            what = f"the last run of {run.job}, due {local(run.moment, zone)}, failed: {run.error}"
            yield Finding("schedule", False, what, f"`daybook schedule run {run.job}` tries again")
    yield Finding("schedule", True, _next_runs(found.jobs, last, zone, now))


def _next_runs(jobs: tuple[Job, ...], last: Mapping[str, Run], zone: ZoneInfo, now: datetime) -> str:
    on = [job for job in jobs if job.enabled]
    dues = [(due, job) for job in on if (due := next_after(job.when, job.zone(zone), now)) is not None]
    shown = ", ".join(
        f"{job.id} {local(due, job.zone(zone))}{_of_last(last.get(job.id), job.zone(zone))}"
        for due, job in sorted(dues, key=lambda one: one[0])[:_SHOWN]
    )
    whose = "1 job" if len(jobs) == 1 else f"{len(jobs)} jobs"
    return f"{whose} of yours, {len(on)} on" + (f"; next: {shown}" if shown else "")


def _of_last(run: Run | None, zone: ZoneInfo) -> str:
    return f" ({last_result(run, zone)})" if run is not None else ""


def last_result(run: Run, zone: ZoneInfo) -> str:
    """What became of a job's newest run."""
    return f"last {local(run.moment, zone)}: {run.state}"


def last_runs(home: Home) -> Mapping[str, Run]:
    """Each job's newest run."""
    return read_only(home, run_rows.last_runs, {})


def read_only(home: Home, read: Callable[[sqlite3.Connection], T], nothing: T) -> T:
    """What the home's database says; `nothing` where there is none, or one that cannot be read: other checks say so."""
    if not home.database.exists():
        return nothing
    try:
        with reading(home.database) as connection:
            return read(connection)
    except sqlite3.Error:
        return nothing
