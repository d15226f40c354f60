"""How many times in words are understood, by language, beside `dateparser`.

    python benchmarks/times.py [--json FILE]

The corpus of `tests/gateway/scheduling/words/corpus`: what natives type, with its value at three moments. A question is
right where the corpus wants one, and missed elsewhere; wrong is another time than was said. `dateparser` (`pip install
dateparser`, else its columns stay empty) reads single moments, so the right-hand columns count these alone.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
from collections import Counter
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from agent.languages.codes import ALL_LANGUAGES, Language
from benchmarks.figures import Cell, table
from tests.gateway.scheduling.words.saying import UNCLEAR, Case, corpus, value_of

Read = Callable[[Case, Language], str]


def ours(case: Case, language: Language) -> str:
    found, rest = value_of(case.said, case.now, language)
    return UNCLEAR if rest and found != case.value else found


def theirs(case: Case, language: Language) -> str:
    parse = importlib.import_module("dateparser").parse
    wall = case.now.replace(tzinfo=None)
    settings = {"RELATIVE_BASE": wall, "PREFER_DATES_FROM": "future", "TIMEZONE": "Europe/Berlin"}
    found: datetime | None = parse(case.said, languages=[str(language)], settings=settings)
    return UNCLEAR if found is None else f"{found:%Y-%m-%d %H:%M}"


def counted(read: Read, cases: list[Case], language: Language) -> Counter[str]:
    return Counter(
        "right" if (found := read(case, language)) == case.value else "missed" if found == UNCLEAR else "wrong"
        for case in cases
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    has_theirs = importlib.util.find_spec("dateparser") is not None
    found: dict[str, dict[str, dict[str, int]]] = {}
    for language in ALL_LANGUAGES:
        cases = list(corpus(language))
        moments = [case for case in cases if case.value[:1].isdigit()]
        found[language] = {"all": counted(ours, cases, language), "moments": counted(ours, moments, language)}
        found[language] |= {"dateparser": counted(theirs, moments, language)} if has_theirs else {}
    rows: list[list[Cell]] = [
        [
            language,
            *(
                _share(groups.get(group), name)
                for group in ("all", "moments", "dateparser")
                for name in ("right", "wrong")
            ),
        ]
        for language, groups in found.items()
    ]
    heads = ("", "all: right", "wrong", "moments: right", "wrong", "dateparser: right", "wrong")
    print(table(heads, rows))
    if options.json:
        options.json.write_text(json.dumps(found, indent=2))


def _share(counts: dict[str, int] | None, name: str) -> Cell:
    if counts is None:
        return ""
    return f"{100 * counts.get(name, 0) / sum(counts.values()):.1f} %"


if __name__ == "__main__":
    main()
