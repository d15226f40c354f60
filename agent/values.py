"""The values that go into a turn and come out of it."""

from __future__ import annotations

import enum
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from agent.memory.scope import Scope
from agent.model.base import Usage
from agent.tools.base import OwnerConsent, Tool

CHAT = "chat"
"""The purpose of a turn that answers people."""
JOB = "job"
"""The purpose of a turn that the clock asks for."""
JOBS = "jobs"
"""Below a chat's session: those of the jobs that report to it, one each."""


@dataclass(frozen=True, slots=True)
class SessionKey:
    """The key of a session. `path` is its folder under the sessions folder: `owner`, `owner/work`, `person/alice`,
    `group/telegram--100123`, `group/telegram--100123/7`."""

    agent: str
    path: str

    def __str__(self) -> str:
        return f"{self.agent}/{self.path}"

    @property
    def is_job(self) -> bool:
        """True for a job's session. A chat or person named `jobs` has nothing after that word."""
        return f"/{JOBS}/" in self.path


@dataclass(frozen=True, slots=True)
class AttachedDocument:
    """An attachment as text. `path`: where the file is kept; `remark`: a sentence on what is missing."""

    name: str
    text: str
    path: str = ""
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture that was kept (`agent.media.store`). `path` is the file that a model is shown, `original` the one that
    came."""

    name: str
    path: str
    original: str


@dataclass(frozen=True, slots=True)
class ForwardedText:
    """A whole message of somebody else that was passed on. `author`: as the platform names it."""

    author: str
    text: str


@dataclass(frozen=True, slots=True)
class UserMessage:
    """A person's message as the model sees it.

    id          names the message over restarts
    channel     the platform's name for people: Telegram, Terminal
    quoted      text of others that came with it (what it replies to, a forward), shown as data
    enclosed    what came with it and is neither read nor shown, a sentence each
    heard       names of recordings whose transcribed words are in the text
    documents   text that came with it, shown as data
    pictures    shown after the text
    overheard   in a group: earlier messages of others, not to the bot and not shown yet, as (name, moment, text)
    by          the account of the sender, `channel:id`
    """

    id: str
    text: str
    sender: str
    channel: str
    at: datetime
    quoted: tuple[str | ForwardedText, ...] = ()
    enclosed: tuple[str, ...] = ()
    overheard: tuple[tuple[str, datetime, str], ...] = ()
    heard: tuple[str, ...] = ()
    documents: tuple[AttachedDocument, ...] = ()
    pictures: tuple[Picture, ...] = ()
    by: str = ""


async def nothing_said() -> Sequence[UserMessage]:
    return ()


@dataclass(frozen=True, slots=True)
class TurnRequest:
    """One turn. `id` is the same when a turn continues after a crash; an ended turn is not run again, its end is
    reported once more.

    arrived     takes the messages that came since, which join this turn; called between steps
    tools       tools beyond the agent's own, bound to this conversation
    model       a model's name in place of the configured one, for this session
    fresh       the model sees nothing that came before in the session
    sealed      names of workspace files that no tool of this turn may change, with the reason, a sentence for the model
    approvals   asks the owner where an effect of a tool needs their yes; None: such effects are refused
    """

    id: str
    session: SessionKey
    scope: Scope
    said: tuple[UserMessage, ...]
    arrived: Callable[[], Awaitable[Sequence[UserMessage]]] = nothing_said
    tools: tuple[Tool, ...] = ()
    model: str | None = None
    purpose: str = CHAT
    fresh: bool = False
    sealed: Mapping[str, str] = field(default_factory=dict)
    approvals: OwnerConsent | None = None


@dataclass(frozen=True, slots=True)
class ReplyText:
    """More text of the reply."""

    text: str


@dataclass(frozen=True, slots=True)
class TextReset:
    """The text since the last finished step is void (a stream broke and is repeated). `note`: a sentence for the person
    where the wait is long, else empty."""

    note: str = ""


@dataclass(frozen=True, slots=True)
class StepCompleted:
    """A step is journaled; its text is final. `tools` ran in it."""

    tools: tuple[str, ...] = ()


class ResultKind(enum.StrEnum):
    REPLY = "reply"
    SILENCE = "silence"  # the model answered NO_REPLY
    ERROR = "error"  # `text` says what happened and what to do


@dataclass(frozen=True, slots=True)
class TurnResult:
    """The one end of a turn, and of all its messages."""

    kind: ResultKind
    text: str
    usage: Usage


TurnEvent = ReplyText | TextReset | StepCompleted | TurnResult
