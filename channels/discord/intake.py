"""Passes gateway events to `receive` in order; a message counts as seen once it is on disk.

Commands and presses bypass the queue: Discord waits only 3 seconds for their acknowledgement.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import UTC, datetime, timedelta

import discord

from channels.discord.client import DiscordClient
from channels.discord.directory import Directory, DiscordChat
from channels.discord.errors import CALL_FAILED, UNKNOWN_CHANNEL, code, redacted, source_failed
from channels.discord.inbound import DiscordIdentity, read, read_interaction, snowflake, unreadable
from channels.discord.interactions import Interactions
from channels.discord.last_seen import ShardPositions
from channels.discord.shards import Shard
from channels.json_fields import Json, get, object_of, objects_of
from channels.manifest import LastSeen, PositionStore
from channels.message import Event, InboundMessage, Receive, SourceFailed
from channels.tasks import Pause, backoff

log = logging.getLogger(__name__)

MOST_MISSED = timedelta(days=7)
"""Older messages are not answered: the inbox recognizes repeats for nine days."""
_FIRST_BY_CLOCK = snowflake(datetime(2020, 1, 1, tzinfo=UTC))
"""Smaller ids hold no time: they come from another server than Discord's own."""
ACKNOWLEDGE_AFTER = 1.5
"""Seconds to store a command before it is acknowledged; Discord allows 3 for both."""

FIND_WITHIN = 3.0
"""Seconds to look up a channel; later messages wait for it."""
READ_WITHIN = 8.0
"""Seconds for a page of history; new messages wait for it."""
ANNOUNCED_WITHIN = 60.0
"""Seconds until a server that Discord does not announce holds nothing up: some are out of order for good."""
AGAIN_AFTER = 30.0
"""Seconds before a failed lookup is repeated."""
PAGE = 100
"""Messages per page of history."""

_AT_ONCE = 100
_CHATS_AT_ONCE = 8

ChannelFilter = Callable[[str, str], bool]
"""True if messages in a channel (its server, its id) are of interest."""


class NoHistory(Exception):
    """The history of a chat cannot be read. `gone`: the chat no longer exists."""

    def __init__(self, why: str, *, gone: bool = False) -> None:
        super().__init__(why)
        self.gone = gone


async def missed(client: DiscordClient, chat_id: str, after: str, within: float) -> AsyncIterator[Sequence[Json]]:
    """Yields pages of messages newer than `after`, oldest first. `within`: seconds for a page. Raises `NoHistory`,
    `SourceFailed`."""
    path = "/channels/{channel_id}/messages"
    while True:
        query = {"after": after, "limit": str(PAGE)}
        try:
            async with asyncio.timeout(within):
                answer: object = await client.call("GET", path, {"channel_id": chat_id}, query=query)
        except discord.NotFound as error:
            raise NoHistory(redacted(error), gone=code(error) == UNKNOWN_CHANNEL) from None
        except discord.Forbidden as error:
            raise NoHistory(redacted(error)) from None
        except CALL_FAILED as error:
            raise source_failed(error) from None
        if not isinstance(answer, list):
            raise SourceFailed(f"Discord's history of {chat_id} is not a list of messages")
        found = [message for message in answer if isinstance(message, dict)]
        page = sorted(
            (message for message in found if str(message.get("id")).isdecimal()), key=lambda message: int(message["id"])
        )
        if page:
            yield page
            after = page[-1]["id"]
        if len(found) < PAGE:
            return


class EventIntake:
    def __init__(
        self,
        bot: DiscordIdentity,
        hears: ChannelFilter,
        seen: PositionStore,
        interactions: Interactions,
        connected: Callable[[], None],
        pause: Pause,
        shard: Shard,
    ) -> None:
        """`connected` is called when the gateway listens (again). `pause` waits between tries. `shard`: whose events
        the gateway sends."""
        self._bot = bot
        self._hears = hears
        self._seen = ShardPositions(seen, shard)
        self._interactions = interactions
        self._on_connected = connected
        self._directory = Directory(bot.id)
        self._queue: asyncio.Queue[tuple[str, Json]] = asyncio.Queue()
        self._commands: asyncio.Queue[Json] = asyncio.Queue()
        self._known_servers: set[str] = set()
        self._unannounced: set[str] = set()
        self._announced_by = math.inf
        self._pause = pause
        self._postponed: dict[str, tuple[DiscordChat, str]] = {}
        self._has_postponed = asyncio.Event()
        self._ask_again_at: dict[str, float] = {}

    def offer(self, name: str, data: Json) -> None:
        if name == "INTERACTION_CREATE":
            self._interactions.note(data, self)
            self._commands.put_nowait(data)
        else:
            self._queue.put_nowait((name, data))

    async def run(self, client: DiscordClient, receive: Receive) -> None:
        """Passes on what is offered. Raises errors of `receive` and the disk, and `SourceFailed`. While a history is
        unavailable, no message of its chat counts as seen."""
        await self._seen.load()
        async with asyncio.TaskGroup() as group:
            group.create_task(self._pass_on(client, receive))
            group.create_task(self._catch_up_later(client, receive))
            while True:
                data = await self._commands.get()
                group.create_task(self._command(client, receive, data))

    # Messages

    async def _pass_on(self, client: DiscordClient, receive: Receive) -> None:
        while True:
            batch = [await self._queue.get()]
            while len(batch) < _AT_ONCE and not self._queue.empty():
                batch.append(self._queue.get_nowait())
            messages: list[tuple[Json, DiscordChat, bool]] = []
            for name, data in batch:
                if name in ("MESSAGE_CREATE", "MESSAGE_UPDATE"):
                    if (chat := await self._chat_of(client, data)) and self._is_heard(chat):
                        messages.append((data, chat, name == "MESSAGE_UPDATE"))
                else:
                    await self._offer(receive, messages, is_live=True)
                    messages = []
                    await self._apply(client, receive, name, data)
            await self._offer(receive, messages, is_live=True)

    async def _offer(
        self, receive: Receive, messages: Sequence[tuple[Json, DiscordChat, bool]], *, is_live: bool
    ) -> None:
        events = [event for data, chat, edit in messages if (event := self._event(data, chat, edit=edit))]
        if events:
            await receive(events)
        await self._note([(data, chat) for data, chat, edit in messages if not edit], is_live=is_live)

    def _event(self, data: Json, chat: DiscordChat, *, edit: bool) -> Event | None:
        try:
            return read(data, self._bot, chat, self._directory, edit=edit)
        except Exception as error:
            log.exception("a message could not be read")
            return unreadable(data, f"{type(error).__name__}: {error}")

    async def _note(self, messages: Sequence[tuple[Json, DiscordChat]], *, is_live: bool = False) -> None:
        newest: dict[str, LastSeen] = {}
        for data, chat in messages:
            message_id = get(data, "id", str) or ""
            if not chat.id or chat.id in self._postponed or not message_id.isdecimal():
                continue
            before = newest.get(chat.id)
            if before is None or int(before.message_id) < int(message_id):
                newest[chat.id] = LastSeen(chat.id, chat.server, message_id)
        await self._seen.note(tuple(newest.values()), is_complete=is_live and self._is_complete)

    @property
    def _is_complete(self) -> bool:
        """True if whatever is older than the next event is stored."""
        late = asyncio.get_running_loop().time() > self._announced_by
        return self._announced_by < math.inf and (late or not self._unannounced) and not self._postponed

    def _is_heard(self, chat: DiscordChat) -> bool:
        return chat.is_private or self._hears(chat.server, chat.listed_as)

    async def _chat_of(self, client: DiscordClient, data: Json) -> DiscordChat | None:
        chat_id = get(data, "channel_id", str) or ""
        server = get(data, "guild_id", str)
        if server is None:
            return self._directory.private(chat_id)
        if known := self._directory.chat(chat_id):
            return known
        now = asyncio.get_running_loop().time()
        if now < self._ask_again_at.get(chat_id, 0.0):
            return DiscordChat(chat_id, server)
        try:
            async with asyncio.timeout(FIND_WITHIN):
                described: object = await client.call("GET", "/channels/{channel_id}", {"channel_id": chat_id})
        except CALL_FAILED as error:
            if chat_id not in self._ask_again_at:
                log.warning("lookup of channel %s failed: %s", chat_id, redacted(error))
            self._ask_again_at[chat_id] = asyncio.get_running_loop().time() + AGAIN_AFTER
            return DiscordChat(chat_id, server)
        return self._directory.chat_seen(described, server) if isinstance(described, dict) else None

    # Chats and missed messages

    async def _apply(self, client: DiscordClient, receive: Receive, name: str, data: Json) -> None:
        match name:
            case "READY":
                self._on_connected()
                self._known_servers = {id for guild in objects_of(data, "guilds") if (id := get(guild, "id", str))}
                self._await_servers(*self._known_servers)
                # Discord does not announce what is new in private chats, so each is read.
                private = [
                    (self._directory.private(position.chat_id), position.message_id)
                    for position in self._seen.private()
                ]
                await self._catch_up(client, receive, private)
                await self._note_complete()
            case "RESUMED":
                self._on_connected()
            case "GUILD_CREATE" if data.get("unavailable") is not True:
                server = self._directory.server_seen(data)
                await self._catch_up(client, receive, self._missed_in_server(server))
                self._unannounced.discard(server)
                await self._note_complete()
            case "GUILD_UPDATE":
                self._directory.server_changed(data)
            case "GUILD_MEMBER_UPDATE":
                self._directory.member_changed(data)
            case "GUILD_DELETE":
                server = get(data, "id", str) or ""
                self._directory.server_gone(server)
                if data.get("unavailable") is True:
                    self._await_servers(server)
                else:
                    self._unannounced.discard(server)
            case "GUILD_ROLE_CREATE" | "GUILD_ROLE_UPDATE":
                self._directory.role_seen(data)
            case "GUILD_ROLE_DELETE":
                self._directory.role_gone(data)
            case "CHANNEL_CREATE" | "CHANNEL_UPDATE" | "THREAD_CREATE" | "THREAD_UPDATE":
                self._directory.chat_seen(data)
            case "CHANNEL_DELETE" | "THREAD_DELETE":
                await self._seen.forget(self._directory.chat_gone(data))
            case "THREAD_LIST_SYNC":
                for thread in objects_of(data, "threads"):
                    self._directory.chat_seen(thread, get(data, "guild_id", str) or "")
            case _:
                pass

    def _await_servers(self, *servers: str) -> None:
        self._unannounced |= set(servers)
        self._announced_by = asyncio.get_running_loop().time() + ANNOUNCED_WITHIN

    async def _note_complete(self) -> None:
        if self._is_complete:
            await self._seen.note_complete(self._directory.newest)

    def _missed_in_server(self, server: str) -> list[tuple[DiscordChat, str]]:
        """A channel never seen counts from where the server was complete, unless the server is new."""
        since = self._seen.complete_until(server) if server in self._known_servers else ""
        found: list[tuple[DiscordChat, str]] = []
        for chat in self._directory.of_server(server):
            after = self._seen.of_chat(chat.id) or since
            if after and chat.newest.isdecimal() and int(chat.newest) > int(after) and self._is_heard(chat):
                found.append((chat, after))
        return found

    async def _catch_up(
        self, client: DiscordClient, receive: Receive, chats: Sequence[tuple[DiscordChat, str]]
    ) -> None:
        limit = asyncio.Semaphore(_CHATS_AT_ONCE)
        oldest = snowflake(datetime.now(UTC) - MOST_MISSED)

        async def catch_up(chat: DiscordChat, after: str) -> None:
            by_clock = int(after) >= int(_FIRST_BY_CLOCK)
            after = max(after, oldest, key=int) if by_clock else after
            async with limit:
                if self._postponed:  # one timeout is enough
                    self._postpone(chat, after)
                else:
                    await self._catch_up_with(client, receive, chat, after)

        async with asyncio.TaskGroup() as group:
            for chat, after in chats:
                group.create_task(catch_up(chat, after))

    async def _catch_up_with(self, client: DiscordClient, receive: Receive, chat: DiscordChat, after: str) -> None:
        try:
            async for page in missed(client, chat.id, after, READ_WITHIN):
                log.info("reading missed messages in %s: %d", chat.id, len(page))
                await self._offer(receive, [(data, chat, False) for data in page], is_live=False)
                after = str(page[-1]["id"])
        except NoHistory as error:
            log.warning("can't read the history of %s: %s", chat.id, error)
            self._postponed.pop(chat.id, None)
            if error.gone:
                await self._seen.forget(chat.id)
        except SourceFailed as error:
            if error.fatal:
                raise
            if not self._postponed:
                log.warning("reading missed messages in %s later: %s", chat.id, error)
            self._postpone(chat, after)
        else:
            if self._postponed.pop(chat.id, None):
                await self._note([({"id": after}, chat)])

    async def _catch_up_later(self, client: DiscordClient, receive: Receive) -> None:
        tries = 1
        while await self._has_postponed.wait():
            await self._pause(backoff(tries, 1.0, AGAIN_AFTER))
            for chat, after in list(self._postponed.values()):
                await self._catch_up_with(client, receive, chat, after)
            tries = tries + 1 if self._postponed else 1
            if not self._postponed:
                self._has_postponed.clear()

    def _postpone(self, chat: DiscordChat, after: str) -> None:
        self._postponed[chat.id] = (chat, after)
        self._has_postponed.set()

    # Commands and presses

    async def _command(self, client: DiscordClient, receive: Receive, data: Json) -> None:
        """Acknowledges after storing, unless a slow disk exceeds Discord's limit."""
        chat = self._chat_of_command(data)
        if chat is None or not self._is_heard(chat):
            return
        event = read_interaction(data, chat, self._directory)
        kept = asyncio.ensure_future(receive([event] if event else []))
        try:
            await asyncio.wait({kept}, timeout=ACKNOWLEDGE_AFTER)
            if isinstance(event, InboundMessage) and (not kept.done() or kept.exception() is None):
                await self._interactions.acknowledge(client, data)
            await kept
        finally:
            kept.cancel()
        if chat.is_private and (interaction_id := get(data, "id", str)):
            await self._note([({"id": interaction_id}, chat)])

    def _chat_of_command(self, data: Json) -> DiscordChat | None:
        channel = object_of(data, "channel")
        chat_id = get(data, "channel_id", str) or (get(channel, "id", str) if channel else None)
        if chat_id is None:
            return None
        server = get(data, "guild_id", str)
        if server is None:
            return self._directory.private(chat_id)
        if known := self._directory.chat(chat_id):
            return known
        return (self._directory.chat_seen(channel, server) if channel else None) or DiscordChat(chat_id, server)
