"""The model of a load test, in a process of its own: it thinks for about three seconds, calls tools, and tells how long
each of its answers took."""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import random
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection

from benchmarks.people import THE_END, JsonObject, asked_now, in_tool
from tests.fakes.anthropic import Answer, FakeAnthropic, compose

PIECES, PIECE_S = (20, 40), 0.1
"""An answer's pieces, from so many to so many, and the seconds before each: three seconds in the middle."""
TOOLS = 0.2
"""Share of the messages for which a tool is called first, each second time one that writes."""
_SENTENCES = 6


@dataclass(frozen=True, slots=True)
class _Asked:
    """`seconds` an answer waits before each piece; None: only the times are wanted."""

    seconds: float | None


@dataclass(frozen=True, slots=True)
class ModelTimes:
    """Seconds that the model took for each message, by its number, and the requests for all."""

    seconds: dict[int, float]
    requests: int


class LoadModel:
    """The process, as the one that measures sees it. `fake` has its address and its key."""

    def __init__(self, fake: FakeAnthropic, pid: int, line: Connection) -> None:
        self.fake = fake
        self.pid = pid
        self._line = line

    def pace(self, seconds: float) -> None:
        """Wait so long before each piece of an answer from now on."""
        self._ask(_Asked(seconds))

    def times(self) -> ModelTimes:
        """Of what was answered since the last call."""
        return self._ask(_Asked(None))

    def _ask(self, asked: _Asked) -> ModelTimes:
        self._line.send(asked)
        told: ModelTimes = self._line.recv()
        return told


@contextmanager
def load_model(seed: int) -> Iterator[LoadModel]:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, seed), daemon=True)
    process.start()
    try:
        fake = FakeAnthropic()
        fake.base_url = ours.recv()
        assert process.pid is not None
        yield LoadModel(fake, process.pid, ours)
    finally:
        process.terminate()
        process.join(10)


def _serve(line: Connection, seed: int) -> None:
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serving(line, seed))


async def _serving(line: Connection, seed: int) -> None:
    chance = random.Random(seed)
    async with FakeAnthropic() as fake:
        fake.reply = lambda body: _answer(body, chance)
        fake.delta_delay = PIECE_S
        line.send(fake.base_url)
        loop = asyncio.get_running_loop()
        seconds, requests = defaultdict[int, float](float), 0

        over = asyncio.Event()

        def told() -> None:
            nonlocal requests
            try:
                asked: _Asked = line.recv()
            except EOFError:  # who measures has ended
                loop.remove_reader(line.fileno())
                over.set()
                return
            if asked.seconds is not None:
                fake.delta_delay = asked.seconds
            requests += _collect(fake, seconds)
            line.send(ModelTimes(dict(seconds), requests))
            seconds.clear()
            requests = 0

        loop.add_reader(line.fileno(), told)
        while not over.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(1.0):
                    await over.wait()
            requests += _collect(fake, seconds)


def _collect(fake: FakeAnthropic, seconds: defaultdict[int, float]) -> int:
    """Adds the times of what is answered, and forgets it: the log must not grow."""
    done = [one for one in fake.requests if one.outcome.done()]
    fake.requests[:] = [one for one in fake.requests if not one.outcome.done()]
    for one in done:
        for number in asked_now(one.body):
            seconds[number] += one.done - one.at
    return len(done)


def _answer(body: JsonObject, chance: random.Random) -> Answer | str:
    asked = asked_now(body)
    if not asked:
        return "NO_REPLY"
    if not in_tool(body) and chance.random() < TOOLS:
        return _use(asked[-1], chance)
    named = " ".join(f"n{number}" for number in asked)
    words = f"I have read {named}. {'Here is one more sentence of an answer as people get it. ' * _SENTENCES}{THE_END}"
    count = chance.randint(*PIECES)
    size = -(-len(words) // count)
    return compose([words[start : start + size] for start in range(0, len(words), size)])


def _use(number: int, chance: random.Random) -> Answer:
    if chance.random() < 0.5:
        return compose(tool=("memory_append", {"text": f"Said in message {number}: the boat lies at berth {number}."}))
    return compose(tool=("memory_search", {"query": "where is the boat"}))
