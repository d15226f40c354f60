"""Answers that the documentation allows, or that leave out what can be done without: the talk goes on."""

from __future__ import annotations

from typing import Any

import pytest

from channels.discord.errors import UNKNOWN_CHANNEL
from channels.discord.rate_limit import GlobalRateLimit
from channels.message import Address, NotSent, OutboundMessage, Refused
from tests.channels.discord.conftest import House

APPLICATION = "/oauth2/applications/@me$"
LACKING: list[dict[str, Any]] = [
    {"status": 404},
    {"status": 403},
    {"status": 501, "text": "<html>"},
    {"status": 200, "text": "<html>"},
    {"status": 200, "json": {}},
]


async def answered(house: House) -> None:
    alice = house.discord.user("Alice")
    dm = house.discord.dm(alice)
    async with house.running() as channel:
        await house.discord.say(alice, dm, "hello")
        await house.receiver.message("hello")
        await channel.send(OutboundMessage(Address("discord", str(dm.id)), "Hi.", key="a"))
    assert [one.content for one in house.discord.messages(dm)] == ["hello", "Hi."]


@pytest.mark.parametrize("answer", LACKING)
async def test_without_the_application(house: House, answer: dict[str, Any]) -> None:
    house.discord.fail_next("GET", APPLICATION, times=None, **answer)
    await answered(house)


@pytest.mark.parametrize("answer", LACKING)
async def test_the_gateway_is_where_bots_ask_for_it(house: House, answer: dict[str, Any]) -> None:
    house.discord.fail_next("GET", "^/gateway$", times=None, **answer)
    await answered(house)


async def test_json_whatever_its_charset(house: House) -> None:
    house.discord.json_type = "application/json; charset=utf-8"
    await answered(house)
    async with house.running() as channel:
        with pytest.raises(Refused, match="the channel is gone"):
            await channel.send(OutboundMessage(Address("discord", str(UNKNOWN_CHANNEL)), "Hi.", key="b"))


@pytest.mark.parametrize("missing", ["resume_gateway_url", "session_id", "user", "guilds", "application"])
async def test_a_ready_with_less(house: House, missing: str) -> None:
    house.discord.mangle("READY", remove=(missing,))
    await answered(house)


async def test_a_session_is_taken_up_where_it_began(house: House) -> None:
    house.discord.mangle("READY", remove=("resume_gateway_url",))
    alice = house.discord.user("Alice")
    dm = house.discord.dm(alice)
    async with house.running():
        house.discord.ask_reconnect()
        await house.discord.wait_for(lambda: house.discord.resumes)
        await house.discord.say(alice, dm, "after")
        await house.receiver.message("after")


async def test_a_wait_that_only_the_body_names(house: House) -> None:
    dm = house.discord.dm(house.discord.user("Alice"))
    limited = {"message": "You are being rate limited.", "retry_after": 2.5, "global": False}
    house.discord.fail_next(
        "POST", f"/channels/{dm.id}/messages$", status=429, json=limited, headers={"X-RateLimit-Scope": "user"}
    )
    async with house.running() as channel:
        with pytest.raises(NotSent) as refused:
            await channel.send(OutboundMessage(Address("discord", str(dm.id)), "Hi.", key="a"))
        assert refused.value.retry_after == 2.5
        await channel.send(OutboundMessage(Address("discord", str(dm.id)), "Hi.", key="a"))


def test_whose_429_it_is() -> None:
    halt = GlobalRateLimit()
    halt.met({"X-RateLimit-Bucket": "abc", "Retry-After": "9"})
    assert halt.left() == 0.0
    halt.met({"Via": "1.1 google"}, {"retry_after": 90.0, "global": True})
    assert 30.0 < halt.left() <= 90.0
    halt.met({}, {"retry_after": 900.0})
    assert halt.left() > 800.0 and halt.shut_out


async def test_a_channel_that_nobody_describes(house: House) -> None:
    """Asked for once, not at every message."""
    alice, guild = house.discord.user("Alice"), house.discord.guild("Home")
    general = guild.text("general")
    house.discord.mangle("GUILD_CREATE", remove=("channels",))
    house.discord.fail_next("GET", f"/channels/{general.id}$", status=501, text="<html>", times=None)
    async with house.running():
        for number in range(3):
            await house.discord.say(alice, general, f"number {number}")
            await house.receiver.message(f"number {number}")
    assert len(house.discord.called("GET", f"/channels/{general.id}$")) == 1


async def test_a_message_with_less(house: House) -> None:
    alice, general = house.discord.user("Alice"), house.discord.guild("Home").text("general")
    async with house.running() as channel:
        sent = await channel.send(OutboundMessage(Address("discord", str(general.id)), "Hi.", key="a"))
        house.discord.mangle("MESSAGE_CREATE", remove=("type", "timestamp", "member", "flags", "mention_roles"))
        await house.discord.say(alice, general, "bare")
        await house.receiver.message("bare")
        house.discord.mangle("MESSAGE_CREATE", remove=("referenced_message",))
        await house.discord.say(alice, general, "yes", reply_to=general.messages[int(sent)])
        assert (await house.receiver.message("yes")).calls_bot
