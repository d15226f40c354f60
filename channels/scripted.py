"""A channel without a platform, controlled by its caller: `say` sends a message, `heard` lists the replies."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from channels.message import (
    Address,
    Attachment,
    Capabilities,
    ChannelStatus,
    ChatKind,
    Event,
    Health,
    InboundMessage,
    NotFetched,
    Origin,
    OutboundMessage,
    PreviewStyle,
    Quote,
    Receive,
    Refused,
    Sender,
    SendError,
    TooLong,
)
from channels.split import split

_MOST_BUTTON_BYTES = 64
"""As Telegram has it."""


@dataclass(frozen=True, slots=True)
class Sent:
    platform_id: str
    message: OutboundMessage


@dataclass(frozen=True, slots=True)
class Edited:
    platform_id: str
    message: OutboundMessage


@dataclass(frozen=True, slots=True)
class Drafted:
    draft_id: int
    message: OutboundMessage


@dataclass(frozen=True, slots=True)
class Typing:
    address: Address
    on: bool


@dataclass(frozen=True, slots=True)
class Reacted:
    platform_id: str
    emoji: str


Act = Sent | Edited | Drafted | Typing | Reacted
"""An effect on the platform."""


@dataclass(frozen=True, slots=True)
class _Failure:
    error: SendError
    delivered: bool


class ScriptedChannel:
    """`history` lists all effects in order; `offered` counts batches passed to `receive`; people write at `instant`."""

    def __init__(
        self,
        name: str = "scripted",
        *,
        limit: int = 4096,
        preview: PreviewStyle = PreviewStyle.NONE,
        interval: float = 0.0,
        drafts_in_groups: bool = True,
        repeat_window: float = 0.0,
        largest_file: int = 10_000_000,
    ) -> None:
        self.history: list[Act] = []
        self.offered = 0
        self.instant: Callable[[], datetime] = partial(datetime.now, UTC)
        self._name = name
        self._limit = limit
        self._preview = preview
        self._interval = interval
        self._drafts_in_groups = drafts_in_groups
        self._repeat_window = repeat_window
        self._largest_file = largest_file
        self._status = ChannelStatus(Health.OFF)
        self._waiting: deque[Event] = deque()
        self._groups: set[str] = set()
        self._shown: dict[str, OutboundMessage] = {}
        self._failures: deque[_Failure] = deque()
        self._files: dict[str, bytes | NotFetched] = {}
        self._next_id = 1
        self._changed = asyncio.Event()
        self._open = asyncio.Event()
        self._open.set()

    # the person's side

    def say(
        self,
        text: str,
        chat: str = "1",
        sender: str = "11111",
        *,
        name: str = "",
        thread: str | None = None,
        group: bool = False,
        calls_bot: bool = True,
        is_bot: bool = False,
        edit_of: str = "",
        continues: bool = False,
        album: str = "",
        quote: Quote | None = None,
        attachments: Sequence[Attachment] = (),
        id: str = "",
        sent_at: datetime | None = None,
        language: str = "",
    ) -> InboundMessage:
        """`edit_of`: an earlier `platform_id`."""
        number = self._number()
        message = InboundMessage(
            id=id or f"said:{number}",
            address=Address(self._name, chat, thread),
            kind=ChatKind.GROUP if group else ChatKind.PRIVATE,
            sender=Sender(sender, name or f"Person {sender}", is_bot, language),
            text=text,
            sent_at=sent_at or self.instant(),
            platform_id=edit_of or number,
            attachments=tuple(attachments),
            quote=quote,
            calls_bot=calls_bot or not group,
            edit=bool(edit_of),
            continues=continues,
            album=album,
            group_name=f"Group {chat}" if group else "",
        )
        self.push(message)
        return message

    def attach(
        self, content: bytes | NotFetched, name: str = "", kind: str = "document", media_type: str = ""
    ) -> Attachment:
        handle = f"file:{self._number()}"
        self._files[handle] = content
        size = len(content) if isinstance(content, bytes) else None
        return Attachment(kind, name, size, media_type, handle)

    def press(
        self, platform_id: str, label: str, sender: str = "11111", sent_at: datetime | None = None
    ) -> InboundMessage:
        """Raises `KeyError` if no button has the label."""
        shown = self._shown[platform_id]
        data = {button.label: button.data for row in shown.buttons for button in row}[label]
        number = self._number()
        message = InboundMessage(
            id=f"pressed:{number}",
            address=shown.address,
            kind=ChatKind.GROUP if shown.address.chat_id in self._groups else ChatKind.PRIVATE,
            sender=Sender(sender, f"Person {sender}"),
            text=data,
            sent_at=sent_at or self.instant(),
            platform_id=platform_id,
            origin=Origin.COMMAND,
        )
        self.push(message)
        return message

    def push(self, event: Event) -> None:
        if isinstance(event, InboundMessage) and event.kind is ChatKind.GROUP:
            self._groups.add(event.address.chat_id)
        self._waiting.append(event)
        self._announce()

    def heard(self, chat: str = "1", thread: str | None = None) -> list[str]:
        """The texts in a chat, oldest first, edits applied, without drafts."""
        return [
            message.text
            for message in self._shown.values()
            if (message.address.chat_id, message.address.thread_id) == (chat, thread)
        ]

    def standing(self, chat: str = "1", thread: str | None = None) -> dict[str, OutboundMessage]:
        """The messages in a chat by platform id, oldest first."""
        return {
            id: message
            for id, message in self._shown.items()
            if (message.address.chat_id, message.address.thread_id) == (chat, thread)
        }

    def drafts(self, chat: str = "1", thread: str | None = None) -> list[str]:
        return [
            act.message.text
            for act in self.history
            if isinstance(act, Drafted)
            and (act.message.address.chat_id, act.message.address.thread_id) == (chat, thread)
        ]

    def is_typing(self, chat: str = "1") -> bool:
        signs = [act.on for act in self.history if isinstance(act, Typing) and act.address.chat_id == chat]
        return sum(1 if on else -1 for on in signs) > 0

    async def wait_heard(self, count: int = 1, chat: str = "1", thread: str | None = None) -> list[str]:
        await self.wait_until(lambda: len(self.heard(chat, thread)) >= count)
        return self.heard(chat, thread)

    async def wait_until(self, reached: Callable[[], bool]) -> None:
        while not reached():
            await self._changed.wait()

    # the platform's side

    def fail_next(self, error: SendError, *, delivered: bool = False, times: int = 1) -> None:
        """Makes the next sends, edits or drafts raise `error`; `delivered`: the message is shown all the same."""
        self._failures.extend([_Failure(error, delivered)] * times)

    @contextmanager
    def hold(self) -> Iterator[None]:
        self._open.clear()
        try:
            yield
        finally:
            self._open.set()

    # Channel

    @property
    def name(self) -> str:
        return self._name

    @property
    def status(self) -> ChannelStatus:
        return self._status

    async def run(self, receive: Receive) -> None:
        """Offers all messages in one batch, again if `receive` raised."""
        self._status = ChannelStatus(Health.OK)
        try:
            while True:
                await self.wait_until(lambda: bool(self._waiting))
                batch = tuple(self._waiting)
                self.offered += 1
                await receive(batch)
                for _ in batch:
                    self._waiting.popleft()
                self._announce()
        except Exception as error:
            self._status = ChannelStatus(Health.DOWN, str(error))
            raise
        finally:
            self._announce()

    def capabilities(self, address: Address) -> Capabilities:
        preview = self._preview
        if preview is PreviewStyle.DRAFT and not self._has_drafts(address):
            preview = PreviewStyle.EDIT
        return Capabilities(preview, interval=self._interval, largest_file=self._largest_file)

    def repeat_window(self, message: OutboundMessage) -> float:
        return self._repeat_window

    def split(self, text: str) -> list[str]:
        return split(text, len, self._limit)

    async def send(self, message: OutboundMessage) -> str:
        failure = await self._gate(message)
        known = self._sent_before(message) if self._repeat_window else None
        platform_id = known or self._number()
        if known is None and (failure is None or failure.delivered):
            self._shown[platform_id] = message
            self._record(Sent(platform_id, message))
        if failure is not None:
            raise failure.error
        return platform_id

    async def edit(self, platform_id: str, message: OutboundMessage) -> None:
        failure = await self._gate(message)
        if failure is None or failure.delivered:
            if platform_id not in self._shown:
                raise Refused(f"there is no message {platform_id} in {message.address}")
            self._shown[platform_id] = message
            self._record(Edited(platform_id, message))
        if failure is not None:
            raise failure.error

    async def draft(self, draft_id: int, message: OutboundMessage) -> None:
        if not self._has_drafts(message.address):
            raise Refused(f"{message.address} has no drafts")
        failure = await self._gate(message)
        if failure is not None:
            raise failure.error
        self._record(Drafted(draft_id, message))

    async def fetch(self, attachment: Attachment, to: Path, most: int) -> None:
        found = self._files.get(attachment.handle, NotFetched("there is no such file any more"))
        if isinstance(found, NotFetched):
            raise found
        if len(found) > most:
            raise NotFetched(f"it has {len(found)} bytes; {most} are allowed")
        await asyncio.to_thread(to.write_bytes, found)

    async def react(self, address: Address, platform_id: str, emoji: str) -> None:
        self._record(Reacted(platform_id, emoji))

    async def aclose(self) -> None:
        self._status = ChannelStatus(Health.OFF)

    @asynccontextmanager
    async def typing(self, address: Address) -> AsyncIterator[None]:
        self._record(Typing(address, on=True))
        try:
            yield
        finally:
            self._record(Typing(address, on=False))

    def _has_drafts(self, address: Address) -> bool:
        return self._preview is PreviewStyle.DRAFT and (self._drafts_in_groups or address.chat_id not in self._groups)

    def _sent_before(self, message: OutboundMessage) -> str | None:
        acts = (act for act in self.history if isinstance(act, Sent) and message.key)
        return next((act.platform_id for act in acts if act.message.key == message.key), None)

    async def _gate(self, message: OutboundMessage) -> _Failure | None:
        if not message.text.strip() and message.file is None:
            raise Refused("the text is empty")
        if len(message.text) > self._limit:
            raise TooLong(f"the text has {len(message.text)} characters; {self._limit} are allowed")
        for button in (button for row in message.buttons for button in row):
            if not 1 <= len(button.data.encode()) <= _MOST_BUTTON_BYTES:
                raise Refused(f"the button {button.label!r} carries {len(button.data.encode())} bytes")
        await self._open.wait()
        return self._failures.popleft() if self._failures else None

    def _number(self) -> str:
        number, self._next_id = self._next_id, self._next_id + 1
        return str(number)

    def _record(self, act: Act) -> None:
        self.history.append(act)
        self._announce()

    def _announce(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()
