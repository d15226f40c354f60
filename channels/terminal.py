"""The terminal of this machine as the owner's channel.

A chat is a session's name (`main` by default). Without a listener messages wait.
"""

from __future__ import annotations

import asyncio
import mimetypes
import os
import shutil
import stat
import sys
import uuid
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from agent.languages.sentences import Sentence
from channels.message import (
    Address,
    Attachment,
    Button,
    Capabilities,
    ChannelStatus,
    ChatKind,
    Health,
    InboundMessage,
    NotFetched,
    NotSent,
    OutboundMessage,
    OutcomeUnknown,
    PreviewStyle,
    Receive,
    Refused,
    Sender,
)

NAME = "terminal"
MAIN_CHAT = "main"
"""The owner's main session; other names are sessions of their own."""
_PREVIEW_INTERVAL = 0.05
"""Seconds; for smooth display, not for a rate limit."""
_STOPPING = Sentence("Daybook is stopping. Please send this again once it is back.")


@dataclass(frozen=True, slots=True)
class TerminalPreview:
    text: str


@dataclass(frozen=True, slots=True)
class Final:
    """`key` identifies it over restarts, and ends in `:error` for an error."""

    id: str
    text: str
    """Ends with `named(buttons)`."""
    reply_to: str = ""
    key: str = ""
    buttons: tuple[Button, ...] = ()


@dataclass(frozen=True, slots=True)
class Busy:
    on: bool


Shown = TerminalPreview | Final | Busy


class Listener(Protocol):
    async def show(self, shown: Shown) -> None:
        """Raises `ConnectionError` if it is certainly not displayed, and `OutcomeUnknown` if it may be; the listener is
        detached then."""


class TerminalMessageNotKept(Exception):
    pass


class TerminalChannel:
    def __init__(self, person: str = "Owner") -> None:
        self._sender = Sender("owner", person)
        self._incoming: asyncio.Queue[tuple[InboundMessage, asyncio.Future[None]]] = asyncio.Queue()
        self._listeners: defaultdict[str, list[Listener]] = defaultdict(list)
        self._busy: Counter[str] = Counter()
        self._status = ChannelStatus(Health.OFF)
        self._closed = False

    # the person's side

    @contextmanager
    def attach(self, session: str, listener: Listener) -> Iterator[None]:
        self._listeners[session].append(listener)
        try:
            yield
        finally:
            self._detach(session, listener)

    async def say(
        self,
        text: str,
        session: str = MAIN_CHAT,
        message_id: str = "",
        attached: Sequence[Path] = (),
        language: str = "",
    ) -> str:
        """Returns the message's id once it is on disk. Raises `TerminalMessageNotKept`.

        `message_id`: chosen by the caller (`new_id`) to know it before an answer can come. `attached`: files of this
        machine. `language`: of the terminal.
        """
        if self._closed:
            raise TerminalMessageNotKept(_STOPPING)
        identity = message_id or new_id()
        message = InboundMessage(
            id=identity,
            address=Address(NAME, session),
            kind=ChatKind.PRIVATE,
            sender=replace(self._sender, language=language),
            text=_writable(text),
            sent_at=datetime.now(UTC),
            platform_id=identity,
            attachments=tuple(
                Attachment("photo" if _is_picture(file) else "document", file.name, handle=str(file))
                for file in attached
            ),
        )
        kept: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._incoming.put_nowait((message, kept))
        await kept
        return identity

    # Channel

    @property
    def name(self) -> str:
        return NAME

    @property
    def status(self) -> ChannelStatus:
        return self._status

    async def run(self, receive: Receive) -> None:
        """Offers each message alone, once. An error of `receive` is raised in `say`."""
        self._status = ChannelStatus(Health.OK)
        try:
            while True:
                message, kept = await self._incoming.get()
                try:
                    await receive([message])
                except asyncio.CancelledError:
                    _settle(kept, TerminalMessageNotKept(_STOPPING))
                    raise
                except Exception as error:
                    self._status = ChannelStatus(Health.DEGRADED, str(error), in_touch=True)
                    not_kept = TerminalMessageNotKept(str(error))
                    not_kept.__cause__ = error
                    _settle(kept, not_kept)
                else:
                    self._status = ChannelStatus(Health.OK)
                    _settle(kept, None)
        finally:
            self._status = ChannelStatus(Health.OFF)

    def capabilities(self, address: Address) -> Capabilities:
        return Capabilities(
            PreviewStyle.DRAFT,
            interval=_PREVIEW_INTERVAL,
            quotes=True,
            largest_file=sys.maxsize,
            plays_sound=False,
            is_reachable=bool(self._listeners[address.chat_id]),
        )

    def repeat_window(self, message: OutboundMessage) -> float:
        return 0.0

    def split(self, text: str) -> list[str]:
        return [text] if text.strip() else []

    async def send(self, message: OutboundMessage) -> str:
        """Raises `NotSent` if no terminal shows the chat, `OutcomeUnknown` if it was lost."""
        text = f"{message.text}{message.file.name}: {message.file.path}" if message.file else message.text
        buttons = tuple(button for row in message.buttons for button in row)
        final = Final(new_id(), text + named(buttons), message.reply_to, message.key, buttons)
        if not await self._show_all(message.address.chat_id, final):
            raise NotSent("no terminal is open for this chat")
        return final.id

    async def edit(self, platform_id: str, message: OutboundMessage) -> None:
        raise Refused("what a terminal has printed cannot be changed")

    async def draft(self, draft_id: int, message: OutboundMessage) -> None:
        await self._show_all(message.address.chat_id, TerminalPreview(message.text))

    async def fetch(self, attachment: Attachment, to: Path, most: int) -> None:
        try:
            await asyncio.to_thread(_copy, Path(attachment.handle), to, most)
        except OSError as error:
            raise NotFetched(f"it can't be read: {error.strerror or error}") from error

    async def react(self, address: Address, platform_id: str, emoji: str) -> None:
        """Does nothing: a terminal has no reactions."""

    async def aclose(self) -> None:
        self._closed = True
        while not self._incoming.empty():
            _, kept = self._incoming.get_nowait()
            _settle(kept, TerminalMessageNotKept(_STOPPING))

    @asynccontextmanager
    async def typing(self, address: Address) -> AsyncIterator[None]:
        chat = address.chat_id
        self._busy[chat] += 1
        try:
            await self._show_busy(chat)
            yield
        finally:
            self._busy[chat] -= 1
            await self._show_busy(chat)

    async def _show_busy(self, chat: str) -> None:
        try:
            await self._show_all(chat, Busy(self._busy[chat] > 0))
        except OutcomeUnknown:
            pass  # a lost terminal needs no indicator

    async def _show_all(self, chat: str, shown: Shown) -> bool:
        """True if a listener has it. Raises `OutcomeUnknown` if one may."""
        unknown: OutcomeUnknown | None = None
        seen = False
        for listener in tuple(self._listeners[chat]):
            try:
                await listener.show(shown)
                seen = True
            except ConnectionError:
                self._detach(chat, listener)
            except OutcomeUnknown as error:
                self._detach(chat, listener)
                unknown = error
        if unknown and not seen:
            raise unknown
        return seen

    def _detach(self, chat: str, listener: Listener) -> None:
        listeners = self._listeners[chat]
        if listener in listeners:
            listeners.remove(listener)


def named(buttons: Sequence[Button]) -> str:
    """The line that shows buttons where nothing can be pressed; empty for none."""
    said = " · ".join(
        button.data if button.label == button.data else f"{button.label}: {button.data}" for button in buttons
    )
    return f"\n({said})" if said else ""


def _is_picture(file: Path) -> bool:
    return (mimetypes.guess_type(file.name)[0] or "").startswith("image/")


def _copy(file: Path, to: Path, most: int) -> None:
    """Raises `NotFetched`, `OSError`."""
    with file.open("rb") as source:
        if not stat.S_ISREG(os.fstat(source.fileno()).st_mode):
            raise NotFetched("it is no file")
        if os.fstat(source.fileno()).st_size > most:
            raise NotFetched(f"the file is larger than the {most / 1e6:.0f} MB that I accept")
        with to.open("wb") as target:
            shutil.copyfileobj(source, target)


def new_id() -> str:
    return uuid.uuid4().hex


def _settle(kept: asyncio.Future[None], failure: TerminalMessageNotKept | None) -> None:
    if kept.done():
        return
    if failure:
        kept.set_exception(failure)
    else:
        kept.set_result(None)


def _writable(text: str) -> str:
    """Text without lone surrogates and NUL."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\0", "")
