"""A tool, its result, and the effects of its calls outside the conversation."""

from __future__ import annotations

import enum
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from agent.media.pictures import Picture
from agent.model.base import Json, ToolSpec
from agent.search.result_text import QuotedLines
from agent.tools.foreign_text import ForeignText

GONE = "missing"
"""The state of a file that is not there (`Effect.before`)."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    text: str
    quoted: tuple[QuotedLines, ...] = ()
    foreign: tuple[ForeignText, ...] = ()
    pictures: tuple[Picture, ...] = ()
    """Shown to the model beside the text."""


class ToolError(Exception):
    """A failure, as the model reads it. `foreign`: text of others in it; `pictures`: shown beside it."""

    def __init__(self, message: str, foreign: tuple[ForeignText, ...] = (), pictures: tuple[Picture, ...] = ()) -> None:
        super().__init__(message)
        self.foreign = foreign
        self.pictures = pictures


class EffectKind(enum.StrEnum):
    SEND = "send"  # text or files to another audience
    WRITE = "write"  # a file of another scope, or with rules for Daybook
    WRITE_COMMON = "write-common"  # a file that is read in every chat
    WRITE_SKILL = "write-skill"  # a skill whose text stands in every chat
    ADD_JOB = "add-job"
    REMOVE_JOB = "remove-job"
    FETCH = "fetch"  # a page whose address could carry text that was read
    SEARCH = "search"  # a search of the web
    DRAW = "draw"  # a picture, made by a server from words
    RUN = "run"  # a program
    USE_TOOL = "use-tool"  # a tool of a server of others
    USE_NEW_TOOL = "use-new-tool"  # a tool that the owner has not agreed to yet
    USE_CHANGED_TOOL = "use-changed-tool"  # a tool whose description has changed since they did


class EffectNote(enum.StrEnum):
    """What the owner must also know about an effect, by its name in `ApprovalStrings`."""

    NETWORK = "with_network"
    NO_SANDBOX = "no_sandbox"
    AS_ROOT = "as_root"
    FOR_CONVERSATION = "for_conversation"
    FOR_TOOL = "for_tool"
    # for both, a yes counts for more than this call


@dataclass(frozen=True, slots=True)
class Outgoing:
    """Marks a call that sends something to a host that is not the owner's."""

    host: str
    """The recipient: `evil.example`, `mcp:notes`."""
    is_lasting: bool = True
    """Consent counts for the host in this conversation."""
    address: str = ""
    """The address of a page."""


@dataclass(frozen=True, slots=True)
class Effect:
    """An effect outside the conversation. The owner is asked if text of others may be its reason."""

    kind: EffectKind
    target: str
    """A chat or a file, as people read it."""
    text: str = ""
    always: bool = False
    """The owner is always asked."""
    private: str = ""
    """A line of the owner's memory that others would see; they are always asked."""
    this_turn: bool = False
    """Only what this turn read can be the reason."""
    before: str = ""
    """Names the present state; consent counts for that state only."""
    after: str = ""
    """Names the state in which the effect is done."""
    outgoing: Outgoing | None = None
    """The text that it sends is judged (`agent.session.outgoing`)."""
    words: tuple[str, ...] = ()
    """The leading words that a lasting consent is for; empty: none can be given."""
    folder: str = ""
    """Where a program runs."""
    notes: tuple[EffectNote, ...] = ()


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool with an `outcome` is durable: its effect leaves the machine, so a call of an id takes effect once."""

    spec: ToolSpec
    run: Callable[[Json, str], Awaitable[ToolResult]]
    """Takes the model's input as it is, and the call's id, the same over restarts. Raises `ToolError`; any other
    exception is a bug."""
    reads_only: bool = False
    """Calls may run side by side."""
    remembers: bool = False
    """Counts as a memory write."""
    outcome: Callable[[str], Awaitable[ToolResult]] | None = None
    """The result of a call that a restart interrupted, by its id."""
    writes_files: bool = False
    """Nothing is forgotten in the scope's files meanwhile, so it must end soon."""
    effect: Callable[[Json], Awaitable[Effect | None]] | None = None
    """The effect that a call would have; raises `ToolError`."""
    approved: Callable[[Json, str], Awaitable[ToolResult]] | None = None
    """Replaces `run` after the owner's yes."""
    begun: Callable[[str], Awaitable[str]] | None = None
    """What an approved call has already begun, by its id; else empty."""
    lasting: Callable[[Effect], Awaitable[str]] | None = None
    """Names all that a lasting yes to an effect is bound to, as it is now; None: no yes lasts."""
    is_offered: Callable[[], bool] = lambda: True
    """False: the model does not see it yet. May change within a turn."""
    server: str = ""
    """The server that wrote its description; empty: Daybook."""

    @property
    def name(self) -> str:
        return self.spec.name


def offered(tools: Iterable[Tool]) -> tuple[ToolSpec, ...]:
    """Specifications of the tools that the model sees now."""
    return tuple(tool.spec for tool in tools if tool.is_offered())


@dataclass(frozen=True, slots=True)
class ConversationConsent:
    """What the owner's consent allows in a conversation, as its transcript keeps it."""

    path: str
    """The session's path."""
    id: str
    """The transcript's."""
    allows: str
    """A host, or the name of one call."""


@dataclass(frozen=True, slots=True)
class EffectRequest:
    tool: str
    call: str
    """Unique, the same over restarts."""
    arguments: Json
    effect: Effect
    causes: tuple[ForeignText, ...]
    """Text of others that may be its reason."""
    consent: ConversationConsent | None = None
    """What the owner's consent allows beyond this call."""


class OwnerConsent(Protocol):
    """Asks the owner for one turn.

    ask          returns the result for the model; asks once while the question is open. Raises `ToolError`
    fate         the result of a call that was interrupted while it asked; else empty
    outcomes     sentences that are new to the session, by id
    acknowledge  the session knows these outcomes
    """

    async def ask(self, wanted: EffectRequest) -> str: ...

    async def fate(self, call: str) -> str: ...

    async def outcomes(self) -> Mapping[str, str]: ...

    async def acknowledge(self, ids: Sequence[str]) -> None: ...
