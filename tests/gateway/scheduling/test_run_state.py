"""A due time is one process's (invariant 11)."""

from __future__ import annotations

import asyncio
import dataclasses
from datetime import datetime
from pathlib import Path

import pytest

from agent.clock import utc_stamp
from gateway.scheduling.run_state import RunState
from gateway.store.database import Database
from gateway.store.run_rows import JobRow, Run, RunStatus
from tests.gateway.conftest import Moment


async def test_of_two_processes_one_takes_up_a_due_time(tmp_path: Path, moment: Moment) -> None:
    """Should the home's lock ever fail: on a network disk, by hand."""
    file = tmp_path / "daybook.db"
    stamp = utc_stamp(moment.now)
    runs = [Run(f"j{at}", stamp, "message", "Tea", None, False, False, RunStatus.WAITING, stamp) for at in range(200)]
    databases = [await Database.open(file) for _ in range(2)]
    ledgers = [RunState(one, moment.clock) for one in databases]
    for ledger in ledgers:
        await ledger.put(JobRow(run.job, "", stamp) for run in runs)
    taken = await asyncio.gather(*(ledger.claim([run]) for run in runs for ledger in ledgers))
    assert sorted(run.job for one in taken for run in one) == sorted(run.job for run in runs)
    for database in databases:
        await database.aclose()


async def test_a_due_time_is_not_taken_up_again_by_the_next_process(tmp_path: Path, moment: Moment) -> None:
    stamp = utc_stamp(moment.now)
    run = Run("tea", stamp, "message", "Tea", None, False, False, RunStatus.WAITING, stamp)
    for expected in (1, 0):
        database = await Database.open(tmp_path / "daybook.db")
        ledger = RunState(database, moment.clock)
        await ledger.load()
        await ledger.put([JobRow("tea", "", stamp)])
        assert len(await ledger.claim([run])) == expected
        await database.aclose()


@pytest.mark.parametrize("now", ["2026-11-21T07:30+00:00", "2026-10-25T00:59:50+00:00", "2026-03-29T00:59:50+00:00"])
async def test_tries_that_fail_wait_longer_and_longer_and_the_sixth_is_the_last(
    database: Database, moment: Moment, now: str
) -> None:
    """SPEC 8: 30 s, 1 m, 5 m, 15 m, 60 m; in the night in which the clocks change, too."""
    moment.now = datetime.fromisoformat(now)
    ledger, stamp = RunState(database, moment.clock), utc_stamp(moment.now)
    await ledger.put([JobRow("tea", "", stamp)])
    (run,) = await ledger.claim([Run("tea", stamp, "prompt", "Tea", None, False, False, RunStatus.WAITING, stamp)])
    waited = []
    while run.state is RunStatus.WAITING:
        run, job = ledger.failure(dataclasses.replace(run, attempts=run.attempts + 1), "Down.", again=True)
        await ledger.failed(run, job, ())
        if run.next_try:
            waited.append((datetime.fromisoformat(run.next_try) - moment.now).total_seconds())
    assert waited == [30, 60, 300, 900, 3600]
    assert (run.state, run.attempts, ledger.busy) == (RunStatus.FAILED, 6, frozenset())
