"""Imports of large libraries: without the garbage collector, and without packages that only their command lines
need."""

from __future__ import annotations

import contextlib
import gc
import sys
from collections.abc import Iterator


@contextlib.contextmanager
def without_collector() -> Iterator[None]:
    """Pauses the cycle collector, a fifth of a large import's time, and freezes the imported objects."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


@contextlib.contextmanager
def without_package(name: str) -> Iterator[None]:
    """Hides a package that is not imported yet from imports inside the block, as if it was not installed."""
    if name in sys.modules:
        yield
        return
    sys.modules[name] = None  # type: ignore[assignment] # "import of … halted", as the language reference says
    try:
        yield
    finally:
        del sys.modules[name]
