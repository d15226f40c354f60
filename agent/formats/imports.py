"""Large imports without the garbage collector."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def kept_from_the_collector() -> Iterator[None]:
    """Pause the cycle collector during an import, and freeze what it made. The collector would otherwise run about 300
    times (a fifth of the model SDK's import time) and later rescan objects that live as long as the process."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
