"""The Discord channel: events in through `DiscordClient`, `EventIntake` and `inbound`, messages out through REST.

Errors of the library are translated here and raised `from None`, because they may carry an address with a token in it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import discord

from channels.discord import format as look
from channels.discord.client import DiscordClient, Where
from channels.discord.command_sync import sync
from channels.discord.download import Expired, address_in, download, too_large
from channels.discord.errors import (
    CALL_FAILED,
    ODD_ANSWER,
    UNKNOWN_CHANNEL,
    code,
    is_about_reply,
    is_about_text,
    redacted,
    send_error,
)
from channels.discord.inbound import CHANNEL, INTERACTION, DiscordIdentity
from channels.discord.intake import EventIntake, Hears
from channels.discord.interactions import InteractionAnswers, Interactions
from channels.discord.last_seen import PositionsInMemory, PositionStore
from channels.discord.outbound import content, form, room, sending
from channels.discord.presence import DiscordPresence
from channels.discord.rate_limit import GlobalRateLimit
from channels.discord.unconfirmed import UnconfirmedSends
from channels.json_fields import Json
from channels.message import (
    Address,
    AnswerLost,
    Attachment,
    ChannelStatus,
    CommandInfo,
    Health,
    NotFetched,
    NotSent,
    OutboundMessage,
    OutcomeUnknown,
    Pace,
    PreviewStyle,
    Receive,
    Refused,
)
from channels.split import split
from channels.tasks import Pause

log = logging.getLogger(__name__)

PACE = Pace(PreviewStyle.EDIT, interval=1.2)
"""A channel accepts five edits in five seconds, including the final one."""
KNOWS_REPEATS = 120.0
"""Seconds during which a nonce makes a repeat harmless. Discord says "the past few minutes"."""
CALL_TIMEOUT = 90.0
"""Seconds for a call, with the library's waits and retries."""
PREVIEW_TIMEOUT = 5.0
MAX_UPLOAD = 10_000_000
"""Bytes, https://docs.discord.com/developers/reference#uploading-files ("10 MiB"; the smaller reading is safe)."""

_MESSAGES = "/channels/{channel_id}/messages"
_MESSAGE = "/channels/{channel_id}/messages/{message_id}"


def _hears_all(_server: str, _chat: str) -> bool:
    return True


class DiscordChannel:
    """`aclose` it after the last use; `run` may be called again after it ended."""

    def __init__(
        self,
        token: str,
        *,
        api_url: str = "https://discord.com/api/v10",
        commands: Sequence[CommandInfo] = (),
        hears: Hears = _hears_all,
        seen: PositionStore | None = None,
        pause: Pause = asyncio.sleep,
        silence: float = 60.0,
        answer_timeout: float = 10.0,
    ) -> None:
        """`commands` fill the menu. `hears` selects the server channels of interest. `seen` stores the last message of
        each chat. `pause` waits between typing indicators and short-lived connections. `silence`: seconds without data
        before reconnecting (Discord asks for a heartbeat every 41). `answer_timeout`: seconds for a try at answering an
        interaction before the answer goes to the chat."""
        self._token = token
        self._api_url = api_url
        self._commands = tuple(commands)
        self._hears = hears
        self._seen: PositionStore = seen or PositionsInMemory()
        self._pause = pause
        self._silence = silence
        self._session: DiscordClient | None = None
        self._halt = GlobalRateLimit()
        self._interactions = Interactions(answer_timeout / 2)
        self._answers = InteractionAnswers(self._interactions, answer_timeout)
        self._doubts = UnconfirmedSends(KNOWS_REPEATS)
        self._rooms: dict[str, str] = {}
        self._signs = DiscordPresence(lambda: self._session, pause, self._rooms)
        self._status = ChannelStatus(Health.OFF)

    @property
    def name(self) -> str:
        return CHANNEL

    @property
    def status(self) -> ChannelStatus:
        if self._status.state is Health.OK and (why := self._halt.shut_out):
            return ChannelStatus(Health.DEGRADED, why)
        return self._status

    # In

    async def run(self, receive: Receive) -> None:
        """Listens until cancelled. Raises `SourceFailed` and the errors of `receive`; the next run fetches refused
        messages from the history."""
        self._report(ChannelStatus(Health.DEGRADED, "connecting to Discord"))
        try:
            session = await DiscordClient.open(self._token, self._api_url, self._pause, self._silence, self._halt)
            await self._begin(session)
            names = frozenset(command.name for command in self._commands)
            bot = DiscordIdentity(session.user_id, session.user_name, names)
            intake = EventIntake(bot, self._hears, self._seen, self._interactions, self._connected, self._pause)
            async with asyncio.TaskGroup() as group:
                group.create_task(self._register_commands(session))
                group.create_task(intake.run(session, receive))
                group.create_task(self._interactions.tidy(session, self._pause))
                group.create_task(session.listen(intake.offer, self._lost))
        except asyncio.CancelledError:
            self._report(ChannelStatus(Health.OFF))
            raise
        except Exception as error:
            cause = _first(error)
            self._report(ChannelStatus(Health.DOWN, redacted(cause)))
            raise cause from None
        finally:
            self._interactions.give_up()

    async def _begin(self, session: DiscordClient) -> None:
        before, self._session = self._session, session
        if before is not None:
            await before.aclose()

    async def _register_commands(self, session: DiscordClient) -> None:
        try:
            if self._commands and await sync(session, self._commands):
                log.info("Discord has a new menu of commands")
        except CALL_FAILED as error:
            log.warning("Discord did not take the menu of commands: %s", redacted(error))

    def _connected(self) -> None:
        self._report(ChannelStatus(Health.OK))

    def _lost(self) -> None:
        self._report(ChannelStatus(Health.DEGRADED, "the connection to Discord broke and is being taken up again"))

    def _report(self, status: ChannelStatus) -> None:
        self._status = status

    # Out

    def pace(self, address: Address) -> Pace:
        return PACE

    def reachable(self, address: Address) -> bool:
        return self._session is not None  # from then on Discord keeps it for who is away

    def largest_file(self, address: Address) -> int:
        return MAX_UPLOAD

    def repeat_window(self, message: OutboundMessage) -> float:
        """0 for the answer to a command from the menu, which has no nonce."""
        return KNOWS_REPEATS if message.key and not message.reply_to.startswith(INTERACTION) else 0.0

    def split(self, text: str) -> list[str]:
        return split(text, look.length, look.MAX_TEXT)

    async def send(self, message: OutboundMessage) -> str:
        session = self._open_session()
        if answered := await self._answers.give(session, message):
            return answered
        chat = self._rooms.get(room(message), room(message))
        if message.preview:
            _keep_room(session, "POST", _MESSAGES, {"channel_id": chat})
        self._doubts.check(message.key)
        try:
            async with asyncio.timeout(CALL_TIMEOUT):
                sent = await self._sent(session, chat, message)
            message_id = str(sent["id"])
        except CALL_FAILED as error:
            failed = send_error(error, repeatable=bool(message.key))
        except ODD_ANSWER as error:
            failed = _unclear(message.key, error)
        else:
            self._doubts.settled(message.key)
            return message_id
        self._doubts.after(message.key, failed)
        raise failed from None

    async def _sent(self, session: DiscordClient, chat: str, message: OutboundMessage) -> Any:
        try:
            return await self._posted(session, chat, message, reply=True)
        except discord.HTTPException as error:
            if is_about_reply(error) and message.reply_to:
                return await self._posted(session, chat, message, reply=False)
            if is_about_text(error) and message.text:
                return await self._posted(session, chat, message, reply=True, is_plain=True)
            if code(error) == UNKNOWN_CHANNEL and (private := await self._private_chat_with(session, chat)):
                return await self._posted(session, private, message, reply=True)
            raise

    @staticmethod
    async def _posted(
        session: DiscordClient, chat: str, message: OutboundMessage, *, reply: bool, is_plain: bool = False
    ) -> Any:
        payload = sending(message, reply=reply, is_plain=is_plain)
        if message.file is None:
            return await session.call("POST", _MESSAGES, {"channel_id": chat}, json=payload)
        try:
            file = await asyncio.to_thread(discord.File, message.file.path, filename=message.file.name)
        except OSError as error:
            raise Refused(f"the file {message.file.name} cannot be read: {error.strerror}") from None
        try:
            fields = form(payload, file.filename, file.fp)
            return await session.upload(_MESSAGES, {"channel_id": chat}, [file], fields)
        finally:
            file.close()

    async def _private_chat_with(self, session: DiscordClient, user: str) -> str:
        try:
            found: object = await session.call("POST", "/users/@me/channels", json={"recipient_id": user})
        except CALL_FAILED:
            return ""
        chat = str(found.get("id", "")) if isinstance(found, dict) else ""
        if chat:
            self._rooms[user] = chat
        return chat

    async def edit(self, platform_id: str, message: OutboundMessage) -> None:
        session = self._open_session()
        if await self._answers.change(session, message):
            return
        chat = self._rooms.get(room(message), room(message))
        where = {"channel_id": chat, "message_id": platform_id}
        if message.preview:
            _keep_room(session, "PATCH", _MESSAGE, where)
        try:
            async with asyncio.timeout(PREVIEW_TIMEOUT if message.preview else CALL_TIMEOUT):
                try:
                    await session.call("PATCH", _MESSAGE, where, json=content(message))
                except discord.HTTPException as error:
                    if message.preview or not is_about_text(error):
                        raise
                    await session.call("PATCH", _MESSAGE, where, json=content(message, is_plain=True))
        except CALL_FAILED as error:
            raise send_error(error, repeatable=True) from None

    async def draft(self, draft_id: int, message: OutboundMessage) -> None:
        raise Refused("Discord has no drafts")

    async def fetch(self, attachment: Attachment, to: Path, most: int) -> None:
        if (attachment.size or 0) > most:
            raise NotFetched(too_large(most))
        chat, message_id, file_id, url = [*attachment.handle.split("/", 3), "", "", ""][:4]
        if not file_id:
            raise NotFetched("there is nothing to fetch")
        try:
            return await download(url, to, most)
        except Expired:
            message = await self._message(chat, message_id)
        return await download(address_in(message, file_id), to, most)

    async def _message(self, chat: str, message_id: str) -> Json:
        """Raises `NotFetched`."""
        try:
            session = self._open_session()
            async with asyncio.timeout(CALL_TIMEOUT):
                found: object = await session.call("GET", _MESSAGE, {"channel_id": chat, "message_id": message_id})
                return found if isinstance(found, dict) else {}
        except NotSent as error:
            raise NotFetched(str(error), passing=True) from None
        except discord.HTTPException as error:
            gone = error.status in (403, 404)
            why = "the message with it is gone" if gone else f"Discord did not give it: {redacted(error)}"
            raise NotFetched(why, passing=not gone) from None
        except CALL_FAILED as error:
            raise NotFetched(f"Discord did not give it: {redacted(error)}", passing=True) from None

    async def react(self, address: Address, platform_id: str, emoji: str) -> None:
        await self._signs.react(address, platform_id, emoji)

    def typing(self, address: Address) -> AbstractAsyncContextManager[None]:
        return self._signs.typing(address)

    async def aclose(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.aclose()
        self._report(ChannelStatus(Health.OFF))

    def _open_session(self) -> DiscordClient:
        if self._session is None:
            raise NotSent("there is no connection to Discord yet")
        return self._session


def _keep_room(session: DiscordClient, method: str, path: str, where: Where) -> None:
    """Raises `NotSent` if a preview would take the last call that a rate limit leaves."""
    if wait := session.wait_for_room(method, path, where):
        raise NotSent("a final text may want the room that is left", retry_after=wait)


def _unclear(key: str, error: BaseException) -> NotSent | OutcomeUnknown:
    kind: Callable[[str], NotSent | OutcomeUnknown] = AnswerLost if key else OutcomeUnknown
    return kind(f"Discord's answer cannot be read: {redacted(error)}")


def _first(error: Exception) -> Exception:
    """The first error of a task group: later ones are usually its consequences."""
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return error
