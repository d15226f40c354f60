"""Is everything still known after a year, and by nobody who was not told?

    python benchmarks/life.py [--days 365] [--seed N] [--relative] [--json FILE]

The life of `tests/flows/life.py`: an owner, a second person and a group, facts planted every day, `/new`, `/compact`,
`/undo`, `/forget`, hand edits, a change of the clock, a model that is overloaded, breaks off, refuses and summarises
badly, and a gateway process that is killed (SIGKILL) in the midst of all this. The seed fixes what is chosen at random,
not how the processes interleave.

The web, a search engine and a server of tools are part of every day, with pages of others; the owner says yes to what
they are asked about them. How many questions a day that makes is counted: two are the most.

At the end: how many questions about days that were told by relative words are answered (`relative.py`); `--relative`
asks these alone, in some seconds.

Exit code 1 where something was lost, leaked, refused by the model's server, answered twice or never, or where a day
had more than two questions.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import relative
from benchmarks.figures import Cell, table
from tests.flows.life import Tally, life


async def lived(days: int, seed: int) -> Tally:
    async with life(seed) as told:
        return await told.live(days)


def _row(name: str, value: object) -> tuple[str, Cell]:
    """A list names what went wrong."""
    return (f"{name} (must be 0)", len(value)) if isinstance(value, list) else (name, str(value))


def _relative() -> Mapping[str, Mapping[str, float]]:
    found = relative.measured()
    kinds = list(next(iter(found.values())))
    print("\nQuestions about days told by relative words, share that is answered:\n")
    print(table(["", *kinds], [[name, *(f"{shares[kind]:.2f}" for kind in kinds)] for name, shares in found.items()]))
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--days", type=int, default=365, help="how long it lasts (365)")
    parser.add_argument("--seed", type=int, default=None, help="repeats the choices of an earlier run")
    parser.add_argument("--relative", action="store_true", help="only the questions about days told by relative words")
    parser.add_argument("--json", type=Path, default=None, help="a file for every figure")
    given = parser.parse_args()
    if given.relative:
        _relative()
        sys.exit(0)
    chosen = given.seed if given.seed is not None else random.SystemRandom().randrange(1_000_000)
    began = time.monotonic()
    tally = asyncio.run(lived(given.days, chosen))
    print(f"seed {chosen}; {given.days} days in {time.monotonic() - began:.0f} s\n")
    figures = asdict(tally)
    print(table(["", ""], [_row(name.replace("_", " "), value) for name, value in figures.items()]))
    for name, found in tally.failures.items():
        print(f"\n{name.replace('_', ' ')}: {'; '.join(found)}")
    asked = _relative()
    if given.json is not None:
        written = {"seed": chosen, **figures, "relative": asked}
        given.json.write_text(json.dumps(written, indent=2), encoding="utf-8")
    sys.exit(1 if tally.failures else 0)
