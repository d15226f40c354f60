"""Large imports: without the garbage collector, and without what a library loads for a command line of its own."""

from __future__ import annotations

import contextlib
import gc
import sys
from collections.abc import Iterator


@contextlib.contextmanager
def without_collector() -> Iterator[None]:
    """Pauses the cycle collector, a fifth of a large import's time, and freezes what was made."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


@contextlib.contextmanager
def without_package(name: str) -> Iterator[None]:
    """Lets imports inside the block not find a package that nobody has imported yet, as if it was not installed."""
    if name in sys.modules:
        yield
        return
    sys.modules[name] = None  # type: ignore[assignment] # "import of … halted", as the language reference says
    try:
        yield
    finally:
        del sys.modules[name]
