"""The interface between rankings and the semantic index, which is optional."""

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
"""New vectors cannot be compared with stored ones."""


class Similarity(Protocol):
    """Cosines between a question and embedded texts within a search's limits. Windows by first and last passage."""

    def nearest_passages(self, most: int) -> Sequence[int]: ...

    def nearest_windows(self, most: int) -> Mapping[tuple[int, int], float]: ...

    def windows(self, wanted: Collection[tuple[int, int]]) -> Mapping[tuple[int, int], float]:
        """Only embedded ones."""
        ...

    def alike(self, passages: Collection[int]) -> Collection[int]:
        """Passages that are similar in themselves, more than the average one and not only by context."""
        ...

    def shares(self, passages: Collection[int]) -> Mapping[int, float]:
        """For embedded passages, the cosine plus that of the best window, each stretched over all: 0 to 2."""
        ...


@dataclass(frozen=True, slots=True)
class EmbeddedQuestion:
    """`vector` None: unsupported language, or failure (`gap`, the reason). `model`: the encoder's id."""

    vector: Vector | None = None
    model: str = ""
    gap: str = ""


class SemanticIndex(Protocol):
    """Adds embeddings to an index. Blocks; any thread may call."""

    @property
    def model(self) -> str:
        """The loaded model's id, or ""."""
        ...

    @property
    def problem(self) -> str:
        """The last failure, or "". Makes no call."""
        ...

    def load(self) -> str:
        """Load the model if needed, and return its id."""
        ...

    def retry(self) -> None:
        """End the rest after a failure."""
        ...

    def question(self, text: str, deadline: float) -> EmbeddedQuestion:
        """Returns by `deadline` (of `time.monotonic`)."""
        ...

    def like(
        self, name: str, store: IndexStore, question: EmbeddedQuestion, limits: Limits
    ) -> tuple[Similarity | None, str]:
        """Similarity of the texts of scope `name`; None and the reason if unavailable."""
        ...

    def follow(self, name: str, store: IndexStore) -> None:
        """Read new vectors for `like`."""
        ...

    def embed(self, index: ScopeIndex, end: float, done: Callable[[int], None] | None = None) -> bool:
        """Embed texts, newest first, until `end` (of `time.monotonic`); true if more may be left. `done` receives
        counts. Raises `NoEmbedding`, `NotStored`."""
        ...


class NoSemanticIndex:
    """Stands in for a configured embedder that is unavailable."""

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
