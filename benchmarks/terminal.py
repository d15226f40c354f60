"""How quick the terminal is: until the prompt stands, a key until it is seen, an answer until it is shown.

python -m benchmarks.terminal [--keys 100] [--json FILE]

`daybook chat` without a model at a pseudo-terminal of 80 columns, as the tests watch it. Times in milliseconds.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path

from benchmarks.figures import median, p95, table
from tests.gateway.terminal.test_prompt import CTRL_C, CTRL_D, Watched

CONFIG = "channels: {web: {enabled: false}}\nmemory: {search: {embedding: none}}\n"
STARTS = 3
ANSWERS = 5


def _ms(began: float) -> float:
    return round((time.perf_counter() - began) * 1_000, 1)


def measured(home: Path, keys: int) -> dict[str, float]:
    starts: list[float] = []
    for _ in range(STARTS):
        began = time.perf_counter()
        terminal = Watched(home, "chat")
        terminal.until(">")
        starts.append(_ms(began))
        terminal.until("% full")
        terminal.type(CTRL_D)
        terminal.ends()
    terminal = Watched(home, "chat")
    terminal.until("% full")
    seen: list[float] = []
    for number in range(keys):
        letter = "abcdefghij"[number % 10]
        if number % 50 == 0:
            terminal.type(CTRL_C)
            terminal.until("abc", gone=True)
        typed = terminal.text.count(letter)
        began = time.perf_counter()
        terminal.type(letter)
        while terminal.text.count(letter) == typed:
            terminal.read()
        seen.append(_ms(began))
    terminal.type(CTRL_C)
    terminal.until("abc", gone=True)
    answers: list[float] = []
    for number in range(ANSWERS):
        began = time.perf_counter()
        terminal.type(f"/remember number {number}\r")
        terminal.until(f"number {number}\n")
        while terminal.text.count("memory/20") <= number:
            terminal.read()
        answers.append(_ms(began))
    terminal.type(CTRL_D)
    terminal.ends()
    return {
        "until the prompt, median": median(starts),
        "a key until it is seen, median": median(seen),
        "a key until it is seen, p95": p95(seen),
        "a command until its answer, median": median(answers),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keys", type=int, default=100)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        own = Path(folder) / "home"
        own.mkdir(mode=0o700)
        (own / "config.yaml").write_text(CONFIG)
        figures = measured(own, asked.keys)
    print(table(("", "ms"), list(figures.items())))
    if asked.json:
        asked.json.write_text(json.dumps(figures, indent=1) + "\n")
