"""A tool, its result, and the effects of its calls outside the conversation."""

from __future__ import annotations

import enum
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from agent.model.base import Json, ToolSpec
from agent.search.result_text import QuotedLines
from agent.tools.foreign_text import ForeignText

Arguments = Mapping[str, Json]

GONE = "missing"
"""Stands for the content of a file that is not there (`Effect.before`)."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The text that the model reads, the lines of files that it shows, and its text of others."""

    text: str
    quoted: tuple[QuotedLines, ...] = ()
    foreign: tuple[ForeignText, ...] = ()


class ToolError(Exception):
    """A failure that the model reads as the call's result. `foreign`: text of others that it shows."""

    def __init__(self, message: str, foreign: tuple[ForeignText, ...] = ()) -> None:
        super().__init__(message)
        self.foreign = foreign


class EffectKind(enum.StrEnum):
    SEND = "send"  # text or files to another audience
    WRITE = "write"  # a file of another scope, or one that says what Daybook does
    WRITE_COMMON = "write-common"  # a file that is read in every chat
    WRITE_SKILL = "write-skill"  # a skill whose text stands in every chat
    ADD_JOB = "add-job"
    REMOVE_JOB = "remove-job"


@dataclass(frozen=True, slots=True)
class Effect:
    """An effect outside the conversation: the owner is asked where text of others may be the reason.

    target      to whom, or which file, for people
    text        what would be sent or written, as it is
    always      the owner is asked in any case
    private     a line of the owner's memory that others would see; then they are always asked
    this_turn   only what this turn has taken in can be the reason, not earlier text
    before      names the present state of what would change: a yes is good for that alone
    after       names the state after it: where that is reached, the effect is done
    """

    kind: EffectKind
    target: str
    text: str = ""
    always: bool = False
    private: str = ""
    this_turn: bool = False
    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class Once:
    """For a tool whose effect leaves the machine, so that a call has it once whatever happens.

    run     as `Tool.run`, with the call's id, which is the same over restarts
    fate    the result for the model of a call that was running when the process ended, by its id
    """

    run: Callable[[Arguments, str], Awaitable[ToolResult]]
    fate: Callable[[str], Awaitable[str]]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool of one conversation, bound to its scope when made.

    run           takes arguments that already fit the schema; raises `ToolError`.
                  Any other exception is a bug: the model is told that the tool broke, the log gets the traceback.
    reads_only    changes nothing, so several calls may run side by side
    remembers     a finished call counts as a memory write
    writes_files  changes files of the scope, and ends soon: nothing is forgotten in them meanwhile
    once          replaces `run` where a call has an id
    effect        what a call would do outside the conversation, computed before it runs; None: nothing that needs a
                  yes. Raises `ToolError`, and the call is then not run
    approved      replaces `run` where the owner has approved this very effect
    """

    spec: ToolSpec
    run: Callable[[Arguments], Awaitable[ToolResult]]
    reads_only: bool = False
    remembers: bool = False
    once: Once | None = None
    writes_files: bool = False
    effect: Callable[[Arguments], Awaitable[Effect | None]] | None = None
    approved: Callable[[Arguments], Awaitable[ToolResult]] | None = None

    @property
    def name(self) -> str:
        return self.spec.name


@dataclass(frozen=True, slots=True)
class EffectRequest:
    """An effect that needs the owner's yes. `call` names it over restarts; `causes`: the text of others that may be its
    reason, empty where the owner is asked in any case."""

    tool: str
    call: str
    arguments: Arguments
    effect: Effect
    causes: tuple[ForeignText, ...]


class OwnerConsent(Protocol):
    """Asks the owner on behalf of one turn.

    ask        asks, once while it is open; returns what the model is told. Raises `ToolError` where the owner
               cannot be asked
    fate       what the model is told of a call that was interrupted while it asked; empty where it did not ask
    outcomes   outcomes that the session does not know yet: by id, a sentence each
    told       the session knows these
    """

    async def ask(self, wanted: EffectRequest) -> str: ...

    async def fate(self, call: str) -> str: ...

    async def outcomes(self) -> Mapping[str, str]: ...

    async def told(self, ids: Sequence[str]) -> None: ...
