"""Between the files and their history: every change is announced here before it reaches the disk.

Who changes what for whom is known far above the files, so it is set for the work inside a `with` block and travels with
it, also into threads. Outside of any block (a talk exported on demand, a test) nothing is recorded.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

from agent.memory.edits import Edit


class Recorder(Protocol):
    """`record` has the edit on disk when it returns; raises `OSError` where it cannot, and the edit is not made.
    `withdraw` takes the last one back, where it then could not be made."""

    def record(self, edit: Edit) -> None: ...

    def withdraw(self) -> None: ...


_recorder: ContextVar[Recorder | None] = ContextVar("recorder", default=None)


def recorder() -> Recorder | None:
    """The one of the work that is being done."""
    return _recorder.get()


@contextmanager
def recording(into: Recorder) -> Iterator[None]:
    token = _recorder.set(into)
    try:
        yield
    finally:
        _recorder.reset(token)


@contextmanager
def recorded(edit: Edit) -> Iterator[None]:
    """Around the write itself."""
    into = _recorder.get()
    if into is not None:
        into.record(edit)
    try:
        yield
    except BaseException:
        if into is not None:
            into.withdraw()
        raise
