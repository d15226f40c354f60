"""Do several gateways on one home and PostgreSQL lose, double or reorder anything while they are killed?

    python benchmarks/cluster.py [--kills 100] [--gateways 3] [--seed N] [--json FILE] [--faketime LIBRARY]

One person in each of several chats sends numbered messages without a pause; the model repeats the numbers. The gateways
share the chats. Meanwhile, at random moments, the gateway that leads is killed, or a helper, or both; either stands
still for longer than its lease and goes on; or PostgreSQL is killed and started. Then every person writes once more,
and the time until all of that is answered is taken. With `--faketime /usr/lib/…/libfaketimeMT.so.1` the clocks of the
gateways differ by three minutes each.

Exit code 1 where a promise is broken: a message without its one answer (one that perhaps arrived may be repeated with a
mark), or answers out of order. Exit code 2 where the run ended early (Ctrl-C, an answer that does not come, a gateway
that ends by itself): what was found until then is printed and written all the same.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import statistics
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.figures import table
from benchmarks.people import JsonObject, asked_now, is_marked, numbers
from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.postgres import PostgresServer, running
from tests.fakes.telegram import FakeTelegram
from tests.flows.process import OWNER, GatewayProcess

CHATS = (OWNER, 22222, 33333, 44444, 55555, 66666, 77777, 88888)
SENDS_EVERY_S = (0.05, 0.6)
STANDS_STILL_S = 12.0
CLOCKS_DIFFER_M = 3
SETTLE_S = 120.0


@dataclass
class Report:
    kills: Counter[str] = field(default_factory=Counter)
    until_answer_s: dict[str, list[float]] = field(default_factory=dict)
    sent: int = 0
    lost: list[int] = field(default_factory=list)
    doubled: list[int] = field(default_factory=list)
    marked: int = 0
    out_of_order: list[str] = field(default_factory=list)
    ended_by: str = ""
    """Why the run ended early; then what is not answered yet is `unanswered`, not `lost`."""
    unanswered: list[int] = field(default_factory=list)

    @property
    def is_good(self) -> bool:
        return not (self.lost or self.doubled or self.out_of_order)


class Cluster:
    def __init__(
        self, telegram: FakeTelegram, model: FakeAnthropic, postgres: PostgresServer, seed: int, report: Report
    ) -> None:
        self.telegram = telegram
        self.postgres = postgres
        self.url = postgres.new_database()
        self.random = random.Random(seed)
        self.report = report
        self.settings = {"database_url": self.url, "channels": {"telegram": {"allow": [str(one) for one in CHATS]}}}
        self.model = model
        self.gateways: list[GatewayProcess] = []
        self.killed: list[GatewayProcess] = []

    async def start(self, count: int, faketime: str) -> None:
        for number in range(count):
            one = GatewayProcess(self.telegram, self.model, self.settings, start_now=False)
            if faketime:
                minutes = CLOCKS_DIFFER_M * (number - count // 2)
                one.environ |= {
                    "LD_PRELOAD": faketime,
                    "FAKETIME": f"{minutes:+}m",
                    "FAKETIME_DONT_FAKE_MONOTONIC": "1",
                }
            if self.gateways:
                one.home = self.gateways[0].home
            self.gateways.append(one)
            await one.start(wait=len(self.gateways) == 1)

    async def end(self) -> None:
        for one in self.gateways:
            if one.is_running:
                os.kill(one.pid, signal.SIGKILL)
        for one in self.gateways:
            await one.__aexit__(None, None, None)

    def heard(self, chat: int) -> list[str]:
        return [message.text for message in self.telegram.messages(chat)]

    @property
    def answered(self) -> set[int]:
        return {number for chat in CHATS for text in self.heard(chat) for number in numbers(text)}

    def send(self, chat: int) -> int:
        self.report.sent += 1
        self.telegram.say(f"n{self.report.sent}", chat=chat, user=chat)
        return self.report.sent

    async def talk(self, over: asyncio.Event) -> None:
        while not over.is_set():
            self.send(self.random.choice(CHATS))
            await asyncio.sleep(self.random.uniform(*SENDS_EVERY_S))

    async def harm(self) -> None:
        kind = self.random.choices(
            ("leader", "helper", "two", "leader still", "helper still", "postgres"), (35, 35, 8, 6, 8, 8)
        )[0]
        leader = await self._leader()
        helper = self.random.choice([one for one in self.gateways if one is not leader])
        self.report.kills[kind] += 1
        stopped: GatewayProcess | None = None
        match kind:
            case "leader":
                await self._kill(leader)
            case "helper":
                await self._kill(helper)
            case "two":
                await self._kill(leader)
                await self._kill(helper)
            case "leader still" | "helper still":
                stopped = leader if kind == "leader still" else helper
                os.kill(stopped.pid, signal.SIGSTOP)
            case "postgres":
                self.postgres.kill()
                self.postgres.start()
        begun = time.monotonic()
        asked = {self.send(chat) for chat in CHATS}
        await self._until(lambda: asked <= self.answered, kind)
        self.report.until_answer_s.setdefault(kind, []).append(time.monotonic() - begun)
        if stopped is not None:
            await asyncio.sleep(max(0.0, STANDS_STILL_S - (time.monotonic() - begun)))
            os.kill(stopped.pid, signal.SIGCONT)
        for one in self.killed:
            await one.start(wait=False)
        self.killed.clear()

    async def settle(self) -> None:
        await self._until(lambda: len(self.answered) >= self.report.sent, "the end", SETTLE_S)

    def count(self) -> None:
        report = self.report
        plain: Counter[int] = Counter()
        for chat in CHATS:
            order: list[int] = []
            for text in self.heard(chat):
                found = numbers(text)
                if is_marked(text):
                    report.marked += 1
                    order += [one for one in found if one not in order]
                else:
                    plain.update(found)
                    order += [one for one in found if one not in order]
            if order != sorted(order):
                report.out_of_order.append(f"{chat}: {order}")
        seen = {number for chat in CHATS for text in self.heard(chat) for number in numbers(text)}
        report.unanswered = [one for one in range(1, report.sent + 1) if one not in seen]
        report.doubled = [number for number, times in plain.items() if times > 1]

    async def _leader(self) -> GatewayProcess:
        async with asyncio.timeout(60):
            while True:
                if (pid := await asyncio.to_thread(self._asked)) is not None:
                    for one in self.gateways:
                        if one.is_running and one.pid == pid:
                            return one
                await asyncio.sleep(0.1)

    def _asked(self) -> int | None:
        try:
            with psycopg.connect(self.url) as session:
                row = session.execute(
                    "SELECT process.pid FROM process JOIN pg_locks ON pg_locks.pid = backend"
                    " WHERE locktype = 'advisory' AND granted AND leads AND objid = number"
                ).fetchone()
        except psycopg.Error:
            return None
        return int(row[0]) if row else None

    async def _kill(self, one: GatewayProcess) -> None:
        self.killed.append(one)
        os.kill(one.pid, signal.SIGKILL)
        await one.ended()

    async def _until(self, holds: Callable[[], bool], what: str, seconds: float = 60.0) -> None:
        try:
            async with asyncio.timeout(seconds):
                while not holds():  # what stands in chats rings no bell for a lambda
                    for number, one in enumerate(self.gateways):
                        if not one.is_running and one not in self.killed:
                            raise EndedEarly(f"gateway {number} ended by itself: {one.log[-500:]}")
                    await asyncio.sleep(0.02)
        except TimeoutError as error:
            raise EndedEarly(f"no answer to all within {seconds:.0f} s of {what!r}") from error


def repeated(body: JsonObject) -> str:
    found = asked_now(body)
    return "Read " + " ".join(f"n{one}" for one in found) if found else "NO_REPLY"


class EndedEarly(Exception):
    """The reason."""


async def run(kills: int, gateways: int, seed: int, faketime: str, report: Report) -> None:
    with running() as postgres:
        async with FakeTelegram() as telegram, FakeAnthropic() as model:
            model.reply = repeated
            for chat in CHATS[1:]:
                telegram.add_chat(chat, name=f"Person {chat}")
            cluster = Cluster(telegram, model, postgres, seed, report)
            try:
                await cluster.start(gateways, faketime)
                over = asyncio.Event()
                async with asyncio.TaskGroup() as group:
                    group.create_task(cluster.talk(over))
                    for number in range(kills):
                        await asyncio.sleep(cluster.random.uniform(0.0, 1.5))
                        await cluster.harm()
                        if sys.stderr.isatty() or number % 10 == 9:
                            print(f"{number + 1} of {kills}", file=sys.stderr)
                    over.set()
                await cluster.settle()
                await asyncio.sleep(3)
            finally:
                cluster.count()
                await cluster.end()
    report.lost, report.unanswered = report.unanswered, []


def reason_of(error: BaseException) -> str:
    if isinstance(error, BaseExceptionGroup):
        return "; ".join(map(reason_of, error.exceptions))
    return f"{type(error).__name__}: {error}".rstrip(": ")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--gateways", type=int, default=3)
    parser.add_argument("--seed", type=int, default=random.randrange(10_000))
    parser.add_argument("--json", type=Path)
    parser.add_argument("--faketime", default="")
    asked = parser.parse_args()
    report = Report()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        asyncio.run(run(asked.kills, asked.gateways, asked.seed, asked.faketime, report))
    except BaseException as error:  # whatever it is, the report comes first
        traceback.print_exception(error)
        report.ended_by = reason_of(error)
    show(report, asked.seed)
    if asked.json:
        asked.json.write_text(json.dumps(vars(report), indent=1), encoding="utf-8")
    if not report.is_good:
        print(report.lost, report.doubled, report.out_of_order)
        raise SystemExit(1)
    if report.ended_by:
        raise SystemExit(2)


def show(report: Report, seed: int) -> None:
    rows = [
        (kind, str(count), f"{statistics.median(times):.1f}" if times else "-", f"{max(times):.1f}" if times else "-")
        for kind, count in sorted(report.kills.items())
        for times in (report.until_answer_s.get(kind, []),)
    ]
    print(table(("what", "times", "all answered after s (median)", "at most"), rows))
    print(
        f"{report.sent} messages: {len(report.lost)} lost, {len(report.doubled)} doubled without a mark,"
        f" {report.marked} repeated with a mark, {len(report.out_of_order)} chats out of order (seed {seed})"
    )
    if report.ended_by:
        print(f"ENDED EARLY, {len(report.unanswered)} not answered by then: {report.ended_by}")


if __name__ == "__main__":
    main()
