"""The semantic index. Needs numpy."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from agent.languages.sentences import Sentence
from agent.search.results import Limits
from agent.search.scope_index import ScopeIndex
from agent.search.store import IndexStore
from agent.search.vectors.encoder import Embedder, NoEmbedding
from agent.search.vectors.protocol import EmbeddedQuestion, Similarity
from agent.search.vectors.similarity import Vectors, packed

_AT_ONCE = 256
"""Texts fetched at once; the index is free while they are embedded."""

_MOST_HELD = 64
"""Scopes whose vectors stay in RAM."""


class EmbeddingIndex:
    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._opening = threading.Lock()
        self._vectors: dict[str, Vectors] = {}

    @property
    def model(self) -> str:
        return self._embedder.model

    @property
    def problem(self) -> str:
        return self._embedder.problem

    def load(self) -> str:
        try:
            return self._embedder.encoder().id
        except NoEmbedding:
            return ""

    def retry(self) -> None:
        self._embedder.retry()

    def question(self, text: str, deadline: float) -> EmbeddedQuestion:
        try:
            vector, model = self._embedder.question(text, deadline), self.model
        except NoEmbedding as problem:
            return EmbeddedQuestion(gap=str(problem))
        if not model:
            return EmbeddedQuestion(gap=Sentence("the model is being exchanged"))
        return EmbeddedQuestion(vector, model)

    def like(
        self, name: str, store: IndexStore, question: EmbeddedQuestion, limits: Limits
    ) -> tuple[Similarity | None, str]:
        if question.vector is None:
            return None, question.gap
        return self._vectors_of(name).likeness(store, question.model, question.vector, limits)

    def follow(self, name: str, store: IndexStore) -> None:
        if model := self.model:
            self._vectors_of(name).follow(store, model)

    def embed(self, index: ScopeIndex, end: float, done: Callable[[int], None] | None = None) -> bool:
        if time.monotonic() > end:
            return True
        encoder = self._embedder.encoder()
        missing = index.unembedded(encoder.id, _AT_ONCE)
        for start in range(0, len(missing), encoder.batch):
            part = missing[start : start + encoder.batch]
            made = self._embedder.passages(encoder, [row.text for row in part])
            index.put_vectors(encoder.id, [(row.key, packed(vector)) for row, vector in zip(part, made, strict=True)])
            if done is not None:
                done(len(part))
            if time.monotonic() > end:
                break
        return bool(missing)

    def _vectors_of(self, name: str) -> Vectors:
        with self._opening:
            vectors = self._vectors[name] = self._vectors.pop(name, Vectors())
            if len(self._vectors) > _MOST_HELD:
                del self._vectors[next(iter(self._vectors))]
            return vectors
