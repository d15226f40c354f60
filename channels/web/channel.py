"""The local web page as a channel.

A message counts as sent once it is in the record on disk, from which every page shows the same. Previews are not kept.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import secrets
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from agent.languages.sentences import Sentence
from channels.media_types import PICTURE_TYPES
from channels.message import (
    Address,
    Attachment,
    Capabilities,
    ChannelStatus,
    ChatKind,
    CommandInfo,
    Health,
    InboundMessage,
    NotFetched,
    NotSent,
    Origin,
    OutboundMessage,
    PreviewStyle,
    Receive,
    Refused,
    Sender,
    SourceFailed,
)
from channels.split import split
from channels.web.auth import Auth, Now
from channels.web.clients import OpenPages
from channels.web.connection_limiter import AUTH_SECONDS
from channels.web.frames import MAX_TEXT, MOST_FILES, PressFrame, ResendFrame, SayFrame, StopFrame, UploadedFile
from channels.web.listen import listening, url_host
from channels.web.protocols import WebHost, WebMessageNotKept
from channels.web.record import (
    AGAIN,
    NAME,
    ChatEntry,
    ChatRecord,
    MessageAuthor,
    NotRecorded,
    ShownFile,
    inbound_id,
)
from channels.web.server import WebServer
from channels.web.uploads import Uploads, picture_type, shown_type
from channels.web.views.view import ActionFailed

log = logging.getLogger(__name__)

Sleep = Callable[[float], Awaitable[None]]

_LONGEST_PIECE = 16_000
"""Characters of our message: the page rerenders it with every preview."""
_INTERVAL = 0.1
"""Seconds between previews; for smooth display, not for a rate limit."""
_LARGEST_FILE = 200_000_000
_KNOWN_FOR = 30 * 86_400.0
"""Seconds. The record knows repeats for longer than the outbox retries."""
_TIDY_EVERY = 3_600.0
"""Seconds between clean-ups of unreferenced uploads."""
_MOST_CHARACTERS = f"{MAX_TEXT:_}".replace("_", "\N{NARROW NO-BREAK SPACE}")
"""Grouped in a way that is read in every language."""
_STOPPING = Sentence("Daybook is stopping. Your message will be sent when it is back.")


@dataclass(frozen=True, slots=True)
class _PendingMessage:
    message: InboundMessage
    kept: asyncio.Future[None]

    def settle(self, failure: WebMessageNotKept | None = None) -> None:
        if self.kept.done():  # the page has left
            return
        if failure:
            self.kept.set_exception(failure)
        else:
            self.kept.set_result(None)


class WebChannel:
    """Serves at `host` and `port` (0: any free one) while it runs.

    public_url    where a proxy serves it, as https://daybook.example.org; or ""
    token     called at each start, in a thread; may raise `OSError` or `ValueError` with a sentence
    uploads   folder for files from the page, of at most `largest_upload` bytes each
    commands  offered when a message begins with a slash
    auth_timeout  seconds for a connection to authenticate
    now       seconds since 1970, for sessions and signed paths
    """

    def __init__(
        self,
        token: Callable[[], str],
        record: ChatRecord,
        gateway: WebHost,
        uploads: Path,
        *,
        host: str = "127.0.0.1",
        port: int = 8765,
        public_url: str = "",
        largest_upload: int = 20_000_000,
        commands: Sequence[CommandInfo] = (),
        person: str = "Owner",
        auth_timeout: float = AUTH_SECONDS,
        sleep: Sleep = asyncio.sleep,
        now: Now = time.time,
    ) -> None:
        self._token = token
        self._record = record
        self._gateway = gateway
        self._uploads = Uploads(uploads)
        self._commands = commands
        self._host = host
        self._port = port
        self._public_url = public_url
        self._sender = Sender("owner", person)
        self._sleep = sleep
        self._now = now
        self._pages = OpenPages(record, commands, largest_upload)
        self._server = WebServer(self, self._pages, gateway, record, self._uploads, largest_upload, auth_timeout)
        self._incoming: asyncio.Queue[_PendingMessage] = asyncio.Queue()
        self._accepting = False
        self._status = ChannelStatus(Health.OFF)

    # Channel

    @property
    def name(self) -> str:
        return NAME

    @property
    def status(self) -> ChannelStatus:
        return self._status

    async def run(self, receive: Receive) -> None:
        """Serves the page. Afterwards messages are refused, while open pages still show sent messages."""
        try:
            try:
                token = await asyncio.to_thread(self._token)
            except (OSError, ValueError) as error:
                raise SourceFailed(str(error)) from error
            try:
                ended = await self._record.logged_out()
            except NotRecorded as error:
                raise SourceFailed(str(error)) from error
            await self._server.start()
            async with listening(self._server.protocol, self._host, self._port) as ports:
                self._server.middleware.auth = Auth(token, self._host, ports, self._now, ended, self._public_url)
                self._status = ChannelStatus(Health.OK)
                if self._port and self._port not in ports:
                    log.info("another program is using port %d, so the page is at port %d", self._port, ports[0])
                self._gateway.listens(f"http://{url_host(self._host)}:{ports[0]}")
                self._accepting = True
                async with asyncio.TaskGroup() as group:
                    group.create_task(self._prune_uploads())
                    while True:
                        await self._offer(await self._incoming.get(), receive)
        finally:
            self._accepting = False
            while not self._incoming.empty():
                self._incoming.get_nowait().settle(WebMessageNotKept(_STOPPING))
            self._status = ChannelStatus(Health.OFF)
            self._gateway.listens("")

    def capabilities(self, address: Address) -> Capabilities:
        return Capabilities(PreviewStyle.DRAFT, interval=_INTERVAL, largest_file=_LARGEST_FILE)

    def repeat_window(self, message: OutboundMessage) -> float:
        return _KNOWN_FOR

    def split(self, text: str) -> list[str]:
        return split(text, len, _LONGEST_PIECE)

    async def send(self, message: OutboundMessage) -> str:
        """Returns once the message is in the record. Raises `NotSent` if it cannot be stored."""
        entry = ChatEntry(
            number=0,
            id=_message_id(message.key),
            chat=message.address.chat_id,
            by=MessageAuthor.DAYBOOK,
            text=message.text,
            at=datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            reply_to=message.reply_to,
            turn=_turn_key(message.key),
            is_error=message.key.endswith(":error"),
            buttons=message.buttons,
            files=await asyncio.to_thread(_shown_files, message),
        )
        try:
            kept = await self._record.keep(entry)
        except NotRecorded as error:
            raise NotSent(str(error)) from error
        self._pages.drop_draft(kept.chat, kept.turn)
        await self._pages.show(kept.id)
        return kept.id

    async def edit(self, platform_id: str, message: OutboundMessage) -> None:
        try:
            changed = await self._record.change(platform_id, message.text, message.buttons)
        except NotRecorded as error:
            raise NotSent(str(error)) from error
        if changed is None:
            raise Refused("that message is no longer in the chat")
        await self._pages.show(changed.id)

    async def draft(self, draft_id: int, message: OutboundMessage) -> None:
        await self._pages.draft(message.address.chat_id, _turn_key(message.key), message.text)

    async def fetch(self, attachment: Attachment, to: Path, most: int) -> None:
        try:
            fits = await asyncio.to_thread(self._uploads.copy, attachment.handle, to, most)
        except FileNotFoundError as error:
            raise NotFetched("it is no longer kept; please send it again") from error
        if not fits:
            raise NotFetched(f"the file is larger than the {most / 1e6:.0f} MB that I accept")

    async def react(self, address: Address, platform_id: str, emoji: str) -> None:
        """Does nothing: the page has no reactions."""

    def typing(self, address: Address) -> AbstractAsyncContextManager[None]:
        return self._pages.typing(address.chat_id)

    async def aclose(self) -> None:
        await self._server.aclose()

    # Chat

    async def say(self, chat: str, frame: SayFrame, language: str) -> None:
        attachments = await self._checked(frame.text, frame.files)
        await self._store(self._message(chat, language, frame.id, frame.text, frame.id, attachments))

    async def resend(self, chat: str, frame: ResendFrame, language: str) -> None:
        try:
            old = await self._record.find(frame.message)
        except NotRecorded as error:
            raise WebMessageNotKept(str(error)) from error
        if old is None or old.chat != chat or old.by is not MessageAuthor.PERSON:
            raise WebMessageNotKept(Sentence("That message is no longer in this chat."), again=False)
        named = (f"/{name}" for command in self._commands for name in (command.name, *command.other_names))
        if any(frame.text.lower().split()[:1] == [name] for name in named):
            why = Sentence("A command can't take the place of a message. Send it as a new one.")
            raise WebMessageNotKept(why, again=False)
        files = tuple(UploadedFile(file.handle, file.name, file.media_type) for file in old.files)
        attachments = await self._checked(frame.text, files)
        replaced = inbound_id(old.id, old.replaces)
        if not old.replaced_by:
            try:
                await self._gateway.call("sessions.replaceable", {"channel": NAME, "message": replaced})
            except ActionFailed as error:
                raise WebMessageNotKept(str(error), again=False) from error
        message = self._message(chat, language, f"{AGAIN}{old.id}", frame.text, frame.id, attachments)
        await self._store(replace(message, replaces=replaced))
        try:
            kept = await self._record.find(frame.id)
        except NotRecorded as error:
            raise WebMessageNotKept(str(error)) from error
        if kept is None:
            why = Sentence("That message was changed already, perhaps in another window.")
            raise WebMessageNotKept(why, again=False)

    async def _checked(self, text: str, files: Sequence[UploadedFile]) -> tuple[Attachment, ...]:
        """The attachments of a message. Raises `WebMessageNotKept`."""
        if len(text) > MAX_TEXT:
            why = Sentence("A message can have at most {most} characters. Send it as a file.", most=_MOST_CHARACTERS)
            raise WebMessageNotKept(why, again=False)
        if len(files) > MOST_FILES:
            why = Sentence("A message can have at most {most} files.", most=MOST_FILES)
            raise WebMessageNotKept(why, again=False)
        if not text.strip() and not files:
            raise WebMessageNotKept(Sentence("This message is empty."), again=False)
        return tuple([await asyncio.to_thread(self._attachment, file) for file in files])

    async def press(self, chat: str, frame: PressFrame, language: str) -> None:
        try:
            entry = await self._record.find(frame.message)
        except NotRecorded as error:
            raise WebMessageNotKept(str(error)) from error
        known = entry is not None and entry.chat == chat and entry.by is MessageAuthor.DAYBOOK
        if entry is None or not known or all(button.data != frame.data for row in entry.buttons for button in row):
            raise WebMessageNotKept(Sentence("That button no longer works."), again=False)
        await self._store(self._message(chat, language, frame.id, frame.data, entry.id, origin=Origin.COMMAND))

    async def stop(self, chat: str, frame: StopFrame, language: str) -> None:
        await self._store(self._message(chat, language, frame.id, "/stop", frame.id, origin=Origin.COMMAND))

    def _attachment(self, file: UploadedFile) -> Attachment:
        path = self._uploads.mark_used(file.handle)
        if path is None:
            why = Sentence("{name} is no longer kept. Choose it again.", name=file.name)
            raise WebMessageNotKept(why, again=False)
        picture = picture_type(path)
        kind = "photo" if picture else "audio" if file.media_type.startswith("audio/") else "document"
        claimed = "" if file.media_type.lower() in PICTURE_TYPES else file.media_type
        return Attachment(kind, file.name, path.stat().st_size, picture or claimed, file.handle)

    def _message(
        self,
        chat: str,
        language: str,
        id: str,
        text: str,
        platform_id: str,
        attachments: tuple[Attachment, ...] = (),
        origin: Origin = Origin.CHAT,
    ) -> InboundMessage:
        return InboundMessage(
            id=id,
            address=Address(NAME, chat),
            kind=ChatKind.PRIVATE,
            sender=replace(self._sender, language=language),
            text=text,
            sent_at=datetime.now(UTC),
            platform_id=platform_id,
            attachments=attachments,
            origin=origin,
        )

    async def _store(self, message: InboundMessage) -> None:
        """`run` stores the message even if the page leaves meanwhile. Raises `WebMessageNotKept`."""
        if not self._accepting:
            raise WebMessageNotKept(_STOPPING)
        pending = _PendingMessage(message, asyncio.get_running_loop().create_future())
        self._incoming.put_nowait(pending)
        await pending.kept

    async def _offer(self, pending: _PendingMessage, receive: Receive) -> None:
        try:
            await receive([pending.message])
        except asyncio.CancelledError:
            pending.settle(WebMessageNotKept(_STOPPING))
            raise
        except Exception as error:
            self._status = ChannelStatus(Health.DEGRADED, str(error), in_touch=True)
            pending.settle(WebMessageNotKept(str(error)))
        else:
            self._status = ChannelStatus(Health.OK)
            pending.settle()
            new = pending.message
            await self._pages.show(new.platform_id if new.replaces else new.id)

    async def _prune_uploads(self) -> None:
        while True:
            try:
                await asyncio.to_thread(self._uploads.prune, await self._record.handles())
            except (OSError, NotRecorded) as problem:
                log.warning("deleting old uploads failed: %s", problem)
            await self._sleep(_TIDY_EVERY)


def _message_id(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()[:32] if key else secrets.token_hex(16)


def _turn_key(key: str) -> str:
    return key.removesuffix(":error").rpartition(":")[0]


def _shown_files(message: OutboundMessage) -> tuple[ShownFile, ...]:
    """The files of a message. Blocks."""
    if message.file is None:
        return ()
    try:
        shown_as = shown_type(message.file.path) if message.file.is_image or message.file.is_voice else ""
    except OSError as error:
        raise Refused(f"{message.file.name} cannot be read any more: {error.strerror}") from error
    return (ShownFile(message.file.name, shown_as, message.file.path),)
