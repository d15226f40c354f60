"""The seam to a model that knows which texts mean alike. Every ranking does without one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from agent.memory.index.store import Store


@dataclass(frozen=True, slots=True)
class Likeness:
    """How like a question what is embedded is, as cosines: passages, and windows by their first and last passage."""

    passages: Mapping[int, float]
    windows: Mapping[tuple[int, int], float]


class Embedder(Protocol):
    """Asked beside every search. Blocks. None where it has nothing to say by `deadline` (of `time.monotonic`), or does
    not know the question's language; `gap` is then a sentence for the person, or empty."""

    def like(self, store: Store, query: str, deadline: float | None) -> Likeness | None: ...

    @property
    def gap(self) -> str: ...
