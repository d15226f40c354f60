"""Results of a memory search, for every engine and ranking."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Protocol

from agent.clock import Clock
from agent.memory.scope import Scope

_FOR_ITSELF = frozenset({"date", "meaning", "text"})
"""Score parts that a passage can have without a word of the question."""


class Strength(enum.StrEnum):
    STRONG = enum.auto()
    LIKELY = enum.auto()
    WEAK = enum.auto()


BOUNDS: Mapping[Strength, float] = {Strength.STRONG: 0.35, Strength.LIKELY: 0.2, Strength.WEAK: 0.05}
"""Minimum scores. Lower ones are not shown to people; models get them."""


def strength_of(score: float) -> Strength | None:
    """None below all bounds."""
    return next((strength for strength, bound in BOUNDS.items() if score >= bound), None)


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage found. `path` relative to the scope's folder; `date` of the log, else of the file's last change;
    `score` from 0 to 1, the sum of `parts`."""

    path: str
    start_line: int
    end_line: int
    date: date
    score: float
    text: str
    matched: Mapping[str, float] = field(default_factory=dict)
    """Words of the question in it, its heading or title; less than 1 for prefixes, synonyms and neighbours."""
    parts: Mapping[str, float] = field(default_factory=dict)

    @property
    def is_context(self) -> bool:
        """True if it was found only for its neighbours."""
        return not self.matched and bool(self.parts) and not _FOR_ITSELF.intersection(self.parts)

    @property
    def strength(self) -> Strength | None:
        """None: not worth showing to people."""
        return None if self.is_context else strength_of(self.score)

    @property
    def place(self) -> str:
        last = "" if self.start_line == self.end_line else f"-{self.end_line}"
        return f"{self.path}:{self.start_line}{last}"


@dataclass(frozen=True, slots=True)
class SearchResult:
    """`hits` best first."""

    hits: tuple[Hit, ...]
    gaps: tuple[str, ...] = ()
    """Sentences on what was not searched."""


class Search(Protocol):
    """Find passages that answer any of `queries`. Days inclusive; `below`: a folder. Blocks; ends soon after `deadline`
    (of `time.monotonic`)."""

    def __call__(
        self,
        scope: Scope,
        clock: Clock,
        queries: Sequence[str],
        *,
        since: date | None = None,
        until: date | None = None,
        most: int = 40,
        below: str = "",
        deadline: float | None = None,
    ) -> SearchResult: ...


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a search: days as ordinals, 0 for none. A file without a day is excluded only if `earliest` to its last
    change is all outside."""

    since: int = 0
    until: int = 0
    below: str = ""
    """A folder."""

    def has(self, earliest: int, last: int) -> bool:
        return (not self.since or last >= self.since) and (not self.until or earliest <= self.until)


@dataclass(frozen=True, slots=True)
class Ranked:
    """A ranked result: passage ids `first` to `last`; `lines` of the file; `day` as an ordinal. Otherwise as `Hit`,
    with `matched` by token."""

    first: int
    last: int
    path: str
    lines: tuple[int, int]
    day: int
    text: str
    score: float
    parts: Mapping[str, float]
    matched: Mapping[str, float] = field(default_factory=dict)
