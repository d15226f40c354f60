"""What travels between a chat platform and the gateway, and the two protocols that carry it.

Everything here is a value. Nothing is ever read out of a string that was put together elsewhere: an address stays an
`Address` from the platform's event to the reply.
"""

from __future__ import annotations

import enum
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Protocol


class WholeTexts:
    """A value whose texts have no halves of characters (lone surrogates), which platforms and models let pass and no
    file, database or platform takes. Each becomes U+FFFD, or with its other half the character."""

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
    """Where a message came from or goes to. `thread_id` is a topic or thread inside the chat."""

    channel: str
    chat_id: str
    thread_id: str | None = None
    account: str = ""

    def __str__(self) -> str:
        """The form people write in configuration and commands: `channel:chat_id[:thread_id]`."""
        parts = [self.channel, self.chat_id] + ([self.thread_id] if self.thread_id is not None else [])
        return ":".join(parts)

    @classmethod
    def parse(cls, text: str) -> Address:
        """Read `channel:chat_id[:thread_id]`. Raises `ValueError` with a sentence for the person who wrote it."""
        parts = text.strip().split(":")
        if len(parts) not in (2, 3) or not all(parts):
            raise ValueError(f"{text!r} is not a chat address; write channel:chat_id or channel:chat_id:thread_id")
        return cls(channel=parts[0], chat_id=parts[1], thread_id=parts[2] if len(parts) == 3 else None)


class ChatKind(enum.StrEnum):
    PRIVATE = "private"
    GROUP = "group"


class Origin(enum.StrEnum):
    """Who caused a message: a person in a chat, a person pressing a command in the platform's menu, or the clock."""

    CHAT = "chat"
    COMMAND = "command"
    JOB = "job"


@dataclass(frozen=True, slots=True)
class Sender(WholeTexts):
    """`id` is the platform's numeric id as text (the only thing access is decided by); `name` is for people's eyes."""

    id: str
    name: str
    is_bot: bool = False


@dataclass(frozen=True, slots=True)
class Attachment(WholeTexts):
    """Something that came with a message besides its text.

    kind        a word for people: photo, voice, document, sticker, location…
    name        as its sender named it, for people's eyes only (it may look like a path)
    size        bytes, as the platform says
    media_type  as the platform says; what a file is, is decided by its bytes
    handle      the channel's own word for its bytes (`Channel.fetch`); empty: there are none to fetch
    words       what it says by itself: a place's name and position, a contact's name and number, a sticker's emoji
    """

    kind: str
    name: str = ""
    size: int | None = None
    media_type: str = ""
    handle: str = ""
    words: str = ""

    def passed_on(self, how: str) -> Attachment:
        """Marked as not said by who sent it: a `quoted` photo, a `forwarded` voice."""
        return replace(self, kind=f"{how} {self.kind}")


@dataclass(frozen=True, slots=True)
class Quote(WholeTexts):
    """What a message replies to or forwards: text of somebody else, to be shown as data."""

    author: str
    text: str
    forwarded: bool = False


@dataclass(frozen=True, slots=True)
class DueJob:
    """The job for which the clock speaks, and its due time. `late`: that is long past."""

    id: str
    moment: datetime
    late: bool = False


@dataclass(frozen=True, slots=True)
class InboundMessage(WholeTexts):
    """One message as a person wrote it.

    id            unique per (channel, account) for ever; a second message with the same id is a repeat and is dropped
    platform_id   the platform's id of the message inside its chat: what a reply points at, what an edit replaces
    sender        the person
    calls_bot     in a group: the bot was mentioned, replied to, or given a command. Always true in private chats
    edit          this is a new wording of the message `platform_id`, sent before
    continues     the platform's client cut a long text here; the rest is likely to follow within a second
    album         messages of one album share it: they are one thing said. In a group the one with the caption calls the
                  bot for all
    group_name    a group's title, for people's eyes
    parent_chat   what lists of allowed groups name, where that is not the chat itself (a thread's channel)
    server        the community that the chat is a room of (Discord), which lists may name as a whole
    answer_with   what every part of the answer must give as its `reply_to` to be shown in the right place (a command
                  from the platform's menu has one); empty: the answer is a message like any other
    due           with origin JOB, and only then: the job; the chat is the one that it reports to
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
    """An event that the channel could not turn into a message. Kept with its raw text, shown by status and doctor."""

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
"""Handed to a source at `run`. When it returns, every event is on disk and may be acknowledged to the platform; when it
raises, none is, and the source must offer them again. It never waits for a model."""


@dataclass(frozen=True, slots=True)
class Button(WholeTexts):
    """`data` is a command as somebody would write it (`/answer K7F3 yes`), at most 64 bytes. Pressed, it arrives as a
    message of origin COMMAND by who pressed it, whose `platform_id` is the message with the buttons. So it outlives
    restarts, and who may press it is the command's business."""

    label: str
    data: str


@dataclass(frozen=True, slots=True)
class OutboundFile(WholeTexts):
    """A file to send. `is_image`: to be shown, where the platform can show one of its kind and size; else to be
    downloaded. `name` as people see it."""

    path: Path
    name: str
    is_image: bool = False


@dataclass(frozen=True, slots=True)
class OutboundMessage(WholeTexts):
    """One message to send: Markdown that fits the channel's limits (see `Channel.split`), or one file.

    key         the same for every attempt at this message and unlike any other (for platforms with idempotency keys)
    reply_to    `platform_id` of the message it answers; the channel sends without it where that message is gone. Or
                the `answer_with` of what it answers
    file        the text is a short caption then (at most 200 characters), or empty
    preview     worth something only now: where it would have to wait for a rate limit, it is refused by `NotSent`, so
                that no final text waits behind it
    """

    address: Address
    text: str
    key: str = ""
    reply_to: str = ""
    buttons: tuple[tuple[Button, ...], ...] = ()
    file: OutboundFile | None = None
    preview: bool = False


class PreviewStyle(enum.StrEnum):
    """How a reply may be shown while it is being written."""

    NONE = "none"
    DRAFT = "draft"  # the platform shows it for a while and forgets it; the final is a message of its own
    EDIT = "edit"  # a message that is edited; the final is its last edit


@dataclass(frozen=True, slots=True)
class Pace:
    """How a chat is to be treated: `interval` is the seconds between two previews; `quotes`: a reply names the message
    it answers even where nothing else could be meant."""

    preview: PreviewStyle
    interval: float = 1.5
    quotes: bool = False


class SendError(Exception):
    """A platform did not take what was to be sent. The subclass says what may be done about it."""


class NotSent(SendError):
    """Certainly not sent and worth another try, not before `retry_after` seconds."""

    def __init__(self, message: str, retry_after: float = 0.0) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class AnswerLost(NotSent):
    """It may have been sent, but another try with the same key does no harm: the platform knows a repeat when it sees
    one, for as long as `Channel.repeat_window` says."""


class OutcomeUnknown(SendError):
    """The connection ended while the platform had the request: it may or may not have been sent."""


class Refused(SendError):
    """The platform will never take this. The text says why."""


class TooLong(Refused):
    """The text is longer than the platform takes; a shorter one may be taken."""


class ChatGone(Refused):
    """Nothing reaches that chat: it is gone, or the bot was blocked or may not write there."""


class NotFetched(Exception):
    """An attachment's bytes could not be had. The text, a sentence for its sender, says why. `passing`: a later try may
    succeed."""

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
    """`in_touch`: though it is degraded, it is connected; what is wrong is on our side (a disk that takes nothing)."""

    state: Health
    last_error: str = ""
    in_touch: bool = False

    @property
    def is_connected(self) -> bool:
        """Whether people reach us through it now."""
        return self.state is Health.OK or self.in_touch


class SourceFailed(Exception):
    """A source cannot go on by itself. `fatal`: starting it again cannot help (a wrong token), so it stays down."""

    def __init__(self, message: str, *, fatal: bool = False) -> None:
        super().__init__(message)
        self.fatal = fatal


class Source(Protocol):
    """Something that turns the world into events."""

    @property
    def name(self) -> str: ...

    async def run(self, receive: Receive) -> None:
        """Offer events until cancelled. Raises `SourceFailed`; any other exception is a bug that the supervisor reports
        before it starts the source again (`run` may be called again after it ended)."""


@dataclass(frozen=True, slots=True)
class CommandInfo:
    """A command for the platform's menu: a name of `[a-z]` and a sentence. `owner_only`: not shown in groups. `usage`:
    what may stand behind the name, in brackets what need not."""

    name: str
    description: str
    owner_only: bool = False
    usage: str = ""


class Channel(Source, Protocol):
    """A platform that people talk in. Allow-lists, retries, queues and commands are the gateway's, not its."""

    @property
    def status(self) -> ChannelStatus: ...

    def pace(self, address: Address) -> Pace: ...

    def reachable(self, address: Address) -> bool:
        """Whether a message sent now would get to somebody. Where not, nothing is begun: it waits."""

    def repeat_window(self, message: OutboundMessage) -> float:
        """Seconds after a send during which the platform knows a repeat by its key and does nothing but answer as it
        did. 0: it has no such keys."""

    def largest_file(self, address: Address) -> int:
        """Bytes of the largest file that a message to that chat may have; 0: this channel sends no files."""

    def split(self, text: str) -> list[str]:
        """Cut Markdown into pieces that each fit one message once rendered. Never empty for text that is not blank."""

    async def send(self, message: OutboundMessage) -> str:
        """Send one piece; returns its platform id. Raises `NotSent`, `OutcomeUnknown` or `Refused`. Text that the
        platform refuses as markup is sent once more as plain text before anything is raised."""

    async def edit(self, platform_id: str, message: OutboundMessage) -> None:
        """Replace a sent message. Idempotent; an unchanged text is not an error. Raises like `send`
        (`Refused` where the message is gone)."""

    async def draft(self, draft_id: int, message: OutboundMessage) -> None:
        """Show a draft (only where `pace` says DRAFT). Raises like `send`; a lost draft is not repeated.
        `Refused` means that this chat has no drafts."""

    async def fetch(self, attachment: Attachment, to: Path, most: int) -> None:
        """Write an attachment's bytes into the file `to`, never more than `most` bytes. Raises `NotFetched`, and
        `OSError` where the file cannot be written."""

    async def react(self, address: Address, platform_id: str, emoji: str) -> None:
        """Put a sign on a message, in place of an earlier one of ours; empty takes it away. Never raises for what the
        platform says: nobody would miss it."""

    def typing(self, address: Address) -> AbstractAsyncContextManager[None]:
        """Show the sign of typing while inside. Never raises for what the platform says."""

    async def aclose(self) -> None:
        """Release connections. The channel is not used after."""
