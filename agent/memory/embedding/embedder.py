"""An encoder kept to deadlines: a question is embedded in time or not at all.

The encoder is made with the first use (a model's weights are read from disk), works in threads of its own, and is left
alone for a while after it failed, so that a dead server costs one deadline and not one with every message.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotInTime

from agent.memory.embedding.encoder import Encoder, NoEmbedding, Vector

_log = logging.getLogger(__name__)

REST = 30.0
"""Seconds for which an encoder that failed is not asked again."""
_QUESTION_SECONDS = 5.0
_PASSAGES_SECONDS = 15.0
"""For one batch. The end of the process waits for it."""
_KEPT = 256
"""Questions whose vectors are kept."""
_MOST_PENDING = 4
_MOST_CHARS = 2_000
"""Of a question."""


class Embedder:
    """`make` gives the encoder; it blocks and may raise `NoEmbedding`, and is then called again later. Any thread may
    call."""

    def __init__(self, make: Callable[[], Encoder], clock: Callable[[], float] = time.monotonic) -> None:
        self._make = make
        self._clock = clock
        self._making = threading.Lock()
        self._encoder: Encoder | None = None
        self._threads = ThreadPoolExecutor(2, "embedder")
        self._asking = threading.Lock()
        self._known: OrderedDict[str, Vector | None] = OrderedDict()
        self._pending: dict[str, Future[Vector | None]] = {}
        self._rests_until = 0.0
        self._problem = ""

    def encoder(self) -> Encoder:
        """Made now if need be. Raises `NoEmbedding`."""
        with self._making:
            if self._encoder is None:
                self._encoder = self._make()
            return self._encoder

    def question(self, text: str, deadline: float) -> Vector | None:
        """The vector of a question by `deadline` (of `time.monotonic`); None where the model does not know its
        language. Raises `NoEmbedding`, also where there was no time; what comes later is kept for the next time."""
        text = text[:_MOST_CHARS]
        with self._asking:
            if text in self._known:
                self._known.move_to_end(text)
                return self._known[text]
            work = self._pending.get(text)
            if work is None:
                self._refuse_at_rest()
                if len(self._pending) >= _MOST_PENDING:
                    raise NoEmbedding("the embedder is still busy with earlier questions")
                work = self._pending[text] = self._threads.submit(self._answered, text)
        try:
            return work.result(max(0.0, deadline - time.monotonic()))
        except NotInTime:
            raise NoEmbedding("the embedder did not answer in time") from None

    def passages(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Vectors of texts, in this thread. Raises `NoEmbedding`."""
        self._refuse_at_rest()
        return self._encoded(texts, _PASSAGES_SECONDS)

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        if self._encoder is not None:
            self._encoder.close()

    def _answered(self, text: str) -> Vector | None:
        try:
            vector = self._encoded([text], _QUESTION_SECONDS)[0] if self._ready().knows(text) else None
            with self._asking:
                self._known[text] = vector
                while len(self._known) > _KEPT:
                    self._known.popitem(last=False)
        finally:
            with self._asking:
                self._pending.pop(text, None)
        return vector

    def _encoded(self, texts: Sequence[str], seconds: float) -> Sequence[Vector]:
        encoder = self._ready()
        try:
            return encoder.encode(texts, seconds)
        except NoEmbedding as problem:
            self._rest(problem)
            raise
        except Exception as bug:  # whatever a library says of a model that is not as it should be
            _log.exception("the embedder broke")
            broken = NoEmbedding(f"the embedder broke ({type(bug).__name__})")
            self._rest(broken)
            raise broken from bug

    def _ready(self) -> Encoder:
        try:
            return self.encoder()
        except NoEmbedding as problem:
            self._rest(problem)
            raise

    def _rest(self, problem: NoEmbedding) -> None:
        if str(problem) != self._problem:
            _log.warning("memory is searched by words alone: %s", problem)
        self._problem = str(problem)
        self._rests_until = self._clock() + REST

    def _refuse_at_rest(self) -> None:
        if self._clock() < self._rests_until:
            raise NoEmbedding(self._problem)
