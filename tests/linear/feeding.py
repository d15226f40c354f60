"""Feeds one part of the product's patterns or functions in a process of its own: `python -m tests.linear.feeding KIND
PART PARTS CPU_SECONDS`. What cannot even be interrupted is ended by the system; the last line then says what it was.

Written are JSON objects, a line each: `{"now": …}` before something is fed, `{"found": …}` for what is not linear.
"""

from __future__ import annotations

import json
import resource
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial

from tests.linear import functions, patterns, shapes
from tests.linear.judge import Act, Shape, grows_faster

_MOST_OF_PATTERN, _ENOUGH_OF_PATTERN = 8_000, 0.002
_MOST, _ENOUGH = 100_000, 0.004
_ENOUGH_IN_DEPTH = 0.06
_MOST_VERDICTS = 2
"""Of one pattern or function: more of them say nothing more."""


def main(arguments: list[str]) -> None:
    kind, part, parts, seconds = arguments
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds)))
    for name, verdicts in list(_KINDS[kind]())[int(part) :: int(parts)]:
        for told, _ in zip(verdicts(partial(_now, name)), range(_MOST_VERDICTS), strict=False):
            print(json.dumps({"found": f"{name}: {told}"}), flush=True)


Verdicts = Callable[[Callable[[str], None]], Iterator[str]]


def _now(name: str, shape: str) -> None:
    print(json.dumps({"now": f"{name}: {shape}"}), flush=True)


def _patterns() -> Iterator[tuple[str, Verdicts]]:
    for found in patterns.everything():
        yield found.where, partial(of_pattern, found)


def of_pattern(found: patterns.Found, now: Callable[[str], None]) -> Iterator[str]:
    for method in sorted(found.methods):
        act = _used(found.pattern, method)
        for shape in shapes.of(found.pattern):
            now(f"{method}, {shape}")
            if verdict := grows_faster(act, shape, _MOST_OF_PATTERN, _ENOUGH_OF_PATTERN):
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
        yield name, partial(of_function, act)


def of_function(act: Act, now: Callable[[str], None]) -> Iterator[str]:
    def quietly(text: str) -> None:
        with suppress(ValueError):  # what a function refuses is not its answer's business
            act(text)

    def told(shape: Shape, enough: float) -> str:
        now(str(shape))
        verdict = grows_faster(quietly, shape, _MOST, enough)
        return f"{shape}: {verdict}" if verdict else ""

    yield from filter(None, (told(shape, _ENOUGH) for shape in shapes.general()))
    yield from filter(None, (told(shape, _ENOUGH_IN_DEPTH) for shape in shapes.deep()))


def _endless() -> Iterator[tuple[str, Verdicts]]:
    """Holds the interpreter as nothing that can be interrupted does, for the test of that."""
    yield "endless", partial(of_function, lambda text: 7 ** (7 ** (8 + len(text) // 10)))


_KINDS: dict[str, Callable[[], Iterator[tuple[str, Verdicts]]]] = {
    "patterns": _patterns,
    "functions": _functions,
    "endless": _endless,
}

if __name__ == "__main__":
    main(sys.argv[1:])
