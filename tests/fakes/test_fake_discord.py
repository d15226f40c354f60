"""The fake is used through the real discord.py, so that what it says is what the library expects."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import discord
import pytest
import pytest_asyncio
import yarl
from discord.gateway import DiscordWebSocket
from discord.http import Route

from tests.fakes.discord import FakeDiscord

INTENTS = discord.Intents(guilds=True, guild_messages=True, dm_messages=True, message_content=True)


class Bot(discord.Client):
    """Keeps what it hears; knows no more than the tests need."""

    def __init__(self, intents: discord.Intents = INTENTS) -> None:
        super().__init__(
            intents=intents,
            max_messages=None,
            allowed_mentions=discord.AllowedMentions.none(),
            guild_ready_timeout=0.05,
            chunk_guilds_at_startup=False,
            member_cache_flags=discord.MemberCacheFlags.none(),
        )
        self.heard: asyncio.Queue[discord.Message] = asyncio.Queue()

    async def on_message(self, message: discord.Message) -> None:
        if message.author != self.user:
            self.heard.put_nowait(message)

    async def next(self) -> discord.Message:
        async with asyncio.timeout(5):
            return await self.heard.get()


@pytest_asyncio.fixture
async def fake() -> AsyncIterator[FakeDiscord]:
    base, gateway = Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY
    async with FakeDiscord() as server:
        Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY = server.api_url, yarl.URL(server.gateway_url)
        yield server
    Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY = base, gateway


@pytest_asyncio.fixture
async def bot(fake: FakeDiscord) -> AsyncIterator[Bot]:
    client = Bot()
    running = asyncio.create_task(client.start(fake.token))
    await fake.until_connected()
    await client.wait_until_ready()
    yield client
    await client.close()
    await asyncio.gather(running, return_exceptions=True)


async def test_a_person_writes_in_private_and_sees_the_answer_and_its_edit(fake: FakeDiscord, bot: Bot) -> None:
    alice = fake.user("Alice")
    dm = fake.dm(alice)
    await fake.say(alice, dm, "hello")
    heard = await bot.next()
    assert (heard.content, heard.author.id, heard.guild) == ("hello", alice.id, None)
    sent = await heard.reply("hi", mention_author=False)
    seen = await fake.next_message(dm)
    assert (seen.content, seen.reference.content if seen.reference else None, seen.edits) == ("hi", "hello", 0)
    await sent.edit(content="hi there")
    assert (seen.content, seen.edits, seen.versions) == ("hi there", 1, ["hi", "hi there"])


async def test_a_mention_in_a_server_is_heard(fake: FakeDiscord, bot: Bot) -> None:
    alice, guild = fake.user("Alice"), fake.guild("Home")
    channel = guild.text("general")
    await fake.say(alice, channel, "what now?", mentions=[fake.bot])
    heard = await bot.next()
    assert heard.guild is not None and heard.guild.id == guild.id
    assert bot.user in heard.mentions
    await heard.channel.send("this")
    assert [one.content for one in fake.messages(channel)] == [f"{fake.bot.mention} what now?", "this"]


async def test_a_wrong_token_is_refused(fake: FakeDiscord) -> None:
    async with Bot() as client:
        with pytest.raises(discord.LoginFailure):
            await client.login("wrong")
