"""Discord with several gateways on one home: connections are shared out, and each gateway sends without one, too."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

import psycopg
import pytest

from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.discord import Channel, Message
from tests.fakes.discord.sharding import id_on
from tests.fakes.postgres import PostgresServer
from tests.fakes.telegram import FakeTelegram
from tests.flows.process import GatewayProcess
from tests.flows.server import OWNER, Server
from tests.flows.test_several_gateways import Cluster, until_waiting
from tests.strength import first

Told = Mapping[str, tuple[int, str, str]]
"""By connection: the process of its gateway, its state, and what is wrong."""


class Gateways(Cluster):
    """Gateways that serve a Discord server on each of `shards` connections. `url`: their database."""

    def __init__(self, telegram: FakeTelegram, model: FakeAnthropic, url: str, server: Server, shards: int | None):
        self.server, self.discord = server, server.discord
        self.discord.starts.at_once, self.discord.starts.seconds = 16, 0.0
        self.count = shards or 1
        self.guilds = [self.discord.guild(f"Club {one}", id_on(one % self.count, self.count, one)) for one in range(4)]
        self.rooms = [guild.text("general") for guild in self.guilds]
        guilds = {str(guild.id): {"mention": "optional"} for guild in self.guilds}
        discord = {**server.settings(), "guilds": guilds, "shards": shards}
        settings = {"owners": [f"discord:{OWNER}"], "channels": {"discord": discord}}
        super().__init__(telegram, model, url, settings)
        self.url = url

    def holders(self) -> Mapping[str, GatewayProcess]:
        """Which gateway has which connection, as the database says."""
        with psycopg.connect(self.url) as session:
            rows = session.execute(
                "SELECT key, pid FROM process JOIN claim ON process = number WHERE key LIKE 'part %'"
            ).fetchall()
        by_pid = {one.pid: one for one in self.gateways if one.is_running}
        return {key.removeprefix("part "): by_pid[pid] for key, pid in rows if pid in by_pid}

    async def until(self, predicate: Callable[[], bool]) -> None:
        async with asyncio.timeout(120):
            while not predicate():  # noqa: ASYNC110  other processes ring no bell
                await asyncio.sleep(0.05)

    async def until_shared_out(self) -> None:
        """Each connection is open, and no gateway has more than its share."""
        share = -(-self.count // len([one for one in self.gateways if one.is_running]))

        def shared_out() -> bool:
            holders = list(self.holders().values())
            return len(holders) == self.count and all(holders.count(one) <= share for one in holders)

        await self.until(shared_out)
        await self.discord.until_shards(self.count)

    async def ask(self, text: str) -> None:
        for chat in (self.server.dm, *self.rooms):
            by = self.server.owner if chat is self.server.dm else self.server.bob
            await self.server.say(f"{text} in {chat.id}", chat, by)

    async def are_answered_once(self, text: str) -> None:
        for chat in (self.server.dm, *self.rooms):
            await self.server.hears(f"{text} in {chat.id}", chat)
            assert self.times(text, chat) == 1

    async def until_told(self, wanted: Callable[[Told], bool]) -> Told:
        """What `daybook status` says of each connection."""
        told: Told = {}

        def is_wanted(status: Any) -> bool:
            nonlocal told
            told = {
                part["name"]: (one["pid"], part["state"], part["last_error"])
                for one in status["gateways"]
                for part in one["connections"]
            }
            return wanted(told)

        await self.gateways[0].until_status(is_wanted)
        return told

    async def until_menu(self) -> None:
        await self.discord.wait_for(lambda: self.discord.called("PUT", "/commands$"))

    def of_menu(self, chat: Channel) -> list[Message]:
        """What Bob alone sees in a chat: the answers to his commands from the menu."""
        return [one for one in self.discord.messages(chat, seen_by=self.server.bob) if one.ephemeral]

    def answering(self, chat: Channel) -> GatewayProcess:
        found = self.server_of(f"group/discord-{chat.id}")
        assert found is not None
        return found

    def times(self, text: str, chat: Channel) -> int:
        return sum(f"{text} in {chat.id}" in one for one in self.server.heard(chat))


@pytest.fixture
def shards(request: pytest.FixtureRequest) -> int | None:
    found: int | None = request.param
    return found


@pytest.fixture
async def gateways(
    telegram: FakeTelegram, model: FakeAnthropic, postgres: PostgresServer, server: Server, shards: int | None
) -> AsyncIterator[Gateways]:
    async with Gateways(telegram, model, postgres.new_database(), server, shards) as made:
        yield made


@pytest.mark.parametrize("shards", first(4, None), indirect=True)
async def test_whoever_answers_can_send_and_the_connections_are_shared_out(gateways: Gateways) -> None:
    await gateways.add()
    await gateways.discord.until_shards(gateways.count)
    await until_waiting(await gateways.add())
    await gateways.until_shared_out()
    await gateways.ask("hello")
    await gateways.are_answered_once("hello")
    answering = {gateways.server_of(f"group/discord-{one.id}") for one in gateways.rooms}
    assert set(gateways.gateways) <= answering, "each gateway answers somebody"
    if gateways.count > 1:
        assert set(gateways.holders().values()) == set(gateways.gateways)


@pytest.mark.parametrize("shards", first(4, None), indirect=True)
async def test_the_connections_of_a_killed_gateway_are_taken_over_and_nothing_is_lost(gateways: Gateways) -> None:
    for _ in range(2):
        await gateways.add()
    await until_waiting(gateways.gateways[1])
    await gateways.until_shared_out()
    await gateways.ask("before")
    await gateways.are_answered_once("before")
    holder = gateways.holders()[f"discord:shard:0/{gateways.count}"]
    os.kill(holder.pid, signal.SIGKILL)
    await holder.ended()
    await gateways.ask("meanwhile")
    await gateways.until_shared_out()
    await gateways.are_answered_once("meanwhile")
    await gateways.ask("after")
    await gateways.are_answered_once("after")
    for chat in gateways.rooms:
        assert gateways.times("before", chat) == gateways.times("meanwhile", chat) == 1


@pytest.mark.parametrize("shards", [4], indirect=True)
@pytest.mark.full
async def test_a_gateway_that_comes_gets_its_share_and_gives_it_back_when_it_ends(gateways: Gateways) -> None:
    first = await gateways.add()
    await gateways.until_shared_out()
    assert set(gateways.holders().values()) == {first}
    second = await gateways.add()
    await gateways.ask("while they move")
    await gateways.until_shared_out()
    assert set(gateways.holders().values()) == {first, second}
    await gateways.are_answered_once("while they move")
    os.kill(second.pid, signal.SIGTERM)
    assert await second.ended() == 0
    await gateways.ask("while they move back")
    await gateways.until_shared_out()
    await gateways.are_answered_once("while they move back")
    assert set(gateways.holders().values()) == {first}


@pytest.mark.parametrize("shards", [4], indirect=True)
@pytest.mark.full
async def test_gateways_that_start_together_begin_their_connections_one_after_the_other(gateways: Gateways) -> None:
    gateways.discord.starts.at_once, gateways.discord.starts.seconds = 1, 5.0
    async with asyncio.TaskGroup() as group:
        for _ in range(2):
            group.create_task(gateways.add())
    await gateways.until_shared_out()
    assert set(gateways.holders().values()) == set(gateways.gateways)
    assert gateways.discord.starts.hasty == 0


@pytest.mark.parametrize("shards", [4], indirect=True)
@pytest.mark.full
async def test_status_shows_every_connection_with_the_gateway_that_has_it(gateways: Gateways) -> None:
    leader, helper = await gateways.add(), await gateways.add()
    await gateways.until_shared_out()
    holders = {name: one.pid for name, one in gateways.holders().items()}
    told = await gateways.until_told(lambda told: all(state == "ok" for _, state, _ in told.values()))
    assert {name: pid for name, (pid, _, _) in told.items()} == holders and len(holders) == 4
    lost = next(name for name, pid in holders.items() if pid == helper.pid)
    gateways.discord.refuse_connections(times=1000)
    gateways.discord.disconnect(1006, shard=int(lost.partition("shard:")[2].partition("/")[0]))
    told = await gateways.until_told(lambda told: told[lost][1] != "ok")
    assert told[lost][0] == helper.pid and told[lost][2]
    assert [state for name, (_, state, _) in told.items() if name != lost] == ["ok"] * 3
    text = (await leader.cli("status")).out
    of_leader, of_helper = text.index(f"process {leader.pid}"), text.index(f"process {helper.pid}")
    assert text.index(lost) > of_helper > of_leader and text.count("discord:shard:") == 4


@pytest.mark.parametrize("shards", first(4, None), indirect=True)
@pytest.mark.full
async def test_a_menu_command_is_answered_in_its_place_by_whichever_gateway_answers(gateways: Gateways) -> None:
    for _ in range(2):
        await gateways.add()
    await until_waiting(gateways.gateways[1])
    await gateways.until_shared_out()
    await gateways.until_menu()
    await gateways.ask("hello")
    await gateways.are_answered_once("hello")
    for room in gateways.rooms:
        await gateways.discord.slash(gateways.server.bob, room, "whoami")
    for room in gateways.rooms:
        await gateways.discord.wait_for(lambda room=room: gateways.of_menu(room))  # type: ignore[misc]
        (answer,) = gateways.of_menu(room)
        assert str(gateways.server.bob.id) in answer.content
        assert gateways.discord.thinking(room) == []


@pytest.mark.parametrize("shards", [None], indirect=True)
@pytest.mark.parametrize(("cut", "answers"), [("GET", 1), ("PATCH", 2)])
async def test_a_menu_command_whose_answer_was_cut_off_is_answered_in_its_place_by_the_next(
    gateways: Gateways, cut: str, answers: int
) -> None:
    """Killed before Discord has the answer, or before it is known here that Discord has it."""
    for _ in range(2):
        await gateways.add()
    await until_waiting(gateways.gateways[1])
    await gateways.until_shared_out()
    await gateways.until_menu()
    await gateways.ask("hello")
    await gateways.are_answered_once("hello")
    (holder,) = set(gateways.holders().values())
    room = next(one for one in gateways.rooms if gateways.answering(one) is not holder)
    answering = gateways.answering(room)
    hold = gateways.discord.hold(cut, "/webhooks/", after_effect=True)
    await gateways.discord.slash(gateways.server.bob, room, "whoami")
    await hold.wait()
    os.kill(answering.pid, signal.SIGKILL)
    await answering.ended()
    hold.release()
    await gateways.discord.wait_for(lambda: any("repeat" in one.content for one in gateways.of_menu(room)))
    assert gateways.discord.thinking(room) == []
    assert len(gateways.of_menu(room)) == answers, "no answer twice without a mark"
