"""Imports of much at once, without the cycle collector."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def kept_from_the_collector() -> Iterator[None]:
    """Imported objects live as long as the process. The collector would scan them some three hundred times during the
    import (a fifth of the model SDK's import, an eighth of the gateway's), and take a tenth of a second each time
    later."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
