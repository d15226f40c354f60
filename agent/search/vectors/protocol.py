"""The interface between rankings and the optional semantic index."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from agent.languages.sentences import Sentence
from agent.search.results import Limits
from agent.search.store import IndexStore
from agent.search.vectors.encoder import Vector

if TYPE_CHECKING:
    from agent.search.scope_index import ScopeIndex


CHANGED_SIZE = Sentence("the embedder changed its size")
"""New vectors cannot be compared with stored ones."""


class Similarity(Protocol):
    """Cosines between a question and embedded texts."""

    def nearest_passages(self, most: int) -> Sequence[int]: ...

    def nearest_windows(self, most: int) -> Mapping[tuple[int, int], float]: ...

    def windows(self, wanted: Collection[tuple[int, int]]) -> Mapping[tuple[int, int], float]: ...

    def alike(self, passages: Collection[int]) -> Collection[int]:
        """Passages that are more similar than the average, and not only by context."""
        ...

    def shares(self, passages: Collection[int]) -> Mapping[int, float]:
        """For embedded passages, the cosine plus that of the best window, each stretched over all: 0 to 2."""
        ...


@dataclass(frozen=True, slots=True)
class EmbeddedQuestion:
    """A question's vector; None: unsupported language, or failure (`gap`, the reason)."""

    vector: Vector | None = None
    model: str = ""
    gap: str = ""


class SemanticIndex(Protocol):
    """Adds embeddings to an index. Blocks; any thread may call."""

    @property
    def model(self) -> str: ...

    @property
    def problem(self) -> str:
        """The last failure, or ""."""
        ...

    def load(self) -> str:
        """Load the model if needed; returns its id."""
        ...

    def retry(self) -> None: ...

    def question(self, text: str, deadline: float) -> EmbeddedQuestion:
        """Returns by `deadline` (of `time.monotonic`)."""
        ...

    def like(
        self, name: str, store: IndexStore, question: EmbeddedQuestion, limits: Limits
    ) -> tuple[Similarity | None, str]:
        """Similarity of a scope's texts; None and the reason if unavailable."""
        ...

    def follow(self, name: str, store: IndexStore) -> None:
        """Read new vectors."""
        ...

    def embed(self, index: ScopeIndex, end: float, done: Callable[[int], None] | None = None) -> bool:
        """Embed texts until `end` (of `time.monotonic`); true if more may be left. Raises `NoEmbedding`,
        `StorageUnavailable`."""
        ...


class NoSemanticIndex:
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
