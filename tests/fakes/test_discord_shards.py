"""The strict Discord with a bot of several connections, without a library."""

from __future__ import annotations

from collections.abc import AsyncIterator

import aiohttp
import pytest
import pytest_asyncio

from tests.fakes.discord import FakeDiscord
from tests.fakes.discord.sharding import id_on
from tests.fakes.test_fake_discord import Raw, Socket, connected, identify

INVALID_SESSION = 9


@pytest_asyncio.fixture
async def fake() -> AsyncIterator[FakeDiscord]:
    async with FakeDiscord() as server:
        yield server


@pytest_asyncio.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as opened:
        yield opened


async def begun(fake: FakeDiscord, session: aiohttp.ClientSession, *shard: int) -> Socket:
    socket = await connected(fake, session, "?v=10&encoding=json")
    await socket.send(2, identify(fake, shard=list(shard)))
    return socket


@pytest.mark.parametrize("shard", [[3, 3], [-1, 2], [0, 0], [0], "0/1", [0, "2"], [0.0, 1], [True, 2], None])
async def test_a_shard_that_cannot_be_is_refused(
    fake: FakeDiscord, session: aiohttp.ClientSession, shard: object
) -> None:
    socket = await connected(fake, session)
    await socket.send(2, identify(fake, shard=shard))
    assert await socket.close_code() == 4010


async def test_too_many_servers_for_one_connection(fake: FakeDiscord, session: aiohttp.ClientSession) -> None:
    fake.most_guilds = 1
    for shard in (0, 1):
        fake.guild("A server", id_on(shard, 2))
    single = await connected(fake, session)
    await single.send(2, identify(fake))
    assert await single.close_code() == 4011
    fake.starts.at_once = 2
    sockets = [await begun(fake, session, shard, 2) for shard in (0, 1)]
    assert [(await one.receive())["t"] for one in sockets] == ["READY", "READY"]
    assert fake.shards == [(0, 2), (1, 2)]


async def test_each_connection_hears_of_its_servers_and_the_first_of_private_chats(
    fake: FakeDiscord, session: aiohttp.ClientSession
) -> None:
    alice = fake.user("Alice")
    guilds = [fake.guild(f"Server {shard}", id_on(shard, 3)) for shard in range(3)]
    channels = [guild.text("general") for guild in guilds]
    fake.starts.at_once = 3
    sockets = [await begun(fake, session, shard, 3) for shard in range(3)]
    for shard, socket in enumerate(sockets):
        ready, created = await socket.receive(), await socket.receive()
        assert ready["d"]["shard"] == [shard, 3]
        assert [one["id"] for one in ready["d"]["guilds"]] == [created["d"]["id"]] == [str(guilds[shard].id)]
    dm = fake.dm(alice)
    await fake.say(alice, dm, "in private")
    for shard, channel in enumerate(channels):
        await fake.say(alice, channel, f"in {shard}")
    private = [(await sockets[0].receive())["t"] for _ in range(2)]
    assert private == ["CHANNEL_CREATE", "MESSAGE_CREATE"]
    for shard, socket in enumerate(sockets):
        assert (await socket.receive())["d"]["content"] == f"in {shard}"


async def test_sessions_that_begin_too_fast_are_invalid(fake: FakeDiscord, session: aiohttp.ClientSession) -> None:
    """One of each bucket in five seconds; with two at once, 0 and 2 share a bucket, 1 has another."""
    fake.starts.at_once = 2
    assert (await (await begun(fake, session, 0, 3)).receive())["t"] == "READY"
    assert (await (await begun(fake, session, 1, 3)).receive())["t"] == "READY"
    assert (await (await begun(fake, session, 2, 3)).receive())["op"] == INVALID_SESSION
    assert fake.starts.hasty == 1
    fake.pass_time(5)
    assert (await (await begun(fake, session, 2, 3)).receive())["t"] == "READY"


async def test_how_many_are_recommended_and_how_fast(fake: FakeDiscord, session: aiohttp.ClientSession) -> None:
    fake.recommended_shards, fake.starts.at_once, fake.starts.left = 7, 4, 12
    status, told = await Raw(fake, session)("GET", "/gateway/bot")
    assert (status, told["shards"]) == (200, 7)
    assert told["session_start_limit"] | {"reset_after": 0} == {
        "total": 1000,
        "remaining": 12,
        "reset_after": 0,
        "max_concurrency": 4,
    }


async def test_a_shard_is_closed_alone_and_resumes_as_itself(fake: FakeDiscord, session: aiohttp.ClientSession) -> None:
    fake.starts.at_once = 2
    first, second = [await begun(fake, session, shard, 2) for shard in (0, 1)]
    ready = (await second.receive())["d"]
    fake.disconnect(4000, shard=1)
    assert await second.close_code() == 4000
    assert (await first.receive())["t"] == "READY"
    await fake.wait_for(lambda: fake.shards == [(0, 2)])
    again = await connected(fake, session)
    await again.send(6, {"token": fake.token, "session_id": ready["session_id"], "seq": 1})
    assert (await again.receive())["t"] == "RESUMED"
    assert fake.shards == [(0, 2), (1, 2)]
