"""Values exchanged between a chat platform and the gateway, and the protocols `Source` and `Channel`."""

from __future__ import annotations

import enum
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Protocol


class WholeTexts:
    """Replaces lone surrogates in its texts by U+FFFD (joining pairs): no file, database or platform takes them."""

    __slots__ = ()

    def __post_init__(self) -> None:
        names: Sequence[str] = self.__slots__
        for name in names:
            value = getattr(self, name)
            if isinstance(value, str) and not value.isascii():
                whole = value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
                object.__setattr__(self, name, whole)


@dataclass(frozen=True, slots=True)
class Address:
    channel: str
    chat_id: str
    thread_id: str | None = None
    account: str = ""

    def __str__(self) -> str:
        parts = [self.channel, self.chat_id] + ([self.thread_id] if self.thread_id is not None else [])
        return ":".join(parts)

    @classmethod
    def parse(cls, text: str) -> Address:
        """Reads `channel:chat_id[:thread_id]`. Raises `ValueError` with a sentence for the person who wrote it."""
        parts = text.strip().split(":")
        if len(parts) not in (2, 3) or not all(parts):
            raise ValueError(f"{text!r} is not a chat address; write channel:chat_id or channel:chat_id:thread_id")
        return cls(channel=parts[0], chat_id=parts[1], thread_id=parts[2] if len(parts) == 3 else None)


class ChatKind(enum.StrEnum):
    PRIVATE = "private"
    GROUP = "group"


class Origin(enum.StrEnum):
    """The cause of a message: text in a chat, a command from the platform's menu or a button, or the clock."""

    CHAT = "chat"
    COMMAND = "command"
    JOB = "job"


@dataclass(frozen=True, slots=True)
class Sender(WholeTexts):
    """`id` is the platform's numeric id as text, which alone decides access; `name` is for display."""

    id: str
    name: str
    is_bot: bool = False


@dataclass(frozen=True, slots=True)
class Attachment(WholeTexts):
    """Content of a message besides its text.

    kind        a word for people: photo, voice, document, sticker, location…
    name        for display only (it may look like a path)
    media_type  as claimed by the platform, like `size`; the bytes decide
    handle      reference for `Channel.fetch`; empty if there are no bytes
    words       content as text: a place, a contact, a sticker's emoji
    """

    kind: str
    name: str = ""
    size: int | None = None
    media_type: str = ""
    handle: str = ""
    words: str = ""

    def passed_on(self, how: str) -> Attachment:
        """Returns a copy marked as another person's content: a `quoted` photo, a `forwarded` voice."""
        return replace(self, kind=f"{how} {self.kind}")


@dataclass(frozen=True, slots=True)
class Quote(WholeTexts):
    """Replied or forwarded text by another person, to be shown as data."""

    author: str
    text: str
    forwarded: bool = False


@dataclass(frozen=True, slots=True)
class DueJob:
    """A scheduled job and its due time. `late`: that time is long past."""

    id: str
    moment: datetime
    late: bool = False


@dataclass(frozen=True, slots=True)
class InboundMessage(WholeTexts):
    """One message from a person.

    id            unique per (channel, account) for ever; a repeated id is dropped
    platform_id   the platform's id inside the chat, used by replies and edits
    calls_bot     the bot is addressed; always true in private chats
    edit          a new wording of the earlier message `platform_id`
    continues     the client cut a long text here; the rest is likely to follow within a second
    album         shared by the messages of one album; in a group the caption calls the bot for all
    parent_chat   the chat that allow-lists name instead of this one (a thread's channel)
    server        the Discord server, which allow-lists may also name
    answer_with   required `reply_to` of every part of the answer, if not empty (menu commands)
    due           only with origin JOB
    """

    id: str
    address: Address
    kind: ChatKind
    sender: Sender
    text: str
    sent_at: datetime
    platform_id: str = ""
    attachments: tuple[Attachment, ...] = ()
    quote: Quote | None = None
    calls_bot: bool = True
    edit: bool = False
    continues: bool = False
    album: str = ""
    origin: Origin = Origin.CHAT
    group_name: str = ""
    parent_chat: str = ""
    server: str = ""
    answer_with: str = ""
    due: DueJob | None = None


@dataclass(frozen=True, slots=True)
class UnreadableEvent(WholeTexts):
    """An event that could not be turned into a message, shown by status and doctor."""

    id: str
    channel: str
    raw: str
    why: str
    account: str = ""


@dataclass(frozen=True, slots=True)
class Migrated:
    """A chat got a new id (Telegram: group to supergroup). Sessions, access and waiting replies follow it."""

    id: str
    old: Address
    new: Address


Event = InboundMessage | UnreadableEvent | Migrated

Receive = Callable[[Sequence[Event]], Awaitable[None]]
"""Given to `Source.run`. Once it returns, every event is on disk and may be acknowledged to the platform; if it
raises, none is, and all must be offered again. It never waits for a model."""


@dataclass(frozen=True, slots=True)
class Button(WholeTexts):
    """A command as text (at most 64 bytes) under a label. A press arrives as a message of origin COMMAND from the
    person pressing; its `platform_id` is the message with the buttons. The command checks who may press."""

    label: str
    data: str


@dataclass(frozen=True, slots=True)
class OutboundFile(WholeTexts):
    """A file to send. `is_image`: show it where the platform can, else offer it as a download. `name` is displayed."""

    path: Path
    name: str
    is_image: bool = False


@dataclass(frozen=True, slots=True)
class OutboundMessage(WholeTexts):
    """One message to send: Markdown within the channel's limits (see `Channel.split`), or one file.

    key       idempotency key: the same for every attempt at this message, otherwise unique
    reply_to  `platform_id` of the answered message, ignored if that is gone; or its `answer_with`
    file      the text is then a caption of at most 200 characters, or empty
    preview   raises `NotSent` instead of waiting for a rate limit, so that no final text is delayed
    """

    address: Address
    text: str
    key: str = ""
    reply_to: str = ""
    buttons: tuple[tuple[Button, ...], ...] = ()
    file: OutboundFile | None = None
    preview: bool = False


class PreviewStyle(enum.StrEnum):
    NONE = "none"
    DRAFT = "draft"  # temporary; the final text is a separate message
    EDIT = "edit"  # a message; the final text is its last edit


@dataclass(frozen=True, slots=True)
class Pace:
    """`interval`: seconds between previews; `quotes`: a reply always names the message it answers."""

    preview: PreviewStyle
    interval: float = 1.5
    quotes: bool = False


class SendError(Exception):
    """A platform did not take a message. The subclass says what can be done about it."""


class NotSent(SendError):
    """Certainly not sent; can be retried after `retry_after` seconds."""

    def __init__(self, message: str, retry_after: float = 0.0) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class AnswerLost(NotSent):
    """Perhaps sent, but a retry with the same key is safe during `Channel.repeat_window`."""


class OutcomeUnknown(SendError):
    """The connection ended during the request: perhaps sent."""


class Refused(SendError):
    """The platform will never take this. The text says why."""


class TooLong(Refused):
    """The text is longer than the platform takes; a shorter one may be taken."""


class ChatGone(Refused):
    """The chat cannot be reached: deleted, or the bot was blocked or may not write there."""


class NotFetched(Exception):
    """An attachment could not be fetched. The text tells its sender why. `passing`: a later try may succeed."""

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
    """`in_touch`: degraded, but connected; the problem is on our side (a full disk)."""

    state: Health
    last_error: str = ""
    in_touch: bool = False

    @property
    def is_connected(self) -> bool:
        return self.state is Health.OK or self.in_touch


class SourceFailed(Exception):
    """A source cannot continue. `fatal`: a restart cannot help (wrong token), so it stays down."""

    def __init__(self, message: str, *, fatal: bool = False) -> None:
        super().__init__(message)
        self.fatal = fatal


class Source(Protocol):
    @property
    def name(self) -> str: ...

    async def run(self, receive: Receive) -> None:
        """Can be called again after it ended. Raises `SourceFailed`; any other exception is reported as a bug."""


@dataclass(frozen=True, slots=True)
class CommandInfo:
    """`name` is `[a-z]`. `owner_only`: hidden in groups. `usage`: the arguments, optional ones in brackets."""

    name: str
    description: str
    owner_only: bool = False
    usage: str = ""


class Channel(Source, Protocol):
    """A chat platform's adapter. Access lists, retries, queues and commands belong to the gateway."""

    @property
    def status(self) -> ChannelStatus: ...

    def pace(self, address: Address) -> Pace: ...

    def reachable(self, address: Address) -> bool:
        """True if a message sent now would reach a person; otherwise it waits."""

    def repeat_window(self, message: OutboundMessage) -> float:
        """Seconds after a send during which the platform recognizes a repeated key; 0 if it has no keys."""

    def largest_file(self, address: Address) -> int:
        """Largest file in bytes for that chat; 0 if the channel sends no files."""

    def split(self, text: str) -> list[str]:
        """Cuts Markdown into pieces that each fit one rendered message. Never empty for text that is not blank."""

    async def send(self, message: OutboundMessage) -> str:
        """Sends one piece; returns its platform id. Raises `NotSent`, `OutcomeUnknown` or `Refused`. Text refused as
        markup is sent once more as plain text first."""

    async def edit(self, platform_id: str, message: OutboundMessage) -> None:
        """Replaces a sent message. Idempotent; an unchanged text is not an error. Raises like `send` (`Refused` if the
        message is gone)."""

    async def draft(self, draft_id: int, message: OutboundMessage) -> None:
        """Shows a draft. Raises like `send`; `Refused` means that the chat has no drafts."""

    async def fetch(self, attachment: Attachment, to: Path, most: int) -> None:
        """Writes at most `most` bytes of an attachment to the file `to`. Raises `NotFetched`, or `OSError` if the file
        cannot be written."""

    async def react(self, address: Address, platform_id: str, emoji: str) -> None:
        """Replaces our reaction on a message; empty removes it. Platform errors are not raised."""

    def typing(self, address: Address) -> AbstractAsyncContextManager[None]:
        """Shows the typing indicator while inside. Platform errors are not raised."""

    async def aclose(self) -> None: ...
