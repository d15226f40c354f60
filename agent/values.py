"""Input and output of a turn."""

from __future__ import annotations

import enum
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from agent.languages.codes import Language
from agent.media.pictures import Picture
from agent.memory.scope import Scope
from agent.model.base import Usage
from agent.tools.base import OwnerConsent, Tool
from agent.tools.foreign_text import ForeignText

CHAT = "chat"
"""The purpose of a turn that answers people."""
JOB = "job"
"""The purpose of a turn that the clock asks for."""
TASK = "task"
"""The purpose of a turn that does a delegated task."""
JOBS = "jobs"
"""The part of a path below a chat's session for each job that reports to it."""
TASKS = "tasks"
"""The part of a path below a chat's session for each task that it has delegated."""


@dataclass(frozen=True, slots=True)
class SessionKey:
    agent: str
    path: str
    """Its folder: `owner`, `owner/work`, `person/alice`, `group/telegram--100123`, `group/telegram--100123/7`."""

    def __str__(self) -> str:
        return f"{self.agent}/{self.path}"

    @property
    def is_aside(self) -> bool:
        """True for a job's or a task's session. A chat or person of that name has nothing after that word."""
        return any(f"/{name}/" in self.path for name in (JOBS, TASKS))


@dataclass(frozen=True, slots=True)
class AttachedDocument:
    name: str
    text: str
    path: str = ""
    """The kept file."""
    remark: str = ""
    """A sentence on missing parts."""
    is_own: bool = False
    """Not text of others."""


@dataclass(frozen=True, slots=True)
class ForwardedText:
    """Somebody else's whole message, passed on."""

    author: str
    text: str


@dataclass(frozen=True, slots=True)
class UserMessage:
    """A person's message as the model sees it."""

    id: str
    """Names the message over restarts."""
    text: str
    sender: str
    channel: str
    """The platform's name for people: Telegram, Terminal."""
    at: datetime
    quoted: tuple[str | ForwardedText, ...] = ()
    """Text of others that came with it, shown as data."""
    enclosed: tuple[str, ...] = ()
    """Sentences on attachments that are not shown."""
    overheard: tuple[tuple[str, datetime, str], ...] = ()
    """Earlier messages of a group, not shown yet, as (name, moment, text)."""
    heard: tuple[str, ...] = ()
    """Names of recordings whose words are in the text."""
    documents: tuple[AttachedDocument, ...] = ()
    """Text that came with it, shown as data."""
    pictures: tuple[Picture, ...] = ()
    """Shown after the text."""
    by: str = ""
    """The account of the sender, `channel:id`; empty where no person wrote it."""
    replaces: str = ""
    """The earlier message that this one is a new version of: the conversation goes on from before it."""
    foreign: tuple[ForeignText, ...] = ()
    """Text of others that it was made from."""


async def nothing_said() -> Sequence[UserMessage]:
    return ()


@dataclass(frozen=True, slots=True)
class TurnRequest:
    """`id` stays when a turn continues after a crash; an ended turn is reported again, not run again."""

    id: str
    session: SessionKey
    scope: Scope
    said: tuple[UserMessage, ...]
    arrived: Callable[[], Awaitable[Sequence[UserMessage]]] = nothing_said
    """Takes the messages that join this turn; called between steps."""
    tools: tuple[Tool, ...] = ()
    """Beyond the agent's own, bound to this conversation."""
    model: str | None = None
    """In place of the configured model."""
    purpose: str = CHAT
    fresh: bool = False
    """The model sees nothing that came before in the session."""
    sealed: Mapping[str, str] = field(default_factory=dict)
    """Workspace files that no tool may change, with the reason for the model."""
    approvals: OwnerConsent | None = None
    """Asks the owner for consent to effects of tools; None: they are refused."""
    language: Language = Language.ENGLISH
    """The chat's."""


@dataclass(frozen=True, slots=True)
class ReplyText:
    text: str


@dataclass(frozen=True, slots=True)
class TextReset:
    """The text since the last step is void."""

    note: str = ""
    """A sentence for the person if the wait is long."""


@dataclass(frozen=True, slots=True)
class StepCompleted:
    """A step is recorded and its text final. `tools` ran in it."""

    tools: tuple[str, ...] = ()


class ResultKind(enum.StrEnum):
    REPLY = "reply"
    SILENCE = "silence"  # the model answered NO_REPLY
    ERROR = "error"  # `text` says what happened and how to go on


@dataclass(frozen=True, slots=True)
class TurnResult:
    kind: ResultKind
    text: str
    usage: Usage
    foreign: tuple[ForeignText, ...] = ()
    """Text of others that the answers were made from."""


TurnEvent = ReplyText | TextReset | StepCompleted

Emit = Callable[[TurnEvent], Awaitable[None]]
"""Takes the events of a turn in order; the turn waits for it."""
