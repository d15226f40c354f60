"""How much of what was told a search finds again: share of the evidence within the first characters that it returns.

python -m benchmarks.retrieval --data DIR [--ranking daybook|hybrid] [--without PART,...] [--ablate] [--json]

DIR holds sets, each with one folder a workspace: `workspace/` of Markdown and `queries.json`, a list of
`{id, q, now, cat, evidence}`; evidence is a list of slots, a slot a list of alternative [path, line] of one bullet. A
slot is found where one of its bullets stands, white space aside, in what was returned. E@B: share of slots within the
first B characters; R@k: within the first k results; MRR: one over the rank of the first result with evidence.

`--ablate` leaves out each part of the ranking in turn and says what it brings.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from statistics import fmean
from typing import Any
from zoneinfo import ZoneInfo

from agent.clock import Clock
from agent.memory.index.daybook import WEIGHTS
from agent.memory.index.engine import MemoryIndex
from agent.memory.scope import Audience, Scope
from agent.settings import HybridSettings, SearchSettings
from benchmarks.figures import table

CHARS = (1_000, 2_000, 4_000)
RANKS = (3, 6, 10)
PARTS = ("context", *(name for name in WEIGHTS if name not in ("near", "meaning")))
_UTC = ZoneInfo("UTC")


@dataclass(frozen=True, slots=True)
class Row:
    category: str
    figures: Mapping[str, float]
    seconds: float


def measured(folder: Path, settings: SearchSettings, without: Collection[str] = ()) -> list[Row]:
    """Every question of one set."""
    rows: list[Row] = []
    for place in sorted(path.parent for path in folder.glob("*/queries.json")):
        with tempfile.TemporaryDirectory() as state:
            index = MemoryIndex(Path(state), settings=settings, without=without)
            rows += _asked(index, place)
            index.close()
    return rows


def _asked(index: MemoryIndex, place: Path) -> Iterator[Row]:
    workspace = place / "workspace"
    scope = Scope(Audience.OWNER, workspace)
    index.refresh(scope, _clock("2100-01-01"))
    for question in json.loads((place / "queries.json").read_text("utf-8")):
        clock = _clock(question["now"])
        began = time.perf_counter()
        found = index.search(scope, clock, [question["q"]], most=settings_most(index), until=clock.today())
        seconds = time.perf_counter() - began
        slots = [[_bullet(workspace / path, line) for path, line in slot] for slot in question["evidence"]]
        yield Row(question.get("cat", ""), figures([_plain(hit.text) for hit in found.hits], slots), seconds)


def settings_most(index: MemoryIndex) -> int:
    return 40


def figures(texts: Sequence[str], slots: Sequence[Sequence[str]]) -> dict[str, float]:
    """`texts` in the order in which they were returned, `slots` as alternatives, both without needless white space."""
    joined = "\n".join(texts)
    ends: list[int] = []
    ranks: list[int] = []
    for slot in slots:
        ends += [min(found)] if (found := [at + len(one) for one in slot if (at := joined.find(one)) >= 0]) else []
        holding = [rank for rank, text in enumerate(texts) if any(one in text for one in slot)]
        ranks += holding[:1]
    shares = {f"E@{limit}": sum(end <= limit for end in ends) / len(slots) for limit in CHARS}
    shares |= {f"R@{most}": sum(rank < most for rank in ranks) / len(slots) for most in RANKS}
    return shares | {"MRR": 1 / (1 + min(ranks)) if ranks else 0.0}


def summary(rows: Sequence[Row]) -> dict[str, Any]:
    times = sorted(row.seconds * 1_000 for row in rows)
    means = {name: round(fmean(row.figures[name] for row in rows), 4) for name in rows[0].figures}
    by_category = {
        category: round(fmean(row.figures["E@4000"] for row in rows if row.category == category), 4)
        for category in sorted({row.category for row in rows})
    }
    quantiles = {"ms_p50": round(times[len(times) // 2], 2), "ms_p95": round(times[int(len(times) * 0.95)], 2)}
    return means | quantiles | {"questions": len(rows), "E@4000 by kind": by_category}


def _clock(day: str) -> Clock:
    moment = datetime.combine(date.fromisoformat(day), datetime.min.time(), _UTC) + timedelta(hours=23, minutes=59)
    return Clock(_UTC, lambda: moment)


def _bullet(file: Path, line: int) -> str:
    return _plain(re.sub(r"^\s*[-*]\s+", "", file.read_text("utf-8").split("\n")[line - 1]))


def _plain(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--ranking", choices=("daybook", "hybrid"), default="daybook")
    parser.add_argument("--without", default="", help="parts of the ranking daybook to leave out, with commas between")
    parser.add_argument("--ablate", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    settings = SearchSettings(hybrid=HybridSettings() if options.ranking == "hybrid" else None)
    without = [part for part in options.without.split(",") if part]
    sets = sorted({path.parent.parent for path in options.data.glob("*/*/queries.json")})
    runs = {"": without} | ({part: [*without, part] for part in PARTS} if options.ablate else {})
    results = {
        folder.name: {name or "all": summary(measured(folder, settings, left)) for name, left in runs.items()}
        for folder in sets
    }
    if options.json:
        print(json.dumps(results, indent=1))
        return
    for name, by_run in results.items():
        print(f"\n{name}, ranking {options.ranking}\n")
        columns = [column for column in by_run["all"] if column != "E@4000 by kind"]
        print(table(["without", *columns], [[run, *(found[c] for c in columns)] for run, found in by_run.items()]))
        print("\nE@4000:", ", ".join(f"{kind} {share}" for kind, share in by_run["all"]["E@4000 by kind"].items()))


if __name__ == "__main__":
    main()
