"""How many ordinary sentences are understood without a model, by language and kind.

    python benchmarks/understood.py [--language de] [--kind set] [--half even|odd] [--failures] [--json FILE]

The corpus of `tests/gateway/commands/understood`: what natives type, each said to a gateway of its own with the same
reminders, logs, promises, list and memories. The effects are checked on disk and in the answer. Whoever mends looks at
the sentences with an even number (`--half even --failures`); the others tell what that is worth.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from agent.languages.codes import Language
from benchmarks.figures import Cell, table
from tests.gateway.commands.understood.world import Outcome, Saying, corpus, languages, outcome

_HALVES = ("even", "odd")
_AT_ONCE = 4


async def measured(language: Language, sayings: list[Saying], root: Path) -> list[Outcome]:
    world, _ = corpus(language)
    room = asyncio.Semaphore(_AT_ONCE)

    async def one(saying: Saying) -> Outcome:
        async with room:
            home = root / f"{language}-{saying.number}"
            try:
                return await outcome(world, saying, home)
            except TimeoutError:
                return Outcome(saying, "", ("an answer",))
            finally:
                await asyncio.to_thread(shutil.rmtree, home, ignore_errors=True)

    return list(await asyncio.gather(*map(one, sayings)))


async def run(options: argparse.Namespace) -> dict[Language, list[Outcome]]:
    found: dict[Language, list[Outcome]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for language in [Language(options.language)] if options.language else languages():
            sayings = [
                saying
                for saying in corpus(language)[1]
                if options.kind in (None, saying.kind) and options.half in (None, _HALVES[saying.number % 2])
            ]
            found[language] = await measured(language, sayings, Path(folder))
    return found


def kinds(found: dict[Language, list[Outcome]]) -> str:
    """For each kind, right of all, by language."""
    names = list(dict.fromkeys(one.saying.kind for outcomes in found.values() for one in outcomes))
    rows: list[list[Cell]] = []
    for name in names:
        row: list[Cell] = [name]
        for outcomes in found.values():
            results = Counter(one.result for one in outcomes if one.saying.kind == name)
            row.append(f"{results['right']}/{sum(results.values())}")
        rows.append(row)
    return table(("", *found), rows)


def totals(found: dict[Language, list[Outcome]]) -> str:
    rows: list[list[Cell]] = []
    for language, outcomes in found.items():
        results = Counter(one.result for one in outcomes)
        share = f"{100 * results['right'] / max(1, len(outcomes)):.1f} %"
        times, filed = (sum(map(bool, flags)) for flags in zip(*map(_flags, outcomes), strict=True))
        rows.append(
            [language, len(outcomes), share, *(results[name] for name in ("right", "wrong", "asked")), times, filed]
        )
    return table(("", "sentences", "", "right", "wrong", "asked", "wrong times", "orders filed"), rows)


def _flags(one: Outcome) -> tuple[bool, bool]:
    return one.is_wrong_time, one.is_filed_order


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--language")
    parser.add_argument("--kind")
    parser.add_argument("--half", choices=_HALVES)
    parser.add_argument("--failures", action="store_true")
    options = parser.parse_args()
    found = asyncio.run(run(options))
    if options.failures:
        for language, outcomes in found.items():
            for one in outcomes:
                if one.wrong:
                    saying = " → ".join((*one.saying.before, one.saying.say))
                    print(
                        f"{language} {one.saying.kind} {one.saying.number}: {saying}\n    not: {'; '.join(one.wrong)}"
                    )
                    print("    " + " ⏎ ".join(one.answer.splitlines())[:300])
    print(f"{kinds(found)}\n\n{totals(found)}")
    if options.json:
        rows = [
            {
                "language": language,
                "kind": one.saying.kind,
                "say": one.saying.say,
                "result": one.result,
                "not": one.wrong,
            }
            for language, outcomes in found.items()
            for one in outcomes
        ]
        options.json.write_text(json.dumps(rows, indent=2, ensure_ascii=False))


if __name__ == "__main__":
    main()
