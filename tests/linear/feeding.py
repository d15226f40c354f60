"""Feeds the product's patterns or functions in a process of its own: `python -m tests.linear.feeding KIND CPU_SECONDS`.
What cannot even be interrupted is ended by the system; the last line then says what it was.

Written are JSON objects, a line each: `{"now": …}` before something is fed, `{"found": …}` for what is not linear.
"""

from __future__ import annotations

import itertools
import json
import math
import resource
import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial

from tests.linear import fed, functions, patterns, shapes
from tests.linear.judge import Act, Shape, grows_faster, takes_long

_PATTERN = (2_000, 0.001)
_WIDE = (8_000, 0.001)
_DEEP = (128_000, 0.01)
"""How many characters are fed at most, and how many seconds of one run are enough. Where time grew faster, more."""
_MOST_VERDICTS = 2
"""Of one pattern or function: more of them say nothing more."""


def main(arguments: list[str]) -> None:
    kind, seconds = arguments
    used = resource.getrusage(resource.RUSAGE_SELF)
    limit = math.ceil(used.ru_utime + used.ru_stime) + int(seconds)  # what the imports took is no text's fault
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
    for name, verdicts in _KINDS[kind]():
        for told, _ in zip(verdicts(partial(_now, name)), range(_MOST_VERDICTS), strict=False):
            print(json.dumps({"found": f"{name}: {told}"}), flush=True)


Verdicts = Callable[[Callable[[str], None]], Iterator[str]]


def _now(name: str, shape: str) -> None:
    print(json.dumps({"now": f"{name}: {shape}"}), flush=True)


def _patterns() -> Iterator[tuple[str, Verdicts]]:
    for found in patterns.everything():
        yield found.where, partial(of_pattern, found)


def _changed() -> Iterator[tuple[str, Verdicts]]:
    known = fed.known()
    for found in patterns.everything():
        if fed.mark_of(found) not in known:
            yield found.where, partial(of_pattern, found)
    for name, verdicts in _functions():
        if fed.mark_of_function(name) not in known:
            yield name, verdicts


def of_pattern(found: patterns.Found, now: Callable[[str], None]) -> Iterator[str]:
    bound = next((most for holder, most in patterns.BOUNDED.items() if found.where.startswith(holder)), None)
    for method in sorted(found.methods):
        act = _used(found.pattern, method)
        for shape in shapes.of(found.pattern):
            now(f"{method}, {shape}")
            verdict = grows_faster(act, shape, *_PATTERN) if bound is None else takes_long(act, shape.of(bound)[:bound])
            if verdict:
                yield f"{method}, {shape}: {verdict}"


def _used(pattern: patterns.Pattern, method: str) -> Act:
    if method == "finditer":

        def use(text: str | bytes) -> None:
            for _ in pattern.finditer(text):  # type: ignore[arg-type]
                pass
    else:
        use = getattr(pattern, method)
    return (lambda text: use(text.encode())) if isinstance(pattern.pattern, bytes) else use


def _functions() -> Iterator[tuple[str, Verdicts]]:
    for name, act in functions.FUNCTIONS.items():
        with suppress(Exception):  # tables of words that are read once are no text's fault
            act("a few words")
        yield name, partial(of_function, act)


def of_function(act: Act, now: Callable[[str], None]) -> Iterator[str]:
    def quietly(text: str) -> None:
        with suppress(Exception):  # what a function refuses is not its answer's business
            act(text)

    def told(shape: Shape, bounds: tuple[int, float]) -> str:
        now(str(shape))
        verdict = grows_faster(quietly, shape, *bounds)
        return f"{shape}: {verdict}" if verdict else ""

    yield from filter(None, (told(shape, _WIDE) for shape in shapes.general()))
    yield from filter(None, (told(shape, _DEEP) for shape in shapes.deep()))


def _endless() -> Iterator[tuple[str, Verdicts]]:
    """Holds the interpreter as nothing that can be interrupted does, for the test of that."""
    yield "endless", partial(of_function, lambda text: deque(itertools.repeat(text), maxlen=0))


_KINDS: dict[str, Callable[[], Iterator[tuple[str, Verdicts]]]] = {
    "patterns": _patterns,
    "changed": _changed,
    "functions": _functions,
    "endless": _endless,
}

if __name__ == "__main__":
    main(sys.argv[1:])
