"""What a long talk costs: tokens billed, read from the cache and paid for, per purpose.

python -m benchmarks.tokens [--turns N] [--json]

A conversation of 200 turns with tools and two compactions, over HTTP against the fake server, which counts tokens and
keeps prefixes as the prompt cache does. Beside it what the same requests cost a client without cache marks, and the
fixed part of others (numbers as published or measured by their users).

A flush, all its calls, is held against the turn before it, all of its: in that talk, and in one of the usual window in
which every flush follows a turn of one call and a few words, the least that a turn costs. What a flush adds (its prompt
and what it writes) is the same in every window, so in a small one it is a larger share of such a turn; that is shown,
and no goal.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any
from zoneinfo import ZoneInfo

from agent.agent import Agent
from agent.clock import Clock
from agent.compaction.summary import PARTS
from agent.context.budget import DEFAULT_WINDOW, budget_of
from agent.memory.scope import Audience, Scope
from agent.model.anthropic.model import AnthropicModel
from agent.model.base import Usage, UsageRecord
from agent.model.client import MeteredModel
from agent.model.prices import Prices
from agent.report import ContextReport
from agent.settings import AgentSettings, ModelSettings
from agent.values import SessionKey, TurnEvent, TurnRequest, UserMessage
from agent.workspace import create
from benchmarks.figures import table
from tests.fakes.anthropic import Answer, FakeAnthropic, compose, last_user_text
from tests.fakes.anthropic_rules import blocks_of

MODEL = "claude-sonnet-5-5"
WINDOW = 80_000
LOWEST_HIT_SHARE = 0.95
MOST_FIXED = 4_000
MOST_FLUSH = 1.05
OTHERS = {"nanobot": 7_600, "OpenClaw": 17_000}
"""Tokens of the fixed part."""
_WORDS = "We spoke of the garden, the boat and the journey to Lisbon in spring. "
_FACTS = (
    "Alice has a boat, Luna, berth 14 in Kiel; it is to be painted before May.",
    "Decided: to Lisbon by train on 3 April, for Bob does not fly. Promised: to ask for seats by Friday.",
)
_A_PASTE = 4_000
"""Tokens."""


class Book:
    """The ledger. `turn` is the number of the one that runs; `size` the tokens of the last call of one."""

    def __init__(self) -> None:
        self.turn = 0
        self.records: list[UsageRecord] = []
        self._turns: list[int] = []
        self.size = 0

    def record(self, entry: UsageRecord) -> None:
        self.records.append(entry)
        self.size = entry.usage.context if entry.purpose == "chat" else self.size
        self._turns.append(self.turn)

    def flush_shares(self) -> list[float]:
        """What each flush costs, as a share of what the turn before it cost: all calls of both."""
        flushed = sorted({turn for turn, one in zip(self._turns, self.records, strict=True) if one.purpose == "flush"})
        return [self._cost(turn, "flush") / self._cost(turn - 1, "chat") for turn in flushed]

    def _cost(self, turn: int, purpose: str) -> float:
        pairs = zip(self._turns, self.records, strict=True)
        return sum(one.cost or 0.0 for at, one in pairs if at == turn and one.purpose == purpose)


@dataclass(frozen=True, slots=True)
class Sum:
    """Tokens and USD of one purpose. `uncached`: what the same calls cost without cache marks."""

    purpose: str
    calls: int
    input: int
    cache_write: int
    cache_read: int
    output: int
    cost: float
    uncached: float

    @property
    def hit_share(self) -> float:
        return self.cache_read / max(1, self.input + self.cache_write + self.cache_read)


@dataclass(frozen=True, slots=True)
class Figures:
    """`flushes`: `JobService.flush_shares` of the talk; `least_turns`: of the one whose flushes follow the least of
    turns;
    `small`: the same in the small window."""

    fixed: int
    compactions: int
    flushes: tuple[float, ...]
    least_turns: tuple[float, ...]
    small: tuple[float, ...]
    warm_hit_share: float
    sums: tuple[Sum, ...]

    @property
    def shares(self) -> tuple[float, ...]:
        return (*self.flushes, *self.least_turns)

    @property
    def misses(self) -> list[str]:
        goals = {
            f"the fixed part has {self.fixed} tokens": self.fixed <= MOST_FIXED,
            f"{self.warm_hit_share:.1%} is read from the cache": self.warm_hit_share >= LOWEST_HIT_SHARE,
            f"a flush costs {max(self.shares):.3f} of the turn before": max(self.shares) <= MOST_FLUSH,
            f"{self.compactions} compactions": self.compactions >= 2,
        }
        return [said for said, reached in goals.items() if not reached]


def reply(body: dict[str, Any]) -> Answer | str:
    """A model that answers, looks things up in every fourth turn, and does its part when a talk is shortened."""
    newest = last_user_text(body)
    is_result = any(block["type"] == "tool_result" for block in blocks_of(body["messages"][-1]))
    if any(tool["name"] == "save_memory" for tool in body["tools"]):
        return compose(tool=("save_memory", {"history_entry": "A talk of many things.", "memory_update": []}))
    if "Only these tools are obeyed now" in newest:
        return compose(tools=[("memory_append", {"text": fact}) for fact in _FACTS])
    if "will be replaced by a summary" in newest:
        return "\n".join(f"{part}\n{_WORDS * 3}" for part in PARTS)
    if "look it up" in newest and not is_result:
        return compose(tool=("memory_search", {"query": "boat"}))
    return "Good." if "Short" in newest else _WORDS * 16


async def measured(turns: int) -> Figures:
    prices = Prices({})
    book, report = await _long_talk(turns)
    talk = [one for one in book.records if one.purpose != "consolidation"]
    return Figures(
        report.fixed,
        report.compactions,
        tuple(book.flush_shares()),
        tuple(await _least_turns(DEFAULT_WINDOW)),
        tuple(await _least_turns(WINDOW)),
        _warm_hit_share(talk),
        tuple(_sum(purpose, book.records, prices) for purpose in dict.fromkeys(r.purpose for r in book.records)),
    )


async def _long_talk(turns: int) -> tuple[Book, ContextReport]:
    async with _talking(WINDOW) as talk:
        for number in range(turns):
            await talk.say(f"Number {number}: {_WORDS * 16}" + (" Please look it up." if number % 4 == 3 else ""))
        await talk.agent.idle()
        return talk.book, await talk.agent.context_report(talk.key, talk.scope)


async def _least_turns(window: int) -> list[float]:
    """Two flushes."""
    session = AgentSettings().session
    limits = budget_of(
        window, session.reserve_tokens, session.flush_soft_threshold_tokens, AgentSettings().model.max_tokens
    )
    async with _talking(window) as talk:
        while len(shares := talk.book.flush_shares()) < 2:
            is_near = talk.book.size > limits.flush_at - _A_PASTE
            await talk.say("Short: fine?" if is_near else f"A paste: {_WORDS * (_A_PASTE // 20)}")
        return shares


async def _ignored(event: TurnEvent) -> None:
    pass


class _Talk:
    def __init__(self, agent: Agent, root: Path, book: Book, clock: Clock) -> None:
        self.agent = agent
        self.book = book
        self.key = SessionKey("main", "owner")
        self.scope = Scope(Audience.OWNER, root / "workspace")
        self._clock = clock

    async def say(self, text: str) -> None:
        said = UserMessage(f"m{self.book.turn}", text, "Alice", "Telegram", self._clock.now())
        await self.agent.turn(TurnRequest(f"t{self.book.turn}", self.key, self.scope, (said,)), _ignored)
        self.book.turn += 1


@asynccontextmanager
async def _talking(window: int) -> AsyncIterator[_Talk]:
    book = Book()
    with tempfile.TemporaryDirectory() as folder:
        async with FakeAnthropic() as server:
            server.reply = reply
            root = Path(folder)
            await asyncio.to_thread(create, root / "workspace")
            anthropic = AnthropicModel(server.api_key, server.base_url)
            settings = AgentSettings(model=ModelSettings(MODEL, context_window=window))
            clock = Clock(ZoneInfo("Europe/Berlin"))
            model = MeteredModel(anthropic, book, Prices({}))
            talk = _Talk(Agent(settings, root / "workspace", root / "sessions", model, clock), root, book, clock)
            behind = asyncio.create_task(talk.agent.run())
            try:
                yield talk
            finally:
                behind.cancel()
                await asyncio.wait({behind})
                await anthropic.aclose()


def _warm_hit_share(records: Sequence[UsageRecord]) -> float:
    """Over all calls but the first, and the first after each compaction: those have nothing to read."""
    warm = [now.usage for before, now in pairwise(records) if before.purpose != "compaction"]
    return sum(u.cache_read for u in warm) / max(1, sum(u.input + u.cache_read + u.cache_write for u in warm))


def _sum(purpose: str, records: Sequence[UsageRecord], prices: Prices) -> Sum:
    used = [record.usage for record in records if record.purpose == purpose]
    plain = (prices.cost(Usage(u.input + u.cache_read + u.cache_write, u.output), MODEL, "off") or 0.0 for u in used)
    return Sum(
        purpose,
        len(used),
        sum(u.input for u in used),
        sum(u.cache_write for u in used),
        sum(u.cache_read for u in used),
        sum(u.output for u in used),
        round(sum(record.cost or 0.0 for record in records if record.purpose == purpose), 4),
        round(sum(plain), 4),
    )


def told(figures: Figures) -> str:
    head = ("purpose", "calls", "input", "cache write", "cache read", "read", "output", "USD", "USD without cache")
    rows = [
        (s.purpose, s.calls, s.input, s.cache_write, s.cache_read, f"{s.hit_share:.1%}", s.output, s.cost, s.uncached)
        for s in figures.sums
    ]
    fixed = ", ".join(f"{name} {tokens:,}" for name, tokens in OTHERS.items())
    return "\n".join(
        [
            table(head, rows),
            "",
            f"Compactions: {figures.compactions}",
            f"Read from the cache in a warm conversation: {figures.warm_hit_share:.1%} (goal: {LOWEST_HIT_SHARE:.0%})",
            f"Fixed part: {figures.fixed:,} tokens (goal: {MOST_FIXED:,}; {fixed})",
            _told_of("A flush against the turn before it", figures.flushes),
            _told_of("A flush against a turn of one call and a few words", figures.least_turns),
            f"The same in a window of {WINDOW:,}: median {median(figures.small):.3f}, worst {max(figures.small):.3f}",
            *(f"MISSED: {said}" for said in figures.misses),
        ]
    )


def _told_of(what: str, shares: Sequence[float]) -> str:
    if not shares:
        return f"{what}: there was none"
    reached = "reached" if max(shares) <= MOST_FLUSH else "missed"
    return f"{what}: median {median(shares):.3f}, worst {max(shares):.3f} (goal: {MOST_FLUSH}, {reached})"


def main() -> int:
    parser = argparse.ArgumentParser(description="What a long talk costs.")
    parser.add_argument("--turns", type=int, default=200)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    figures = asyncio.run(measured(arguments.turns))
    print(json.dumps(asdict(figures)) if arguments.json else told(figures))
    return 1 if figures.misses else 0


if __name__ == "__main__":
    raise SystemExit(main())
