"""What a long talk costs: tokens billed, read from the cache and paid for, per purpose.

python -m benchmarks.tokens [--turns N] [--json]

A conversation of 200 turns with tools and two compactions, over HTTP against the fake server, which counts tokens and
keeps prefixes as the prompt cache does. Beside it what the same requests cost a client without cache marks, and the
fixed part of others (numbers as published or measured by their users).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from statistics import mean
from typing import Any
from zoneinfo import ZoneInfo

from agent.agent import Agent
from agent.clock import Clock
from agent.memory.scope import Audience, Scope
from agent.model.anthropic import AnthropicModel
from agent.model.base import Usage, UsageRecord
from agent.model.metered import Metered
from agent.model.prices import Prices
from agent.session.summary import PARTS
from agent.settings import AgentSettings, ModelSettings
from agent.turn import Said, SessionKey, TurnRequest
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


class Book:
    """The ledger. `turn` is the number of the one that runs."""

    def __init__(self) -> None:
        self.turn = 0
        self.records: list[UsageRecord] = []
        self._turns: list[int] = []

    def record(self, entry: UsageRecord) -> None:
        self.records.append(entry)
        self._turns.append(self.turn)

    def flush_shares(self) -> list[float]:
        """What a call of a flush costs, on average, as a share of what one of the turn before cost."""
        flushed = {turn for turn, one in zip(self._turns, self.records, strict=True) if one.purpose == "flush"}
        return [self._mean(turn, "flush") / self._mean(turn - 1, "chat") for turn in flushed]

    def _mean(self, turn: int, purpose: str) -> float:
        pairs = zip(self._turns, self.records, strict=True)
        return mean(one.cost or 0.0 for at, one in pairs if at == turn and one.purpose == purpose)


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
    """`flush`: the highest of `Book.flush_shares`."""

    fixed: int
    compactions: int
    flush: float
    warm_hit_share: float
    sums: tuple[Sum, ...]

    @property
    def misses(self) -> list[str]:
        goals = {
            f"the fixed part has {self.fixed} tokens": self.fixed <= MOST_FIXED,
            f"{self.warm_hit_share:.1%} is read from the cache": self.warm_hit_share >= LOWEST_HIT_SHARE,
            f"a flush costs {self.flush:.2f} of the turn before": self.flush <= MOST_FLUSH,
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
        return "NO_REPLY" if is_result else compose(tool=("memory_append", {"text": "Alice has a boat."}))
    if "will be replaced by a summary" in newest:
        return "\n".join(f"{part}\n{_WORDS * 3}" for part in PARTS)
    if "look it up" in newest and not is_result:
        return compose(tool=("memory_search", {"query": "boat"}))
    return _WORDS * 16


async def measured(turns: int) -> Figures:
    book = Book()
    prices = Prices({})
    with tempfile.TemporaryDirectory() as folder:
        async with FakeAnthropic() as server:
            server.reply = reply
            root = Path(folder)
            await asyncio.to_thread(create, root / "workspace")
            anthropic = AnthropicModel(server.api_key, server.base_url)
            settings = AgentSettings(model=ModelSettings(MODEL, context_window=WINDOW))
            clock = Clock(ZoneInfo("Europe/Berlin"))
            agent = Agent(settings, root / "workspace", root / "sessions", Metered(anthropic, book, prices), clock)
            key, scope = SessionKey("main", "owner"), Scope(Audience.OWNER, root / "workspace")
            behind = asyncio.create_task(agent.run())
            for number in range(turns):
                book.turn = number
                text = f"Number {number}: {_WORDS * 16}" + (" Please look it up." if number % 4 == 3 else "")
                said = Said(f"m{number}", text, "Alice", "Telegram", clock.now())
                async for _ in agent.turn(TurnRequest(f"t{number}", key, scope, (said,))):
                    pass
            await agent.idle()
            report = await agent.context_report(key, scope)
            behind.cancel()
            await asyncio.wait({behind})
            await anthropic.aclose()
    talk = [one for one in book.records if one.purpose != "consolidation"]
    return Figures(
        report.fixed,
        report.compactions,
        max(book.flush_shares(), default=0.0),
        _warm_hit_share(talk),
        tuple(_sum(purpose, book.records, prices) for purpose in dict.fromkeys(r.purpose for r in book.records)),
    )


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
            f"A call of a flush against one of the turn before it: {figures.flush:.2f} (goal: {MOST_FLUSH})",
            *(f"MISSED: {said}" for said in figures.misses),
        ]
    )


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
