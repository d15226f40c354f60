"""A bot in servers that three connections share: each message is answered once, whatever becomes of a connection."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from gateway.home import Home
from gateway.server import Gateway
from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.discord import Channel
from tests.fakes.discord.sharding import id_on
from tests.fakes.telegram import FakeTelegram
from tests.flows.process import GatewayProcess
from tests.flows.server import OWNER, Server, living

SHARDS = 3


class Club:
    """The owner in private, and a server on each of three shards where Bob writes."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.discord = server.discord
        self.discord.starts.at_once = 16
        self.guilds = [self.discord.guild(f"Club {shard}", id_on(shard, SHARDS)) for shard in range(SHARDS)]
        self.rooms = [guild.text("general") for guild in self.guilds]

    def settings(self, shards: object) -> Mapping[str, Any]:
        guilds = {str(guild.id): {"mention": "optional"} for guild in self.guilds}
        return {**self.server.settings(), "guilds": guilds, "shards": shards}

    @property
    def chats(self) -> Sequence[Channel]:
        return [self.server.dm, *self.rooms]

    async def say(self, text: str, chat: Channel) -> None:
        by = self.server.owner if chat is self.server.dm else self.server.bob
        await self.server.say(f"{text} in {chat.id}", chat, by)

    def heard_once(self, text: str, chats: Sequence[Channel]) -> bool:
        return all(sum(f"{text} in {chat.id}" in one for one in self.server.heard(chat)) == 1 for chat in chats)

    async def answers(self, text: str, chats: Sequence[Channel]) -> None:
        for chat in chats:
            await self.server.hears(f"{text} in {chat.id}", chat)
        assert self.heard_once(text, chats)


async def channels(gateway: Gateway) -> Mapping[str, Any]:
    status: Any = await gateway.operations["status"]({})
    return dict(status["channels"])


@pytest.fixture
def club(server: Server) -> Club:
    return Club(server)


async def test_each_server_and_private_chats_are_answered_once(home: Home, club: Club, model: FakeAnthropic) -> None:
    async with living(home, club.server, model, **club.settings(SHARDS)) as gateway:
        await club.discord.until_shards(SHARDS)
        for chat in club.chats:
            await club.say("hello", chat)
        await club.answers("hello", club.chats)
        (asked,) = [one for one in model.requests if f"hello in {club.rooms[2].id}" in one.last_user_text]
        assert "Bob" in asked.last_user_text
        known = await channels(gateway)
        states = {name: one["state"] for name, one in known.items() if name.startswith("discord")}
        parts = {f"discord:shard:{number}/{SHARDS}": "ok" for number in range(SHARDS)}
        assert states == {"discord": "ok", **parts}
        await club.server.say("/status")
        said = (await club.server.hears("Channels:")).content
        assert "discord ok" in said and "shard" not in said
    assert len(model.requests) == len(club.chats)
    assert [one["shard"] for one in club.discord.identifies] == [[number, SHARDS] for number in range(SHARDS)]


async def test_a_connection_that_breaks_is_restarted_and_the_others_answer(
    home: Home, club: Club, model: FakeAnthropic
) -> None:
    async with living(home, club.server, model, **club.settings(SHARDS)) as gateway:
        await club.discord.until_shards(SHARDS)
        for chat in club.chats:
            await club.say("first", chat)
        await club.answers("first", club.chats)
        club.discord.refuse_connections(1)
        (broken,) = [one for one in club.discord.connections if one.session and one.session.shard[0] == 1]
        broken.put("this is no JSON")
        while (down := (await channels(gateway))["discord"])["state"] == "ok":  # noqa: ASYNC110  a status rings no bell
            await asyncio.sleep(0.01)
        assert (down["state"], down["last_error"][:11]) == ("degraded", "shard:1/3: ")
        for chat in club.chats:
            await club.say("meanwhile", chat)
        await club.answers("meanwhile", [club.server.dm, club.rooms[0], club.rooms[2]])
        await club.answers("meanwhile", [club.rooms[1]])
        await club.discord.until_shards(SHARDS)
    assert club.heard_once("first", club.chats)


@pytest.mark.parametrize(("before", "after"), [(None, 3), (2, "auto")])
async def test_the_number_changes_over_a_restart_and_nothing_is_lost_or_doubled(
    home: Home, club: Club, model: FakeAnthropic, before: int | None, after: object
) -> None:
    club.discord.recommended_shards = SHARDS
    new = [guild.text("new") for guild in club.guilds]
    async with living(home, club.server, model, **club.settings(before)):
        await club.discord.until_shards(before or 1)
        for chat in club.chats:
            await club.say("before", chat)
        await club.answers("before", club.chats)
    for chat in (*club.chats, *new):
        await club.say("meanwhile", chat)
    club.discord.pass_time(5)
    async with living(home, club.server, model, **club.settings(after)):
        await club.discord.until_shards(SHARDS)
        await club.answers("meanwhile", [*club.chats, *new])
        for chat in (*club.chats, *new):
            await club.say("after", chat)
        await club.answers("after", [*club.chats, *new])
    assert club.heard_once("before", club.chats) and club.heard_once("meanwhile", [*club.chats, *new])


async def test_killed_and_started_with_another_number(club: Club, model: FakeAnthropic) -> None:
    """While answers are on their way and messages come."""
    settings = {"owners": [f"discord:{OWNER}"], "channels": {"discord": club.settings(2)}}
    async with FakeTelegram() as telegram, GatewayProcess(telegram, model, settings) as gateway:
        await gateway.while_alive(club.discord.until_shards(2))
        sends = club.discord.hold("POST", "/messages$")
        for chat in club.chats:
            await club.say("asked", chat)
        await gateway.while_alive(sends.wait())
        await gateway.kill()
        sends.release()
        for chat in club.chats:
            await club.say("meanwhile", chat)
        club.discord.pass_time(5)
        gateway.write_config({**settings, "channels": {"discord": club.settings(SHARDS)}})
        await gateway.start()
        await gateway.while_alive(club.discord.until_shards(SHARDS))
        for text in ("asked", "meanwhile"):
            await gateway.while_alive(club.answers(text, club.chats))
        status = await gateway.cli("status")
        assert f"discord:shard:2/{SHARDS} ok" in status.out


async def test_too_many_servers_for_one_connection(home: Home, club: Club, model: FakeAnthropic) -> None:
    """The status says what to set; with that, they are served."""
    club.discord.most_guilds = 2
    settings = {"owners": [f"discord:{OWNER}"], "channels": {"discord": club.settings(None)}}
    async with FakeTelegram() as telegram, GatewayProcess(telegram, model, settings) as gateway:
        status = await gateway.until_status(lambda status: status["channels"]["discord"]["state"] == "down")
        assert "set channels.discord.shards to auto" in status["channels"]["discord"]["last_error"]
    club.discord.recommended_shards = SHARDS
    async with living(home, club.server, model, **club.settings("auto")):
        await club.discord.until_shards(SHARDS)
        await club.say("hello", club.rooms[1])
        await club.answers("hello", [club.rooms[1]])


@pytest.mark.parametrize("value", [0, -3, 1001, "many", True, 2.5])
async def test_a_number_that_cannot_be_is_said_at_the_start(club: Club, model: FakeAnthropic, value: object) -> None:
    settings = {"channels": {"discord": club.settings(value)}}
    async with FakeTelegram() as telegram, GatewayProcess(telegram, model, settings, start_now=False) as gateway:
        gateway.write_config(settings)
        refused = await gateway.cli("gateway")
    assert refused.code == 2
    assert "channels.discord.shards: " in refused.err and "allowed: `auto`, or a whole number" in refused.err
