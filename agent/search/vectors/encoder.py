"""What makes vectors, whatever it is.

An encoder kept to deadlines: a question is embedded in time or not at all.

The encoder is made with the first use (a model is read from disk) and made anew when that was exchanged. It works in
threads of its own, and is left alone for a while after it failed, so that a dead server costs one deadline and not one
with every message.
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

Vector = Sequence[float]


class NoEmbedding(Exception):
    """It could not be done now, or not with this model. The text is a sentence without its stop, for the person, and
    holds neither keys nor what was to be embedded."""


class Encoder(Protocol):
    """Blocks; one thread or several. `id` names the model: vectors of different ids cannot be compared. `batch`: as
    many texts as are well given at once."""

    id: str
    batch: int

    def encode(self, texts: Sequence[str], seconds: float, *, is_question: bool = False) -> Sequence[Vector]:
        """A vector of length 1 for each text, all of one size. `seconds`: how long a server may take; `is_question`:
        the texts are searched with, and not for. Raises `NoEmbedding`."""
        ...

    def knows(self, text: str) -> bool:
        """Whether the model was made for the language of a text."""
        ...

    def close(self) -> None: ...


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
    """`make` gives the encoder; it blocks and may raise `NoEmbedding`, and is then called again later. `stamp` is
    quick, and differs once there is another model than before. Any thread may call."""

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
        self._asking = threading.Lock()
        self._known: OrderedDict[str, Vector | None] = OrderedDict()
        self._pending: dict[str, Future[Vector | None]] = {}
        self._rests_until = 0.0
        self._problem = ""
        self._is_failing = False

    @property
    def model(self) -> str:
        """The id of the encoder that was made last, which is not looked after here; empty before there is one."""
        encoder = self._encoder
        return encoder.id if encoder is not None else ""

    @property
    def problem(self) -> str:
        """Why it failed the last time, a sentence without its stop; empty where it works or was not tried."""
        return self._problem if self._is_failing else ""

    def retry(self) -> None:
        """Do not wait any longer after a failure."""
        self._rests_until, self._is_failing = 0.0, False

    def encoder(self) -> Encoder:
        """Made now if need be. Raises `NoEmbedding`."""
        with self._making:
            stamp = self._stamp()
            if self._encoder is not None and stamp == self._made_of:
                return self._encoder
            self._refuse_at_rest()
            with self._resting_after_failure():
                return self._renewed(stamp)

    def _renewed(self, stamp: object) -> Encoder:
        before, self._encoder = self._encoder, None
        with self._asking:
            self._known.clear()
        made = self._make()
        if self._stamp() != stamp:
            raise NoEmbedding("the model was exchanged while it was read")
        if before is not None and before.id != made.id:
            _log.warning("there is another model: all is embedded anew, and searched by words until then")
        self._encoder, self._made_of = made, stamp
        return made

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

    def passages(self, encoder: Encoder, texts: Sequence[str]) -> Sequence[Vector]:
        """Vectors of texts, in this thread, by an encoder of `encoder`. Raises `NoEmbedding`."""
        self._refuse_at_rest()
        return self._encoded(encoder, texts, _PASSAGES_SECONDS)

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        if self._encoder is not None:
            self._encoder.close()

    def _answered(self, text: str) -> Vector | None:
        try:
            encoder = self.encoder()
            with self._resting_after_failure():
                knows = encoder.knows(text)
            vector = self._encoded(encoder, [text], _QUESTION_SECONDS, is_question=True)[0] if knows else None
            with self._asking:
                if encoder is self._encoder:
                    self._known[text] = vector
                while len(self._known) > _KEPT:
                    self._known.popitem(last=False)
        finally:
            with self._asking:
                self._pending.pop(text, None)
        return vector

    def _encoded(
        self, encoder: Encoder, texts: Sequence[str], seconds: float, *, is_question: bool = False
    ) -> Sequence[Vector]:
        with self._resting_after_failure():
            vectors = encoder.encode(texts, seconds, is_question=is_question)
            _check(vectors, len(texts))
            self._is_failing = False
            return vectors

    @contextmanager
    def _resting_after_failure(self) -> Iterator[None]:
        try:
            yield
        except NoEmbedding as problem:
            self._rest(problem)
            raise
        except Exception as bug:  # whatever a library says of a model that is not as it should be
            _log.exception("the embedder broke")
            broken = NoEmbedding(f"the embedder broke ({type(bug).__name__})")
            self._rest(broken)
            raise broken from bug

    def _rest(self, problem: NoEmbedding) -> None:
        if str(problem) != self._problem:
            _log.warning("memory is searched by words alone: %s", problem)
        self._problem, self._is_failing = str(problem), True
        self._rests_until = self._clock() + REST

    def _refuse_at_rest(self) -> None:
        if self._clock() < self._rests_until:
            raise NoEmbedding(self._problem)


def _check(vectors: Sequence[Vector], count: int) -> None:
    """Raises `NoEmbedding` where those are not vectors that can be compared."""
    if len(vectors) != count or len({len(vector) for vector in vectors}) > 1:
        raise NoEmbedding("the embedder answers with vectors of several sizes, or too few")
    if not all(math.isfinite(sum(vector)) for vector in vectors):
        raise NoEmbedding("the embedder answers with something that is no number")
