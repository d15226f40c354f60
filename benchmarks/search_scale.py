"""How fast and how large the memory index is, from a thousand bullets to half a million.

python -m benchmarks.search_scale [--sizes 1000,10000,...] [--file MB] [--queries N] [--vectors] [--json]

Daily logs of 60 bullets are written from a vocabulary in which a few words are common and most are rare, as in a
language; with `--file`, one file of so many megabytes instead. Measured in this process: the build, the file on disk,
the memory added by the build and its first searches, queries through `MemoryIndex.search` (the look for changed files
included), and a changed file from its writing to the answer that holds it. `first ms`: the first search of a process
that finds the index ready. `lag ms`: how late an event loop in this process woke at worst while the index was built in
a thread. Times stand there twice: by the clock on the wall, and as this process's own time on the processor (`cpu`),
which says what the work costs where other programs want the machine too. `--vectors`: every passage and window has one
of 384 numbers, the questions too (from the hash of the text: making real ones is not measured here).
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple
from zoneinfo import ZoneInfo

from agent.clock import Clock
from agent.memory.scope import Audience, Scope
from agent.search.engine import MemoryIndex
from agent.search.results import Hit
from agent.search.vectors.protocol import SemanticIndex
from benchmarks.figures import median, p95, resident, table

SIZES = (1_000, 10_000, 100_000, 500_000)
_PER_DAY = 60
_CHANGES = 20
_NUMBERS = 384
_BEAT = 0.005
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

    def encode(self, texts: Sequence[str], seconds: float, *, is_question: bool = False) -> Sequence[Sequence[float]]:
        import numpy as np  # noqa: PLC0415 (only with vectors)

        digests = b"".join(hashlib.shake_128(text.encode()).digest(_NUMBERS) for text in texts)
        numbers = np.frombuffer(digests, np.uint8).reshape(len(texts), _NUMBERS).astype(np.float32) - 127.5
        return list(numbers / np.linalg.norm(numbers, axis=1, keepdims=True))

    def knows(self, text: str) -> bool:
        return True

    def close(self) -> None: ...


def _meaning() -> SemanticIndex:
    from agent.search.vectors.encoder import Embedder  # noqa: PLC0415 (numpy, only with vectors)
    from agent.search.vectors.semantic import EmbeddingIndex  # noqa: PLC0415

    return EmbeddingIndex(Embedder(Hashed))


@dataclass(frozen=True, slots=True)
class Task:
    """`megabytes` instead of `bullets`: of one file."""

    bullets: int
    queries: int
    vectors: bool = False
    megabytes: float = 0.0

    def measured(self) -> dict[str, float]:
        language = Language(7)
        with tempfile.TemporaryDirectory() as home:
            workspace = Path(home) / "workspace"
            last = _written(workspace / "memory", self.bullets, language) if self.bullets else _FIRST
            bullets = self.bullets or _one_file(workspace / "memory", self.megabytes, language)
            moment = datetime.combine(last, datetime.min.time(), UTC) + timedelta(hours=12)
            asked = _Asked(Path(home), Clock(ZoneInfo("UTC"), lambda: moment), language, self.vectors)
            return {"bullets": bullets} | asked.measured(self.queries)


class _Asked:
    def __init__(self, home: Path, clock: Clock, language: Language, vectors: bool) -> None:
        self._state = home / "state"
        self._workspace = home / "workspace"
        self._scope = Scope(Audience.OWNER, self._workspace)
        self._clock = clock
        self._language = language
        self._vectors = vectors
        self._index = self._opened()

    def measured(self, queries: int) -> dict[str, float]:
        before = resident(os.getpid())
        lag: list[float] = []
        build = _timed(lambda: lag.append(asyncio.run(_beside(self._built))))
        embed = _timed(self._embedded)
        time.sleep(0.2)  # files just written are looked at twice
        self._index.refresh(self._scope, self._clock)
        self._index.close()
        self._index = self._opened()
        first = _timed(self._query)
        times = [_timed(self._query) for _ in range(queries)]
        added = resident(os.getpid()) - before
        changed = [self._changed(number) for number in range(_CHANGES)]
        size = self._index.status(self._scope).bytes
        self._index.close()
        return {
            "build s": round(build.wall / 1_000, 2),
            "build cpu": round(build.cpu / 1_000, 2),
            "lag ms": round(lag[0] * 1_000),
            **({"vectors s": round(embed.wall / 1_000, 2)} if self._vectors else {}),
            "disk MB": round(size / 1e6, 1),
            "memory MB": round(added, 1),
            "first ms": round(first.wall, 1),
            "query p50 ms": median([one.wall for one in times]),
            "p95": p95([one.wall for one in times]),
            "p50 cpu": median([one.cpu for one in times]),
            "p95 cpu": p95([one.cpu for one in times]),
            "changed p50 ms": median([one.wall for one in changed]),
            "changed p50 cpu": median([one.cpu for one in changed]),
        }

    def _opened(self) -> MemoryIndex:
        return MemoryIndex(self._state, meaning=_meaning() if self._vectors else None)

    def _built(self) -> None:
        self._index.refresh(self._scope, self._clock)

    def _embedded(self) -> None:
        while self._index.embed(60):
            pass

    def _query(self) -> None:
        self._index.search(self._scope, self._clock, [self._language.query()])

    def _changed(self, number: int) -> Took:
        """From the writing of a bullet to the answer that holds it."""
        log = self._workspace / "memory" / f"{_FIRST + timedelta(days=number % 10)}.md"
        word = f"quixotic{number}"
        with log.open("a", encoding="utf-8") as file:
            file.write(f"- 23:00 something {word} happened\n")
        hits: list[Hit] = []

        def found() -> None:
            hits.extend(self._index.search(self._scope, self._clock, [word]).hits)

        took = _timed(found)
        if not hits or word not in hits[0].text:
            raise AssertionError(f"{word} was not found")
        return took


async def _beside(work: Callable[[], None]) -> float:
    """How late, in seconds, the loop woke at worst while work was done in a thread."""
    done = asyncio.ensure_future(asyncio.to_thread(work))
    worst = 0.0
    while not done.done():
        began = time.perf_counter()
        await asyncio.sleep(_BEAT)
        worst = max(worst, time.perf_counter() - began - _BEAT)
    await done
    return worst


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


def _one_file(folder: Path, megabytes: float, language: Language) -> int:
    """How many bullets it has."""
    folder.mkdir(parents=True)
    size = bullets = 0
    with (folder / "archive.md").open("w", encoding="utf-8") as file:
        while size < megabytes * 1e6:
            size += file.write(f"- {' '.join(language.words(_WORDS))}.\n")
            bullets += 1
    return bullets


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--file", type=float, metavar="MB", help="one file of so many megabytes, instead of sizes")
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--vectors", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    sizes = [int(size) for size in options.sizes.split(",")] if options.file is None else [0]
    if len(sizes) == 1:
        found = [Task(sizes[0], options.queries, options.vectors, options.file or 0.0).measured()]
    else:  # each in a process of its own, so that memory is its own
        found = [_apart(size, options.queries, options.vectors) for size in sizes]
    if options.json:
        print(json.dumps(found))
    else:
        print(table(list(found[0]), [list(row.values()) for row in found]))


def _apart(bullets: int, queries: int, vectors: bool) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.search_scale", "--sizes", str(bullets), "--queries", str(queries)]
    command += ["--vectors"] if vectors else []
    done = subprocess.run([*command, "--json"], stdout=subprocess.PIPE, check=True)
    row: dict[str, float] = json.loads(done.stdout)[0]
    return row


if __name__ == "__main__":
    main()
