"""Events in through `DiscordClient`, `EventIntake` and `inbound`, messages out through REST.

Library errors are translated and raised `from None`, because they may carry an address with a token in it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path
from typing import Any, Literal

import discord

from agent.languages.sentences import Sentence
from channels.discord import format as look
from channels.discord.client import ClientOptions, DiscordClient, Where
from channels.discord.command_sync import sync
from channels.discord.connection import DiscordConnection, DiscordShard, Hearing
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
from channels.discord.inbound import CHANNEL, INTERACTION
from channels.discord.intake import ChannelFilter
from channels.discord.interactions import InteractionAnswers, Interactions
from channels.discord.last_seen import PositionsInMemory
from channels.discord.outbound import UnconfirmedSends, content, form, sending, target_chat
from channels.discord.presence import DiscordPresence
from channels.discord.rate_limit import GlobalRateLimit
from channels.discord.shards import IdentifyPace, Shard, combined
from channels.json_fields import Json
from channels.manifest import PositionStore
from channels.message import (
    Address,
    AnswerLost,
    Attachment,
    Capabilities,
    ChannelStatus,
    CommandInfo,
    Health,
    NotFetched,
    NotSent,
    OutboundMessage,
    OutcomeUnknown,
    PreviewStyle,
    Receive,
    Refused,
    RunSource,
    Slot,
    Source,
)
from channels.split import split
from channels.tasks import Pause

log = logging.getLogger(__name__)

_PREVIEW_INTERVAL = 1.2
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


def _free(_key: str, _seconds: float) -> AbstractAsyncContextManager[None]:
    return nullcontext()


async def _run(source: Source, receive: Receive) -> None:
    await source.run(receive)


class DiscordChannel:
    """Discord's adapter. Call `aclose` after the last use; `run` may be called again.

    With shards, `run` logs in for sending, and each shard is a source of its own that need not run in this process.
    """

    def __init__(
        self,
        token: str,
        *,
        api_url: str = "https://discord.com/api/v10",
        commands: Sequence[CommandInfo] = (),
        hears: ChannelFilter = _hears_all,
        seen: PositionStore | None = None,
        pause: Pause = asyncio.sleep,
        silence: float = 60.0,
        answer_timeout: float = 10.0,
        shards: int | Literal["auto"] | None = None,
        run_shard: RunSource = _run,
        slot: Slot = _free,
    ) -> None:
        """`hears` selects server channels. `pause` waits between typing indicators and short-lived connections.
        `silence`: seconds without data before reconnecting (Discord asks for a heartbeat every 41). `answer_timeout`:
        seconds for a try to answer an interaction. `shards`: how many connections share the bot's servers, None for a
        single connection; `run_shard` runs a shard, or leaves it to another process; a shard logs in inside `slot`."""
        self._commands = tuple(commands)
        self._client: DiscordClient | None = None
        self._rate_limit = GlobalRateLimit()
        self._options = ClientOptions(token, api_url, pause, silence, self._rate_limit)
        self._interactions = Interactions(answer_timeout / 2, are_shared=shards is not None)
        self._answers = InteractionAnswers(self._interactions, answer_timeout)
        self._unconfirmed = UnconfirmedSends(KNOWS_REPEATS)
        self._private_chats: dict[str, str] = {}
        self._presence = DiscordPresence(lambda: self._client, pause, self._private_chats)
        names = frozenset(name for command in commands for name in (command.name, *command.other_names))
        self._hearing = Hearing(names, hears, seen or PositionsInMemory(), self._interactions, pause)
        self._connection = DiscordConnection(self._hearing, Shard())
        self._wanted_shards = shards
        self._run_shard = run_shard
        self._shards: tuple[DiscordShard, ...] = ()
        self._pace = IdentifyPace(pause, slot)
        self._account = ""

    @property
    def name(self) -> str:
        return CHANNEL

    @property
    def status(self) -> ChannelStatus:
        status = self._connection.status
        if status.state is Health.OK:
            status = combined([(shard.shard, shard.status) for shard in self._shards])
        if status.state is Health.OK and (why := self._rate_limit.shut_out):
            return ChannelStatus(Health.DEGRADED, why)
        return status

    @property
    def account(self) -> str:
        """The bot's name; empty until it is known."""
        return self._account

    # In

    async def run(self, receive: Receive) -> None:
        """Raises `SourceFailed` and errors of `receive`; the next run fetches refused messages from the history."""
        async with self._connection.reported():
            client = await DiscordClient.open(self._options)
            before, self._client = self._client, client
            if before is not None:
                await before.aclose()
            self._account = client.user_name
            log.info("connected as %s", self._account)
            async with asyncio.TaskGroup() as group:
                group.create_task(self._register_commands(client))
                if self._wanted_shards is None:
                    group.create_task(self._connection.listen(client, receive))
                else:
                    group.create_task(self._listen_in_shards(client, receive))

    async def _listen_in_shards(self, client: DiscordClient, receive: Receive) -> None:
        count = (await client.session_start()).shards if self._wanted_shards == "auto" else self._wanted_shards
        assert count is not None
        shards = [Shard(number, count) for number in range(count)]
        self._shards = tuple(DiscordShard(shard, self._options, self._pace, self._hearing) for shard in shards)
        self._connection.connected()
        log.info("%d connections share the servers", count)
        async with asyncio.TaskGroup() as group:
            for shard in self._shards:
                group.create_task(self._run_shard(shard, receive), name=shard.name)

    async def _register_commands(self, client: DiscordClient) -> None:
        try:
            if self._commands and await sync(client, self._commands):
                log.info("Discord's command menu was updated")
        except CALL_FAILED as error:
            log.warning("updating Discord's command menu failed: %s", redacted(error))

    # Out

    def capabilities(self, address: Address) -> Capabilities:
        """Reachable while connected: Discord keeps messages for people who are away."""
        return Capabilities(
            PreviewStyle.EDIT, _PREVIEW_INTERVAL, largest_file=MAX_UPLOAD, is_reachable=self._client is not None
        )

    def repeat_window(self, message: OutboundMessage) -> float:
        return KNOWS_REPEATS if message.key and not message.reply_to.startswith(INTERACTION) else 0.0

    def split(self, text: str) -> list[str]:
        return split(text, look.length, look.MAX_TEXT)

    async def send(self, message: OutboundMessage) -> str:
        client = self._open_client()
        if answered := await self._answers.give(client, message):
            return answered
        chat = self._private_chats.get(target_chat(message), target_chat(message))
        if message.preview:
            _keep_capacity(client, "POST", _MESSAGES, {"channel_id": chat})
        self._unconfirmed.check(message.key)
        try:
            async with asyncio.timeout(CALL_TIMEOUT):
                sent = await self._send(client, chat, message)
            message_id = str(sent["id"])
        except CALL_FAILED as error:
            failed = send_error(error, repeatable=bool(message.key))
        except ODD_ANSWER as error:
            kind: type[NotSent | OutcomeUnknown] = AnswerLost if message.key else OutcomeUnknown
            failed = kind(f"Discord's answer cannot be read: {redacted(error)}")
        else:
            self._unconfirmed.settled(message.key)
            return message_id
        self._unconfirmed.after(message.key, failed)
        raise failed from None

    async def _send(self, client: DiscordClient, chat: str, message: OutboundMessage) -> Any:
        try:
            return await self._post(client, chat, message, reply=True)
        except discord.HTTPException as error:
            if is_about_reply(error) and message.reply_to:
                return await self._post(client, chat, message, reply=False)
            if is_about_text(error) and message.text:
                return await self._post(client, chat, message, reply=True, is_plain=True)
            if code(error) == UNKNOWN_CHANNEL and (private := await self._private_chat_with(client, chat)):
                return await self._post(client, private, message, reply=True)
            raise

    @staticmethod
    async def _post(
        client: DiscordClient, chat: str, message: OutboundMessage, *, reply: bool, is_plain: bool = False
    ) -> Any:
        payload = sending(message, reply=reply, is_plain=is_plain)
        if message.file is None:
            return await client.call("POST", _MESSAGES, {"channel_id": chat}, json=payload)
        try:
            file = await asyncio.to_thread(discord.File, message.file.path, filename=message.file.name)
        except OSError as error:
            raise Refused(
                Sentence(
                    "{name} cannot be read any more: {why}", name=message.file.name, why=error.strerror or str(error)
                )
            ) from None
        try:
            fields = form(payload, file.filename, file.fp)
            return await client.upload(_MESSAGES, {"channel_id": chat}, [file], fields)
        finally:
            file.close()

    async def _private_chat_with(self, client: DiscordClient, user: str) -> str:
        try:
            found: object = await client.call("POST", "/users/@me/channels", json={"recipient_id": user})
        except CALL_FAILED:
            return ""
        chat = str(found.get("id", "")) if isinstance(found, dict) else ""
        if chat:
            self._private_chats[user] = chat
        return chat

    async def edit(self, platform_id: str, message: OutboundMessage) -> None:
        client = self._open_client()
        if await self._answers.change(client, message):
            return
        chat = self._private_chats.get(target_chat(message), target_chat(message))
        where = {"channel_id": chat, "message_id": platform_id}
        if message.preview:
            _keep_capacity(client, "PATCH", _MESSAGE, where)
        try:
            async with asyncio.timeout(PREVIEW_TIMEOUT if message.preview else CALL_TIMEOUT):
                try:
                    await client.call("PATCH", _MESSAGE, where, json=content(message))
                except discord.HTTPException as error:
                    if message.preview or not is_about_text(error):
                        raise
                    await client.call("PATCH", _MESSAGE, where, json=content(message, is_plain=True))
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
            client = self._open_client()
            async with asyncio.timeout(CALL_TIMEOUT):
                found: object = await client.call("GET", _MESSAGE, {"channel_id": chat, "message_id": message_id})
                return found if isinstance(found, dict) else {}
        except NotSent as error:
            raise NotFetched(str(error), passing=True) from None
        except discord.HTTPException as error:
            gone = error.status in (403, 404)
            why = "the message with it is gone" if gone else f"Discord did not provide it: {redacted(error)}"
            raise NotFetched(why, passing=not gone) from None
        except CALL_FAILED as error:
            raise NotFetched(f"Discord did not provide it: {redacted(error)}", passing=True) from None

    async def react(self, address: Address, platform_id: str, emoji: str) -> None:
        await self._presence.react(address, platform_id, emoji)

    def typing(self, address: Address) -> AbstractAsyncContextManager[None]:
        return self._presence.typing(address)

    async def aclose(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()
        self._connection.status = ChannelStatus(Health.OFF)

    def _open_client(self) -> DiscordClient:
        if self._client is None:
            raise NotSent("there is no connection to Discord yet")
        return self._client


def _keep_capacity(client: DiscordClient, method: str, path: str, where: Where) -> None:
    """Raises `NotSent` if a preview would take the last call of a rate limit."""
    if wait := client.wait_for_capacity(method, path, where):
        raise NotSent("a final text may want the room that is left", retry_after=wait)
