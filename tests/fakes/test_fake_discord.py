"""The fake is used through the real discord.py, so that what it says is what the library expects."""

from __future__ import annotations

import asyncio
import io
import json
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import discord
import pytest
import pytest_asyncio
import yarl
from discord.gateway import DiscordWebSocket
from discord.http import Route

from tests.fakes.discord import Channel, FakeDiscord, File, Message, User
from tests.fakes.discord.faults import Limits, rule
from tests.fakes.discord.interactions import ACKNOWLEDGE_S

INTENTS = discord.Intents(guilds=True, guild_messages=True, dm_messages=True, message_content=True)
JsonObject = dict[str, Any]
WITHIN = 120.0
"""Seconds that only a failure reaches."""
HOUR = 3600.0
"""A window of a rate limit that no machine is too slow for."""


class Bot(discord.Client):
    """Keeps what it hears; knows no more than the tests need."""

    def __init__(self, intents: discord.Intents = INTENTS, heartbeat_timeout: float = 60.0) -> None:
        super().__init__(
            intents=intents,
            heartbeat_timeout=heartbeat_timeout,
            max_messages=None,
            allowed_mentions=discord.AllowedMentions.none(),
            guild_ready_timeout=0.05,
            chunk_guilds_at_startup=False,
            member_cache_flags=discord.MemberCacheFlags.none(),
        )
        self.heard: asyncio.Queue[discord.Message] = asyncio.Queue()
        self.asked: asyncio.Queue[discord.Interaction[Bot]] = asyncio.Queue()
        self.resumed = asyncio.Event()
        self.readies = 0

    async def before_identify_hook(self, *_: Any, **_more: Any) -> None:
        """The library sleeps 5 s here before it identifies anew."""

    async def on_ready(self) -> None:
        self.readies += 1

    async def on_resumed(self) -> None:
        self.resumed.set()

    async def on_message(self, message: discord.Message) -> None:
        if message.author != self.user:
            self.heard.put_nowait(message)

    async def on_interaction(self, interaction: discord.Interaction[Bot]) -> None:
        self.asked.put_nowait(interaction)

    async def next(self) -> discord.Message:
        async with asyncio.timeout(WITHIN):
            return await self.heard.get()

    async def next_interaction(self) -> discord.Interaction[Bot]:
        async with asyncio.timeout(WITHIN):
            return await self.asked.get()


class Raw:
    """REST without a library, for what the library would never send."""

    def __init__(self, fake: FakeDiscord, session: aiohttp.ClientSession) -> None:
        self._fake, self._session = fake, session
        self.headers: dict[str, str] = {}

    async def __call__(
        self, method: str, path: str, body: Any = None, *, token: str | None = None, **options: Any
    ) -> tuple[int, Any]:
        given = {"Authorization": f"Bot {token or self._fake.token}"}
        if body is not None:
            options["json"] = body
        async with self._session.request(method, self._fake.api_url + path, headers=given, **options) as response:
            self.headers = dict(response.headers)
            return response.status, await response.json() if response.content_type == "application/json" else None

    async def send(self, channel: Channel, **body: Any) -> tuple[int, Any]:
        return await self("POST", f"/channels/{channel.id}/messages", body)

    async def refused(self, channel: Channel, **body: Any) -> tuple[int, int]:
        status, told = await self.send(channel, **body)
        return status, told["code"]


@pytest_asyncio.fixture
async def fake() -> AsyncIterator[FakeDiscord]:
    base, gateway = Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY
    async with FakeDiscord() as server:
        Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY = server.api_url, yarl.URL(server.gateway_url)
        yield server
    Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY = base, gateway


@asynccontextmanager
async def started(fake: FakeDiscord, client: Bot) -> AsyncIterator[asyncio.Task[None]]:
    task = asyncio.create_task(client.start(fake.token))
    try:
        yield task
    finally:
        await client.close()
        await asyncio.gather(task, return_exceptions=True)


@pytest_asyncio.fixture
async def running(fake: FakeDiscord) -> AsyncIterator[tuple[Bot, asyncio.Task[None]]]:
    client = Bot()
    async with started(fake, client) as task:
        await fake.until_connected()
        await client.wait_until_ready()
        yield client, task


@pytest.fixture
def bot(running: tuple[Bot, asyncio.Task[None]]) -> Bot:
    return running[0]


@pytest_asyncio.fixture
async def raw(fake: FakeDiscord) -> AsyncIterator[Raw]:
    async with aiohttp.ClientSession() as session:
        yield Raw(fake, session)


@pytest.fixture
def alice(fake: FakeDiscord) -> User:
    return fake.user("Alice")


@pytest.fixture
def dm(fake: FakeDiscord, alice: User) -> Channel:
    return fake.dm(alice)


@pytest.fixture
def general(fake: FakeDiscord) -> Channel:
    return fake.guild("Home").text("general")


async def run_until_it_ends(fake: FakeDiscord, intents: discord.Intents = INTENTS) -> None:
    async with asyncio.timeout(WITHIN), Bot(intents) as client:
        await client.start(fake.token)


# Talking


async def test_a_person_writes_in_private_and_sees_the_answer_and_its_edit(
    fake: FakeDiscord, bot: Bot, alice: User, dm: Channel
) -> None:
    await fake.say(alice, dm, "hello")
    heard = await bot.next()
    assert (heard.content, heard.author.id, heard.guild) == ("hello", alice.id, None)
    sent = await heard.reply("hi", mention_author=False)
    seen = await fake.next_message(dm)
    assert (seen.content, seen.reference.content if seen.reference else None, seen.edits) == ("hi", "hello", 0)
    assert not seen.pinged
    await sent.edit(content="hi there")
    assert (seen.content, seen.edits, seen.versions) == ("hi there", 1, ["hi", "hi there"])


async def test_a_mention_in_a_server_is_heard(fake: FakeDiscord, bot: Bot, alice: User, general: Channel) -> None:
    await fake.say(alice, general, "what now?", mentions=[fake.bot])
    heard = await bot.next()
    assert heard.guild is not None and general.guild is not None and heard.guild.id == general.guild.id
    assert bot.user in heard.mentions
    await heard.channel.send("this")
    assert [one.content for one in fake.messages(general)] == [f"{fake.bot.mention} what now?", "this"]


async def test_a_role_of_the_bot_is_mentioned(fake: FakeDiscord, bot: Bot, alice: User, general: Channel) -> None:
    assert general.guild is not None
    role = general.guild.role("helpers", fake.bot)
    await fake.say(alice, general, "who knows?", mentions=[role])
    assert [one.id for one in (await bot.next()).role_mentions] == [role.id]


async def test_threads_and_forum_posts_are_places_of_their_own(
    fake: FakeDiscord, bot: Bot, alice: User, general: Channel
) -> None:
    assert general.guild is not None
    thread = general.thread("plan")
    post = general.guild.forum("ideas").post("A robot", "shall we?", alice)
    await fake.say(alice, thread, "in the thread")
    first, second = await bot.next(), await bot.next()
    assert isinstance(first.channel, discord.Thread) and (first.channel.id, first.id) == (post.id, post.id)
    assert isinstance(second.channel, discord.Thread) and second.channel.parent_id == general.id
    await second.channel.send("here")
    assert fake.messages(thread)[-1].content == "here"


async def test_a_bot_opens_threads_and_posts(fake: FakeDiscord, bot: Bot, alice: User, general: Channel) -> None:
    assert general.guild is not None
    forum = general.guild.forum("ideas")
    message = await fake.say(alice, general, "long talk")
    thread = await (await bot.next()).create_thread(name="the talk")
    assert message.thread is not None and thread.id == message.id == message.thread.id
    seen_forum = bot.get_channel(forum.id)
    assert isinstance(seen_forum, discord.ForumChannel)
    post = await seen_forum.create_thread(name="mine", content="first")
    assert fake.messages(fake.channels[post.thread.id])[0].content == "first"


async def test_attachments_go_both_ways(fake: FakeDiscord, bot: Bot, alice: User, dm: Channel) -> None:
    await fake.say(alice, dm, "look", attachments=[("../a b.txt", b"hello", "text/plain")])
    heard = await bot.next()
    [got] = heard.attachments
    assert (got.filename, got.size, got.content_type, await got.read()) == ("a_b.txt", 5, "text/plain", b"hello")
    await heard.channel.send("back", file=discord.File(io.BytesIO(b"1,2"), "table.csv"))
    seen = await fake.next_message(dm)
    assert [(one.name, one.content) for one in seen.attachments] == [("table.csv", b"1,2")]


async def test_an_attachment_may_be_bigger_than_told_or_gone(
    fake: FakeDiscord, bot: Bot, alice: User, dm: Channel
) -> None:
    await fake.say(alice, dm, "", attachments=[File("huge.bin", b"x", size=50_000_000)])
    [got] = (await bot.next()).attachments
    assert got.size == 50_000_000
    fake.files[got.id].expired = True
    with pytest.raises(discord.NotFound):
        await got.read()


async def test_history_pages_as_the_original(fake: FakeDiscord, bot: Bot, alice: User, dm: Channel) -> None:
    said = [await fake.say(alice, dm, str(number)) for number in range(7)]
    channel = await bot.fetch_channel(dm.id)
    assert isinstance(channel, discord.DMChannel)
    later = [one.content async for one in channel.history(after=discord.Object(said[1].id), limit=3)]
    assert later == ["2", "3", "4"]
    earlier = [one.content async for one in channel.history(before=discord.Object(said[2].id), limit=5)]
    assert earlier == ["1", "0"]


async def test_edits_deletions_and_reactions_are_told(fake: FakeDiscord, bot: Bot, alice: User, dm: Channel) -> None:
    edited: asyncio.Future[discord.RawMessageUpdateEvent] = asyncio.get_running_loop().create_future()
    gone: asyncio.Future[discord.RawMessageDeleteEvent] = asyncio.get_running_loop().create_future()

    @bot.event
    async def on_raw_message_edit(event: discord.RawMessageUpdateEvent) -> None:
        edited.set_result(event)

    @bot.event
    async def on_raw_message_delete(event: discord.RawMessageDeleteEvent) -> None:
        gone.set_result(event)

    message = await fake.say(alice, dm, "teh")
    heard = await bot.next()
    await heard.add_reaction("👀")
    assert message.reactions == {"👀": {fake.bot.id}}
    await fake.edit(message, "the")
    await fake.delete(message)
    async with asyncio.timeout(WITHIN):
        assert (await edited).message.content == "the"
        assert (await gone).message_id == message.id


async def test_typing_is_seen(fake: FakeDiscord, bot: Bot, alice: User, dm: Channel) -> None:
    await fake.say(alice, dm, "hello")
    async with (await bot.next()).channel.typing():
        assert len(dm.typing) == 1


async def test_without_the_intent_content_is_hidden_except_where_discord_shows_it(
    fake: FakeDiscord, alice: User, dm: Channel, general: Channel
) -> None:
    client = Bot(discord.Intents(guilds=True, guild_messages=True, dm_messages=True))
    async with started(fake, client):
        await fake.until_connected()
        await client.wait_until_ready()
        await fake.say(alice, general, "secret")
        await fake.say(alice, general, "for you", mentions=[fake.bot])
        await fake.say(alice, dm, "private")
        heard = [(await client.next()).content for _ in range(3)]
    assert heard == ["", f"{fake.bot.mention} for you", "private"]


async def test_events_come_only_to_those_who_asked(fake: FakeDiscord, alice: User, dm: Channel) -> None:
    async with started(fake, Bot(discord.Intents(guilds=True, guild_messages=True))):
        await fake.until_connected()
        await fake.say(alice, dm, "nobody hears")
        [session] = fake.sessions.values()
        assert not any('"MESSAGE_CREATE"' in frame for _, frame in session.events)


async def test_bots_webhooks_and_system_messages_are_known_as_such(
    fake: FakeDiscord, bot: Bot, alice: User, general: Channel
) -> None:
    robot = fake.user("Robot", bot=True)
    await fake.say(robot, general, "beep")
    await fake.say(fake.user("Hook", bot=True), general, "posted", webhook=True)
    await fake.say(alice, general, "", type=7)
    first, second, third = [await bot.next() for _ in range(3)]
    assert (first.author.bot, second.webhook_id is not None, third.is_system()) == (True, True, True)


async def test_a_forward_carries_a_snapshot(fake: FakeDiscord, bot: Bot, alice: User, dm: Channel) -> None:
    snapshot = {"type": 0, "content": "from afar", "embeds": [], "attachments": [], "edited_timestamp": None}
    snapshot |= {"timestamp": "2026-01-01T00:00:00+00:00", "flags": 0}
    await fake.say(alice, dm, message_snapshots=[{"message": snapshot}])
    assert [one.content for one in (await bot.next()).message_snapshots] == ["from afar"]


async def test_reactions_come_to_those_who_asked(
    fake: FakeDiscord, session: aiohttp.ClientSession, alice: User, dm: Channel
) -> None:
    socket = await connected(fake, session)
    await socket.send(2, identify(fake, intents=1 << 13))
    assert (await socket.receive())["t"] == "READY"
    message = await fake.say(alice, dm, "not told")
    await fake.type_in(alice, dm)
    await fake.react(alice, message, "👍")
    told = await socket.receive()
    assert (told["t"], told["d"]["emoji"]["name"]) == ("MESSAGE_REACTION_ADD", "👍")


# Who is pinged, and what unfolds


@pytest.mark.parametrize(
    ("allowed", "pinged", "everyone"),
    [
        (None, True, False),
        ({"parse": []}, False, False),
        ({"parse": ["users", "everyone"]}, True, True),
        ({"parse": [], "users": ["ALICE"]}, True, False),
    ],
)
async def test_allowed_mentions_are_applied(
    fake: FakeDiscord, raw: Raw, alice: User, general: Channel, allowed: JsonObject | None, pinged: bool, everyone: bool
) -> None:
    if everyone:
        general.allow("mention_everyone")
    if allowed and allowed.get("users"):
        allowed = allowed | {"users": [str(alice.id)]}
    body = {"content": f"{alice.mention} @everyone"} | ({"allowed_mentions": allowed} if allowed else {})
    await raw.send(general, **body)
    seen = fake.messages(general)[-1]
    assert (alice.id in seen.pinged, seen.pinged_everyone) == (pinged, everyone)


async def test_a_reply_pings_unless_told_otherwise(fake: FakeDiscord, raw: Raw, alice: User, general: Channel) -> None:
    asked = await fake.say(alice, general, "?")
    reference = {"message_id": str(asked.id)}
    choices: list[JsonObject | None] = [None, {"parse": []}, {"parse": [], "replied_user": True}]
    for allowed in choices:
        await raw.send(general, content="!", message_reference=reference, allowed_mentions=allowed)
    assert [alice.id in one.pinged for one in fake.messages(general)[1:]] == [True, False, True]


async def test_link_previews_are_visible(fake: FakeDiscord, raw: Raw, general: Channel) -> None:
    await raw.send(general, content="https://a.example `https://b.example` <https://c.example>")
    await raw.send(general, content="https://a.example", flags=4)
    assert [one.link_previews for one in fake.messages(general)] == [["https://a.example"], []]


# What is refused


LONG = "x" * 2001
BUTTON = {"type": 2, "style": 1, "label": "Yes", "custom_id": "yes"}


def row(*buttons: JsonObject) -> JsonObject:
    return {"type": 1, "components": list(buttons)}


@pytest.mark.parametrize(
    ("body", "path", "code"),
    [
        ({"content": LONG}, "content", "BASE_TYPE_MAX_LENGTH"),
        ({"content": "😀" * 1001}, "content", "BASE_TYPE_MAX_LENGTH"),
        ({"content": 5}, "content", "BASE_TYPE_STRING"),
        ({"content": "x", "nonce": "n" * 26}, "nonce", "BASE_TYPE_MAX_LENGTH"),
        ({"embeds": [{"title": "x"}] * 11}, "embeds", "BASE_TYPE_MAX_LENGTH"),
        ({"embeds": [{"description": "x" * 4096}] * 2}, "embeds", "MAX_EMBED_SIZE_EXCEEDED"),
        ({"content": "x", "components": [row(BUTTON)] * 6}, "components", "BASE_TYPE_BAD_LENGTH"),
        (
            {"content": "x", "components": [row(*[BUTTON] * 6)]},
            "components.0.components",
            "BASE_TYPE_BAD_LENGTH",
        ),
        (
            {"content": "x", "components": [row(BUTTON | {"custom_id": "c" * 101})]},
            "components.0.components.0.custom_id",
            "BASE_TYPE_BAD_LENGTH",
        ),
        (
            {"content": "x", "components": [row(BUTTON, BUTTON)]},
            "components.0.components.1.custom_id",
            "COMPONENT_CUSTOM_ID_DUPLICATED",
        ),
        (
            {"content": "x", "components": [row(BUTTON | {"label": "l" * 81})]},
            "components.0.components.0.label",
            "BASE_TYPE_MAX_LENGTH",
        ),
        (
            {"content": "x", "flags": 1 << 15},
            "content",
            "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2",
        ),
        (
            {"flags": 1 << 15, "components": [{"type": 10, "content": "x" * 4001}]},
            "components",
            "COMPONENT_DISPLAYABLE_TEXT_SIZE_EXCEEDED",
        ),
        (
            {"flags": 1 << 15, "components": [{"type": 10, "content": "x"}] * 41},
            "components",
            "COMPONENT_MAX_TOTAL_COMPONENTS",
        ),
        (
            {"content": "x", "allowed_mentions": {"parse": ["users"], "users": ["1"]}},
            "allowed_mentions",
            "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE",
        ),
        ({"content": "x", "message_reference": {"message_id": "1"}}, "message_reference", "REPLIES_UNKNOWN_MESSAGE"),
        ({"content": "x", "attachments": [{"id": 3}]}, "attachments.0.id", "ATTACHMENT_NOT_FOUND"),
    ],
)
async def test_a_wrong_form_is_refused_with_the_path(
    fake: FakeDiscord, raw: Raw, dm: Channel, body: JsonObject, path: str, code: str
) -> None:
    status, told = await raw.send(dm, **body)
    assert (status, told["code"], told["message"]) == (400, 50035, "Invalid Form Body")
    node = told["errors"]
    for key in path.split("."):
        node = node[key]
    assert node["_errors"][0]["code"] == code
    assert not fake.messages(dm)


async def test_2000_characters_are_taken(raw: Raw, dm: Channel) -> None:
    assert (await raw.send(dm, content="😀" * 1000))[0] == 200


async def test_an_empty_message_is_refused(fake: FakeDiscord, raw: Raw, dm: Channel) -> None:
    assert await raw.refused(dm, content=" \n ") == (400, 50006)
    _, sent = await raw.send(dm, content=" x ")
    assert sent["content"] == "x"
    status, told = await raw("PATCH", f"/channels/{dm.id}/messages/{sent['id']}", {"content": ""})
    assert (status, told["code"]) == (400, 50006)


async def test_unknown_places_and_messages_are_refused(
    fake: FakeDiscord, raw: Raw, alice: User, dm: Channel, general: Channel
) -> None:
    hers = await fake.say(alice, dm, "mine")
    tries = [
        ("POST", "/channels/1/messages", {"content": "x"}, 404, 10003),
        ("GET", "/channels/1", None, 404, 10003),
        ("GET", "/channels/none", None, 400, 50035),
        ("PATCH", f"/channels/{dm.id}/messages/1", {"content": "x"}, 404, 10008),
        ("PATCH", f"/channels/{dm.id}/messages/{hers.id}", {"content": "x"}, 403, 50005),
        ("DELETE", f"/channels/{dm.id}/messages/{hers.id}", None, 403, 50003),
        ("PUT", f"/channels/{dm.id}/messages/{hers.id}/reactions/thumbsup/@me", None, 400, 10014),
        ("GET", f"/channels/{dm.id}/messages?limit=101", None, 400, 50035),
        ("POST", "/users/@me/channels", {"recipient_id": "1"}, 404, 10013),
        ("GET", "/guilds/1", None, 404, 10004),
        ("GET", "/nothing", None, 404, 0),
        ("DELETE", "/gateway/bot", None, 405, 0),
    ]
    for method, path, body, status, code in tries:
        got, told = await raw(method, path, body)
        assert (got, told["code"]) == (status, code), (method, path)
    general.delete()
    assert await raw.refused(general, content="x") == (404, 10003)


async def test_a_wrong_token_is_refused(fake: FakeDiscord, raw: Raw) -> None:
    assert await raw("GET", "/users/@me", token="wrong") == (401, {"message": "401: Unauthorized", "code": 0})
    async with Bot() as client:
        with pytest.raises(discord.LoginFailure):
            await client.login("wrong")


async def test_lost_permissions_are_refused(fake: FakeDiscord, raw: Raw, alice: User, general: Channel) -> None:
    message = await fake.say(alice, general, "hi")
    thread = general.thread("plan")
    general.deny("send_messages_in_threads", "add_reactions", "attach_files")
    assert await raw.refused(thread, content="x") == (403, 50013)
    assert (await raw.send(general, content="x"))[0] == 200
    status, told = await raw("PUT", f"/channels/{general.id}/messages/{message.id}/reactions/%F0%9F%91%80/@me")
    assert (status, told["code"]) == (403, 50013)
    general.deny("send_messages")
    assert await raw.refused(general, content="x") == (403, 50013)
    general.deny("view_channel")
    assert await raw.refused(general, content="x") == (403, 50001)


async def test_a_person_who_has_closed_their_dms_is_not_reached(
    fake: FakeDiscord, raw: Raw, alice: User, dm: Channel
) -> None:
    fake.close_dms(alice)
    assert await raw.refused(dm, content="x") == (403, 50007)


async def test_archived_threads_open_again_and_locked_ones_do_not(
    fake: FakeDiscord, raw: Raw, general: Channel
) -> None:
    thread = general.thread("plan")
    _, sent = await raw.send(thread, content="x")
    thread.archived = True
    status, told = await raw("PATCH", f"/channels/{thread.id}/messages/{sent['id']}", {"content": "y"})
    assert (status, told["code"]) == (400, 50083)
    assert (await raw.send(thread, content="x"))[0] == 200 and not thread.archived
    thread.locked = True
    assert await raw.refused(thread, content="x") == (403, 160005)


async def test_files_over_10_mib_are_refused(fake: FakeDiscord, bot: Bot, alice: User, dm: Channel) -> None:
    await fake.say(alice, dm, "send me all")
    channel = (await bot.next()).channel
    with pytest.raises(discord.HTTPException) as refusal:
        await channel.send(file=discord.File(io.BytesIO(bytes(10 * 1024 * 1024 + 1)), "big.bin"))
    assert (refusal.value.status, refusal.value.code) == (413, 40005)
    await channel.send(file=discord.File(io.BytesIO(bytes(10 * 1024 * 1024)), "big.bin"))


async def test_a_body_that_is_no_json_is_refused(fake: FakeDiscord, raw: Raw, dm: Channel) -> None:
    status, told = await raw("POST", f"/channels/{dm.id}/messages", ["content"])
    assert (status, told["code"]) == (400, 50109)


# Sending once


async def test_the_same_nonce_gives_the_same_message_for_some_minutes(fake: FakeDiscord, raw: Raw, dm: Channel) -> None:
    first, again = [(await raw.send(dm, content="x", nonce="row-1", enforce_nonce=True))[1]["id"] for _ in range(2)]
    assert first == again and len(fake.messages(dm)) == 1
    await raw.send(dm, content="x", nonce="row-1")
    assert len(fake.messages(dm)) == 2
    fake.pass_time(600)
    _, later = await raw.send(dm, content="x", nonce="row-1", enforce_nonce=True)
    assert later["id"] != first


async def test_a_cut_connection_before_and_after_the_effect(
    fake: FakeDiscord, bot: Bot, alice: User, dm: Channel
) -> None:
    await fake.say(alice, dm, "hello")
    channel = (await bot.next()).channel
    for drop, arrived in (("before", 0), ("after", 1)):
        fault = fake.fail_next("POST", r"/messages$", drop=drop)  # type: ignore[arg-type]
        with pytest.raises(aiohttp.ClientError):
            await channel.send("once", nonce="row-7")
        assert fault.hits == 1
        assert len(fake.messages(dm)) == 1 + arrived
    await channel.send("once", nonce="row-7")
    assert [one.content for one in fake.messages(dm)] == ["hello", "once"]


async def test_a_held_call_waits_for_its_release(fake: FakeDiscord, bot: Bot, alice: User, dm: Channel) -> None:
    await fake.say(alice, dm, "hello")
    channel = (await bot.next()).channel
    hold = fake.hold("POST", "/messages")
    sending = asyncio.create_task(channel.send("later"))
    await hold.wait()
    assert len(fake.messages(dm)) == 1
    hold.release()
    await sending
    assert fake.messages(dm)[-1].content == "later"


async def test_errors_of_the_server_reach_the_library(fake: FakeDiscord, bot: Bot, alice: User, dm: Channel) -> None:
    await fake.say(alice, dm, "hello")
    channel = (await bot.next()).channel
    fake.fail_next("POST", "/messages", status=503)
    with pytest.raises(discord.DiscordServerError):
        await channel.send("x")
    fake.fail_next("POST", "/messages", status=403, json={"message": "Missing Access", "code": 50001})
    with pytest.raises(discord.Forbidden):
        await channel.send("x")
    assert [one.status for one in fake.called("POST", "/messages")] == [503, 403]


# Rate limits


async def test_the_sixth_edit_in_a_window_is_refused(fake: FakeDiscord, raw: Raw, dm: Channel) -> None:
    fake.limits = Limits((rule("PATCH", r"^/channels/\d+/messages/\d+$", 5, HOUR),))
    _, sent = await raw.send(dm, content="0")
    path = f"/channels/{dm.id}/messages/{sent['id']}"
    for number in range(1, 6):
        status, _ = await raw("PATCH", path, {"content": str(number)})
        assert (status, raw.headers["X-RateLimit-Remaining"]) == (200, str(5 - number))
    status, told = await raw("PATCH", path, {"content": "6"})
    assert (status, told["global"]) == (429, False) and 0 < told["retry_after"] <= HOUR
    assert raw.headers["Via"] and raw.headers["X-RateLimit-Scope"] == "user"
    fake.pass_time(HOUR)
    assert (await raw("PATCH", path, {"content": "7"}))[0] == 200


async def test_buckets_of_channels_are_apart(fake: FakeDiscord, raw: Raw, dm: Channel, general: Channel) -> None:
    fake.limits = Limits((rule("POST", r"^/channels/\d+/messages$", 5, HOUR),))
    for _ in range(5):
        await raw.send(dm, content="x")
    assert (await raw.send(dm, content="x"))[0] == 429
    assert (await raw.send(general, content="x"))[0] == 200


async def test_the_bot_has_a_limit_altogether(fake: FakeDiscord, raw: Raw) -> None:
    fake.limits = Limits((), per_second=3, second=HOUR)
    assert [(await raw("GET", "/users/@me"))[0] for _ in range(3)] == [200] * 3
    status, told = await raw("GET", "/users/@me")
    assert (status, told["global"], raw.headers["X-RateLimit-Global"]) == (429, True, "true")


async def test_discord_py_waits_for_its_bucket_and_is_never_refused(
    fake: FakeDiscord, bot: Bot, alice: User, dm: Channel
) -> None:
    fake.limits = Limits((rule("POST", "/messages$", 2, 0.2),))
    await fake.say(alice, dm, "hello")
    channel = (await bot.next()).channel
    for number in range(5):
        await channel.send(str(number))
    assert [one.status for one in fake.called("POST", "/messages")] == [200] * 5


async def test_a_429_is_retried_only_with_via(fake: FakeDiscord, bot: Bot, alice: User, dm: Channel) -> None:
    await fake.say(alice, dm, "hello")
    channel = (await bot.next()).channel
    fake.throttle_next("POST", "/messages", retry_after=0.01)
    await channel.send("in the end")
    fake.throttle_next("POST", "/messages", retry_after=0.01, via=False)
    with pytest.raises(discord.HTTPException) as refusal:
        await channel.send("never")
    assert refusal.value.status == 429
    assert [one.status for one in fake.called("POST", "/messages")] == [429, 200, 429]


async def test_slow_mode_is_kept(fake: FakeDiscord, raw: Raw, general: Channel) -> None:
    general.slow_mode = 600
    assert (await raw.send(general, content="x"))[0] == 200
    assert await raw.refused(general, content="x") == (429, 20016)
    fake.pass_time(600)
    assert (await raw.send(general, content="x"))[0] == 200


# Buttons and commands


async def message_with_button(fake: FakeDiscord, bot: Bot, alice: User, dm: Channel) -> Message:
    await fake.say(alice, dm, "may I?")
    view = discord.ui.View(timeout=None)
    view.add_item(discord.ui.Button(label="Yes", custom_id="yes"))
    await (await bot.next()).channel.send("sure?", view=view)
    return await fake.next_message(dm)


async def test_a_button_is_pressed_and_the_message_changed(
    fake: FakeDiscord, bot: Bot, alice: User, dm: Channel
) -> None:
    message = await message_with_button(fake, bot, alice, dm)
    assert message.buttons == ["yes"]
    pressed = await fake.press(alice, message, "yes")
    asked = await bot.next_interaction()
    assert (asked.custom_id, asked.user.id) == ("yes", alice.id)
    await asked.response.edit_message(content="so be it", view=None)
    assert (message.content, message.buttons, pressed.acknowledged is not None) == ("so be it", [], True)
    with pytest.raises(ValueError, match="no such button"):
        await fake.press(alice, message, "yes")


async def test_an_interaction_is_answered_once_and_in_time(
    fake: FakeDiscord, bot: Bot, raw: Raw, alice: User, dm: Channel
) -> None:
    message = await message_with_button(fake, bot, alice, dm)
    pressed = await fake.press(alice, message, "yes")
    path, defer = f"/interactions/{pressed.id}/{pressed.token}/callback", {"type": 6}
    assert (await raw("POST", f"/webhooks/{fake.bot.id}/{pressed.token}", {"content": "x"}))[1]["code"] == 10015
    assert (await raw("POST", path, {"type": 4, "data": {"content": LONG}}))[1]["code"] == 50035
    assert (await raw("POST", path, defer))[0] == 204
    status, told = await raw("POST", path, defer)
    assert (status, told["code"]) == (400, 40060)
    late = await fake.press(alice, message, "yes")
    fake.acknowledge_within = ACKNOWLEDGE_S
    fake.pass_time(3.1)
    status, told = await raw("POST", f"/interactions/{late.id}/{late.token}/callback", defer)
    assert (status, told["code"], fake.failed(late)) == (404, 10062, True)
    fake.pass_time(900)
    status, told = await raw("POST", f"/webhooks/{fake.bot.id}/{pressed.token}", {"content": "x"})
    assert (status, told["code"]) == (401, 50027)


async def registered(fake: FakeDiscord, bot: Bot) -> discord.app_commands.CommandTree[Bot]:
    tree: discord.app_commands.CommandTree[Bot] = discord.app_commands.CommandTree(bot)

    @tree.command(name="status", description="How it goes")
    async def status(interaction: discord.Interaction[Bot], topic: str = "all") -> None:
        await interaction.response.defer(ephemeral=True, thinking=True)
        await fake.wait_for(lambda: fake.thinking(fake.channels[interaction.channel_id or 0]))
        await interaction.followup.send(f"fine: {topic}", ephemeral=True)
        await interaction.followup.send("and more", ephemeral=True)

    await tree.sync()
    return tree


async def test_a_command_is_registered_sent_and_answered_to_one_person(
    fake: FakeDiscord, bot: Bot, alice: User, general: Channel
) -> None:
    await registered(fake, bot)
    assert fake.command_names() == ["status"]
    sent = await fake.slash(alice, general, "status", {"topic": "work"})
    await fake.wait_for(lambda: sent.followups)
    assert sent.answer is not None and sent.answer.content == "fine: work"
    assert [one.content for one in fake.messages(general, seen_by=alice)] == ["fine: work", "and more"]
    assert fake.messages(general, seen_by=fake.user("Bob")) == []
    with pytest.raises(KeyError):
        await fake.slash(alice, general, "unknown")
    with pytest.raises(ValueError, match="options unknown"):
        await fake.slash(alice, general, "status", {"colour": "red"})


async def test_an_answer_is_edited_and_deleted(fake: FakeDiscord, bot: Bot, alice: User, dm: Channel) -> None:
    message = await message_with_button(fake, bot, alice, dm)
    pressed = await fake.press(alice, message, "yes")
    asked = await bot.next_interaction()
    await asked.response.send_message("one")
    await asked.edit_original_response(content="two")
    assert pressed.answer is not None and pressed.answer.versions == ["one", "two"]
    await asked.delete_original_response()
    assert pressed.answer not in fake.messages(dm)


async def test_subcommands_and_modals(fake: FakeDiscord, bot: Bot, raw: Raw, alice: User, dm: Channel) -> None:
    text = {"name": "name", "description": "x", "type": 3, "required": True}
    use = {"name": "use", "description": "x", "type": 1, "options": [text]}
    await raw("PUT", f"/applications/{fake.bot.id}/commands", [{"name": "model", "description": "x", "options": [use]}])
    with pytest.raises(ValueError, match="options missing"):
        await fake.slash(alice, dm, "model use")
    sent = await fake.slash(alice, dm, "model use", {"name": "small"})
    assert sent.data["options"] == [
        {"name": "use", "type": 1, "options": [{"name": "name", "type": 3, "value": "small"}]}
    ]
    modal = discord.ui.Modal(title="Which?", custom_id="which", timeout=None)
    modal.add_item(discord.ui.TextInput(label="Name", custom_id="name"))
    await (await bot.next_interaction()).response.send_modal(modal)
    filled = await fake.submit(alice, sent, {"name": "large"})
    await (await bot.next_interaction()).response.send_message("large it is")
    assert filled.answer is not None and filled.answer.content == "large it is"


@pytest.mark.parametrize(
    ("commands", "code"),
    [
        ([{"name": "Upper", "description": "x"}], 50035),
        ([{"name": "with space", "description": "x"}], 50035),
        ([{"name": "n" * 33, "description": "x"}], 50035),
        ([{"name": "x", "description": ""}], 50035),
        ([{"name": "x", "description": "d" * 101}], 50035),
        ([{"name": "x", "description": "x", "description_localizations": {"de": "d" * 101}}], 50035),
        ([{"name": "x", "description": "x", "description_localizations": {"es": "x"}}], 50035),
        ([{"name": "x", "description": "x"}] * 2, 50035),
        ([{"name": f"c{n}", "description": "x"} for n in range(101)], 30032),
        (
            [
                {
                    "name": "x",
                    "description": "x",
                    "options": [
                        {"name": "a", "description": "x", "type": 3},
                        {"name": "b", "description": "x", "type": 3, "required": True},
                    ],
                }
            ],
            50035,
        ),
    ],
)
async def test_wrong_commands_are_refused(fake: FakeDiscord, raw: Raw, commands: list[JsonObject], code: int) -> None:
    status, told = await raw("PUT", f"/applications/{fake.bot.id}/commands", commands)
    assert (status, told["code"]) == (400, code)
    assert fake.command_names() == []


async def test_commands_keep_their_ids_and_belong_to_one_application(fake: FakeDiscord, raw: Raw) -> None:
    path, hello = f"/applications/{fake.bot.id}/commands", {"name": "hello", "description": "x"}
    _, [first] = await raw("PUT", path, [hello])
    _, [second, _] = await raw("PUT", path, [hello, {"name": "bye", "description": "x"}])
    assert first["id"] == second["id"] and fake.command_names() == ["bye", "hello"]
    status, told = await raw("PUT", "/applications/1/commands", [hello])
    assert (status, told["code"]) == (404, 10002)


async def test_only_200_commands_are_made_in_a_day(fake: FakeDiscord, raw: Raw) -> None:
    path = f"/applications/{fake.bot.id}/commands"
    for batch in "abb":
        commands = [{"name": f"{batch}{number}", "description": "x"} for number in range(100)]
        assert (await raw("PUT", path, commands))[0] == 200
    status, told = await raw("POST", path, {"name": "b0", "description": "x"})
    assert (status, told["version"] != "") == (200, True)
    status, told = await raw("PUT", path, [{"name": "new", "description": "x"}])
    assert (status, told["code"]) == (400, 30034)


# The gateway


async def test_a_cut_connection_is_resumed_and_the_missed_is_replayed(
    fake: FakeDiscord, bot: Bot, alice: User, dm: Channel
) -> None:
    fake.disconnect(1006)
    await fake.say(alice, dm, "while away")
    assert (await bot.next()).content == "while away"
    async with asyncio.timeout(WITHIN):
        await bot.resumed.wait()
    assert (len(fake.identifies), len(fake.resumes)) == (1, 1)


@pytest.mark.parametrize("code", [1000, 4000, 4001, 4002, 4003, 4005, 4008])
async def test_other_closes_are_resumed(fake: FakeDiscord, bot: Bot, code: int) -> None:
    fake.disconnect(code)
    async with asyncio.timeout(WITHIN):
        await bot.resumed.wait()
    assert len(fake.identifies) == 1


async def test_op_7_is_resumed(fake: FakeDiscord, bot: Bot) -> None:
    fake.ask_reconnect()
    async with asyncio.timeout(WITHIN):
        await bot.resumed.wait()


@pytest.mark.parametrize("code", [4007, 4009])
async def test_a_lost_session_is_begun_anew(fake: FakeDiscord, bot: Bot, code: int) -> None:
    fake.disconnect(code)
    await fake.wait_for(lambda: len(fake.identifies) == 2)
    assert len(fake.resumes) == 1


@pytest.mark.parametrize("resumable", [True, False])
async def test_op_9(fake: FakeDiscord, bot: Bot, resumable: bool) -> None:
    fake.invalidate(resumable=resumable)
    await fake.wait_for(lambda: fake.resumes if resumable else len(fake.identifies) == 2)
    await fake.until_connected()
    assert (len(fake.resumes), len(fake.identifies)) == ((1, 1) if resumable else (0, 2))


async def test_4004_and_4014_end_the_client(fake: FakeDiscord) -> None:
    with pytest.raises(discord.PrivilegedIntentsRequired):
        fake.allow_intents()
        await run_until_it_ends(fake)
    fake.allow_intents("message_content")
    fake.refuse_identify(4004)
    with pytest.raises(discord.ConnectionClosed) as closed:
        await run_until_it_ends(fake)
    assert closed.value.code == 4004


async def test_a_refused_first_connection_kills_discord_py(fake: FakeDiscord) -> None:
    """Which is why the adapter must build a fresh client."""
    fake.refuse_connections()
    with pytest.raises(AttributeError, match="sequence"):
        await run_until_it_ends(fake)
    assert fake.refused == 1


async def test_a_malformed_event_kills_discord_py(
    fake: FakeDiscord, running: tuple[Bot, asyncio.Task[None]], alice: User, dm: Channel
) -> None:
    fake.mangle("MESSAGE_CREATE", remove=("content",))
    await fake.say(alice, dm, "broken")
    async with asyncio.timeout(WITHIN):
        with pytest.raises(KeyError, match="content"):
            await running[1]


async def test_a_wrong_type_kills_discord_py(
    fake: FakeDiscord, running: tuple[Bot, asyncio.Task[None]], alice: User, dm: Channel
) -> None:
    fake.mangle("MESSAGE_CREATE", replace={"author": 5})
    await fake.say(alice, dm, "broken")
    async with asyncio.timeout(WITHIN):
        with pytest.raises(TypeError):
            await running[1]


async def test_a_zombie_connection_is_given_up_and_resumed(fake: FakeDiscord, alice: User, dm: Channel) -> None:
    fake.heartbeat_interval, fake.acks = 0.5, False
    async with started(fake, Bot(heartbeat_timeout=0.2)):
        await fake.wait_for(lambda: fake.resumes)
        assert set(fake.closes) == {4000}


async def test_unknown_events_and_opcodes_are_passed_over(
    fake: FakeDiscord, bot: Bot, alice: User, dm: Channel
) -> None:
    fake.push("SOMETHING_NEW", {"id": "1"})
    fake.push_frame('{"op": 99, "d": null}')
    await fake.say(alice, dm, "still here")
    assert (await bot.next()).content == "still here"


async def test_events_are_held_back(fake: FakeDiscord, bot: Bot, alice: User, dm: Channel) -> None:
    fake.hold_events()
    await fake.say(alice, dm, "late")
    [connection] = fake.connections
    beats = len(connection.beats)
    fake.ask_heartbeat()
    await fake.wait_for(lambda: len(connection.beats) > beats)
    assert bot.heard.empty()
    fake.release_events()
    assert (await bot.next()).content == "late"


async def test_a_clean_goodbye_of_discord_py_leaves_its_session_behind(fake: FakeDiscord) -> None:
    """It means to close with 1000, but its own reader is quicker, with 4000."""
    client = Bot()
    async with started(fake, client):
        await fake.until_connected()
        await client.wait_until_ready()
    await fake.wait_for(lambda: not fake.connections)
    assert (fake.closes, len(fake.sessions)) == ([4000], 1)


class Socket:
    """The gateway without a library."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._inflate = zlib.decompressobj()

    async def receive(self) -> JsonObject:
        message = await self._socket.receive(timeout=WITHIN)
        if message.type is aiohttp.WSMsgType.BINARY:
            assert message.data.endswith(b"\x00\x00\xff\xff")
            return dict(json.loads(self._inflate.decompress(message.data)))
        assert message.type is aiohttp.WSMsgType.TEXT, message
        return dict(json.loads(message.data))

    async def send(self, op: int, data: Any) -> None:
        await self._socket.send_json({"op": op, "d": data})

    async def close_code(self) -> int | None:
        while not self._socket.closed:
            await self._socket.receive(timeout=WITHIN)
        return self._socket.close_code


@pytest_asyncio.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as opened:
        yield opened


async def connected(fake: FakeDiscord, session: aiohttp.ClientSession, query: str = "?v=10&encoding=json") -> Socket:
    socket = Socket(await session.ws_connect(fake.gateway_url + query))
    if "v=10" in query:
        assert (await socket.receive())["op"] == 10
    return socket


def identify(fake: FakeDiscord, **more: Any) -> JsonObject:
    return {"token": fake.token, "intents": 37377, "properties": {}} | more


@pytest.mark.parametrize(
    ("op", "change", "code"),
    [
        (2, {"token": "wrong"}, 4004),
        (2, {"intents": 1 << 30}, 4013),
        (2, {"intents": 1 << 1}, 4014),
        (2, {"intents": "all"}, 4013),
        (3, {}, 4003),
        (42, {}, 4001),
        (2, {"properties": {"os": "x" * 5000}}, 4002),
    ],
)
async def test_the_gateway_refuses(
    fake: FakeDiscord, session: aiohttp.ClientSession, op: int, change: JsonObject, code: int
) -> None:
    socket = await connected(fake, session)
    await socket.send(op, identify(fake, **change))
    assert await socket.close_code() == code


async def test_the_gateway_refuses_to_identify_twice(fake: FakeDiscord, session: aiohttp.ClientSession) -> None:
    socket = await connected(fake, session)
    await socket.send(2, identify(fake))
    await socket.send(2, identify(fake))
    assert await socket.close_code() == 4005


async def test_the_gateway_refuses_another_version(fake: FakeDiscord, session: aiohttp.ClientSession) -> None:
    assert await (await connected(fake, session, "?v=6")).close_code() == 4012


async def test_a_goodbye_with_1000_ends_the_session(fake: FakeDiscord, session: aiohttp.ClientSession) -> None:
    opened = await session.ws_connect(fake.gateway_url + "?v=10&encoding=json")
    await opened.send_json({"op": 2, "d": identify(fake)})
    await fake.until_connected()
    await opened.close(code=1000)
    await fake.wait_for(lambda: not fake.connections)
    assert not fake.sessions


async def test_a_resume_names_a_number_that_was_sent(
    fake: FakeDiscord, session: aiohttp.ClientSession, dm: Channel
) -> None:
    first = await connected(fake, session)
    await first.send(2, identify(fake))
    ready = (await first.receive())["d"]
    resume = {"token": fake.token, "session_id": ready["session_id"]}
    second = await connected(fake, session)
    await second.send(6, resume | {"seq": 99})
    assert await second.close_code() == 4007
    third = await connected(fake, session)
    await third.send(6, resume | {"session_id": "unknown", "seq": 1})
    assert await third.receive() == {"op": 9, "d": False, "s": None, "t": None}
    fourth = await connected(fake, session)
    await fourth.send(6, resume | {"seq": 0})
    assert [(await fourth.receive())["t"] for _ in range(2)] == ["READY", "RESUMED"]


async def test_zlib_stream_carries_every_payload(fake: FakeDiscord, session: aiohttp.ClientSession) -> None:
    fake.guild("Home")
    socket = await connected(fake, session, "?v=10&encoding=json&compress=zlib-stream")
    await socket.send(2, identify(fake))
    assert [(await socket.receive())["t"] for _ in range(2)] == ["READY", "GUILD_CREATE"]


@pytest.mark.requires("zstandard")
async def test_zstd_stream_carries_every_payload(fake: FakeDiscord, session: aiohttp.ClientSession) -> None:
    zstandard = pytest.importorskip("zstandard")
    opened = await session.ws_connect(fake.gateway_url + "?v=10&encoding=json&compress=zstd-stream")
    stream = zstandard.ZstdDecompressor().decompressobj()
    await opened.send_json({"op": 2, "d": identify(fake)})
    read = [json.loads(stream.decompress((await opened.receive(timeout=WITHIN)).data)) for _ in range(2)]
    assert [(one["op"], one["t"]) for one in read] == [(10, None), (0, "READY")]


async def test_heartbeats_are_answered_unless_the_gateway_is_dead(
    fake: FakeDiscord, session: aiohttp.ClientSession
) -> None:
    socket = await connected(fake, session)
    await socket.send(1, None)
    assert (await socket.receive())["op"] == 11
    fake.acks = False
    await socket.send(1, None)
    await fake.wait_for(lambda: len(fake.connections[0].beats) == 2)
    fake.push_frame('{"op": 1, "d": null}')
    assert (await socket.receive())["op"] == 1


async def test_a_client_that_does_not_beat_is_dropped(fake: FakeDiscord, session: aiohttp.ClientSession) -> None:
    fake.dropped_after = 0.05
    assert await (await connected(fake, session)).close_code() == 4009


async def test_the_gateway_refuses_a_flood(fake: FakeDiscord, session: aiohttp.ClientSession) -> None:
    socket = await connected(fake, session)
    for _ in range(121):
        await socket.send(1, None)
    assert await socket.close_code() == 4008


async def test_a_gateway_that_is_down_is_refused_at_the_port(fake: FakeDiscord) -> None:
    await fake.close_gateway()
    with pytest.raises(AttributeError, match="sequence"):
        await run_until_it_ends(fake)
    assert [one.status for one in fake.calls] == [200, 200]


async def test_the_port_closes_and_opens_again(fake: FakeDiscord, bot: Bot, alice: User, dm: Channel) -> None:
    await fake.stop()
    await fake.start()
    await fake.say(alice, dm, "back?")
    assert (await bot.next()).content == "back?"


def test_the_fake_runs_beside_a_blocking_test() -> None:
    with FakeDiscord.in_thread() as thread:
        fake = thread.discord

        async def spoken() -> Channel:
            alice = fake.user("Alice")
            await fake.say(alice, fake.dm(alice), "hello")
            return fake.dm(alice)

        channel = thread.run(spoken())
        assert [one.content for one in fake.messages(channel)] == ["hello"]
        assert thread.wait_for(lambda: fake.messages(channel))
