"""Checks of the schedule: its file, failing jobs, and the next due times."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import datetime, time, timedelta
from pathlib import Path
from typing import TypeVar
from zoneinfo import ZoneInfo

from agent.formats.sqlite import StorageUnavailable
from agent.languages.sentences import Sentence
from agent.memory.files import FileError, read_text
from agent.search.memory_tests import FILE as MEMORY_TESTS
from channels.checks import Finding
from gateway.config import Config
from gateway.home import Home
from gateway.policy.preferences import DAILY
from gateway.policy.preferences import OFF as CHOSE_NONE
from gateway.recurrence import When, next_after
from gateway.scheduling import builtins, jobs_file, policy
from gateway.scheduling.job import Job, JobKind
from gateway.scheduling.job_store import FILE
from gateway.scheduling.jobs_file import InvalidJobsFile
from gateway.scheduling.policy import Quiet, Timing
from gateway.spoken_time import spoken
from gateway.store import chat_rows, run_rows
from gateway.store.connection import Connection, reading
from gateway.store.run_rows import JobRow, Run, RunStatus

T = TypeVar("T")

_SHOWN = 5


def check_schedule(
    home: Home, workspace: Path, config: Config, now: datetime, on: Collection[str]
) -> Iterator[Finding]:
    """Checks the file of jobs and their runs. `on`: the channels that are on."""
    path = workspace / FILE
    fix = Sentence("correct {path}; until then all jobs run as before", path=path)
    try:
        read = read_text(path, workspace)
        found = jobs_file.read(read.text if read is not None else "")
    except (InvalidJobsFile, FileError) as error:
        yield Finding("schedule", False, Sentence("can't read {file}: {error}", file=FILE, error=error), fix)
        return
    for problem in found.problems:
        fix = Sentence(
            "correct {path}; until then that job runs as before, and the rest of the file is in effect", path=path
        )
        yield Finding("schedule", False, Sentence("{file}, {problem}", file=FILE, problem=problem), fix)
    for job in found.jobs:
        if job.enabled and (channel := job.off_channel(on)):
            what = Sentence("{job} reports to {to}, but {channel} is off", job=job.id, to=job.to, channel=channel)
            yield Finding(
                "schedule",
                False,
                what,
                Sentence("turn {channel} on in config.yaml, or change `to` in {path}", channel=channel, path=path),
            )
    last = last_runs(home, config)
    for run in last.values():
        if run.state in (RunStatus.FAILED, RunStatus.WAITING) and run.error:
            what = Sentence(
                "the last run of {job}, due {moment}, failed: {error}",
                job=run.job,
                moment=spoken(run.moment, now, config.zone),
                error=run.error,
            )
            yield Finding("schedule", False, what, Sentence("`daybook schedule run {job}` tries again", job=run.job))
    for line in _next_runs(found.jobs, last, config.zone, now):
        yield Finding("schedule", True, line)


def _next_runs(jobs: tuple[Job, ...], last: Mapping[str, Run], zone: ZoneInfo, now: datetime) -> Iterator[Sentence]:
    on = [job for job in jobs if job.enabled]
    some = "you have 1 job" if len(jobs) == 1 else "you have {count} jobs" if jobs else "you have no jobs"
    count, off = Sentence(some, count=len(jobs)), len(jobs) - len(on)
    yield Sentence("{jobs}, {count} of them off", jobs=count, count=off) if off else count
    dues = [(due, job) for job in on if (due := next_after(job.when, job.zone(zone), now)) is not None]
    for due, job in sorted(dues, key=lambda pair: pair[0])[:_SHOWN]:
        yield next_run(job.id, due, last.get(job.id), zone, now)


def next_run(id: str, due: datetime | None, run: Run | None, zone: ZoneInfo, now: datetime) -> Sentence:
    off = Sentence("{job}: off", job=id)
    next_due = off if due is None else Sentence("{job}: next {moment}", job=id, moment=spoken(due, now, zone))
    if run is None:
        return next_due
    last, result = spoken(run.moment, now, zone), Sentence(str(run.state))
    return Sentence("{next}; last {moment}: {result}", next=next_due, moment=last, result=result)


def last_runs(home: Home, config: Config) -> Mapping[str, Run]:
    return read_only(home, config, run_rows.last_runs, {})


def read_only(home: Home, config: Config, read: Callable[[Connection], T], nothing: T) -> T:
    """Reads the home's database; `nothing` where another check reports why not."""
    try:
        with reading(home.database, config.postgres_url) as connection:
            return nothing if connection is None else read(connection)
    except StorageUnavailable:
        return nothing


def check_own_jobs(home: Home, config: Config, now: datetime) -> Iterator[Finding]:
    rows: Mapping[str, JobRow] = read_only(home, config, run_rows.jobs, {})
    last = last_runs(home, config)
    for job in (*_jobs(home, config, rows), *_summaries(home, config, rows)):
        due = _next_run(job, config, rows, now)
        yield Finding("schedule", True, next_run(job.id, due, last.get(job.id), config.zone, now))


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
    chosen: Mapping[str, str] = read_only(home, config, lambda connection: chat_rows.chosen(connection, DAILY), {})
    row = rows.get(builtins.DAILY_SUMMARY)
    is_left = bool(chosen) and row is not None and row.is_off
    usual = builtins.daily_at(summary.time)
    yield _own(builtins.DAILY_SUMMARY, usual, rows, enabled=summary.enabled and not is_left)
    for chat, at in sorted(chosen.items()):
        if at != CHOSE_NONE:
            yield _own(builtins.summary_of(chat), builtins.daily_at(time.fromisoformat(at)), rows)


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
