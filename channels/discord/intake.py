"""Passes gateway events to `receive` in order; a message counts as seen once it is on disk.

One task reads a queue, so that missed messages come before new ones. Commands and presses bypass it: Discord waits only
3 seconds for their acknowledgement.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

from channels.discord.backfill import NoHistory, missed
from channels.discord.client import DiscordClient
from channels.discord.directory import Directory, DiscordChat
from channels.discord.errors import CALL_FAILED, redacted
from channels.discord.inbound import DiscordIdentity, read, read_interaction, snowflake, unreadable
from channels.discord.interactions import Interactions
from channels.discord.last_seen import LastSeen, PositionStore, newest
from channels.json_fields import Json, get, object_of, objects_of
from channels.message import Event, InboundMessage, Receive, SourceFailed
from channels.tasks import Pause

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
AGAIN_AFTER = 30.0
"""Seconds before a failed lookup is repeated."""

_AT_ONCE = 100
_CHATS_AT_ONCE = 8

Hears = Callable[[str, str], bool]
"""True if messages in a channel (its server, its id) are of interest."""


class EventIntake:
    def __init__(
        self,
        bot: DiscordIdentity,
        hears: Hears,
        seen: PositionStore,
        interactions: Interactions,
        connected: Callable[[], None],
        pause: Pause,
    ) -> None:
        """`connected` is called when the gateway listens (again). `pause` waits between tries at a history."""
        self._bot = bot
        self._hears = hears
        self._seen = seen
        self._interactions = interactions
        self._connected = connected
        self._directory = Directory(bot.id)
        self._queue: asyncio.Queue[tuple[str, Json]] = asyncio.Queue()
        self._commands: asyncio.Queue[Json] = asyncio.Queue()
        self._known_servers: set[str] = set()
        self._marks: dict[str, LastSeen] = {}
        self._since = ""
        self._pause = pause
        self._behind: dict[str, tuple[DiscordChat, str]] = {}
        self._is_behind = asyncio.Event()
        self._ask_again_at: dict[str, float] = {}

    def offer(self, name: str, data: Json) -> None:
        if name == "INTERACTION_CREATE":
            self._interactions.note(data)
            self._commands.put_nowait(data)
        else:
            self._queue.put_nowait((name, data))

    async def run(self, session: DiscordClient, receive: Receive) -> None:
        """Raises errors of `receive` and the disk, and `SourceFailed` if Discord rejects the bot. A message that was
        not passed on never counts as seen; while a chat's history is unavailable, none in it does."""
        marks = await self._seen.load()
        self._marks = {one.chat_id: one for one in marks}
        self._since = newest(self._marks)
        async with asyncio.TaskGroup() as group:
            group.create_task(self._pass_on(session, receive))
            group.create_task(self._catch_up_later(session, receive))
            while True:
                data = await self._commands.get()
                group.create_task(self._command(session, receive, data))

    # What was said

    async def _pass_on(self, session: DiscordClient, receive: Receive) -> None:
        while True:
            batch = [await self._queue.get()]
            while len(batch) < _AT_ONCE and not self._queue.empty():
                batch.append(self._queue.get_nowait())
            said: list[tuple[Json, DiscordChat, bool]] = []
            for name, data in batch:
                if name in ("MESSAGE_CREATE", "MESSAGE_UPDATE"):
                    if (place := await self._place(session, data)) and self._is_heard(place):
                        said.append((data, place, name == "MESSAGE_UPDATE"))
                else:
                    await self._offer(receive, said)
                    said = []
                    await self._turn_to(session, receive, name, data)
            await self._offer(receive, said)

    async def _offer(self, receive: Receive, said: Sequence[tuple[Json, DiscordChat, bool]]) -> None:
        events = [event for data, place, edit in said if (event := self._event(data, place, edit=edit))]
        if events:
            await receive(events)
        await self._note([(data, place) for data, place, edit in said if not edit])

    def _event(self, data: Json, place: DiscordChat, *, edit: bool) -> Event | None:
        try:
            return read(data, self._bot, place, self._directory, edit=edit)
        except Exception as error:
            log.exception("a message could not be read")
            return unreadable(data, f"{type(error).__name__}: {error}")

    async def _note(self, said: Sequence[tuple[Json, DiscordChat]]) -> None:
        newer: dict[str, LastSeen] = {}
        for data, place in said:
            message_id = get(data, "id", str) or ""
            before = newer.get(place.id) or self._marks.get(place.id)
            if place.id in self._behind:
                continue
            if place.id and message_id.isdecimal() and (before is None or int(before.message_id) < int(message_id)):
                newer[place.id] = LastSeen(place.id, place.server, message_id)
        if newer:
            await self._seen.note(tuple(newer.values()))
            self._marks |= newer

    def _is_heard(self, place: DiscordChat) -> bool:
        return place.is_private or self._hears(place.server, place.listed_as)

    async def _place(self, session: DiscordClient, data: Json) -> DiscordChat | None:
        place_id = get(data, "channel_id", str) or ""
        server = get(data, "guild_id", str)
        if server is None:
            return self._directory.private(place_id)
        if known := self._directory.place(place_id):
            return known
        now = asyncio.get_running_loop().time()
        if now < self._ask_again_at.get(place_id, 0.0):
            return DiscordChat(place_id, server)
        try:
            async with asyncio.timeout(FIND_WITHIN):
                described: object = await session.call("GET", "/channels/{channel_id}", {"channel_id": place_id})
        except CALL_FAILED as error:
            if place_id not in self._ask_again_at:
                log.warning("it is not known what channel %s is: %s", place_id, redacted(error))
            self._ask_again_at[place_id] = asyncio.get_running_loop().time() + AGAIN_AFTER
            return DiscordChat(place_id, server)
        return self._directory.place_seen(described, server) if isinstance(described, dict) else None

    # What there is, and what was missed

    async def _turn_to(self, session: DiscordClient, receive: Receive, name: str, data: Json) -> None:
        match name:
            case "READY":
                self._connected()
                self._known_servers = {get(one, "id", str) or "" for one in objects_of(data, "guilds")}
                await self._catch_up(session, receive, self._missed_in_private())
            case "RESUMED":
                self._connected()
            case "GUILD_CREATE" if data.get("unavailable") is not True:
                server = self._directory.server_seen(data)
                await self._catch_up(session, receive, self._missed_in_server(server))
            case "GUILD_UPDATE":
                self._directory.server_changed(data)
            case "GUILD_MEMBER_UPDATE":
                self._directory.member_changed(data)
            case "GUILD_DELETE":
                self._directory.server_gone(get(data, "id", str) or "")
            case "GUILD_ROLE_CREATE" | "GUILD_ROLE_UPDATE":
                self._directory.role_seen(data)
            case "GUILD_ROLE_DELETE":
                self._directory.role_gone(data)
            case "CHANNEL_CREATE" | "CHANNEL_UPDATE" | "THREAD_CREATE" | "THREAD_UPDATE":
                self._directory.place_seen(data)
            case "CHANNEL_DELETE" | "THREAD_DELETE":
                await self._seen.forget(self._directory.place_gone(data))
            case "THREAD_LIST_SYNC":
                for thread in objects_of(data, "threads"):
                    self._directory.place_seen(thread, get(data, "guild_id", str) or "")
            case _:
                pass

    def _missed_in_private(self) -> list[tuple[DiscordChat, str]]:
        return [
            (self._directory.private(one.chat_id), one.message_id) for one in self._marks.values() if not one.server
        ]

    def _missed_in_server(self, server: str) -> list[tuple[DiscordChat, str]]:
        """Chats with messages newer than the last seen. A channel without one counts from the newest message seen
        anywhere, unless the server is new."""
        since = self._since if server in self._known_servers else ""
        found: list[tuple[DiscordChat, str]] = []
        for place in self._directory.of_server(server):
            mark = self._marks.get(place.id)
            after = mark.message_id if mark else since
            if after and place.newest.isdecimal() and int(place.newest) > int(after) and self._is_heard(place):
                found.append((place, after))
        return found

    async def _catch_up(
        self, session: DiscordClient, receive: Receive, chats: Sequence[tuple[DiscordChat, str]]
    ) -> None:
        room = asyncio.Semaphore(_CHATS_AT_ONCE)
        oldest = snowflake(datetime.now(UTC) - MOST_MISSED)

        async def one(place: DiscordChat, after: str) -> None:
            by_clock = int(after) >= int(_FIRST_BY_CLOCK)
            after = max(after, oldest, key=int) if by_clock else after
            async with room:
                if self._behind:  # one wait for a history that does not come is enough
                    self._put_off(place, after)
                else:
                    await self._catch_up_with(session, receive, place, after)

        async with asyncio.TaskGroup() as group:
            for place, after in chats:
                group.create_task(one(place, after))

    async def _catch_up_with(self, session: DiscordClient, receive: Receive, place: DiscordChat, after: str) -> None:
        try:
            async for page in missed(session, place.id, after, READ_WITHIN):
                log.info("missed in %s and read now: %d", place.id, len(page))
                await self._offer(receive, [(data, place, False) for data in page])
                after = str(page[-1]["id"])
        except NoHistory as error:
            log.warning("the history of %s cannot be read: %s", place.id, error)
            self._behind.pop(place.id, None)
            if error.gone:
                await self._seen.forget(place.id)
        except SourceFailed as error:
            if error.fatal:
                raise
            if not self._behind:
                log.warning("what was missed in %s is read later: %s", place.id, error)
            self._put_off(place, after)
        else:
            if self._behind.pop(place.id, None):
                await self._note([({"id": after}, place)])

    async def _catch_up_later(self, session: DiscordClient, receive: Receive) -> None:
        tries = 0
        while await self._is_behind.wait():
            await self._pause(min(AGAIN_AFTER, 2.0**tries))
            for place, after in list(self._behind.values()):
                await self._catch_up_with(session, receive, place, after)
            tries = tries + 1 if self._behind else 0
            if not self._behind:
                self._is_behind.clear()

    def _put_off(self, place: DiscordChat, after: str) -> None:
        self._behind[place.id] = (place, after)
        self._is_behind.set()

    # Commands and presses

    async def _command(self, session: DiscordClient, receive: Receive, data: Json) -> None:
        """Stores a command, then acknowledges it, without waiting for a slow disk beyond Discord's limit. If it cannot
        be stored or read, Discord tells the person that it failed."""
        place = self._place_of_command(data)
        if place is None or not self._is_heard(place):
            return
        event = read_interaction(data, place, self._directory)
        kept = asyncio.ensure_future(receive([event] if event else []))
        try:
            await asyncio.wait({kept}, timeout=ACKNOWLEDGE_AFTER)
            if isinstance(event, InboundMessage) and (not kept.done() or kept.exception() is None):
                await self._interactions.acknowledge(session, data)
            await kept
        finally:
            kept.cancel()
        if place.is_private and (interaction_id := get(data, "id", str)):
            await self._note([({"id": interaction_id}, place)])

    def _place_of_command(self, data: Json) -> DiscordChat | None:
        channel = object_of(data, "channel")
        place_id = get(data, "channel_id", str) or (get(channel, "id", str) if channel else None)
        if place_id is None:
            return None
        server = get(data, "guild_id", str)
        if server is None:
            return self._directory.private(place_id)
        if known := self._directory.place(place_id):
            return known
        return (self._directory.place_seen(channel, server) if channel else None) or DiscordChat(place_id, server)
