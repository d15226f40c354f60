"""What a search in memory gives, whatever finds it.

What rankings share: where they may look, and what they give.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Protocol

from agent.clock import Clock
from agent.memory.scope import Scope

_FOR_ITSELF = frozenset({"date", "meaning", "text"})
"""Parts of a score that a passage has of itself, though no word of the question stands in it."""


class Strength(enum.StrEnum):
    """How well a passage answers, as people are told, to whom a number says nothing."""

    STRONG = enum.auto()
    LIKELY = enum.auto()
    WEAK = enum.auto()


BOUNDS: Mapping[Strength, float] = {Strength.STRONG: 0.35, Strength.LIKELY: 0.2, Strength.WEAK: 0.05}
"""From which score on. What scores less holds next to nothing of the question, and is not shown to people; a model gets
it, for it may see more in it."""


def strength_of(score: float) -> Strength | None:
    """None below all bounds."""
    return next((strength for strength, bound in BOUNDS.items() if score >= bound), None)


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage found. `path` is relative to the scope's folder; `date` the log's day, else that of the file's last
    change; `score` between 0 and 1 and comparable between searches, `parts` what it is the sum of. `matched`: the words
    of the question that it, its heading or its file's title holds, 1 as they are, less where a word only begins so, is
    a synonym or stands near by."""

    path: str
    start_line: int
    end_line: int
    date: date
    score: float
    text: str
    matched: Mapping[str, float] = field(default_factory=dict)
    parts: Mapping[str, float] = field(default_factory=dict)

    @property
    def is_context(self) -> bool:
        """Nothing of the question stands in it; it was found for what is said around it."""
        return not self.matched and bool(self.parts) and not _FOR_ITSELF.intersection(self.parts)

    @property
    def strength(self) -> Strength | None:
        """None where it is not worth a person's time."""
        return None if self.is_context else strength_of(self.score)

    @property
    def place(self) -> str:
        """`path:line`, or `path:first-last`."""
        last = "" if self.start_line == self.end_line else f"-{self.end_line}"
        return f"{self.path}:{self.start_line}{last}"


@dataclass(frozen=True, slots=True)
class SearchResult:
    """`hits` best first. `gaps` says, in sentences, what was not searched."""

    hits: tuple[Hit, ...]
    gaps: tuple[str, ...] = ()


class Search(Protocol):
    """Finds passages of a scope that answer any of `queries`, at most `most`. `since` and `until` are days, both
    included; `below` is a folder of the scope to search in alone. Blocks; ends soon after `deadline` (of
    `time.monotonic`) with what it has."""

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
    """Days as ordinals, 0 for none; `below`: a folder. What bears no day (MEMORY.md, notes) was written between its
    `earliest` day, if that is known, and that of its last change: it is left out only where all of that is outside."""

    since: int = 0
    until: int = 0
    below: str = ""

    def has(self, earliest: int, last: int) -> bool:
        return (not self.since or last >= self.since) and (not self.until or earliest <= self.until)


@dataclass(frozen=True, slots=True)
class Ranked:
    """Passages `first` to `last` of a file; `lines` of the file; `day` as an ordinal. The rest as in `search.Hit`, but
    `matched` by token."""

    first: int
    last: int
    path: str
    lines: tuple[int, int]
    day: int
    text: str
    score: float
    parts: Mapping[str, float]
    matched: Mapping[str, float] = field(default_factory=dict)
