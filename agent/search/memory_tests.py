"""Memory tests: questions in `memory/tests.md` with words that a search must return. The file itself is not indexed.

- Where does Anna live? -> Leipzig, Gohlis
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agent.clock import Clock
from agent.languages.terms import fold
from agent.memory import files
from agent.memory.replace import append_lines
from agent.memory.scope import Scope
from agent.search.result_text import search_text
from agent.search.results import Hit, Search

FILE = "memory/tests.md"
ARROW = "->"
MOST = 500
"""Tests that are run."""
_TITLE = b"# Memory tests\n\nA line each: a question -> words that must come back, with commas between.\n"
_BULLET = re.compile(r"(?:[-*+]|\d{1,9}[.)])\s")
_ARROW = re.compile("->|→")


@dataclass(frozen=True, slots=True)
class MemoryTest:
    """A question with at least one word; `line` from 1."""

    question: str
    words: tuple[str, ...]
    line: int = 0


@dataclass(frozen=True, slots=True)
class MemoryTestResult:
    test: MemoryTest
    missing: tuple[str, ...]
    where: str = ""
    """The first passage (`path:line`) with one of the words."""

    @property
    def passed(self) -> bool:
        return not self.missing


@dataclass(frozen=True, slots=True)
class MemoryTestReport:
    results: tuple[MemoryTestResult, ...]
    gaps: tuple[str, ...] = ()
    """Sentences on what was not searched."""
    unread: tuple[int, ...] = ()
    """Invalid lines."""

    @property
    def failed(self) -> tuple[MemoryTestResult, ...]:
        return tuple(result for result in self.results if not result.passed)


def parsed(text: str) -> Iterator[MemoryTest | int]:
    """Tests, and numbers of invalid lines that look like one."""
    for number, line in enumerate(text.split("\n"), 1):
        text_line = line.strip()
        if not text_line.startswith(("-", "*", "+", *"0123456789")) or not _ARROW.search(line):
            continue
        bullet = _BULLET.match(text_line)
        arrow = _ARROW.search(text_line, bullet.end()) if bullet else None
        question = text_line[bullet.end() : arrow.start()].strip() if bullet and arrow else ""
        answer = text_line[arrow.end() :] if arrow else ""
        words = tuple(word for part in re.split("[,，、]", answer) if (word := part.strip()))
        yield MemoryTest(question, words, number) if question and words else number


def run(scope: Scope, clock: Clock, search: Search, most: int, max_chars: int) -> MemoryTestReport:
    """Run the tests of a scope. Blocks. Raises `UnreadableFile`."""
    file = files.read_text(scope.folder / FILE, scope.folder)
    found = list(parsed(file.text)) if file is not None else []
    results: list[MemoryTestResult] = []
    gaps: dict[str, None] = {}
    for test in [item for item in found if isinstance(item, MemoryTest)][:MOST]:
        answer = search(scope, clock, [test.question], most=most)
        gaps |= dict.fromkeys(answer.gaps)
        results.append(_evaluate(test, search_text(answer, scope, clock.today(), max_chars).hits))
    return MemoryTestReport(tuple(results), tuple(gaps), tuple(number for number in found if isinstance(number, int)))


def add(scope: Scope, clock: Clock, question: str, words: str) -> MemoryTest:
    """Append a test to the file. Raises `ValueError` (a sentence) if it is invalid, and `FileError`."""
    line = f"- {' '.join(question.split())} {ARROW} {' '.join(words.split())}"
    test = next(parsed(line), None)
    if not isinstance(test, MemoryTest):
        raise ValueError(f"a test is a question, {ARROW}, and words that must come back, with commas between")
    path = scope.folder / FILE
    files.rewrite(path, scope.folder, clock.today(), lambda now: append_lines(now or _TITLE, line, FILE))
    return test


def _evaluate(test: MemoryTest, hits: Sequence[Hit]) -> MemoryTestResult:
    texts = [" ".join(fold(hit.text).split()) for hit in hits]
    wanted = {word: " ".join(fold(word).split()) for word in test.words}
    missing = tuple(word for word, folded in wanted.items() if not any(folded in text for text in texts))
    has = (hit for hit, text in zip(hits, texts, strict=True) if any(word in text for word in wanted.values()))
    first = next(has, None)
    return MemoryTestResult(test, missing, f"{first.path}:{first.start_line}" if first is not None else "")
