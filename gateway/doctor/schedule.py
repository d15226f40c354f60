"""Checks of the schedule: an unreadable file, failing jobs, and the next due times, also of Daybook's own jobs.

Computed from the configuration and from what people chose, as the gateway does; none need run.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import datetime, time, timedelta
from pathlib import Path
from typing import TypeVar
from zoneinfo import ZoneInfo

from agent.memory.files import FileError, read_text
from agent.search.memory_tests import FILE as MEMORY_TESTS
from gateway.config import Config
from gateway.doctor.probe import Finding
from gateway.home import Home
from gateway.policy.preferences import DAILY
from gateway.policy.preferences import OFF as CHOSE_NONE
from gateway.recurrence import When, local, next_after
from gateway.scheduling import builtins, jobs_file, policy
from gateway.scheduling.job import Job, JobKind
from gateway.scheduling.job_store import FILE
from gateway.scheduling.jobs_file import InvalidJobsFile
from gateway.scheduling.policy import Quiet, Timing
from gateway.store import chat_rows, run_rows
from gateway.store.database import reading
from gateway.store.run_rows import JobRow, Run, RunStatus

T = TypeVar("T")

_SHOWN = 5


def check_schedule(
    home: Home, workspace: Path, zone: ZoneInfo, now: datetime, on: Collection[str]
) -> Iterator[Finding]:
    """Checks the schedule of one workspace. `on`: the channels that are on."""
    path = workspace / FILE
    cure = f"mend {path}; until then all jobs go on as they were"
    try:
        read = read_text(path, workspace)
        found = jobs_file.read(read.text if read is not None else "")
    except (InvalidJobsFile, FileError) as error:
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
        if run.state in (RunStatus.FAILED, RunStatus.WAITING) and run.error:
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
    """The result of a job's newest run, in words."""
    return f"last {local(run.moment, zone)}: {run.state}"


def last_runs(home: Home) -> Mapping[str, Run]:
    """Each job's newest run."""
    return read_only(home, run_rows.last_runs, {})


def read_only(home: Home, read: Callable[[sqlite3.Connection], T], nothing: T) -> T:
    """Reads the home's database; `nothing` where there is none or it cannot be read, which other checks report."""
    if not home.database.exists():
        return nothing
    try:
        with reading(home.database) as connection:
            return read(connection)
    except sqlite3.Error:
        return nothing


def check_own_jobs(home: Home, config: Config, now: datetime) -> Iterator[Finding]:
    rows: Mapping[str, JobRow] = read_only(home, run_rows.jobs, {})
    last = last_runs(home)
    for job in (*_jobs(home, config, rows), *_summaries(home, config, rows)):
        due = _next_run(job, config, rows, now)
        said = f"{job.id}: next {local(due, config.zone)}" if due is not None else f"{job.id}: off"
        run = last.get(job.id)
        result = f"; {last_result(run, config.zone)}" if run is not None else ""
        yield Finding("schedule", True, said + result)


def _jobs(home: Home, config: Config, rows: Mapping[str, JobRow]) -> Iterator[Job]:
    heartbeat = config.schedule.heartbeat
    every = heartbeat.every if heartbeat is not None else None
    journals = any(agent.memory.journal for agent in config.agents.values())
    yield _own(builtins.JOURNAL, builtins.NIGHTLY, rows, enabled=journals)
    yield _own(builtins.HEARTBEAT, builtins.beating(every), rows, enabled=every is not None)
    if any((home.workspace(agent.workspace) / MEMORY_TESTS).exists() for agent in config.agents.values()):
        yield _own(builtins.MEMORY_TEST, builtins.MEMORY_TESTED, rows)


def _summaries(home: Home, config: Config, rows: Mapping[str, JobRow]) -> Iterator[Job]:
    """The jobs of daily summaries. The usual one is off where everybody chose for themselves."""
    summary = config.schedule.daily_summary
    chosen: Mapping[str, str] = read_only(home, _chosen, {})
    row = rows.get(builtins.DAILY_SUMMARY)
    is_left = bool(chosen) and row is not None and row.is_off
    usual = builtins.daily_at(summary.time)
    yield _own(builtins.DAILY_SUMMARY, usual, rows, enabled=summary.enabled and not is_left)
    for chat, at in sorted(chosen.items()):
        if at != CHOSE_NONE:
            yield _own(builtins.summary_of(chat), builtins.daily_at(time.fromisoformat(at)), rows)


def _chosen(connection: sqlite3.Connection) -> Mapping[str, str]:
    return chat_rows.chosen(connection, DAILY)


def _own(id: str, when: When, rows: Mapping[str, JobRow], *, enabled: bool = True) -> Job:
    row = rows.get(id)
    return Job(id, JobKind.BUILT_IN, "", when, enabled=enabled and not (row is not None and row.paused))


def _next_run(job: Job, config: Config, rows: Mapping[str, JobRow], now: datetime) -> datetime | None:
    if not job.enabled:
        return None
    hours = config.schedule.quiet_hours if job.id != builtins.JOURNAL else None
    quiet = Quiet(hours.start, hours.end, config.zone) if hours is not None else None
    timing = Timing(job.when, config.zone, timedelta(hours=config.schedule.catch_up_hours), quiet)
    row = rows.get(job.id)
    return policy.next_run(timing, datetime.fromisoformat(row.settled) if row is not None else now, now)
