"""What can go wrong between us and the gateway: nothing said is lost, nothing is heard twice, and the cure is named."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from importlib.util import find_spec

import pytest

from channels.discord.channel import DiscordChannel
from channels.discord.errors import BAD_INTENTS, BAD_TOKEN
from channels.message import Health, OutboundMessage, SourceFailed
from tests.channels.discord.conftest import House, address


def begun(house: House, channel: DiscordChannel) -> asyncio.Task[None]:
    return asyncio.create_task(channel.run(house.receiver))


async def ended(task: asyncio.Task[None]) -> SourceFailed:
    """The failure that a run ends with by itself."""
    with pytest.raises(SourceFailed) as failed:
        async with asyncio.timeout(120):
            await task
    return failed.value


async def stopped(task: asyncio.Task[None], channel: DiscordChannel) -> None:
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    await channel.aclose()


async def test_a_wrong_token_is_fatal_and_its_cure_is_named(house: House) -> None:
    channel = house.channel(token="MTA.wrong.token")
    failed = await ended(begun(house, channel))
    assert (failed.fatal, str(failed)) == (True, BAD_TOKEN)
    assert channel.status.state is Health.DOWN and channel.status.last_error == BAD_TOKEN
    await channel.aclose()


async def test_a_token_that_the_gateway_refuses(house: House) -> None:
    house.discord.refuse_identify(4004)
    channel = house.channel()
    failed = await ended(begun(house, channel))
    assert (failed.fatal, str(failed)) == (True, BAD_TOKEN)
    await channel.aclose()


async def test_a_missing_intent_is_named(house: House) -> None:
    house.discord.allow_intents()
    channel = house.channel()
    failed = await ended(begun(house, channel))
    assert (failed.fatal, str(failed)) == (True, BAD_INTENTS)
    assert "Message Content Intent" in str(failed)
    await channel.aclose()


@pytest.mark.parametrize("code", [4010, 4011, 4012, 4013])
async def test_what_no_new_start_can_cure_is_fatal(house: House, code: int) -> None:
    house.discord.refuse_identify(code)
    channel = house.channel()
    failed = await ended(begun(house, channel))
    assert failed.fatal and str(code) in str(failed)
    await channel.aclose()


@pytest.mark.parametrize("code", [1000, 1001, 1006, 4000, 4001, 4002, 4003, 4005, 4006, 4007, 4008, 4009, 4999])
async def test_a_closed_connection_is_taken_up_again(house: House, code: int) -> None:
    alice = house.discord.user("Alice")
    dm = house.discord.dm(alice)
    async with house.running() as channel:
        await house.discord.say(alice, dm, "before")
        await house.receiver.message("before")
        house.discord.disconnect(code)
        await house.discord.wait_for(lambda: not house.discord.connected)
        await house.discord.say(alice, dm, "meanwhile")
        await house.receiver.message("meanwhile")
        await house.discord.say(alice, dm, "after")
        await house.receiver.message("after")
        assert channel.status.state is Health.OK
    assert {one.id for one in house.receiver.messages} == {f"message:{one.id}" for one in house.discord.messages(dm)}


@pytest.mark.parametrize("how", ["reconnect", "invalid", "invalid but resumable"])
async def test_the_server_asks_to_begin_again(house: House, how: str) -> None:
    alice = house.discord.user("Alice")
    dm = house.discord.dm(alice)
    async with house.running():
        await house.discord.say(alice, dm, "before")
        await house.receiver.message("before")
        if how == "reconnect":
            house.discord.ask_reconnect()
        else:
            house.discord.invalidate(resumable="resumable" in how)
        await house.discord.wait_for(lambda: not house.discord.connected)
        await house.discord.say(alice, dm, "meanwhile")
        await house.receiver.message("meanwhile")


async def test_a_refused_first_connection_ends_the_run_and_the_next_is_fine(house: House) -> None:
    house.discord.refuse_connections(1)
    channel = house.channel()
    failed = await ended(begun(house, channel))
    assert not failed.fatal and "Discord" in str(failed)
    assert channel.status.state is Health.DOWN
    again = begun(house, channel)
    await house.discord.until_connected()
    await stopped(again, channel)


async def test_rest_is_down_at_login(house: House) -> None:
    house.discord.fail_next("GET", "/users/@me", status=503)
    channel = house.channel()
    failed = await ended(begun(house, channel))
    assert not failed.fatal
    again = begun(house, channel)
    await house.discord.until_connected()
    await stopped(again, channel)


async def test_a_gateway_that_is_gone_ends_the_run_and_sends_go_on(house: House) -> None:
    """The library would try again by itself, after up to 17 minutes."""
    dm = house.discord.dm(house.discord.user("Alice"))
    channel = house.channel()
    task = begun(house, channel)
    await house.discord.until_connected()
    house.discord.refuse_connections(5)
    house.discord.disconnect(1006)
    failed = await ended(task)
    assert not failed.fatal
    await channel.send(OutboundMessage(address(dm), "still here", "k"))
    assert [one.content for one in house.discord.messages(dm)] == ["still here"]
    await channel.aclose()


async def test_odd_events_break_nothing(house: House) -> None:
    alice, guild = house.discord.user("Alice"), house.discord.guild("Home")
    dm, general = house.discord.dm(alice), guild.text("general")
    async with house.running():
        house.discord.push("NEVER_HEARD_OF", {"x": 1})
        for event in ("MESSAGE_CREATE", "MESSAGE_UPDATE", "GUILD_CREATE", "CHANNEL_UPDATE", "THREAD_LIST_SYNC"):
            for data in (
                {},
                {"id": 5},
                {"id": "x", "channel_id": str(dm.id), "author": 3, "roles": 7, "threads": [1]},
                None,
            ):
                house.discord.push(event, data)
        for data in ({}, {"id": "1", "channel_id": str(dm.id), "type": 2, "token": "t", "data": {}}, None):
            house.discord.push("INTERACTION_CREATE", data)
        house.discord.mangle("MESSAGE_CREATE", remove=("author",))
        await house.discord.say(alice, general, "without an author")
        house.discord.mangle("MESSAGE_CREATE", remove=("channel_id", "guild_id"))
        await house.discord.say(alice, dm, "from nowhere")
        house.discord.mangle("MESSAGE_CREATE", replace={"attachments": "none", "mentions": {}, "type": 0, "flags": "x"})
        await house.discord.say(alice, dm, "with odd fields")
        await house.discord.say(alice, dm, "sound")
        await house.receiver.message("sound")
    assert "with odd fields" in house.receiver.texts
    assert len(house.discord.identifies) == 1
    assert all(one.chat_id for one in await house.seen.load()), "a chat without an id has no history to be asked for"


async def test_frames_that_are_none_cost_a_connection_and_no_message(house: House) -> None:
    alice = house.discord.user("Alice")
    dm = house.discord.dm(alice)
    channel = house.channel()
    task = begun(house, channel)
    await house.discord.until_connected()
    await house.discord.say(alice, dm, "before")
    await house.receiver.message("before")
    house.discord.push_frame("this is no JSON")
    failed = await ended(task)
    assert not failed.fatal
    await house.discord.say(alice, dm, "meanwhile")
    again = begun(house, channel)
    await house.receiver.message("meanwhile")
    await stopped(again, channel)


async def test_a_spoilt_stream_costs_a_connection_and_no_message(house: House) -> None:
    alice = house.discord.user("Alice")
    dm = house.discord.dm(alice)
    channel = house.channel()
    task = begun(house, channel)
    await house.discord.until_connected()
    await house.discord.say(alice, dm, "before")
    await house.receiver.message("before")
    await house.discord.connections[0].socket.send_bytes(b"\xffno stream of any kind\x00\x00\xff\xff")
    failed = await ended(task)
    assert not failed.fatal and channel.status.state is Health.DOWN
    await house.discord.say(alice, dm, "meanwhile")
    again = begun(house, channel)
    await house.receiver.message("meanwhile")
    await stopped(again, channel)


async def test_connections_that_break_at_once_are_not_hurried(house: House) -> None:
    async with house.running():
        for _ in range(4):
            house.discord.disconnect(4000)
            await house.discord.wait_for(lambda: not house.discord.connected)
            await house.discord.until_connected()
    assert house.pauses.asked[:3] == [2.0, 4.0, 8.0]


async def test_a_zombie_is_noticed_and_left(house: House) -> None:
    """The socket is open, and nothing comes through it: heartbeats are not answered, events are not told."""
    alice = house.discord.user("Alice")
    dm = house.discord.dm(alice)
    house.discord.heartbeat_interval, house.silence = 0.5, 1.2
    async with house.running():
        await house.discord.say(alice, dm, "before")
        await house.receiver.message("before")  # so there is a session to take up, however slow its beginning was
        zombie = (await house.discord.wait_for(lambda: house.discord.connections))[-1]
        house.discord.acks = False
        house.discord.hold_events()
        await house.discord.say(alice, dm, "into the void")
        await house.discord.wait_for(lambda: zombie not in house.discord.connections)
        house.discord.acks = True
        house.discord.release_events()
        await house.receiver.message("into the void")
        assert house.discord.resumes and set(house.discord.closes) == {4000}
        await house.discord.say(alice, dm, "heard again")
        await house.receiver.message("heard again")


async def test_a_heartbeat_that_is_asked_for_is_sent_at_once(house: House) -> None:
    async with house.running():
        (connection,) = house.discord.connections
        beats = len(connection.beats)
        house.discord.ask_heartbeat()
        await house.discord.wait_for(lambda: len(connection.beats) > beats)


async def test_what_the_gateway_says_comes_compressed(house: House) -> None:
    """Where the package `zstandard` is installed the library asks for zstd, else for zlib; there is no other switch. So
    each way is taken by all tests of this folder where they run with it, or without."""
    async with house.running():
        (connection,) = house.discord.connections
        assert connection.compress == ("zstd-stream" if find_spec("zstandard") else "zlib-stream")


async def test_two_clients_do_not_disturb_each_other(house: House) -> None:
    """Addresses are each client's own, though the library keeps them in its classes."""
    async with house.discord.__class__() as elsewhere:
        other = House(elsewhere)
        alice, bob = house.discord.user("Alice"), elsewhere.user("Bob")
        async with house.running() as one, other.running() as two:
            await house.discord.say(alice, house.discord.dm(alice), "here")
            await elsewhere.say(bob, elsewhere.dm(bob), "there")
            here, there = await house.receiver.message("here"), await other.receiver.message("there")
            await one.send(OutboundMessage(here.address, "one", "k"))
            await two.send(OutboundMessage(there.address, "two", "k"))
            assert [message.content for message in elsewhere.messages(elsewhere.dm(bob))] == ["there", "two"]


async def test_the_least_intents_are_asked_for(house: House) -> None:
    async with house.running():
        assert [identify["intents"] for identify in house.discord.identifies] == [37377]
