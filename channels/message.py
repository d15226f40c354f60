"""Values between a chat platform and the gateway, and the protocols `Source` and `Channel`."""

from __future__ import annotations

import enum
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Protocol

from agent.languages.codes import Language
from agent.languages.sentences import translated
from channels.ids import Address as Address


class WholeTexts:
    """Texts without lone surrogates: no file, database or platform takes them."""

    __slots__ = ()

    def __post_init__(self) -> None:
        names: Sequence[str] = self.__slots__
        for name in names:
            value = getattr(self, name)
            if isinstance(value, str) and not value.isascii():
                whole = value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
                object.__setattr__(self, name, whole)


class ChatKind(enum.StrEnum):
    PRIVATE = "private"
    GROUP = "group"


class Origin(enum.StrEnum):
    """Text in a chat, a command of the menu or a button, or Daybook itself: the clock, a task."""

    CHAT = "chat"
    COMMAND = "command"
    JOB = "job"


@dataclass(frozen=True, slots=True)
class Sender(WholeTexts):
    id: str
    """The platform's numeric id as text, which alone decides access."""
    name: str
    """For display."""
    is_bot: bool = False
    language: str = ""
    """As the platform or the browser names it, like `de` or `pt-BR`; empty where it doesn't say."""


@dataclass(frozen=True, slots=True)
class Attachment(WholeTexts):
    kind: str
    """A word for people: photo, voice, document, sticker, location…"""
    name: str = ""
    """For display only (it may look like a path)."""
    size: int | None = None
    media_type: str = ""
    """As claimed by the platform, like `size`; the bytes decide."""
    handle: str = ""
    """Reference for `Channel.fetch`; empty if there are no bytes."""
    words: str = ""
    """Content as text: a place, a contact, a sticker's emoji."""

    @property
    def shown(self) -> str:
        """`[document a.pdf]`, `[location 48.1, 11.6]`."""
        parts = (self.kind, "" if self.words.startswith(self.name) else self.name, self.words)
        return f"[{' '.join(filter(None, parts))}]"

    def passed_on(self, how: str) -> Attachment:
        """A copy marked as another person's: a `quoted` photo, a `forwarded` voice."""
        return replace(self, kind=f"{how} {self.kind}")


@dataclass(frozen=True, slots=True)
class Quote(WholeTexts):
    """Another person's text, shown as data."""

    author: str
    text: str
    forwarded: bool = False


@dataclass(frozen=True, slots=True)
class DueJob:
    id: str
    moment: datetime
    late: bool = False
    """That time is long past."""


@dataclass(frozen=True, slots=True)
class DelegatedTask(WholeTexts):
    """A task beside the conversation, or its result for the conversation that asked."""

    id: str
    asked: int
    """The inbox number of the message whose turn asked."""
    result_of: str = ""
    """The task, if this is its result."""
    sources: tuple[str, ...] = ()
    """Whose text the result was made from."""


@dataclass(frozen=True, slots=True)
class InboundMessage(WholeTexts):
    id: str
    """Unique per (channel, account) for ever; a repeated id is dropped."""
    address: Address
    kind: ChatKind
    sender: Sender
    text: str
    sent_at: datetime
    platform_id: str = ""
    """The platform's id inside the chat, used by replies and edits."""
    attachments: tuple[Attachment, ...] = ()
    quote: Quote | None = None
    calls_bot: bool = True
    """The bot is addressed; always true in private chats."""
    edit: bool = False
    """A new wording of the earlier message `platform_id`."""
    continues: bool = False
    """The client cut a long text here; the rest is likely to follow within a second."""
    album: str = ""
    """Shared by the messages of one album; in a group the caption calls the bot for all."""
    origin: Origin = Origin.CHAT
    group_name: str = ""
    parent_chat: str = ""
    """The chat that allow-lists name instead of this chat (a thread's channel)."""
    server: str = ""
    """The Discord server, which allow-lists may also name."""
    answer_with: str = ""
    """Required `reply_to` of every part of the answer, if not empty (menu commands)."""
    due: DueJob | None = None
    """Only with origin JOB, like `task`."""
    task: DelegatedTask | None = None
    replaces: str = ""
    """The `id` of the sender's message in this chat of which this is a new version: the conversation goes on from
    before it."""

    @property
    def is_from_person(self) -> bool:
        return self.due is None and self.task is None

    @property
    def is_task(self) -> bool:
        """True for a task, not for its result."""
        return self.task is not None and not self.task.result_of


@dataclass(frozen=True, slots=True)
class UnreadableEvent(WholeTexts):
    """An event that could not be read. Status and doctor show it."""

    id: str
    channel: str
    raw: str
    why: str
    account: str = ""


@dataclass(frozen=True, slots=True)
class Migrated:
    """A chat got a new id (Telegram: group to supergroup), which sessions, access and replies follow."""

    id: str
    old: Address
    new: Address


Event = InboundMessage | UnreadableEvent | Migrated

Receive = Callable[[Sequence[Event]], Awaitable[None]]
"""Given to `Source.run`. Once it returns, every event is on disk and may be acknowledged to the platform; if it
raises, none is, and all must be offered again. It never waits for a model."""


@dataclass(frozen=True, slots=True)
class Button(WholeTexts):
    """A command (at most 64 bytes) under a label. A press arrives as origin COMMAND from its person; `platform_id` is
    the message with the buttons. The command checks who may press."""

    label: str
    data: str


@dataclass(frozen=True, slots=True)
class OutboundFile(WholeTexts):
    path: Path
    name: str
    """Displayed."""
    is_image: bool = False
    """Show it where the platform can, else offer it as a download."""
    is_voice: bool = False
    """Speech: play it where the platform can."""


@dataclass(frozen=True, slots=True)
class OutboundMessage(WholeTexts):
    """Markdown within the channel's limits (see `Channel.split`), or one file."""

    address: Address
    text: str
    key: str = ""
    """Idempotency key: the same for every attempt at this message, otherwise unique."""
    reply_to: str = ""
    """`platform_id` of the answered message, ignored if that is gone; or its `answer_with`."""
    buttons: tuple[tuple[Button, ...], ...] = ()
    file: OutboundFile | None = None
    """The text is then a caption of at most 200 characters, or empty."""
    preview: bool = False
    """Raises `NotSent` instead of waiting for a rate limit, so that no final text is delayed."""


class PreviewStyle(enum.StrEnum):
    NONE = "none"
    DRAFT = "draft"  # temporary; the final text is a separate message
    EDIT = "edit"  # a message; the final text is its last edit


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a channel can do in a chat now."""

    preview: PreviewStyle
    interval: float = 1.5
    """Seconds between previews."""
    quotes: bool = False
    """A reply always names the message it answers."""
    largest_file: int = 0
    """In bytes; 0 if the channel sends no files."""
    plays_sound: bool = True
    is_reachable: bool = True
    """A message sent now would reach a person; otherwise it waits."""


class SendError(Exception):
    """A send has failed. The subclass says what can be done."""


class NotSent(SendError):
    """Certainly not sent; retry after `retry_after` seconds."""

    def __init__(self, message: str, retry_after: float = 0.0) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class AnswerLost(NotSent):
    """A retry with the same key is safe during `Channel.repeat_window`."""


class OutcomeUnknown(SendError):
    """Perhaps sent: the connection ended meanwhile."""


class Refused(SendError):
    """The platform will never take this. The text says why."""


class TooLong(Refused):
    """A shorter message may be taken."""


class ChatGone(Refused):
    """The chat is deleted, or the bot was blocked or may not write there."""


class NotFetched(Exception):
    """A file cannot be had; the text tells its sender why. `passing`: a later try may succeed."""

    def __init__(self, message: str, *, passing: bool = False) -> None:
        super().__init__(message)
        self.passing = passing


class Health(enum.StrEnum):
    OK = "ok"
    DEGRADED = "degraded"
    DOWN = "down"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class ChannelStatus:
    state: Health
    last_error: str = ""
    in_touch: bool = False
    """Degraded, but connected; the problem is on our side (a full disk)."""
    is_connecting: bool = False
    """Degraded, because the first try to connect still runs."""

    @property
    def is_connected(self) -> bool:
        return self.state is Health.OK or self.in_touch


class SourceFailed(Exception):
    """A source has stopped. `fatal`: a restart cannot help (wrong token)."""

    def __init__(self, message: str, *, fatal: bool = False) -> None:
        super().__init__(message)
        self.fatal = fatal


class Source(Protocol):
    @property
    def name(self) -> str: ...

    async def run(self, receive: Receive) -> None:
        """Offers events to `receive`. Can be called again. Raises `SourceFailed`; any other exception is a bug."""


RunSource = Callable[[Source, Receive], Coroutine[object, object, None]]
"""Runs a source that is a part of a channel, as long as that runs."""
Slot = Callable[[str, float], AbstractAsyncContextManager[None]]
"""Waits until no other process is inside with this key, nor was within that many seconds."""


@dataclass(frozen=True, slots=True)
class CommandInfo:
    """`name` is in `[a-z]`, `other_names` in the languages of people. `description` and `usage` (the arguments, the
    optional in brackets) may be a `Sentence`. `owner_only`: hidden in groups."""

    name: str
    description: str
    owner_only: bool = False
    usage: str = ""
    other_names: tuple[str, ...] = ()

    def described(self, language: Language) -> str:
        return str(translated(language, self.description))

    def used(self, language: Language) -> str:
        return str(translated(language, self.usage))


class Channel(Source, Protocol):
    """A chat platform's adapter. Access lists, retries, queues and commands belong to the gateway."""

    @property
    def status(self) -> ChannelStatus: ...

    def capabilities(self, address: Address) -> Capabilities: ...

    def repeat_window(self, message: OutboundMessage) -> float:
        """Seconds during which the platform recognizes a repeated key; 0 without keys."""

    def split(self, text: str) -> list[str]:
        """Pieces of Markdown that each fit a rendered message; at least one unless the text is blank."""

    async def send(self, message: OutboundMessage) -> str:
        """Returns the platform's id. Raises `NotSent`, `OutcomeUnknown`, `Refused`. Text refused as markup is first
        sent again as plain text."""

    async def edit(self, platform_id: str, message: OutboundMessage) -> None:
        """Changes a message. Idempotent; the same text is no error. Raises like `send` (`Refused` if it is gone)."""

    async def draft(self, draft_id: int, message: OutboundMessage) -> None:
        """Shows a draft. Raises like `send` (`Refused` if the chat has no drafts)."""

    async def fetch(self, attachment: Attachment, to: Path, most: int) -> None:
        """Writes at most `most` bytes to `to`. Raises `NotFetched`, `OSError`."""

    async def react(self, address: Address, platform_id: str, emoji: str) -> None:
        """Replaces our reaction; empty removes it. Platform errors are not raised, nor by `typing`."""

    def typing(self, address: Address) -> AbstractAsyncContextManager[None]: ...

    async def aclose(self) -> None: ...
