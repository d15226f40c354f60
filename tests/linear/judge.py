"""Whether the time that something takes with a text grows with the text's length, and no faster.

Judged by ratios of processor time within one run, so a slow or busy machine changes nothing. What is judged is fed
little first: something exponential is found with a few dozen characters.
"""

from __future__ import annotations

import gc
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

Act = Callable[[str], object]

_FLOOR = 0.0003
"""Seconds of processor time below which nothing is judged: there a clock tells noise."""
_MOST_SECONDS = 1.0
"""Processor time after which a run is cut, but not before it has taken `_TOO_MUCH` times what a quarter of its text
took: what is cut has grown faster than its text on any machine."""
_ENOUGH_OF_ONE = 2.5
"""Times `_counting`, for one of many patterns that see the same short text."""
_LITTLE = 0.005
"""Processor time that is never too much for one of them."""
_FIRST = 2_000
_STEP = 4
_TOO_MUCH = 9.0
"""Times as long with four times the text: linear is 4, quadratic 16."""
_TRIES = 5


@dataclass(frozen=True, slots=True)
class Shape:
    """A text of any length: `before`, then `unit` over and over, then `after`."""

    before: str
    unit: str
    after: str

    def of(self, size: int) -> str:
        return self.before + self.unit * (size // len(self.unit) + 1) + self.after

    def __str__(self) -> str:
        return f"{self.before!r} + {self.unit!r} * n + {self.after!r}"


class _Cut(BaseException):
    """A run took too long. Not an `Exception`, which what is judged might swallow."""


def grows_faster(act: Act, shape: Shape, most: int, enough: float) -> str:
    """How the time grew where that was faster than the text, twice in a row; else empty. Fed up to `most` characters,
    no more once a run takes `enough` seconds of processor time."""
    if _seconds(act, shape.of(24)) is None:
        return f"24 characters take more than {_MOST_SECONDS:g} s"
    size, grew, less = _FIRST, "", _seconds(act, shape.of(_FIRST // _STEP))
    while True:
        took, before = _seconds(act, shape.of(size), less), grew
        is_fine = took is not None and less is not None and took <= max(less * _TOO_MUCH, _FLOOR)
        grew = "" if is_fine else _growth(act, shape, size)
        if grew and (before or took is None):
            return grew
        if not grew and (took is None or took > enough or size * _STEP > most):
            return ""
        size, less = size * _STEP, took


def takes_long(act: Act, text: str) -> str:
    """Whether a text as long as it may ever be takes more than `_ENOUGH_OF_ONE` says, several times in a row; else
    empty."""
    for _ in range(_TRIES):
        took = _seconds(act, text)
        if took is not None and (took <= _LITTLE or took <= _ENOUGH_OF_ONE * _counting()):
            return ""
    return f"{len(text):,} characters take more than {_ENOUGH_OF_ONE:g} times what counting does"


def _counting() -> float:
    """Processor time in which this interpreter counts to a hundred thousand: some hundredth of a second."""
    start = time.thread_time()
    for number in range(100_000):
        number * number % 7
    return time.thread_time() - start


def _growth(act: Act, shape: Shape, size: int) -> str:
    """Measured again and again: a linear thing passes as soon as one look finds it so."""
    for _ in range(_TRIES):
        less = _seconds(act, shape.of(size // _STEP))
        if less is None:
            return f"{size // _STEP:,} characters take more than {_MOST_SECONDS:g} s"
        more = _seconds(act, shape.of(size), less)
        if more is None:  # no noise takes a second
            return f"{size // _STEP:,} characters take {less:.4f} s, {size:,} are cut"
        if more <= max(less * _TOO_MUCH, _FLOOR):
            return ""
    return f"{size // _STEP:,} characters take {less:.4f} s, {size:,} take {more:.4f} s"


def _seconds(act: Act, text: str, quarter: float | None = None) -> float | None:
    """Processor time of this thread; None where the run had to be cut. `quarter`: what a quarter of the text took."""
    gc.disable()  # its rounds come with the number of objects, and would be taken for the text's
    try:
        with _cut_after(max(_MOST_SECONDS, 1.1 * _TOO_MUCH * (quarter or 0.0))):
            start = time.thread_time()
            act(text)
            return time.thread_time() - start
    except _Cut:
        return None
    finally:
        gc.enable()


@contextmanager
def _cut_after(seconds: float) -> Iterator[None]:
    def cut(*_: object) -> None:
        raise _Cut

    before = signal.signal(signal.SIGVTALRM, cut)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
