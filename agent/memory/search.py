"""Word search over the Markdown of a scope: BM25 over passages, read fresh from the files each time. Blocks."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from agent.clock import Clock
from agent.memory import daily, files, front_matter
from agent.memory.passages import Passage, passages
from agent.memory.reach import Unreadable
from agent.memory.scope import Scope
from agent.memory.words import fold, is_unspaced, query_terms, terms

MAX_FILES = 5_000
MAX_TOTAL_BYTES = 50_000_000
_RULES = frozenset({"AGENTS.md", "CLAUDE.md", "SOUL.md", "IDENTITY.md"})  # how to work, not what is remembered
_UNFILLED = re.compile(r"[-*+] [^\n]*:")
"""A field of USER.md to which nothing was written yet: it would answer every question that holds its label's words."""
_STEM = 4
_RELATED = 0.5  # weight of a word that begins alike
_K1 = 1.2
_B = 0.5


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage found. `path` is relative to the scope's folder; `date` the log's day, else that of the file's last
    change; `score` between 0 and 1 and comparable between searches: how much of the question is in it. `matched`: the
    words of the question that it or its title holds, 1 as they are, less where a word only begins alike."""

    path: str
    start_line: int
    end_line: int
    date: date
    score: float
    text: str
    matched: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Found:
    """`hits` best first. `gaps` says, in sentences, what was not searched."""

    hits: tuple[Hit, ...]
    gaps: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Candidate:
    path: str
    day: date
    passage: Passage
    counts: tuple[float, ...]
    length: int


def search(
    scope: Scope,
    clock: Clock,
    queries: Sequence[str],
    *,
    since: date | None = None,
    until: date | None = None,
    most: int = 40,
    below: str = "",
    deadline: float | None = None,
) -> Found:
    """The passages that answer any of `queries`, at most `most`. `since` and `until` are days, both included; `below`
    is a folder of the scope to search in alone; after `deadline` (of `time.monotonic`) no further file is read.

    Files that cannot be read are named in `gaps`; links are not followed.
    """
    asked = [wanted for wanted in (query_terms(query) for query in queries) if wanted]
    vocabulary = list(dict.fromkeys(term for wanted in asked for term in wanted))
    if not vocabulary:
        return Found(())
    gaps: list[str] = []
    candidates: list[_Candidate] = []
    count = chars = 0
    for path, day, title, passage in _all(scope, scope.folder / below, clock, gaps, deadline):
        count += 1
        chars += len(passage.text)
        if (since is None or day >= since) and (until is None or day <= until):
            candidate = _candidate(path, day, title, passage, vocabulary)
            if candidate is not None:
                candidates.append(candidate)
    best = _ranked(candidates, asked, vocabulary, count, chars / max(count, 1))
    return Found(tuple(best[:most]), tuple(gaps))


def _all(
    scope: Scope, folder: Path, clock: Clock, gaps: list[str], deadline: float | None
) -> Iterator[tuple[str, date, str, Passage]]:
    """Every passage in reach with its file's path, day and title, newest files first."""
    listed = sorted(_markdown(scope, folder, gaps), key=lambda pair: pair[1].changed, reverse=True)
    room = MAX_TOTAL_BYTES
    for number, (path, entry) in enumerate(listed):
        room -= entry.size
        if number >= MAX_FILES or room < 0:
            gaps.append(f"{len(listed) - number} older files were not searched: there are too many")
            return
        if deadline is not None and time.monotonic() > deadline:
            gaps.append(f"{len(listed) - number} older files were not searched: there was no time")
            return
        try:
            read = files.read_text(path, scope.folder)
        except Unreadable as error:
            gaps.append(f"{error.reason}.")
            continue
        if read is None:
            continue
        relative = path.relative_to(scope.folder).as_posix()
        day = daily.day_of(path) or clock.local(entry.changed).date()
        head = front_matter.parse(read.text[:9_000])
        title = f"{head.line('name')} {head.line('description')}"
        for passage in passages(read.text):
            if path.name != "USER.md" or not _UNFILLED.fullmatch(passage.text):
                yield relative, day, title, passage


def _markdown(scope: Scope, folder: Path, gaps: list[str]) -> Iterator[tuple[Path, files.Entry]]:
    folders = [folder]
    while folders:
        folder = folders.pop()
        try:
            entries = files.entries(folder, scope.folder)
        except Unreadable as error:
            gaps.append(f"{error.reason}.")
            continue
        for entry in entries:
            if entry.name.startswith("."):
                continue
            path = folder / entry.name
            if entry.kind is files.Kind.FOLDER:
                folders.append(path)
            elif entry.kind is files.Kind.FILE and path.suffix.lower() == ".md" and not _is_rules(path, scope):
                yield path, entry


def _is_rules(path: Path, scope: Scope) -> bool:
    return path.parent == scope.workspace and path.name in _RULES


def _candidate(path: str, day: date, title: str, passage: Passage, vocabulary: Sequence[str]) -> _Candidate | None:
    """Count the wanted terms; None where there is none. Most passages are sorted out by a look for the stems."""
    folded = fold(f"{title} {passage.heading} {passage.text}")
    if not any(_stem(term) in folded for term in vocabulary):
        return None
    words = terms(folded)
    counts = tuple(sum(_likeness(term, word) for word in words) for term in vocabulary)
    return _Candidate(path, day, passage, counts, len(passage.text)) if any(counts) else None


def _stem(term: str) -> str:
    return term if is_unspaced(term) else term[:_STEM]


def _likeness(term: str, word: str) -> float:
    if term == word:
        return 1.0
    if len(term) == 1 and is_unspaced(term):
        return _RELATED if term in word else 0.0
    shorter, longer = sorted((len(term), len(word)))
    if shorter < _STEM or is_unspaced(term) or term.isdecimal():
        return 0.0
    common = next((at for at, (one, other) in enumerate(zip(term, word, strict=False)) if one != other), shorter)
    return _RELATED if common >= max(_STEM, longer - 3) or word.startswith(term) else 0.0


def _ranked(
    candidates: Sequence[_Candidate],
    asked: Sequence[Sequence[str]],
    vocabulary: Sequence[str],
    count: int,
    usual_length: float,
) -> list[Hit]:
    weights: dict[str, float] = {}
    for at, term in enumerate(vocabulary):
        holding = sum(1 for candidate in candidates if candidate.counts[at])
        weights[term] = math.log(1 + (count - holding + 0.5) / (holding + 0.5))
    places = {term: at for at, term in enumerate(vocabulary)}

    def score(candidate: _Candidate, wanted: Sequence[str]) -> float:
        """BM25 as a share of what the question could reach at most."""
        norm = _K1 * (1 - _B + _B * candidate.length / max(usual_length, 1.0))
        counts = [(weights[term], candidate.counts[places[term]]) for term in wanted]
        return sum(weight * hits / (hits + norm) for weight, hits in counts) / sum(weight for weight, _ in counts)

    hits = [
        Hit(
            candidate.path,
            candidate.passage.start,
            candidate.passage.end,
            candidate.day,
            round(max(score(candidate, wanted) for wanted in asked), 4),
            candidate.passage.text,
            {term: min(hits, 1.0) for term, hits in zip(vocabulary, candidate.counts, strict=True) if hits},
        )
        for candidate in candidates
    ]
    return sorted(hits, key=lambda hit: (-hit.score, -hit.date.toordinal(), hit.path, hit.start_line))
