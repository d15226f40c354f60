"""The seam between rankings and what knows which texts mean alike. Every ranking does without."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from agent.search.results import Limits
from agent.search.store import IndexStore
from agent.search.vectors.encoder import Vector

if TYPE_CHECKING:
    from agent.search.scope_index import ScopeIndex


CHANGED_SIZE = "the embedder changed its size"
"""Its vectors cannot be compared with those that are kept."""


class Similarity(Protocol):
    """How like a question what is embedded is, within the limits of a search. Cosines; windows by their first and last
    passage."""

    def nearest_passages(self, most: int) -> Sequence[int]: ...

    def nearest_windows(self, most: int) -> Mapping[tuple[int, int], float]: ...

    def windows(self, wanted: Collection[tuple[int, int]]) -> Mapping[tuple[int, int], float]:
        """Of those that are embedded."""
        ...

    def alike(self, passages: Collection[int]) -> Collection[int]:
        """Those that are like it themselves, not only as much as any other is, or by what stands around them."""
        ...

    def shares(self, passages: Collection[int]) -> Mapping[int, float]:
        """Of those that are embedded, a passage's cosine and the best of a window that holds it, each stretched from
        the least to the greatest of all and then made steeper: together 0 to 2."""
        ...


@dataclass(frozen=True, slots=True)
class EmbeddedQuestion:
    """`vector` None: the model does not know the language, or it could not be embedded (`gap`, the reason). `model` is
    the id of what made it."""

    vector: Vector | None = None
    model: str = ""
    gap: str = ""


class SemanticIndex(Protocol):
    """What an embedder adds to an index. Blocks; any thread may call."""

    @property
    def model(self) -> str:
        """The id of the model whose vectors are meant, empty where none is loaded."""
        ...

    @property
    def problem(self) -> str:
        """Why it did not work the last time, empty where it did. Asks nobody."""
        ...

    def load(self) -> str:
        """As `model`, which is loaded now if need be."""
        ...

    def retry(self) -> None:
        """Do not wait any longer after a failure."""
        ...

    def question(self, text: str, deadline: float) -> EmbeddedQuestion:
        """Ends by `deadline` (of `time.monotonic`)."""
        ...

    def like(
        self, name: str, store: IndexStore, question: EmbeddedQuestion, limits: Limits
    ) -> tuple[Similarity | None, str]:
        """How like a question the texts of the audience `name` are; None, and why, where that cannot be told."""
        ...

    def follow(self, name: str, store: IndexStore) -> None:
        """Read what `like` compares with, as far as it is new."""
        ...

    def embed(self, index: ScopeIndex, end: float, done: Callable[[int], None] | None = None) -> bool:
        """Embed what is not yet, the newest first, until `end` (of `time.monotonic`); whether there may be more. `done`
        is told how many texts were. Raises `NoEmbedding` and `NotStored`."""
        ...


class NoSemanticIndex:
    """As `SemanticIndex`, where an embedder was asked for that cannot be had."""

    model = ""

    def __init__(self, why: str) -> None:
        self.problem = why

    def load(self) -> str:
        return ""

    def retry(self) -> None:
        pass

    def question(self, text: str, deadline: float) -> EmbeddedQuestion:
        return EmbeddedQuestion(gap=self.problem)

    def like(
        self, name: str, store: IndexStore, question: EmbeddedQuestion, limits: Limits
    ) -> tuple[Similarity | None, str]:
        return None, question.gap

    def follow(self, name: str, store: IndexStore) -> None:
        pass

    def embed(self, index: ScopeIndex, end: float, done: Callable[[int], None] | None = None) -> bool:
        return False
