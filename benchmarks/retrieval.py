"""How much of what was told a search finds again: share of the evidence within the first characters that it returns.

python -m benchmarks.retrieval --data DIR [--ranking daybook|hybrid] [--model FOLDER] [--ablate [RULE,...]]
    [--json]

DIR holds sets, each with one folder a workspace: `workspace/` of Markdown and `queries.json`, a list of
`{id, q, now, cat, evidence}`; evidence is a list of slots, a slot a list of alternative [path, line] of one bullet. A
slot is found where one of its bullets stands, white space aside, in the text that a model gets, headings and all.
E@B: share of slots within the first B characters of the 4,000; R@k: within the first k results; MRR: one over the rank
of the first result with evidence. Below the sets stand their mean and the worst of them.

`--model`: the folder of a model that embeds (`daybook memory embedder` says more); `--vectors FILE` keeps its
vectors from run to run. `--ablate` leaves out each rule of `rules.py` in turn (or those that are named) and says what
it brings.
"""

from __future__ import annotations

import argparse
import json
import re
import sqlite3
import tempfile
import time
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from agent.clock import Clock
from agent.memory.scope import Audience, Scope
from agent.search.engine import MemoryIndex
from agent.search.result_text import search_text
from agent.settings import HybridSettings, SearchSettings
from benchmarks.figures import table
from benchmarks.rules import RULES, left_out

if TYPE_CHECKING:
    from agent.search.vectors.encoder import Encoder, Vector
    from agent.search.vectors.semantic import EmbeddingIndex

CHARS = (1_000, 2_000, 4_000)
RANKS = (3, 6, 10)
_MOST = SearchSettings().max_results
_UTC = ZoneInfo("UTC")
_BY_KIND = "E@4000 by kind"


@dataclass(frozen=True, slots=True)
class Row:
    category: str
    figures: Mapping[str, float]
    seconds: float


def measured(folder: Path, settings: SearchSettings, encoder: Encoder | None = None) -> list[Row]:
    """Every question of one set."""
    rows: list[Row] = []
    for place in sorted(path.parent for path in folder.glob("*/queries.json")):
        with tempfile.TemporaryDirectory() as state:
            meaning = _meaning(encoder) if encoder is not None else None
            index = MemoryIndex(Path(state), settings=settings, meaning=meaning)
            rows += _asked(index, place)
            index.close()
    return rows


def _asked(index: MemoryIndex, place: Path) -> Iterator[Row]:
    workspace = place / "workspace"
    scope = Scope(Audience.OWNER, workspace)
    index.refresh(scope, end_of_day("2100-01-01"))
    while index.embed(60):
        pass
    for question in json.loads((place / "queries.json").read_text("utf-8")):
        clock = end_of_day(question["now"])
        began = time.perf_counter()
        found = index.search(scope, clock, [question["q"]], most=_MOST, until=clock.today())
        seconds = time.perf_counter() - began
        slots = [[bullet(workspace / path, line) for path, line in slot] for slot in question["evidence"]]
        text = search_text(found, scope, clock.today(), max(CHARS)).text
        yield Row(
            question.get("cat", ""), figures(plain(text), [plain(hit.text) for hit in found.hits], slots), seconds
        )


def _meaning(encoder: Encoder) -> EmbeddingIndex:
    from agent.search.vectors.encoder import Embedder  # noqa: PLC0415 (numpy, only with a model)
    from agent.search.vectors.semantic import EmbeddingIndex  # noqa: PLC0415

    return EmbeddingIndex(Embedder(lambda: encoder))


def _encoder(folder: Path, kept: Path | None) -> Encoder:
    from agent.search.vectors.local import LocalModel  # noqa: PLC0415

    return Kept(LocalModel(folder), kept)


class Kept:
    """An encoder whose vectors are kept for the next run."""

    def __init__(self, encoder: Encoder, file: Path | None) -> None:
        self.id, self.batch = encoder.id, encoder.batch
        self._encoder = encoder
        self._db = sqlite3.connect(file or ":memory:", check_same_thread=False)
        self._db.execute("CREATE TABLE IF NOT EXISTS kept (model, text, vector, PRIMARY KEY (model, text))")

    def encode(self, texts: Sequence[str], seconds: float, *, is_question: bool = False) -> Sequence[Vector]:
        kind = f"{self.id} question" if is_question else self.id  # a model may put something before either
        with self._db:
            new = [text for text in dict.fromkeys(texts) if self._vector(kind, text) is None]
            for text, vector in zip(new, self._encoder.encode(new, seconds, is_question=is_question), strict=True):
                self._db.execute(
                    "INSERT OR REPLACE INTO kept VALUES (?, ?, ?)", [kind, text, array("f", vector).tobytes()]
                )
        return [self._vector(kind, text) or () for text in texts]

    def _vector(self, kind: str, text: str) -> Vector | None:
        row = self._db.execute("SELECT vector FROM kept WHERE model = ? AND text = ?", [kind, text]).fetchone()
        return array("f", row[0]) if row else None

    def knows(self, text: str) -> bool:
        return self._encoder.knows(text)

    def close(self) -> None:
        """It is used for all workspaces."""


def figures(text: str, passages: Sequence[str], slots: Sequence[Sequence[str]]) -> dict[str, float]:
    """`text` as a model gets it, `passages` best first, `slots` as alternatives, all without needless white space."""
    ends: list[int] = []
    ranks: list[int] = []
    for slot in slots:
        ends += [min(found)] if (found := [at + len(one) for one in slot if (at := text.find(one)) >= 0]) else []
        holding = [rank for rank, passage in enumerate(passages) if any(one in passage for one in slot)]
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
    return means | quantiles | {"questions": len(rows), _BY_KIND: by_category}


def end_of_day(day: str) -> Clock:
    moment = datetime.combine(date.fromisoformat(day), datetime.min.time(), _UTC) + timedelta(hours=23, minutes=59)
    return Clock(_UTC, lambda: moment)


def bullet(file: Path, line: int) -> str:
    return plain(re.sub(r"^\s*[-*]\s+", "", file.read_text("utf-8").split("\n")[line - 1]))


def plain(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--ranking", choices=("daybook", "hybrid"), default="daybook")
    parser.add_argument("--model", type=Path, help="folder of a model that embeds")
    parser.add_argument("--vectors", type=Path, help="file to keep its vectors in")
    parser.add_argument("--ablate", nargs="?", const=",".join(RULES), default="", help="rules, with commas between")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    settings = SearchSettings(hybrid=HybridSettings() if options.ranking == "hybrid" else None)
    encoder = _encoder(options.model, options.vectors) if options.model else None
    sets = sorted({path.parent.parent for path in options.data.glob("*/*/queries.json")})
    results = {folder.name: {"": summary(measured(folder, settings, encoder))} for folder in sets}
    for rule in (rule for rule in options.ablate.split(",") if rule):
        with left_out(rule):
            for folder in sets:
                results[folder.name][rule] = summary(measured(folder, settings, encoder))
    runs = list(results[sets[0].name]) if sets else []
    for over, figure in (("mean", fmean), ("worst", min)) if len(sets) > 1 else ():
        results[over] = {run: _over([results[one.name][run] for one in sets], figure) for run in runs}
    if options.json:
        print(json.dumps(results, indent=1))
        return
    for name, by_run in results.items():
        print(f"\n{name}, ranking {options.ranking}\n")
        columns = [column for column in by_run[""] if column != _BY_KIND]
        print(table(["without", *columns], [[run, *(found[c] for c in columns)] for run, found in by_run.items()]))
        if kinds := by_run[""].get(_BY_KIND):
            print(f"\n{_BY_KIND}:", ", ".join(f"{kind} {share}" for kind, share in kinds.items()))


def _over(summaries: Sequence[Mapping[str, Any]], figure: Callable[[Iterable[float]], float]) -> dict[str, Any]:
    """One figure of all sets, for what counts as quality."""
    names = [name for name in summaries[0] if name[:2] in ("E@", "R@", "MR") and name != _BY_KIND]
    return {name: round(figure([one[name] for one in summaries]), 4) for name in names}


if __name__ == "__main__":
    main()
