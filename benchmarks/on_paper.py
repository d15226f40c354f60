"""What more people need, computed from what `load.py` measured and from what is assumed of people and prices.

    python benchmarks/on_paper.py LOAD.json [--tokens TOKENS.json] [--people 10000 1000000]

TOKENS.json is what `python -m benchmarks.tokens --json` printed; without it, what that was when this was written.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from agent.model.base import Usage
from agent.model.prices import Prices
from benchmarks.figures import MB, Cell, markdown
from benchmarks.people import JsonObject

GB = 1024 * MB
PEOPLE = (10_000, 1_000_000)
MODELS = ("claude-sonnet-5-5", "claude-haiku-5-5")
TOKENS = Usage(input=256, cache_write=1_117, cache_read=45_851, output=301)
"""Tokens of a message in a long talk, with its share of all that is asked beside it: `tokens.py` with 200 turns."""


@dataclass(frozen=True, slots=True)
class Assumed:
    """USD are for a month. `busiest_hour`: its share of the messages of a day; `most_busy`: the share of a core, or of
    a limit, that is used in it; `rows_days`: how long the database keeps what is done."""

    messages_a_day: float = 20.0
    busiest_hour: float = 0.10
    most_busy: float = 0.5
    turn_s: float = 4.0
    rows_days: int = 9
    bot_a_second: float = 30.0
    usd_core: float = 25.0
    gb_a_core: float = 4.0
    usd_gb: float = 0.10

    @property
    def peak_of_one(self) -> float:
        """Messages a second of one person in the busiest hour."""
        return self.messages_a_day * self.busiest_hour / 3600


@dataclass(frozen=True, slots=True)
class Cost:
    """What a message costs as it was measured, with PostgreSQL. Milliseconds of a core; bytes; `intake_ms` is the
    leader's own share; MB of a gateway, of one more turn; `index` and `sessions` are of a person."""

    setup: str
    gateway_ms: float
    intake_ms: float
    postgres_ms: float
    transactions: float
    telegram_calls: float
    model_calls: float
    row_bytes: float
    file_bytes: float
    media_bytes: float
    index_bytes: float
    gateway_mb: float
    turn_mb: float


def cost(measured: JsonObject) -> Cost:
    """With two gateways and PostgreSQL, else with the most there were, over all rates; the leader's own share where it
    shows best, beside the most helpers."""
    shared = [one for one in measured["loads"] if one["store"] == "PostgreSQL"] or measured["loads"]
    one = next((one for one in shared if one["gateways"] == 2), shared[-1])
    most = max(shared, key=lambda one: one["gateways"])
    before, after, sessions = one["disk_before"], one["disk_after"], measured["sessions"]

    def grown(name: str) -> float:
        return float(max(0, after[name] - before[name]) / one["messages"])

    helper = _each(most, "helpers") / max(1, most["gateways"] - 1)
    return Cost(
        setup=f"{one['store']}, {one['gateways']} gateways",
        gateway_ms=1000 * (_each(one, "leader") + _each(one, "helpers")),
        intake_ms=1000 * max(0.0, _each(most, "leader") - helper) if most["gateways"] > 1 else 0.0,
        postgres_ms=1000 * _each(one, "postgres"),
        transactions=_each(one, "transactions"),
        telegram_calls=_each(one, "telegram_calls"),
        model_calls=sum(step["requests"] for step in _steps(one)) / one["messages"],
        row_bytes=grown("database"),
        file_bytes=grown("rest"),
        media_bytes=grown("media"),
        index_bytes=after["index"] / measured["plan"]["chats"],
        gateway_mb=sessions["idle"],
        turn_mb=max(0.0, sessions["at_once"] - sessions["idle"]) / max(1, sessions["turns"]),
    )


def _steps(load: JsonObject) -> list[JsonObject]:
    return [load["moderate"], *load["steps"]]


def _each(load: JsonObject, name: str) -> float:
    """What was spent for a message, without what is spent while nobody writes."""
    idle, steps = load["idle"], _steps(load)
    spent, wall = (sum(step["spent"][what] for step in steps) for what in (name, "wall"))
    return float(max(0.0, spent - idle[name] * wall / idle["wall"]) / load["messages"])


@dataclass(frozen=True, slots=True)
class Need:
    """What so many people a day need. `homes`: each with a bot, a folder that its gateways mount, and a database;
    `limit`: what ends a home first, and the people it then has."""

    people: int
    peak: float
    homes: int
    limit: str
    gateways: int
    gateway_gb: float
    postgres_cores: float
    transactions: float
    disk_gb_a_year: float
    rows_gb: float
    model_calls_a_day: float
    servers_usd: float
    model_usd: dict[str, float]


def need(people: int, cost: Cost, assumed: Assumed, tokens: Usage) -> Need:
    a_day = people * assumed.messages_a_day
    peak = people * assumed.peak_of_one
    limits = {"Telegram's limit for a bot": assumed.most_busy * assumed.bot_a_second}
    if cost.intake_ms:
        limits["the leader, which takes in everything"] = assumed.most_busy * 1000 / cost.intake_ms
    name, rate = min(limits.items(), key=lambda one: one[1])
    homes = math.ceil(peak / rate)
    gateways = homes * math.ceil(peak / homes * cost.gateway_ms / 1000 / assumed.most_busy)
    postgres_cores = peak * cost.postgres_ms / 1000 / assumed.most_busy
    gateway_gb = (gateways * cost.gateway_mb + peak * assumed.turn_s * cost.turn_mb) * MB / GB
    rows_gb = a_day * assumed.rows_days * cost.row_bytes / GB
    disk_gb = (a_day * 365 * (cost.file_bytes + cost.media_bytes) + people * cost.index_bytes) / GB
    cores = max(gateways + math.ceil(postgres_cores), gateway_gb / assumed.gb_a_core)
    return Need(
        people=people,
        peak=peak,
        homes=homes,
        limit=f"{name}, at {rate / assumed.peak_of_one:,.0f} people",
        gateways=gateways,
        gateway_gb=gateway_gb,
        postgres_cores=postgres_cores,
        transactions=peak * cost.transactions,
        disk_gb_a_year=disk_gb,
        rows_gb=rows_gb,
        model_calls_a_day=a_day * cost.model_calls,
        servers_usd=cores * assumed.usd_core + (disk_gb + rows_gb) * assumed.usd_gb,
        model_usd={model: a_day * 30 * (Prices().cost(tokens, model) or 0.0) for model in MODELS},
    )


def told(measured: JsonObject, people: Sequence[int], tokens: Usage = TOKENS, assumed: Assumed | None = None) -> str:
    """The measured costs and what follows from them, as Markdown."""
    assumed, each = assumed or Assumed(), cost(measured)
    costs: list[Sequence[Cell]] = [
        ["gateways, ms of a core", f"{each.gateway_ms:.1f}"],
        ["of that the leader's intake, ms of a core", f"{each.intake_ms:.1f}"],
        ["PostgreSQL, ms of a core", f"{each.postgres_ms:.1f}"],
        ["transactions", f"{each.transactions:.0f}"],
        ["calls of Telegram, of the model", f"{each.telegram_calls:.1f}, {each.model_calls:.2f}"],
        ["rows in PostgreSQL, with their indexes, kB", f"{each.row_bytes / 1024:.1f}"],
        ["transcript and memory on disk, kB", f"{each.file_bytes / 1024:.1f}"],
        ["photos on disk, kB (every 20th message)", f"{each.media_bytes / 1024:.1f}"],
        ["search index of a person, kB", f"{each.index_bytes / 1024:.0f}"],
        ["a gateway, MB; one more turn at once, MB", f"{each.gateway_mb:.0f}; {each.turn_mb:.2f}"],
    ]
    needs = [need(count, each, assumed, tokens) for count in people]
    rows: list[Sequence[Cell]] = [
        ["messages a day", *(f"{one.people * assumed.messages_a_day:,.0f}" for one in needs)],
        ["messages a second in the busiest hour", *(f"{one.peak:,.1f}" for one in needs)],
        ["homes, each with a bot and a database", *(one.homes for one in needs)],
        ["what ends one home first", *(one.limit for one in needs)],
        ["gateways, of a core each", *(one.gateways for one in needs)],
        ["memory of the gateways, GB", *(f"{one.gateway_gb:,.1f}" for one in needs)],
        ["cores of PostgreSQL", *(f"{one.postgres_cores:,.1f}" for one in needs)],
        ["transactions a second", *(f"{one.transactions:,.0f}" for one in needs)],
        [f"rows in PostgreSQL ({assumed.rows_days} days), GB", *(f"{one.rows_gb:,.1f}" for one in needs)],
        ["files, GB more each year", *(f"{one.disk_gb_a_year:,.0f}" for one in needs)],
        ["calls of the model a day", *(f"{one.model_calls_a_day:,.0f}" for one in needs)],
        ["servers and disks after a year, USD a month", *(f"{one.servers_usd:,.0f}" for one in needs)],
        *([f"model ({model}), USD a month", *(f"{one.model_usd[model]:,.0f}" for one in needs)] for model in MODELS),
    ]
    return "\n\n".join(
        [
            f"A message costs ({each.setup}):",
            markdown(["", "per message"], costs),
            f"Assumed: {assumed.messages_a_day:g} messages a person and day, {assumed.busiest_hour:.0%} of them in the"
            f" busiest hour, in which cores and limits are used to {assumed.most_busy:.0%}; {assumed.usd_core:g} USD a"
            f" month for a core with {assumed.gb_a_core:g} GB, {assumed.usd_gb:.2f} USD for a GB of disk;"
            f" {assumed.bot_a_second:g} messages a second for a bot of Telegram; per message {tokens.input:,} tokens"
            f" in, {tokens.cache_write:,} into the cache, {tokens.cache_read:,} from it, {tokens.output:,} out.",
            *(_enough(one, assumed) for one in measured["loads"] if one["gateways"] == 1 and one["top"]),
            markdown(["people who write on a day", *(f"{one.people:,}" for one in needs)], rows),
        ]
    )


def _enough(load: JsonObject, assumed: Assumed) -> str:
    """How many people one gateway carries."""
    rate = load["top"]["rate"]
    people = assumed.most_busy * rate / assumed.peak_of_one
    return f"One gateway and {load['store']} kept up with {rate:g} a second: enough for {people:,.0f} people."


def tokens_of(told: JsonObject, turns: int = 200) -> Usage:
    """A message's share of what `tokens.py --json` counted in so many turns."""
    names = ("input", "output", "cache_write", "cache_read")
    return Usage(**{name: round(sum(one[name] for one in told["sums"]) / turns) for name in names})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("load", type=Path, help="what load.py wrote with --json")
    parser.add_argument("--tokens", type=Path)
    parser.add_argument("--people", type=int, nargs="+", default=PEOPLE)
    given = parser.parse_args()
    tokens = TOKENS if given.tokens is None else tokens_of(json.loads(given.tokens.read_text(encoding="utf-8")))
    print(told(json.loads(given.load.read_text(encoding="utf-8")), given.people, tokens))


if __name__ == "__main__":
    main()
