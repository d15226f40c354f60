"""Imports of much at once."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def kept_from_the_collector() -> Iterator[None]:
    """What an import makes stays as long as the process. Python's cycle collector would look through it some three
    hundred times on the way (a fifth of the model SDK's import, an eighth of the gateway's), and a tenth of a second
    each time it looks through all."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
