"""How often what a message calls up by itself holds what was meant, how often it comes unasked, and what it costs.

python -m benchmarks.recall --data DIR [--json]

DIR as `benchmarks.retrieval` reads it. Every question is sent as a message to what puts memories before one, in the
owner's scope, with the settings and limits of the product and all the time it needs.

any, slots      share of questions with any of their evidence in the recalled text; share of all slots
brings          share of questions that bring anything
tokens          of the recalled text a question, introduction included, as the budget estimates them
small, tasks    share of `idle_messages` that bring anything, over all workspaces of the set; `to check`: of those that
                nothing was tuned on
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean

from agent.context.budget import DEFAULT_WINDOW
from agent.context.recall import Recall
from agent.memory.scope import Audience, Scope
from agent.model.tokens import estimate
from agent.search.engine import MemoryIndex
from agent.settings import RecallSettings
from benchmarks.figures import table
from benchmarks.idle_messages import SMALL_TALK, SMALL_TALK_TO_CHECK, TASKS, TASKS_TO_CHECK
from benchmarks.retrieval import bullet, end_of_day, plain

_IDLE = {
    "small": SMALL_TALK,
    "small to check": SMALL_TALK_TO_CHECK,
    "tasks": TASKS,
    "tasks to check": TASKS_TO_CHECK,
}
_ROOM = DEFAULT_WINDOW // 16
"""As `agent.turn.user_input` gives it."""
_UNHURRIED = RecallSettings(timeout_ms=600_000)


@dataclass(slots=True)
class Measured:
    """Of one set: a figure a question, and a share a workspace of each list of idle messages."""

    any: list[float] = field(default_factory=list)
    slots: list[float] = field(default_factory=list)
    brings: list[float] = field(default_factory=list)
    tokens: list[float] = field(default_factory=list)
    ms: list[float] = field(default_factory=list)
    idle: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in _IDLE})
    brought: dict[str, int] = field(default_factory=dict)
    """By how many workspaces each idle message brought anything."""

    def figures(self) -> dict[str, float]:
        means = {"any": self.any, "slots": self.slots, "brings": self.brings, "tokens": self.tokens, **self.idle}
        times = sorted(self.ms)
        found = {name: round(fmean(values), 3) for name, values in means.items()}
        return found | {"ms p95": round(times[int(len(times) * 0.95)], 1)}


def measured(folder: Path) -> Measured:
    """Every question and every idle message of one set."""
    result = Measured()
    with asyncio.Runner() as runner:
        _measure(folder, result, runner)
    return result


def _measure(folder: Path, result: Measured, runner: asyncio.Runner) -> None:
    for place in sorted(path.parent for path in folder.glob("*/queries.json")):
        workspace = place / "workspace"
        scope = Scope(Audience.OWNER, workspace)
        questions = json.loads((place / "queries.json").read_text("utf-8"))
        with tempfile.TemporaryDirectory() as state:
            index = MemoryIndex(Path(state))
            index.refresh(scope, end_of_day("2100-01-01"))
            for question in questions:
                began = time.perf_counter()
                block = runner.run(_block(index, scope, question["now"], question["q"]))
                result.ms.append((time.perf_counter() - began) * 1_000)
                slots = [[bullet(workspace / path, line) for path, line in slot] for slot in question["evidence"]]
                held = list(_held(plain(block), slots))
                result.any.append(float(any(held)))
                result.slots.append(fmean(held))
                result.brings.append(float(bool(block)))
                result.tokens.append(estimate(block))
            for name, messages in _IDLE.items():
                brought = [one for one in messages if runner.run(_block(index, scope, questions[0]["now"], one))]
                result.idle[name].append(len(brought) / len(messages))
                for one in brought:
                    result.brought[one] = result.brought.get(one, 0) + 1
            index.close()


async def _block(index: MemoryIndex, scope: Scope, now: str, message: str) -> str:
    """What goes before a session's first message."""
    recall = Recall(end_of_day(now), _UNHURRIED, index.search)
    found = await recall.find(scope, message)
    return recall.chosen(found, scope, {}, (), message, _ROOM).block


def _held(text: str, slots: Iterable[Sequence[str]]) -> Iterator[bool]:
    """A passage of more than a thousand characters is quoted by its beginning: that much is enough."""
    for slot in slots:
        yield any(one[:900] in text for one in slot)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", default="", help="names, with commas between; all without")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--unasked", action="store_true", help="list the idle messages that brought anything")
    options = parser.parse_args(arguments)
    sets = sorted({path.parent.parent for path in options.data.glob("*/*/queries.json")})
    chosen = [one for one in sets if not options.sets or one.name in options.sets.split(",")]
    results = {folder.name: measured(folder) for folder in chosen}
    figures = {name: result.figures() for name, result in results.items()}
    columns = list(next(iter(figures.values())))
    figures["mean"] = {column: round(fmean(one[column] for one in figures.values()), 3) for column in columns}
    if options.json:
        print(json.dumps(figures, indent=1))
        return
    print(table(["set", *columns], [[name, *(one[column] for column in columns)] for name, one in figures.items()]))
    if options.unasked:
        counted: dict[str, int] = {}
        for result in results.values():
            for message, count in result.brought.items():
                counted[message] = counted.get(message, 0) + count
        listed = sorted(counted.items(), key=lambda item: -item[1])
        print(table(["brought unasked by so many workspaces", ""], [[message, count] for message, count in listed]))


if __name__ == "__main__":
    main()
