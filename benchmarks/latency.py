"""How much time and memory Daybook adds to a message, beside the shortest bot with the same libraries.

    python benchmarks/latency.py [--messages 30] [--json FILE]

Three processes: this one with both fakes and the person, and one after the other the bare loop and Daybook. Times are
taken at the fakes: from the answer of getUpdates that hands the update out to the whole request at the model, and from
the model's last byte to the arrival of the final sendMessage. The model answers at once, in up to eight pieces.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.figures import Cell, cpu_seconds, median, most_resident, p95, resident, table
from benchmarks.people import NewCalls, answered, asked_now
from tests.fakes.anthropic import FakeAnthropic, Received
from tests.fakes.telegram import Call, FakeTelegram
from tests.flows.process import OWNER, ROOT, START_S, GatewayProcess

BEFORE = 3
"""Messages that are not counted: the first pays for imports and connections, and is shown on its own."""
THINKING_S = 0.1
"""A person's pause between an answer and the next message."""
COLD_STARTS = 5
BURST_CHATS, BURST_EACH = 50, 4
BURST_PATIENCE_S = 120.0

MOST_ADDED_MS, MOST_TIMES_BARE, MOST_BURST_S, MOST_START_S, MOST_MB = 15.0, 3.0, 3.0, 0.8, 150.0
"""The figures to reach."""


@dataclass(frozen=True, slots=True)
class Message:
    """Milliseconds of one message: until the model was asked, and from its last byte to the final send."""

    before: float
    after: float

    @property
    def added(self) -> float:
        return self.before + self.after


@dataclass(frozen=True, slots=True)
class Memory:
    """MB of resident memory."""

    start: float
    first_answer: float
    peak: float


@dataclass(frozen=True, slots=True)
class Burst:
    """Many messages at once. `cpu_s` of the bot and `fakes_cpu_s` of this process: who was busy."""

    messages: int
    seconds: float
    model_calls: int
    cpu_s: float
    fakes_cpu_s: float


@dataclass(frozen=True, slots=True)
class Measured:
    """One bot. `starts` are the seconds of each start until the platform is asked for updates."""

    name: str
    starts: list[float]
    first: Message
    messages: list[Message]
    burst: Burst
    memory: Memory


class Talk:
    """A person in a private chat, and a stopwatch at both fakes."""

    def __init__(self, telegram: FakeTelegram, model: FakeAnthropic) -> None:
        self._telegram = telegram
        self._model = model
        self._number = 0

    async def ask(self, chat: int = OWNER) -> Message:
        """Write a message and wait for its final answer."""
        await self._telegram.wait_for(lambda: self._telegram.polling and not self._telegram.pending, START_S)
        await asyncio.sleep(THINKING_S)
        self._number += 1
        log, asked_before = NewCalls(self._telegram), len(self._model.requests)
        update = self._telegram.say(f"Message n{self._number}: what do you make of it?", chat=chat)
        calls: list[Call] = []

        def final() -> Call | None:
            calls.extend(log)
            return next((one for one in calls if one.method == "sendMessage" and self._number in answered([one])), None)

        sent = await self._telegram.wait_for(final, START_S)
        assert sent is not None
        asked: Received = self._model.requests[asked_before]
        handed_out = next(one for one in calls if one.method == "getUpdates" and _brings(one, update["update_id"]))
        return Message((asked.at - handed_out.done) * 1000, (sent.at - self._model.requests[-1].done) * 1000)

    async def burst(self, pid: int) -> Burst:
        """Everybody writes at once."""
        await self._telegram.wait_for(lambda: self._telegram.polling and not self._telegram.pending, START_S)
        log, open_numbers = NewCalls(self._telegram), set[int]()
        calls_before, cpu_before, fakes_before = len(self._model.requests), cpu_seconds(pid), cpu_seconds()
        began = time.monotonic()
        for _ in range(BURST_EACH):
            for chat in range(BURST_CHATS):
                self._number += 1
                open_numbers.add(self._number)
                self._telegram.say(f"Message n{self._number}.", chat=20_000 + chat, name=f"Person {chat}")

        def all_answered() -> bool:
            open_numbers.difference_update(answered(log))
            return not open_numbers

        await self._telegram.wait_for(all_answered, BURST_PATIENCE_S)
        return Burst(
            messages=BURST_CHATS * BURST_EACH,
            seconds=round(time.monotonic() - began, 2),
            model_calls=len(self._model.requests) - calls_before,
            cpu_s=round(cpu_seconds(pid) - cpu_before, 2),
            fakes_cpu_s=round(cpu_seconds() - fakes_before, 2),
        )


def _brings(call: Call, update_id: int) -> bool:
    return isinstance(call.result, list) and any(one["update_id"] == update_id for one in call.result)


async def measure(
    name: str, telegram: FakeTelegram, model: FakeAnthropic, pid: int, starts: list[float], messages: int
) -> Measured:
    """Everything that is asked of a bot that runs."""
    at_start = resident(pid)
    talk = Talk(telegram, model)
    first = await talk.ask()
    after_first = resident(pid)
    for _ in range(BEFORE - 1):
        await talk.ask()
    counted = [await talk.ask() for _ in range(messages)]
    burst = await talk.burst(pid)
    return Measured(name, starts, first, counted, burst, Memory(at_start, after_first, most_resident(pid)))


@asynccontextmanager
async def fakes() -> AsyncIterator[tuple[FakeTelegram, FakeAnthropic]]:
    async with FakeTelegram() as telegram, FakeAnthropic() as model:
        model.reply = lambda body: " ".join(
            f"n{number} is noted, and here is what I make of it." for number in asked_now(body)
        )
        yield telegram, model


async def bare(messages: int) -> Measured:
    async with fakes() as (telegram, model):
        starts: list[float] = []
        command = ("benchmarks/bare_loop.py", telegram.token, telegram.base_url, model.base_url, model.api_key)
        for start in range(COLD_STARTS):
            began = time.monotonic()
            process = await asyncio.create_subprocess_exec(sys.executable, *command, cwd=ROOT, stdin=subprocess.DEVNULL)
            try:
                await telegram.wait_for(lambda: telegram.polling, START_S)
                starts.append(round(time.monotonic() - began, 3))
                if start == COLD_STARTS - 1:
                    return await measure("bare loop", telegram, model, process.pid, starts, messages)
            finally:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
                await telegram.wait_for(lambda: not telegram.polling)
    raise AssertionError("unreachable: the last start returns")


async def daybook(messages: int) -> Measured:
    """The first start makes home and workspace, and is not counted."""
    settings = {"channels": {"telegram": {"dm_policy": "open"}}}
    async with (
        fakes() as (telegram, model),
        GatewayProcess(telegram, model, settings) as gateway,
    ):
        starts: list[float] = []
        for _ in range(COLD_STARTS):
            await gateway.terminate()
            began = time.monotonic()
            await gateway.start()
            starts.append(round(time.monotonic() - began, 3))
        return await gateway.while_alive(measure("Daybook", telegram, model, gateway.pid, starts, messages))


@dataclass(frozen=True, slots=True)
class Row:
    """One figure of both bots; `most` is what Daybook is to stay within."""

    what: str
    bare: float
    daybook: float
    most: float | None = None

    @property
    def reached(self) -> bool | None:
        return None if self.most is None else self.daybook <= self.most


def rows(loop: Measured, house: Measured) -> list[Row]:
    def before(bot: Measured) -> list[float]:
        return [one.before for one in bot.messages]

    def after(bot: Measured) -> list[float]:
        return [one.after for one in bot.messages]

    def added(bot: Measured) -> list[float]:
        return [one.added for one in bot.messages]

    def both(what: str, figure: Callable[[Measured], float], most: float | None = None) -> Row:
        return Row(what, figure(loop), figure(house), most)

    most_added = round(min(MOST_ADDED_MS, MOST_TIMES_BARE * median(added(loop))), 2)
    return [
        both("update handed out -> model asked, ms, median", lambda bot: median(before(bot))),
        both("  the same, 95 % within", lambda bot: p95(before(bot))),
        both("model's last byte -> final send, ms, median", lambda bot: median(after(bot))),
        both("  the same, 95 % within", lambda bot: p95(after(bot))),
        both("added per message, ms, median", lambda bot: median(added(bot)), most_added),
        both("  the same, 95 % within", lambda bot: p95(added(bot))),
        both("added to the first message, ms", lambda bot: round(bot.first.added, 1)),
        both(f"{house.burst.messages} messages of {BURST_CHATS} chats at once, s", _burst_seconds, MOST_BURST_S),
        both("  calls of the model for them", lambda bot: bot.burst.model_calls),
        both("  processor time for them, s", lambda bot: bot.burst.cpu_s),
        both("  processor time of the fakes, s", lambda bot: bot.burst.fakes_cpu_s),
        both(
            f"cold start to first getUpdates, s, median of {COLD_STARTS}", lambda bot: median(bot.starts), MOST_START_S
        ),
        both("memory at start, MB", lambda bot: bot.memory.start),
        both("memory after the first answer, MB", lambda bot: bot.memory.first_answer, MOST_MB),
        both("memory at most, MB", lambda bot: bot.memory.peak),
    ]


def _burst_seconds(bot: Measured) -> float:
    return bot.burst.seconds


def shown(found: list[Row]) -> str:
    verdict = {None: "", True: "reached", False: "NOT REACHED"}
    cells: list[list[Cell]] = [
        [row.what, row.bare, row.daybook, "" if row.most is None else f"<= {row.most:g}", verdict[row.reached]]
        for row in found
    ]
    return table(["", "bare loop", "Daybook", "to reach", ""], cells)


def main(messages: int, file: Path | None) -> None:
    loop = asyncio.run(bare(messages))
    house = asyncio.run(daybook(messages))
    found = rows(loop, house)
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    print(f"{machine}; {messages} messages one by one\n\n{shown(found)}")
    if file is not None:
        summary = [{**asdict(row), "reached": row.reached} for row in found]
        whole = {"machine": machine, "summary": summary, "bare": asdict(loop), "daybook": asdict(house)}
        file.write_text(json.dumps(whole, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, default=30, help="counted messages, one by one (30)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where every figure is written")
    given = parser.parse_args()
    main(given.messages, given.json)
