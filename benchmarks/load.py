"""How many messages a second Daybook keeps up with, with SQLite, and with PostgreSQL and one, two or four gateways.

    python benchmarks/load.py [--quick] [--seed N] [--json FILE]

People write at random moments (Poisson) in many chats; an answer takes the model about three seconds and is streamed;
every fifth message calls a tool, every twentieth is a photo. The rate is raised until it is no longer kept up with: 95
of 100 messages must be answered within 2 seconds more than the model took. Telegram with the people, and the model, are
processes of their own, whose processor time is told apart from that of the gateways and of PostgreSQL. Then 1,000 chats
talk, and 300 turns run at once, for the memory. `on_paper.py` computes from the figures what more people need.

Exit code 1 where a message was lost, doubled or answered out of order, or a gateway did not end with 0.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import os
import platform
import random
import signal
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import psycopg

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import load_report, on_paper
from benchmarks.figures import MB, cpu_of_all, cpu_seconds, median, p95
from benchmarks.load_model import PIECE_S, LoadModel, load_model
from benchmarks.load_people import Crowd
from benchmarks.people import JsonObject
from tests.fakes.postgres import PostgresServer, running
from tests.fakes.telegram import FakeTelegram
from tests.flows.process import GatewayProcess

KEPT_UP_S = 2.0
"""Seconds beyond the model's own within which 95 of 100 messages are answered where a rate is kept up with."""
PATIENCE_S = 60.0
_AT_ONCE = 16
"""People who wait for an answer at most, where it is not the rate that is measured."""


@dataclass(frozen=True, slots=True)
class Plan:
    """`moderate`, `first`: messages a second; `factor`: from one rate to the next; `setups`: store and gateways."""

    setups: Sequence[tuple[str, int]] = (("SQLite", 1), ("PostgreSQL", 1), ("PostgreSQL", 2), ("PostgreSQL", 4))
    chats: int = 300
    moderate: float = 8.0
    moderate_s: float = 20.0
    first: float = 16.0
    factor: float = 1.35
    steps: int = 5
    step_s: float = 10.0
    idle_s: float = 5.0
    sessions: int = 1000
    turns: int = 300


QUICK = Plan(chats=20, moderate=4.0, moderate_s=3.0, first=6.0, steps=1, step_s=3.0, idle_s=1.0, sessions=20, turns=10)


@dataclass(frozen=True, slots=True)
class Spent:
    """Processor seconds so far; `people`: this process, with Telegram; `others`: what else runs on the machine."""

    leader: float = 0.0
    helpers: float = 0.0
    postgres: float = 0.0
    people: float = 0.0
    model: float = 0.0
    others: float = 0.0
    wall: float = 0.0
    transactions: float = 0.0
    telegram_calls: float = 0.0

    def __sub__(self, before: Spent) -> Spent:
        return Spent(*(round(now - then, 3) for now, then in zip(_values(self), _values(before), strict=True)))

    @property
    def gateways(self) -> float:
        return self.leader + self.helpers


def _values(spent: Spent) -> list[float]:
    return list(asdict(spent).values())


@dataclass(frozen=True, slots=True)
class Step:
    """A time of one rate. `added_ms`: beyond the model's own time, per message; `model_s`: the median of that."""

    rate: float
    messages: int
    requests: int
    model_s: float
    added_ms: float
    added_p95_ms: float
    kept_up: bool
    spent: Spent


@dataclass(frozen=True, slots=True)
class Disk:
    """Bytes. `index`: for the search; `media`: what people sent; `rest`: transcripts, memory and all else."""

    database: int
    index: int
    media: int
    rest: int


@dataclass(slots=True)
class Loaded:
    """What one store with so many gateways carries. `idle`: with nobody writing."""

    store: str
    gateways: int
    idle: Spent = field(default_factory=Spent)
    moderate: Step | None = None
    steps: list[Step] = field(default_factory=list)
    messages: int = 0
    disk_before: Disk | None = None
    disk_after: Disk | None = None
    memory_mb: float = 0.0
    broken: list[str] = field(default_factory=list)

    @property
    def top(self) -> Step | None:
        """The highest rate that was kept up with."""
        return max((one for one in self.steps if one.kept_up), key=lambda one: one.rate, default=None)


@dataclass(frozen=True, slots=True)
class SessionMemory:
    """MB (PSS) of a gateway: before, after so many chats of two messages, a moment later, with as many turns at once,
    and after those."""

    sessions: int
    before: float
    talked: float
    idle: float
    at_once: float
    turns: int
    after: float


class Installation:
    """Gateways on one home, between the fakes."""

    def __init__(self, telegram: FakeTelegram, model: LoadModel, store: str, postgres: PostgresServer) -> None:
        self.telegram = telegram
        self.model = model
        self.gateways: list[GatewayProcess] = []
        self._postgres = postgres
        self._url = postgres.new_database() if store == "PostgreSQL" else ""
        self._settings: dict[str, object] = {"channels": {"telegram": {"dm_policy": "open"}}}
        if self._url:
            self._settings["database_url"] = self._url

    @asynccontextmanager
    async def started(self, count: int) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for _ in range(count):
                one = GatewayProcess(self.telegram, self.model.fake, self._settings, start_now=False)
                if self.gateways:
                    one.home = self.gateways[0].home
                await stack.enter_async_context(one)
                self.gateways.append(one)
                await one.start(wait=len(self.gateways) == 1)
            if self._url:
                async with asyncio.timeout(PATIENCE_S):
                    while self._asked("SELECT count(*) FROM process") < count:  # noqa: ASYNC110 (another process)
                        await asyncio.sleep(0.1)
            try:
                yield
            finally:
                for one in self.gateways[1:]:
                    if one.is_running:
                        os.kill(one.pid, signal.SIGKILL)
                        await one.ended()

    async def end(self) -> list[str]:
        """Ends all; returns what was wrong with it."""
        for one in self.gateways[1:]:
            os.kill(one.pid, signal.SIGTERM)
        codes = [await one.ended() for one in self.gateways[1:]]
        codes.append(await self.gateways[0].terminate())
        return [f"a gateway ended with {code}" for code in codes if code]

    def spent(self) -> Spent:
        times = psutil.cpu_times()
        busy = sum(times) - times.idle - getattr(times, "iowait", 0.0) - getattr(times, "guest", 0.0)
        gateways = [cpu_of_all(one.pid) for one in self.gateways]
        postgres = cpu_of_all(self._postgres.pid)
        people, model = cpu_seconds(), cpu_seconds(self.model.pid)
        others = busy - sum(gateways) - postgres - people - model
        transactions = 0
        if self._url:
            transactions = self._asked("SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()")
        calls = sum(one.method != "getUpdates" for one in self.telegram.calls)
        return Spent(
            gateways[0], sum(gateways[1:]), postgres, people, model, others, time.monotonic(), transactions, calls
        )

    def memory(self) -> float:
        """MB of all gateways: what they share is counted once."""
        return round(sum(float(psutil.Process(one.pid).memory_full_info().pss) for one in self.gateways) / MB, 1)

    def disk(self) -> Disk:
        home = self.gateways[0].home
        sizes = {path.relative_to(home): path.stat().st_size for path in home.rglob("*") if path.is_file()}

        def within(*parts: str) -> int:
            return sum(size for path, size in sizes.items() if str(path).startswith(parts))

        index, media = within("state/index/", "state/memory/", "state/memory.db"), within("state/media/")
        in_home = within("state/daybook.db")
        database = self._asked("SELECT pg_database_size(current_database())") if self._url else in_home
        return Disk(database, index, media, sum(sizes.values()) - index - media - in_home)

    def _asked(self, sql: str) -> int:
        with psycopg.connect(self._url) as session:
            row = session.execute(sql.encode()).fetchone()
        return int(row[0]) if row else 0


async def step(place: Installation, crowd: Crowd, rate: float, seconds: float) -> Step:
    place.model.times()
    before = place.spent()
    numbers = await crowd.arrive(rate, seconds)
    is_answered = await crowd.answered(PATIENCE_S)
    spent = place.spent() - before
    times = place.model.times()
    done = [number for number in numbers if number in crowd.took]
    added = [1000 * (crowd.took[number] - times.seconds.get(number, 0.0)) for number in done] or [math.inf]
    return Step(
        rate=round(rate, 1),
        messages=len(numbers),
        requests=times.requests,
        model_s=median([times.seconds.get(number, 0.0) for number in done] or [0.0]),
        added_ms=median(added),
        added_p95_ms=p95(added),
        kept_up=is_answered and p95(added) <= 1000 * KEPT_UP_S,
        spent=spent,
    )


async def climb(place: Installation, crowd: Crowd, plan: Plan) -> list[Step]:
    """From rate to rate until one is not kept up with, down from the first if need be, and then between the two."""
    steps = [await step(place, crowd, plan.first, plan.step_s)]
    up = steps[0].kept_up
    while len(steps) < plan.steps and steps[-1].kept_up is up:
        rate = steps[-1].rate * (plan.factor if up else 1 / plan.factor)
        steps.append(await step(place, crowd, rate, plan.step_s))
    if steps[-1].kept_up is not up:
        steps.append(await step(place, crowd, math.sqrt(steps[-1].rate * steps[-2].rate), plan.step_s))
    return steps


async def load(store: str, gateways: int, postgres: PostgresServer, plan: Plan, seed: int) -> Loaded:
    loaded = Loaded(store, gateways)
    with load_model(seed) as model:
        async with FakeTelegram() as telegram:
            place = Installation(telegram, model, store, postgres)
            crowd = Crowd(telegram, plan.chats, random.Random(seed))
            async with place.started(gateways), crowd.watching():
                model.pace(0.0)
                await crowd.each_writes(list(crowd.written), _AT_ONCE)
                await crowd.answered(PATIENCE_S)
                model.pace(PIECE_S)
                await asyncio.sleep(plan.idle_s / 2)  # the server counts transactions a second late
                before = place.spent()
                await asyncio.sleep(plan.idle_s)
                loaded.idle = place.spent() - before
                loaded.disk_before, written_before = place.disk(), _count(crowd)
                loaded.moderate = await step(place, crowd, plan.moderate, plan.moderate_s)
                loaded.steps = await climb(place, crowd, plan)
                loaded.memory_mb = place.memory()
                loaded.disk_after, loaded.messages = place.disk(), _count(crowd) - written_before
                loaded.broken = [*await place.end(), *_broken(crowd)]
    return loaded


async def memory(postgres: PostgresServer, plan: Plan, seed: int) -> tuple[SessionMemory, list[str]]:
    with load_model(seed) as model:
        async with FakeTelegram() as telegram:
            place = Installation(telegram, model, "SQLite", postgres)
            crowd = Crowd(telegram, plan.sessions + _AT_ONCE, random.Random(seed))
            chats = list(crowd.written)
            async with place.started(1), crowd.watching():
                model.pace(0.0)
                await crowd.each_writes(chats[:_AT_ONCE] * 3, _AT_ONCE // 2)
                await crowd.answered(PATIENCE_S)
                before = place.memory()
                await crowd.each_writes(chats[_AT_ONCE:], _AT_ONCE)
                await crowd.each_writes(chats[_AT_ONCE:], _AT_ONCE)
                await crowd.answered(PATIENCE_S)
                talked = place.memory()
                await asyncio.sleep(plan.idle_s)
                idle = place.memory()
                model.pace(1.0)
                async with asyncio.TaskGroup() as group:
                    writing = group.create_task(crowd.each_writes(chats[: plan.turns], plan.turns))
                    at_once, turns = 0.0, 0
                    while not (writing.done() and crowd.waiting < turns):
                        at_once, turns = max(at_once, place.memory()), max(turns, crowd.waiting)
                        await asyncio.sleep(0.5)
                model.pace(0.0)
                await crowd.answered(PATIENCE_S)
                after = place.memory()
                broken = [*await place.end(), *_broken(crowd)]
    return SessionMemory(plan.sessions, before, talked, idle, at_once, turns, after), broken


def _count(crowd: Crowd) -> int:
    return sum(map(len, crowd.written.values()))


def _broken(crowd: Crowd) -> list[str]:
    seen = crowd.seen()
    kept = (("lost", seen.never), ("doubled", seen.twice), ("out of order", seen.disorder))
    found = [f"{what}: {list(which)[:20]}" for what, which in kept if which]
    return found + ([f"repeated, with a mark: {seen.marked}"] if seen.marked else [])


async def measured(plan: Plan, seed: int, postgres: PostgresServer) -> JsonObject:
    """Everything, as `--json` keeps it."""
    before = time.monotonic()
    loads: list[Loaded] = []
    for store, gateways in plan.setups:
        print(f"{store}, {gateways} …", file=sys.stderr)
        loads.append(await load(store, gateways, postgres, plan, seed))
    print("memory …", file=sys.stderr)
    sessions, broken = await memory(postgres, plan, seed)
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    return {
        "machine": machine,
        "cores": os.cpu_count() or 1,
        "minutes": round((time.monotonic() - before) / 60, 1),
        "seed": seed,
        "plan": asdict(plan),
        "loads": [asdict(one) | {"top": asdict(one.top) if one.top else None} for one in loads],
        "sessions": asdict(sessions),
        "broken": [f"{one.store}, {one.gateways}: {what}" for one in loads for what in one.broken] + broken,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a minute, to see that it runs; its figures say little")
    parser.add_argument("--seed", type=int, default=1, help="another one has other people at other moments")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where every figure is written, for on_paper.py")
    given = parser.parse_args()
    with running() as postgres:
        whole = asyncio.run(measured(QUICK if given.quick else Plan(), given.seed, postgres))
    if given.json is not None:
        given.json.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")
    print(load_report.told(whole))
    print(f"\n{on_paper.told(whole, on_paper.PEOPLE)}")
    return 1 if whole["broken"] else 0


if __name__ == "__main__":
    sys.exit(main())
