"""The interface of encoders, and an embedder that meets deadlines.

The encoder is made on first use and after a model change. It rests after a failure, so that a dead server costs one
deadline, not one per message.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotInTime
from contextlib import contextmanager
from typing import Protocol

from agent.languages.sentences import Sentence

Vector = Sequence[float]


class NoEmbedding(Exception):
    """Embedding failed. The text is for people, without final stop, keys or embedded text."""


class Encoder(Protocol):
    """Makes vectors. Blocks; thread-safe. Vectors of different `id`s cannot be compared. `batch`: texts per call."""

    id: str
    batch: int

    def encode(self, texts: Sequence[str], seconds: float, *, is_question: bool = False) -> Sequence[Vector]:
        """Unit vectors of one size. `seconds`: a server's limit. Raises `NoEmbedding`."""
        ...

    def knows(self, text: str) -> bool:
        """True if the model supports the text's language."""
        ...

    def close(self) -> None: ...


_log = logging.getLogger(__name__)

REST = 30.0
"""Seconds without calls after a failure."""
_QUESTION_SECONDS = 5.0
_PASSAGES_SECONDS = 15.0
"""Per batch. Shutdown waits for it."""
_KEPT = 256
"""Cached questions."""
_MOST_PENDING = 4
_MOST_CHARS = 2_000
"""Characters of a question."""


class Embedder:
    """Embeds by deadlines. `make` returns the encoder; it blocks and may raise `NoEmbedding`. `stamp` is fast and
    changes with the model. Any thread may call."""

    def __init__(
        self,
        make: Callable[[], Encoder],
        clock: Callable[[], float] = time.monotonic,
        stamp: Callable[[], object] = lambda: None,
    ) -> None:
        self._make = make
        self._clock = clock
        self._stamp = stamp
        self._making = threading.Lock()
        self._encoder: Encoder | None = None
        self._made_of: object = None
        self._threads = ThreadPoolExecutor(2, "embedder")
        self._lock = threading.Lock()
        self._known: OrderedDict[str, Vector | None] = OrderedDict()
        self._pending: dict[str, Future[Vector | None]] = {}
        self._rests_until = 0.0
        self._problem = ""
        self._is_failing = False

    @property
    def model(self) -> str:
        """The last encoder's id, or ""."""
        encoder = self._encoder
        return encoder.id if encoder is not None else ""

    @property
    def problem(self) -> str:
        return self._problem if self._is_failing else ""

    def retry(self) -> None:
        """End the rest after a failure."""
        self._rests_until, self._is_failing = 0.0, False

    def encoder(self) -> Encoder:
        """The encoder, made if needed. Raises `NoEmbedding`."""
        with self._making:
            stamp = self._stamp()
            if self._encoder is not None and stamp == self._made_of:
                return self._encoder
            self._check_rest()
            with self._resting_after_failure():
                return self._renew(stamp)

    def _renew(self, stamp: object) -> Encoder:
        before, self._encoder = self._encoder, None
        with self._lock:
            self._known.clear()
        made = self._make()
        if self._stamp() != stamp:
            raise NoEmbedding(Sentence("the model is being exchanged"))
        if before is not None and before.id != made.id:
            _log.warning("the embedding model changed: embedding everything again, searching by words until then")
        self._encoder, self._made_of = made, stamp
        return made

    def question(self, text: str, deadline: float) -> Vector | None:
        """A question's vector by `deadline` (of `time.monotonic`); None: unsupported language. Raises `NoEmbedding`,
        also on timeout; a late result is cached."""
        text = text[:_MOST_CHARS]
        with self._lock:
            if text in self._known:
                self._known.move_to_end(text)
                return self._known[text]
            work = self._pending.get(text)
            if work is None:
                self._check_rest()
                if len(self._pending) >= _MOST_PENDING:
                    raise NoEmbedding(Sentence("the embedder is still busy with earlier questions"))
                work = self._pending[text] = self._threads.submit(self._embed_question, text)
        try:
            return work.result(max(0.0, deadline - time.monotonic()))
        except NotInTime:
            raise NoEmbedding(Sentence("the embedder did not answer in time")) from None

    def passages(self, encoder: Encoder, texts: Sequence[str]) -> Sequence[Vector]:
        """Vectors of texts, in this thread. Raises `NoEmbedding`."""
        self._check_rest()
        return self._encode(encoder, texts, _PASSAGES_SECONDS)

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        if self._encoder is not None:
            self._encoder.close()

    def _embed_question(self, text: str) -> Vector | None:
        try:
            encoder = self.encoder()
            with self._resting_after_failure():
                knows = encoder.knows(text)
            vector = self._encode(encoder, [text], _QUESTION_SECONDS, is_question=True)[0] if knows else None
            with self._lock:
                if encoder is self._encoder:
                    self._known[text] = vector
                while len(self._known) > _KEPT:
                    self._known.popitem(last=False)
        finally:
            with self._lock:
                self._pending.pop(text, None)
        return vector

    def _encode(
        self, encoder: Encoder, texts: Sequence[str], seconds: float, *, is_question: bool = False
    ) -> Sequence[Vector]:
        with self._resting_after_failure():
            vectors = encoder.encode(texts, seconds, is_question=is_question)
            _check_vectors(vectors, len(texts))
            self._is_failing = False
            return vectors

    @contextmanager
    def _resting_after_failure(self) -> Iterator[None]:
        try:
            yield
        except NoEmbedding as problem:
            self._rest(problem)
            raise
        except Exception as bug:  # libraries raise anything for a bad model
            _log.exception("the embedder failed unexpectedly")
            broken = NoEmbedding(
                Sentence("search by meaning failed ({why}; the log has the details)", why=type(bug).__name__)
            )
            self._rest(broken)
            raise broken from bug

    def _rest(self, problem: NoEmbedding) -> None:
        if str(problem) != self._problem:
            _log.warning("memory is searched by words only: %s", problem)
        self._problem, self._is_failing = str(problem), True
        self._rests_until = self._clock() + REST

    def _check_rest(self) -> None:
        if self._clock() < self._rests_until:
            raise NoEmbedding(self._problem)


def _check_vectors(vectors: Sequence[Vector], count: int) -> None:
    """Raises `NoEmbedding` for invalid vectors."""
    if len(vectors) != count or len({len(vector) for vector in vectors}) > 1:
        raise NoEmbedding(Sentence("the embedder answers with vectors of several sizes, or too few"))
    if not all(math.isfinite(sum(vector)) for vector in vectors):
        raise NoEmbedding(Sentence("the embedder answers with something that is no number"))
