"""How fast and how large the memory index is, from a thousand bullets to half a million.

python -m benchmarks.search_scale [--bullets 1000,10000,...] [--queries N] [--vectors] [--json]

Daily logs of 60 bullets are written from a vocabulary in which a few words are common and most are rare, as in a
language. Measured in this process: the build, the file on disk, the memory added by the build and its first searches,
queries through `MemoryIndex.search` (the look for changed files included), and a changed file from its writing to the
answer that holds it. Each time stands there twice: by the clock on the wall, and as this process's own time on the
processor (`cpu`), which says what the work costs where other programs want the machine too. `--vectors`: every passage
and window has one of 384 numbers, the questions too (from their hash: making them is not measured here).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple
from zoneinfo import ZoneInfo

from agent.clock import Clock
from agent.memory.index.embedding import Meaning
from agent.memory.index.engine import MemoryIndex
from agent.memory.scope import Audience, Scope
from agent.memory.search import Hit
from benchmarks.figures import median, p95, resident, table

SIZES = (1_000, 10_000, 100_000, 500_000)
_PER_DAY = 60
_WORDS = 24
_VOCABULARY = 30_000
_FIRST = date(2000, 1, 1)
_SYLLABLES = tuple(first + last for first in "bcdfglmnprstvzk" for last in "aeiou")


class Language:
    """Words by Zipf's law."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._words = sorted({"".join(self._random.choices(_SYLLABLES, k=3)) for _ in range(_VOCABULARY * 2)})
        self._random.shuffle(self._words)
        self._weights = list(accumulate(1 / (rank + 10) for rank in range(len(self._words))))

    def words(self, count: int) -> list[str]:
        return self._random.choices(self._words, cum_weights=self._weights, k=count)

    def query(self) -> str:
        """As a person asks: a common word and a few rarer ones."""
        rarer = self._random.sample(self._words[50:5_000], 3)
        return " ".join(["When did I", *self.words(2), *rarer])


class Took(NamedTuple):
    """Milliseconds."""

    wall: float
    cpu: float


def _timed(work: Callable[[], object]) -> Took:
    began, used = time.perf_counter(), time.process_time()
    work()
    return Took((time.perf_counter() - began) * 1_000, (time.process_time() - used) * 1_000)


class Hashed:
    """An encoder that costs nothing and means nothing."""

    id, batch = "hashed", 256

    def encode(self, texts: Sequence[str], seconds: float) -> Sequence[Sequence[float]]:
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> Sequence[float]:
        numbers = [byte - 127.5 for byte in hashlib.shake_128(text.encode()).digest(384)]
        length = math.sqrt(sum(number * number for number in numbers))
        return [number / length for number in numbers]

    def knows(self, text: str) -> bool:
        return True

    def close(self) -> None: ...


def _meaning() -> Meaning:
    from agent.memory.embedding.embedder import Embedder  # noqa: PLC0415 (numpy, only with vectors)
    from agent.memory.index.meaning import Embeddings  # noqa: PLC0415

    return Embeddings(Embedder(Hashed))


def measured(bullets: int, queries: int, vectors: bool = False) -> dict[str, float]:
    language = Language(7)
    with tempfile.TemporaryDirectory() as home:
        workspace = Path(home) / "workspace"
        last = _written(workspace / "memory", bullets, language)
        scope = Scope(Audience.OWNER, workspace)
        moment = datetime.combine(last, datetime.min.time(), UTC) + timedelta(hours=12)
        clock = Clock(ZoneInfo("UTC"), lambda: moment)
        before = resident(os.getpid())
        index = MemoryIndex(Path(home) / "state", meaning=_meaning() if vectors else None)
        build = _timed(lambda: index.refresh(scope, clock))
        while index.embed(60):
            pass
        time.sleep(0.2)  # files just written are looked at twice
        index.search(scope, clock, [language.query()])
        times = []
        for _ in range(queries):
            query = language.query()
            times.append(_timed(partial(index.search, scope, clock, [query])))
        added = resident(os.getpid()) - before
        changed = [_changed(index, scope, clock, workspace, number) for number in range(20)]
        size = index.status(scope, clock).bytes
        index.close()
    return {
        "bullets": bullets,
        "build s": round(build.wall / 1_000, 2),
        "cpu s": round(build.cpu / 1_000, 2),
        "disk MB": round(size / 1e6, 1),
        "memory MB": round(added, 1),
        "query p50 ms": median([one.wall for one in times]),
        "p95": p95([one.wall for one in times]),
        "p50 cpu": median([one.cpu for one in times]),
        "p95 cpu": p95([one.cpu for one in times]),
        "changed p50 ms": median([one.wall for one in changed]),
        "changed p50 cpu": median([one.cpu for one in changed]),
    }


def _written(folder: Path, bullets: int, language: Language) -> date:
    folder.mkdir(parents=True)
    day = _FIRST
    for start in range(0, bullets, _PER_DAY):
        lines = [
            f"- {at % 24:02}:00 {' '.join(language.words(_WORDS))}." for at in range(min(_PER_DAY, bullets - start))
        ]
        (folder / f"{day}.md").write_text(f"# {day}\n\n" + "\n".join(lines) + "\n", "utf-8")
        day += timedelta(days=1)
    return day


def _changed(index: MemoryIndex, scope: Scope, clock: Clock, workspace: Path, number: int) -> Took:
    """From the writing of a bullet to the answer that holds it."""
    log = workspace / "memory" / f"{_FIRST + timedelta(days=number % 10)}.md"
    word = f"quixotic{number}"
    with log.open("a", encoding="utf-8") as file:
        file.write(f"- 23:00 something {word} happened\n")
    hits: list[Hit] = []
    took = _timed(lambda: hits.extend(index.search(scope, clock, [word]).hits))
    if not hits or word not in hits[0].text:
        raise AssertionError(f"{word} was not found")
    return took


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bullets", default=",".join(map(str, SIZES)))
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--vectors", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    sizes = [int(size) for size in options.bullets.split(",")]
    if len(sizes) == 1:
        found = [measured(sizes[0], options.queries, options.vectors)]
    else:  # each in a process of its own, so that memory is its own
        found = [_apart(size, options.queries, options.vectors) for size in sizes]
    if options.json:
        print(json.dumps(found))
    else:
        print(table(list(found[0]), [list(row.values()) for row in found]))


def _apart(bullets: int, queries: int, vectors: bool) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.search_scale", "--bullets", str(bullets), "--queries", str(queries)]
    command += ["--vectors"] if vectors else []
    done = subprocess.run([*command, "--json"], stdout=subprocess.PIPE, check=True)
    row: dict[str, float] = json.loads(done.stdout)[0]
    return row


if __name__ == "__main__":
    main()
