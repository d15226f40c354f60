"""What rankings share: where they may look, and what they give."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


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
