"""A year of scheduling: 200 jobs of all kinds in eight zones, a crash every few days, downtimes, clocks put back.

What was due, and what became of it; a due time that was said twice is a broken promise (exit code 1).

The schedule, the store and the outbox are the real ones; the clock, the platform and the model's answer are not.

    .venv/bin/python benchmarks/year.py [--days 365] [--seed 1]
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import logging
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar
from zoneinfo import ZoneInfo

from agent.clock import Clock
from channels.ids import PersonId
from channels.message import Event, InboundMessage, OutboundMessage
from channels.scripted import ScriptedChannel
from gateway.messages.inbox import AdmittedMessage, Inbox
from gateway.messages.outbox import REPEAT_MARK, Outbox
from gateway.policy.access import Access
from gateway.recurrence import next_after
from gateway.scheduling import job as job_
from gateway.scheduling.job import Job
from gateway.scheduling.service import ScheduleRules, ScheduleService
from gateway.store import run_rows
from gateway.store.connection import Connection, Engine
from gateway.store.database import Database
from gateway.store.run_rows import Run, RunStatus
from gateway.turns.user_message import user_message_id

BEGIN = datetime(2027, 1, 1, tzinfo=UTC)
HOME = ZoneInfo("Europe/Berlin")
ZONES = (
    "Europe/Berlin",
    "America/New_York",
    "America/St_Johns",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
    "Pacific/Kiritimati",
    "Pacific/Pago_Pago",
    "UTC",
)
OWNER = "11111"

T = TypeVar("T")
P = ParamSpec("P")


class AtOnce(ThreadPoolExecutor):
    """Runs what belongs into a thread where it stands: there is nobody here whom it could hold up."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        done: Future[T] = Future()
        try:
            done.set_result(fn(*args, **kwargs))
        except Exception as error:
            done.set_exception(error)
        return done


class Store(Database):
    """The real store without the way to its thread and back, which takes longer than the work. A crash may come before
    any piece of work: what it finds on disk is also what it would find behind the one before."""

    def __init__(self, engine: Engine, company: float = 0) -> None:
        super().__init__(engine, company)
        self._connection = engine.connection
        self._connection.execute("PRAGMA locking_mode=EXCLUSIVE")  # nobody else has the file

    async def run(self, work: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        await asyncio.sleep(0)
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            result = work(self._connection, *args, **kwargs)
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")
        return result

    def post(self, work: Callable[Concatenate[Connection, P], object], *args: P.args, **kwargs: P.kwargs) -> None:
        work(self._connection, *args, **kwargs)

    note = post


class Platform(ScriptedChannel):
    """Counts what is said, by job and due time, and when."""

    def __init__(self, year: Year) -> None:
        super().__init__("telegram")
        self._year = year

    async def send(self, message: OutboundMessage) -> str:
        self._year.said[message.key.partition("job:")[2].rsplit(":", 2)[0]] += not message.text.startswith(REPEAT_MARK)
        self._year.repeats += message.text.startswith(REPEAT_MARK)
        return "1"


@dataclass
class Year:
    """`said`: how often each due time was said without a mark that it may be a repeat."""

    now: datetime = BEGIN
    said: Counter[str] = field(default_factory=Counter)
    repeats: int = 0
    crashes: int = 0
    down: timedelta = timedelta()

    @property
    def clock(self) -> Clock:
        return Clock(HOME, lambda: self.now)


def some_jobs(dice: random.Random, number: int, days: int) -> list[Job]:
    """Of every kind, in every zone; whole and half hours, so that many come together."""
    jobs = []
    for index in range(number):
        minute, hour = dice.choice((0, 30)), dice.randrange(24)
        some_day = BEGIN + timedelta(days=dice.randrange(2, days), minutes=30 * dice.randrange(48))
        when = dice.choice(
            [{"cron": f"{minute} {hour} * * *"}] * 5
            + [{"cron": f"{minute} {hour} * * 1-5"}] * 5
            + [{"cron": f"{minute} {hour} * * {dice.randrange(8)}"}] * 3
            + [{"cron": f"{minute} {hour} {dice.choice((1, 29, 30, 31))} * *"}] * 3
            + [{"cron": "30 2 * * *"}]
            + [{"every": dice.choice(("6h", "12h", "36h", "1d", "2d", "1w"))}] * 2
            + [{"at": f"{some_day:%Y-%m-%dT%H:%M}"}] * 3
        )
        fields = {"id": f"j{index}", "kind": dice.choice(("message", "message", "prompt")), "text": "Tea", "when": when}
        jobs.append(job_.read({**fields, "timezone": dice.choice(ZONES)}))
    return jobs


@dataclass
class House:
    """One life of the gateway's part that matters here."""

    year: Year
    database: Database
    folder: Path

    async def live(self, until: datetime, dice: random.Random) -> None:
        """Until then, and cut off in the midst of something."""
        year, clock = self.year, self.year.clock
        access = Access(self.database, clock, {}, frozenset({PersonId("telegram", OWNER)}), {})
        platform = Platform(year)
        outbox = Outbox(self.database, clock, {"telegram": platform})
        inbox = Inbox(self.database, clock)
        rules = ScheduleRules(timedelta(hours=12))
        good = self.folder / "good.yaml"
        schedule = ScheduleService(self.database, clock, self.folder, good, outbox, access, {"telegram"}, rules)

        async def answer(message: InboundMessage) -> None:
            """The turn of a prompt."""
            for row in await inbox.admit(
                [AdmittedMessage(message, f"owner/jobs/{message.due.id if message.due else ''}")]
            ):
                drafts = outbox.drafts(f"{user_message_id(message)}:{{}}", message.address, "Tea")
                await inbox.finish([row], "reply", drafts)
                outbox.wake(drafts)

        async def receive(events: Sequence[Event]) -> None:
            for event in events:
                assert isinstance(event, InboundMessage)
                await answer(event)

        async def steps() -> None:
            for row in await inbox.load():
                drafts = outbox.drafts(f"{user_message_id(row.message)}:{{}}", row.message.address, "Tea")
                await inbox.finish([row], "reply", drafts)
            async with schedule.timers.running():
                while year.now < until:
                    await schedule.tick(receive)
                    await outbox.drained()
                    retry = await schedule.tick(receive)
                    if dice.random() < 0.0005:
                        year.now -= timedelta(minutes=dice.randrange(90))  # and on from there
                    else:
                        wake = min(filter(None, (retry, schedule.timers.next(), until)))
                        year.now = max(wake, year.now + timedelta(milliseconds=1))

        sending = asyncio.create_task(outbox.run())
        working = asyncio.create_task(steps())
        await asyncio.wait({working})
        working.result()
        last = asyncio.create_task(schedule.tick(receive))
        for _ in range(dice.randrange(60) // 2):
            await asyncio.sleep(0)
        for task in (last, sending):
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task


async def simulate(days: int, seed: int, folder: Path) -> tuple[Year, Sequence[Job], Sequence[Run]]:
    dice = random.Random(seed)
    year = Year()
    jobs = some_jobs(dice, 200, days)
    lines = "".join(f"  - {json.dumps(job_.written(job))}\n" for job in jobs)
    (folder / "schedule.yaml").write_text(f"jobs:\n{lines}", "utf-8")
    asyncio.get_running_loop().set_default_executor(AtOnce(1))
    database = await Store.open(folder / "daybook.db")
    end = BEGIN + timedelta(days=days)
    while year.now < end:
        until = min(end, year.now + timedelta(minutes=dice.randrange(60 * 24 * 6)))
        await House(year, database, folder).live(until, dice)
        year.crashes += 1
        pause = timedelta(minutes=dice.choice((0, 0, 1, 45, 600, 60 * 24 * 2)))
        year.down += pause
        year.now = max(year.now, until) + pause
    await House(year, database, folder).live(year.now + timedelta(minutes=1), dice)
    runs = await database.run(run_rows.history, None, 10_000_000)
    await database.aclose()
    return year, jobs, runs


def due_times(job: Job, begin: datetime, end: datetime) -> int:
    number, due = 0, next_after(job.when, job.zone(HOME), begin)
    while due is not None and due <= end:
        number, due = number + 1, next_after(job.when, job.zone(HOME), due)
    return number


def report(year: Year, jobs: Sequence[Job], runs: Sequence[Run], took: float) -> int:
    """Print it; returns how many due times were said twice."""
    due = sum(due_times(job, BEGIN, year.now) for job in jobs)
    ended = Counter(run.state for run in runs)
    on_time = [run for run in runs if run.state is RunStatus.DELIVERED and not run.late]
    late = sum(run.late for run in runs if run.state is RunStatus.DELIVERED)
    delays = [(datetime.fromisoformat(run.started_at) - run.moment).total_seconds() for run in on_time]
    doubled = sum(times > 1 for times in year.said.values())
    rows = [
        ("due", due),
        ("run in time", len(on_time)),
        ("run late, marked so", late),
        ("missed beyond the window", ended[RunStatus.MISSED]),
        ("missed while down, a later one stood for them", due - len(runs)),
        ("failed or unfinished", len(runs) - ended[RunStatus.DELIVERED] - ended[RunStatus.MISSED]),
        ("said twice in doubt, marked so", year.repeats),
        ("doubled", doubled),
    ]
    days = (year.now - BEGIN).days
    print(f"{len(jobs)} jobs, {days} days, {year.crashes} crashes, down for {year.down}; took {took:.0f} s\n")
    for name, value in rows:
        print(f"{name:<50} {value:>8,}")
    drift = f"{sorted(delays)[len(delays) // 2]:.3f} / {max(delays):.3f}"
    print(f"{'drift of those in time, seconds, median / most':<50} {drift}")
    return doubled


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--days", type=int, default=365)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    logging.disable(logging.ERROR)
    memory = Path("/dev/shm")
    began = time.monotonic()
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        year, jobs, runs = asyncio.run(simulate(options.days, options.seed, Path(folder)))
    return 1 if report(year, jobs, runs, time.monotonic() - began) else 0


if __name__ == "__main__":
    sys.exit(main())
