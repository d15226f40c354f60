"""What a tool is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from agent.memory.quoting import QuotedLines
from agent.model.base import Json, ToolSpec

Arguments = Mapping[str, Json]


_quoted: ContextVar[list[QuotedLines] | None] = ContextVar("quoted", default=None)


@contextmanager
def collecting() -> Iterator[list[QuotedLines]]:
    """Gather what a call's result shows of files, line by line; its threads too."""
    quoted: list[QuotedLines] = []
    token = _quoted.set(quoted)
    try:
        yield quoted
    finally:
        _quoted.reset(token)


def quotes(*lines: QuotedLines) -> None:
    """The result of the call that runs shows these lines."""
    if (quoted := _quoted.get()) is not None:
        quoted += lines


class ToolError(Exception):
    """What the tool could not do, said to the model, which reads it as the call's result and may try otherwise."""


@dataclass(frozen=True, slots=True)
class Once:
    """For a tool whose effect leaves the house, so that a call has it once whatever happens.

    run     as `Tool.run`, with the call's id, which is the same over restarts
    fate    of a call that was running when the process ended, by its id: what the model is told of it
    """

    run: Callable[[Arguments, str], Awaitable[str]]
    fate: Callable[[str], Awaitable[str]]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool of one conversation, bound to its scope when made.

    run           takes arguments that already fit the schema; returns the text the model reads; raises `ToolError`.
                  Any other exception is a bug: the model is told that the tool broke, the log gets the traceback.
    reads_only    changes nothing, so several calls may run side by side
    remembers     a finished call counts as a memory write
    writes_files  changes files of the scope, and ends soon: nothing is forgotten in them meanwhile
    once          stands in for `run` where a call has an id
    """

    spec: ToolSpec
    run: Callable[[Arguments], Awaitable[str]]
    reads_only: bool = False
    remembers: bool = False
    once: Once | None = None
    writes_files: bool = False

    @property
    def name(self) -> str:
        return self.spec.name
