"""What was said while nobody listened is read afterwards, in order, and counts as seen only once it is on disk."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from tests.channels.discord.conftest import House


async def test_private_chats_and_channels_and_threads(house: House) -> None:
    alice, guild = house.discord.user("Alice"), house.discord.guild("Home")
    dm, general = house.discord.dm(alice), guild.text("general")
    thread = general.thread("plan")
    async with house.running():
        for chat in (dm, general, thread):
            await house.discord.say(alice, chat, f"first in {chat.id}")
        await house.receiver.until(lambda: len(house.receiver.messages) == 3)
    for number in range(3):
        for chat in (dm, general, thread):
            await house.discord.say(alice, chat, f"missed {number} in {chat.id}")
    house.receiver.events.clear()
    async with house.running():
        await house.receiver.until(lambda: len(house.receiver.messages) == 9)
        for chat in (dm, general, thread):
            texts = [one.text for one in house.receiver.messages if one.address.chat_id == str(chat.id)]
            assert texts == [f"missed {number} in {chat.id}" for number in range(3)]
        (parent,) = {one.parent_chat for one in house.receiver.messages if one.address.chat_id == str(thread.id)}
        assert parent == str(general.id)


async def test_more_than_a_page(house: House) -> None:
    alice = house.discord.user("Alice")
    dm = house.discord.dm(alice)
    async with house.running():
        await house.discord.say(alice, dm, "first")
        await house.receiver.message("first")
    for number in range(230):
        await house.discord.say(alice, dm, f"{number}")
    house.receiver.events.clear()
    async with house.running():
        await house.receiver.message("229")
    assert house.receiver.texts == [f"{number}" for number in range(230)]


async def test_a_thread_that_was_begun_meanwhile(house: House) -> None:
    """Nothing was ever seen in it, but we know when we last heard of anything."""
    alice, guild = house.discord.user("Alice"), house.discord.guild("Home")
    general = guild.text("general")
    await house.discord.say(alice, general, "long ago")
    async with house.running():
        await house.discord.say(alice, general, "last")
        await house.receiver.message("last")
    thread = general.thread("new")
    await house.discord.say(alice, thread, "are you there?", mentions=[house.discord.bot])
    async with house.running():
        await house.receiver.message("are you there?")
    assert "long ago" not in house.receiver.texts


async def test_the_first_start_reads_no_history(house: House) -> None:
    alice, guild = house.discord.user("Alice"), house.discord.guild("Home")
    general = guild.text("general")
    await house.discord.say(alice, general, "before our time")
    async with house.running():
        await house.discord.say(alice, general, "now")
        await house.receiver.message("now")
    assert house.receiver.texts == ["now"]
    assert not [call for call in house.discord.calls if call.method == "GET" and call.path.endswith("/messages")]


async def test_what_the_disk_refused_is_offered_again(house: House) -> None:
    alice = house.discord.user("Alice")
    dm = house.discord.dm(alice)
    async with house.running():
        await house.discord.say(alice, dm, "kept")
        await house.receiver.message("kept")
    channel = house.channel()
    house.receiver.refuse = OSError("disk full")
    task = asyncio.create_task(channel.run(house.receiver))
    await house.discord.until_connected()
    await house.discord.say(alice, dm, "refused")
    with pytest.raises(OSError, match="disk full"):
        async with asyncio.timeout(120):
            await task
    await channel.aclose()
    house.receiver.refuse = None
    async with house.running():
        await house.receiver.message("refused")
    assert house.receiver.texts == ["kept", "refused"]


async def test_what_is_said_now_comes_behind_what_was_missed(house: House) -> None:
    alice = house.discord.user("Alice")
    dm = house.discord.dm(alice)
    async with house.running():
        await house.discord.say(alice, dm, "first")
        await house.receiver.message("first")
    await house.discord.say(alice, dm, "missed")
    history = house.discord.hold("GET", "/messages$")
    async with house.running():
        await history.wait()
        await house.discord.say(alice, dm, "now")
        assert house.receiver.texts == ["first"]
        history.release()
        await house.receiver.message("now")
    assert list(dict.fromkeys(house.receiver.texts)) == ["first", "missed", "now"]


async def test_a_chat_that_is_gone_is_forgotten(house: House) -> None:
    alice, guild = house.discord.user("Alice"), house.discord.guild("Home")
    dm, general = house.discord.dm(alice), guild.text("general")
    async with house.running():
        await house.discord.say(alice, dm, "a")
        await house.discord.say(alice, general, "b")
        await house.receiver.message("b")
    del house.discord.channels[dm.id]
    async with house.running():
        general.delete()
        await house.discord.wait_for(lambda: [call for call in house.discord.calls if call.code == 10003])
        await house.discord.say(alice, guild.text("other"), "still here")
        await house.receiver.message("still here")
        assert {one.chat_id for one in await house.seen.load()}.isdisjoint({str(dm.id), str(general.id)})


async def test_a_history_that_cannot_be_had_now_is_not_given_up(house: House) -> None:
    alice = house.discord.user("Alice")
    dm = house.discord.dm(alice)
    async with house.running():
        await house.discord.say(alice, dm, "first")
        await house.receiver.message("first")
    await house.discord.say(alice, dm, "missed")
    house.discord.fail_next("GET", "/messages$", status=503)
    async with house.running():
        await house.receiver.message("missed")


@pytest.mark.parametrize("answer", [{"status": 501, "text": "<html>"}, {"status": 400}, {"status": 200, "text": "<p>"}])
async def test_without_any_history_there_is_still_a_talk(house: House, answer: Mapping[str, Any]) -> None:
    """And what is said in it does not hide what was missed before."""
    alice = house.discord.user("Alice")
    dm = house.discord.dm(alice)
    async with house.running():
        await house.discord.say(alice, dm, "first")
        await house.receiver.message("first")
    await house.discord.say(alice, dm, "missed")
    broken = house.discord.fail_next("GET", "/messages$", times=None, **answer)
    async with house.running():
        await house.discord.say(alice, dm, "now")
        await house.receiver.message("now")
    assert "missed" not in house.receiver.texts
    broken.cancel()
    async with house.running():
        await house.receiver.message("missed")
