"""What `doctor` says of Daybook's own jobs: when each is due next, and what became of its last run.

Reckoned as the gateway reckons it, from the configuration and from what people chose; a gateway need not run.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from datetime import datetime, time, timedelta

from agent.search.memory_tests import FILE as MEMORY_TESTS
from gateway.choices import DAILY
from gateway.choices import OFF as CHOSE_NONE
from gateway.config import Config
from gateway.doctor.finding import Finding
from gateway.doctor.schedule import last_result, last_runs, read_only
from gateway.home import Home
from gateway.schedule import builtin, plan
from gateway.schedule.job import Job, Kind
from gateway.schedule.moments import local
from gateway.schedule.plan import Quiet, Timing
from gateway.schedule.when import When
from gateway.store import choice_rows, run_rows
from gateway.store.run_rows import JobRow


def check(home: Home, config: Config, now: datetime) -> Iterator[Finding]:
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
    yield _own(builtin.JOURNAL, builtin.NIGHTLY, rows, enabled=journals)
    yield _own(builtin.HEARTBEAT, builtin.beating(every), rows, enabled=every is not None)
    if any((home.workspace(agent.workspace) / MEMORY_TESTS).exists() for agent in config.agents.values()):
        yield _own(builtin.MEMORY_TEST, builtin.MEMORY_TESTED, rows)


def _summaries(home: Home, config: Config, rows: Mapping[str, JobRow]) -> Iterator[Job]:
    """The usual one is off where everybody chose for themselves, which the gateway has noted."""
    summary = config.schedule.daily_summary
    chosen: Mapping[str, str] = read_only(home, _chosen, {})
    row = rows.get(builtin.DAILY_SUMMARY)
    is_left = bool(chosen) and row is not None and row.is_off
    usual = builtin.daily_at(summary.time)
    yield _own(builtin.DAILY_SUMMARY, usual, rows, enabled=summary.enabled and not is_left)
    for chat, at in sorted(chosen.items()):
        if at != CHOSE_NONE:
            yield _own(builtin.summary_of(chat), builtin.daily_at(time.fromisoformat(at)), rows)


def _chosen(connection: sqlite3.Connection) -> Mapping[str, str]:
    return choice_rows.chosen(connection, DAILY)


def _own(id: str, when: When, rows: Mapping[str, JobRow], *, enabled: bool = True) -> Job:
    row = rows.get(id)
    return Job(id, Kind.BUILT_IN, "", when, enabled=enabled and not (row is not None and row.paused))


def _next_run(job: Job, config: Config, rows: Mapping[str, JobRow], now: datetime) -> datetime | None:
    if not job.enabled:
        return None
    hours = config.schedule.quiet_hours if job.id != builtin.JOURNAL else None
    quiet = Quiet(hours.start, hours.end, config.zone) if hours is not None else None
    timing = Timing(job.when, config.zone, timedelta(hours=config.schedule.catch_up_hours), quiet)
    row = rows.get(job.id)
    return plan.next_run(timing, datetime.fromisoformat(row.settled) if row is not None else now, now)
