"""Messages in through `Poller` and `inbound`, out through the library's `Bot`.

Library errors are translated and raised `from None`, because they may carry an address with the token.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from telegram import (
    BotCommand,
    BotCommandScopeAllGroupChats,
    BotCommandScopeAllPrivateChats,
    InputFile,
    LinkPreviewOptions,
    Message,
)
from telegram.error import (
    ChatMigrated,
    InvalidToken,
    RetryAfter,
    TelegramError,
)

from agent.languages.codes import ALL_LANGUAGES, Language
from channels.message import (
    Address,
    Attachment,
    Capabilities,
    ChannelStatus,
    CommandInfo,
    Event,
    Health,
    OutboundMessage,
    OutcomeUnknown,
    PreviewStyle,
    Receive,
    Refused,
    SendError,
)
from channels.split import split
from channels.tasks import Pause, end, in_background
from channels.telegram import format as look
from channels.telegram.api import connect
from channels.telegram.drafts import Drafts
from channels.telegram.edit_cache import EditCache, MessageId
from channels.telegram.errors import (
    ODD_ANSWER,
    is_about_text,
    is_about_topic,
    is_about_upload,
    is_unchanged,
    redacted,
    send_error,
)
from channels.telegram.files import MAX_UPLOAD, Downloads, UploadKind, prepared
from channels.telegram.inbound import ALLOWED_UPDATES, CHANNEL, TelegramIdentity, migrated, read, unreadable
from channels.telegram.migrations import ChatMigrations
from channels.telegram.outbound import Attempt, keyboard, library_entities, number, reply_to
from channels.telegram.poller import LONG_POLL, Poller, PollFailures
from channels.telegram.presence import TelegramPresence

log = logging.getLogger(__name__)

PRIVATE = Capabilities(PreviewStyle.DRAFT, interval=1.0, largest_file=MAX_UPLOAD)
PRIVATE_WITHOUT_DRAFTS = Capabilities(PreviewStyle.EDIT, interval=1.5, largest_file=MAX_UPLOAD)
GROUP = Capabilities(PreviewStyle.EDIT, interval=3.5, largest_file=MAX_UPLOAD)
"""A group takes 20 messages and edits a minute (Bots FAQ); drafts and typing share 20 calls in 5 s."""

CONNECTIONS = 8
"""Enough for Telegram's 30 messages a second, at a quarter of a second each. The library's pool scans all its
connections twice at every call, which with a hundred costs more than the calls."""
EDIT_TIMEOUT = 8.0
"""Seconds for an edit, which can be repeated freely."""
_UPLOAD_TIMEOUT_FACTOR = 4
"""Timeout factor for a file, which Telegram inspects before it answers."""

_LONGEST_DESCRIPTION = 256
"""Characters for a command of the menu."""

NO_PREVIEW = LinkPreviewOptions(is_disabled=True)

_OLD_ID = "the group became a supergroup, where messages count anew: that id may be another's there"

T = TypeVar("T")


class TelegramChannel:
    """Telegram's adapter. Call `aclose` after the last use; `run` may be called again."""

    def __init__(
        self,
        token: str,
        *,
        base_url: str = "https://api.telegram.org/bot",
        base_file_url: str = "https://api.telegram.org/file/bot",
        commands: Sequence[CommandInfo] = (),
        pause: Pause = asyncio.sleep,
        long_poll: int = LONG_POLL,
        answer_timeout: float = 30.0,
    ) -> None:
        """`pause` waits between failures and typing indicators. `long_poll` and `answer_timeout` (for a send) in
        seconds."""
        self._token, self._base_url = token, base_url
        self._connection = connect(token, base_url, read_timeout=answer_timeout, connections=CONNECTIONS)
        self._bot = self._connection.bot
        self._downloads = Downloads(self._bot, f"{base_file_url}{token}")
        self._upload_timeout = _UPLOAD_TIMEOUT_FACTOR * answer_timeout
        self._commands = tuple(commands)
        self._pause = pause
        self._long_poll = long_poll
        self._identity: TelegramIdentity | None = None
        self._status = ChannelStatus(Health.OFF)
        self._migrations = ChatMigrations()
        self._presence = TelegramPresence(self._bot, pause, self._migrations.ids)
        self._sent_after_migration: set[tuple[int, str]] = set()  # by callers with the old id
        self._drafts = Drafts(self._bot)
        self._edits = EditCache()
        self._answering: set[asyncio.Task[None]] = set()

    @property
    def name(self) -> str:
        return CHANNEL

    @property
    def status(self) -> ChannelStatus:
        return self._status

    @property
    def account(self) -> str:
        """The bot's name; empty until it is known."""
        return f"@{self._identity.username}" if self._identity else ""

    # In

    async def run(self, receive: Receive) -> None:
        """Listens. Raises `SourceFailed` for a wrong token, and errors of `receive`; the next run offers the updates
        again."""
        self._report(ChannelStatus(Health.DEGRADED, "connecting to Telegram", is_connecting=True))
        try:
            with self._migrations.reporting_to(receive):
                await self._listen(receive)
        except Exception as error:
            self._report(ChannelStatus(Health.DOWN, redacted(error)))
            raise
        except asyncio.CancelledError:
            self._report(ChannelStatus(Health.OFF))
            raise

    async def _listen(self, receive: Receive) -> None:
        bot = await self._identify()
        poller = Poller(
            lambda: connect(self._token, self._base_url, read_timeout=float(LONG_POLL), connections=2),
            allowed_updates=ALLOWED_UPDATES,
            report=self._report,
            pause=self._pause,
            long_poll=self._long_poll,
        )
        async with in_background(self._register_commands(), "Telegram's menu of commands", redacted):
            try:
                await poller.run(lambda updates: self._offer(updates, bot, receive))
            finally:
                for task in tuple(self._answering):
                    await end(task, redacted)

    async def _identify(self) -> TelegramIdentity:
        """Retries until Telegram answers. Raises `SourceFailed` for a wrong token."""
        trouble = PollFailures(known_good=self._identity is not None)
        while True:
            try:
                await self._bot.initialize()
                me = self._bot.bot
            except (TelegramError, *ODD_ANSWER) as error:
                delay = trouble.met(error)
                self._report(trouble.status)
                log.warning("getMe failed: %s", self._status.last_error)
                await self._pause(delay)
            else:
                self._identity = TelegramIdentity(me.id, me.username or "")
                self._report(ChannelStatus(Health.OK))
                log.info("connected as %s", self.account)
                return self._identity

    async def _offer(self, updates: Sequence[object], bot: TelegramIdentity, receive: Receive) -> None:
        events = [event for update in updates if (event := _event(update, bot))]
        await self._migrations.offer(events, receive)
        for update in updates:
            if isinstance(update, Mapping) and isinstance(press := update.get("callback_query"), Mapping):
                self._answer_press(str(press.get("id", "")))

    def _answer_press(self, press: str) -> None:

        async def answer() -> None:
            await self._quietly(self._bot.answer_callback_query(press))

        task = asyncio.create_task(answer(), name="answer to a press")
        self._answering.add(task)
        task.add_done_callback(self._answering.discard)

    async def _register_commands(self) -> None:
        for_all = [command for command in self._commands if not command.owner_only]
        menus = ((BotCommandScopeAllPrivateChats(), self._commands), (BotCommandScopeAllGroupChats(), for_all))
        for (scope, commands), language in itertools.product(menus, ALL_LANGUAGES):
            wanted = tuple(
                BotCommand(command.name, command.described(language)[:_LONGEST_DESCRIPTION]) for command in commands
            )
            code = None if language is Language.ENGLISH else str(language)  # none: for everybody else
            if wanted and await self._quietly(self._bot.get_my_commands(scope, code)) != wanted:
                await self._quietly(self._bot.set_my_commands(wanted, scope, code))

    def _report(self, status: ChannelStatus) -> None:
        self._status = status

    # Out

    def capabilities(self, address: Address) -> Capabilities:
        """Always reachable: Telegram keeps messages for people who are away."""
        if self._drafts.exist(address):
            return PRIVATE
        found = GROUP if address.chat_id.startswith("-") else PRIVATE_WITHOUT_DRAFTS
        return found if self._edits.exist else replace(found, preview=PreviewStyle.NONE)

    def repeat_window(self, message: OutboundMessage) -> float:
        return 0.0

    def split(self, text: str) -> list[str]:
        """Takes about 3 ms for a message.

        Rich messages (Bot API 10.1) could hold a long answer, but older apps do not show them, and Telegram would load
        their pictures.
        """
        return split(text, look.length, look.MAX_TEXT)

    async def send(self, message: OutboundMessage) -> str:
        attempt = self._first_attempt(message)
        if message.file is not None:
            attempt = replace(attempt, upload=await prepared(message.file))
        while True:
            try:
                sent = await self._post(attempt, message)
            except TelegramError as error:
                other = await self._other_way(attempt, error, message.text)
                if other is None:
                    raise send_error(error) from None
                attempt = other
            except ODD_ANSWER as error:
                raise OutcomeUnknown(f"Telegram's answer cannot be read: {redacted(error)}") from None
            else:
                if attempt.moved:
                    self._sent_after_migration.add((attempt.chat_id, sent))
                return sent

    async def _post(self, attempt: Attempt, message: OutboundMessage) -> str:
        entities = library_entities(attempt.entities)
        reply_parameters = reply_to(message.reply_to if not attempt.moved else "")
        reply_markup = keyboard(message.buttons)
        if attempt.upload is None:
            sent = await self._bot.send_message(
                attempt.chat_id,
                attempt.text,
                entities=entities,
                message_thread_id=attempt.thread_id,
                link_preview_options=NO_PREVIEW,
                reply_parameters=reply_parameters,
                reply_markup=reply_markup,
            )
            self._edits.note_shown((attempt.chat_id, sent.message_id), attempt, message.buttons)
            return str(sent.message_id)
        sent = await self._uploader(attempt.upload.kind)(
            attempt.chat_id,
            InputFile(attempt.upload.content, attempt.upload.name),
            caption=attempt.text or None,
            caption_entities=entities,
            message_thread_id=attempt.thread_id,
            reply_parameters=reply_parameters,
            reply_markup=reply_markup,
            read_timeout=self._upload_timeout,
        )
        return str(sent.message_id)

    def _uploader(self, kind: UploadKind) -> Callable[..., Awaitable[Message]]:
        match kind:
            case UploadKind.PHOTO:
                return self._bot.send_photo
            case UploadKind.VOICE:
                return self._bot.send_voice
            case UploadKind.AUDIO:
                return self._bot.send_audio
            case UploadKind.DOCUMENT:
                return self._bot.send_document

    async def edit(self, platform_id: str, message: OutboundMessage) -> None:
        attempt = self._first_attempt(message)
        message_id = (attempt.chat_id, number(platform_id, "message"))
        if attempt.moved and (attempt.chat_id, platform_id) not in self._sent_after_migration:
            raise Refused(_OLD_ID)
        while not self._edits.is_current(message_id, attempt, message.buttons):
            try:
                await self._bot.edit_message_text(
                    attempt.text,
                    chat_id=attempt.chat_id,
                    message_id=message_id[1],
                    entities=library_entities(attempt.entities),
                    link_preview_options=NO_PREVIEW,
                    reply_markup=keyboard(message.buttons),
                    read_timeout=EDIT_TIMEOUT,
                )
            except TelegramError as error:
                if is_unchanged(error):
                    break
                if isinstance(error, ChatMigrated):
                    await self._migrations.learn(migrated(attempt.chat_id, error.new_chat_id))
                    raise Refused(_OLD_ID) from None
                if not is_about_text(error) or attempt.plain:
                    raise await self._edit_failed(message_id, send_error(error), error) from None
                attempt = attempt.as_plain(message.text)
            except ODD_ANSWER as error:
                odd = OutcomeUnknown(f"Telegram's answer cannot be read: {redacted(error)}")
                raise await self._edit_failed(message_id, odd, error) from None
            else:
                self._edits.succeeded()
                break
        self._edits.note_shown(message_id, attempt, message.buttons)

    async def _edit_failed(self, message_id: MessageId, failed: SendError, error: Exception) -> SendError:
        """`failed`, or `Refused` if Telegram answers other calls but no edits."""
        if isinstance(error, RetryAfter) or not self._edits.failed(message_id, at_once=isinstance(error, InvalidToken)):
            return failed
        if await self._quietly(self._bot.get_me(read_timeout=EDIT_TIMEOUT)) is None:
            return failed
        self._edits.do_without(redacted(error))
        return failed if isinstance(failed, Refused) else Refused(f"Telegram takes no edits: {redacted(error)}")

    async def draft(self, draft_id: int, message: OutboundMessage) -> None:
        await self._drafts.show(draft_id, message.address, self._first_attempt(message))

    async def fetch(self, attachment: Attachment, to: Path, most: int) -> None:
        await self._downloads.fetch(attachment, to, most)

    async def react(self, address: Address, platform_id: str, emoji: str) -> None:
        await self._presence.react(address, platform_id, emoji)

    def typing(self, address: Address) -> AbstractAsyncContextManager[None]:
        return self._presence.typing(address)

    async def aclose(self) -> None:
        await self._connection.aclose()
        await self._downloads.aclose()
        self._report(ChannelStatus(Health.OFF))

    def _first_attempt(self, message: OutboundMessage) -> Attempt:
        attempt = Attempt.of(message)
        new = self._migrations.ids.get(attempt.chat_id)
        return attempt if new is None else replace(attempt, chat_id=new, thread_id=None, moved=True)

    async def _other_way(self, attempt: Attempt, error: TelegramError, markdown: str) -> Attempt | None:
        """Another attempt after a refusal; each way is tried once."""
        if is_about_text(error) and attempt.text and not attempt.plain:
            return attempt.as_plain(markdown)
        if is_about_topic(error) and attempt.thread_id is not None:
            return replace(attempt, thread_id=None)  # the topic was deleted: better in the chat than nowhere
        if is_about_upload(error) and attempt.upload is not None and attempt.upload.kind is not UploadKind.DOCUMENT:
            return replace(attempt, upload=replace(attempt.upload, kind=UploadKind.DOCUMENT))
        if isinstance(error, ChatMigrated) and not attempt.moved:
            await self._migrations.learn(migrated(attempt.chat_id, error.new_chat_id))
            return replace(attempt, chat_id=error.new_chat_id, thread_id=None, moved=True)
        return None

    async def _quietly(self, call: Awaitable[T]) -> T | None:
        try:
            return await call
        except (TelegramError, *ODD_ANSWER) as error:
            log.info("optional Telegram call failed: %s", redacted(error))
            return None


def _event(update: object, bot: TelegramIdentity) -> Event | None:
    if not isinstance(update, Mapping):
        return unreadable(update, "update is no object")
    try:
        return read(update, bot)
    except Exception as error:
        log.exception("an update could not be read")
        return unreadable(update, f"{type(error).__name__}: {error}")
