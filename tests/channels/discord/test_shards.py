"""A bot whose servers several connections share: each message is heard once, whatever becomes of one of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Literal

import pytest

from channels.discord.channel import DiscordChannel
from channels.discord.shards import Shard, combined
from channels.message import ChannelStatus, Health, OutboundMessage, Receive, RunSource, Source, SourceFailed
from gateway.supervisor import SupervisedSource
from tests.channels.discord.conftest import COMMANDS, House, address
from tests.fakes.discord import Channel, FakeDiscord, Guild, User
from tests.fakes.discord.sharding import id_on

Count = int | Literal["auto"] | None


class Cluster:
    """A house whose channel has shards, each supervised as in the gateway."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.discord = house.discord
        self.discord.starts.at_once, self.discord.starts.seconds = 16, 0.0  # waiting is skipped here
        self.alice: User = self.discord.user("Alice")
        self.dm: Channel = self.discord.dm(self.alice)
        self.parts: list[SupervisedSource] = []

    def guild(self, shard: int, count: int, nth: int = 1) -> Guild:
        return self.discord.guild(f"Server {shard} of {count}", id_on(shard, count, nth))

    def channel(self, shards: Count, run_shard: RunSource | None = None) -> DiscordChannel:
        return DiscordChannel(
            self.discord.token,
            api_url=self.discord.api_url,
            commands=COMMANDS,
            seen=self.house.seen,
            pause=self.house.pauses,
            shards=shards,
            run_shard=run_shard or self.supervised,
        )

    @asynccontextmanager
    async def running(
        self, shards: Count, connections: int, run_shard: RunSource | None = None
    ) -> AsyncIterator[DiscordChannel]:
        channel = self.channel(shards, run_shard)
        task = asyncio.create_task(channel.run(self.house.receiver))
        connected = asyncio.create_task(self.discord.until_shards(connections))
        await asyncio.wait({task, connected}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            connected.cancel()
            task.result()
        await connected
        try:
            yield channel
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
            await channel.aclose()

    async def supervised(self, part: Source, receive: Receive) -> None:
        """As the gateway runs it."""
        supervised = SupervisedSource(part)
        self.parts.append(supervised)
        await supervised.run(receive)

    async def say(self, text: str, chat: Channel) -> None:
        await self.discord.say(self.alice, chat, text)

    async def until_state(self, channel: DiscordChannel, state: Health) -> None:
        async with asyncio.timeout(120):
            while channel.status.state is not state:  # noqa: ASYNC110  a status rings no bell
                await asyncio.sleep(0.01)

    def heard_once(self, *texts: str) -> bool:
        heard = [one.text for one in {one.id: one for one in self.house.receiver.messages}.values()]
        return sorted(heard) == sorted(texts)


@pytest.fixture
def cluster(house: House) -> Cluster:
    return Cluster(house)


async def test_each_shard_hears_of_its_servers_and_the_first_of_private_chats(cluster: Cluster) -> None:
    channels = [cluster.guild(shard, 3).text("general") for shard in range(3)]
    async with cluster.running(3, 3) as channel:
        await cluster.until_state(channel, Health.OK)
        await cluster.say("in private", cluster.dm)
        for shard, chat in enumerate(channels):
            await cluster.say(f"in {shard}", chat)
        await cluster.house.receiver.until(lambda: len(cluster.house.receiver.messages) >= 4)
        for text in ("in private", "in 0", "in 1", "in 2"):
            heard = await cluster.house.receiver.message(text)
            await channel.send(OutboundMessage(heard.address, f"answer to {text}", text))
        names = [one.source.name for one in cluster.parts]
    assert cluster.heard_once("in private", "in 0", "in 1", "in 2") and len(cluster.house.receiver.messages) == 4
    assert [one["shard"] for one in cluster.discord.identifies] == [[0, 3], [1, 3], [2, 3]]
    assert names == ["discord:shard:0/3", "discord:shard:1/3", "discord:shard:2/3"]
    for chat in (cluster.dm, *channels):
        assert len([one for one in cluster.discord.messages(chat) if one.author is cluster.discord.bot]) == 1
    assert len(cluster.discord.called("GET", "/applications/.*/commands")) == 1, "the menu is the bot's, not a shard's"


async def test_a_single_connection_names_no_shard(house: House) -> None:
    async with house.running():
        assert "shard" not in house.discord.identifies[0]


async def test_sessions_begin_as_fast_as_discord_allows(house: House) -> None:
    """Two at once: 0 and 1, then 2 and 3, each pair five seconds after the one before."""
    cluster = Cluster(house)
    cluster.discord.starts.at_once, cluster.discord.starts.seconds = 2, 5.0
    asked: list[float] = []

    async def pause(seconds: float) -> None:
        """Passes the time of the fake, once the session before has begun."""
        asked.append(seconds)
        await cluster.discord.wait_for(lambda: len(cluster.discord.shards) >= len(asked) + 1)
        cluster.discord.pass_time(seconds)

    house.pauses = pause  # type: ignore[assignment]
    async with cluster.running(4, 4):
        assert cluster.discord.starts.hasty == 0
    assert len(asked) == 2 and all(4.0 < one <= 5.0 for one in asked)


async def test_auto_asks_discord_how_many(cluster: Cluster) -> None:
    cluster.discord.recommended_shards = 2
    async with cluster.running("auto", 2):
        assert [one["shard"] for one in cluster.discord.identifies] == [[0, 2], [1, 2]]


async def test_auto_waits_for_a_discord_that_does_not_answer(cluster: Cluster) -> None:
    cluster.discord.fail_next("GET", "/gateway/bot", status=503, times=None)
    channel = cluster.channel("auto")
    with pytest.raises(SourceFailed) as failed:
        await channel.run(cluster.house.receiver)
    assert not failed.value.fatal and channel.status.state is Health.DOWN
    assert cluster.discord.identifies == []
    await channel.aclose()


async def test_no_session_is_begun_where_discord_allows_no_more(cluster: Cluster) -> None:
    """With one too many, Discord would reset the token."""
    cluster.discord.starts.left = 0
    channel = cluster.channel(2)
    task = asyncio.create_task(channel.run(cluster.house.receiver))
    await cluster.until_state(channel, Health.DOWN)
    assert "no new connection for another 1440 min" in channel.status.last_error
    assert cluster.discord.identifies == []
    task.cancel()
    await asyncio.wait([task])
    await channel.aclose()


async def test_a_shard_that_breaks_is_restarted_alone_and_misses_nothing(cluster: Cluster) -> None:
    channels = [cluster.guild(shard, 3).text("general") for shard in range(3)]
    async with cluster.running(3, 3) as channel:
        for shard, chat in enumerate(channels):
            await cluster.say(f"before in {shard}", chat)
            await cluster.house.receiver.message(f"before in {shard}")
        (broken,) = [one for one in cluster.discord.connections if one.session and one.session.shard[0] == 1]
        cluster.discord.refuse_connections(1)
        broken.put("this is no JSON")
        await cluster.until_state(channel, Health.DEGRADED)
        assert channel.status.last_error.startswith("shard:1/3: ")
        states = {one.source.name: one.status.state for one in cluster.parts}
        assert states == {
            "discord:shard:0/3": Health.OK,
            "discord:shard:1/3": Health.DOWN,
            "discord:shard:2/3": Health.OK,
        }
        for shard, chat in enumerate(channels):
            await cluster.say(f"meanwhile in {shard}", chat)
        for shard in (0, 2):
            await cluster.house.receiver.message(f"meanwhile in {shard}")
        heard = await cluster.house.receiver.message("meanwhile in 1")
        await channel.send(OutboundMessage(heard.address, "still one channel", "k"))
        await cluster.until_state(channel, Health.OK)
    assert [one["shard"][0] for one in cluster.discord.identifies] == [0, 1, 2, 1]
    expected = [f"{when} in {shard}" for when in ("before", "meanwhile") for shard in range(3)]
    assert cluster.heard_once(*expected)


@pytest.mark.parametrize("code", [1006, 4000, 4009])
async def test_a_shard_that_is_closed_connects_again_and_the_others_live(cluster: Cluster, code: int) -> None:
    channels = [cluster.guild(shard, 2).text("general") for shard in range(2)]
    async with cluster.running(2, 2):
        for chat in channels:
            await cluster.say(f"before in {chat.id}", chat)
            await cluster.house.receiver.message(f"before in {chat.id}")
        others = [one for one in cluster.discord.connections if one.session and one.session.shard[0] == 0]
        cluster.discord.disconnect(code, shard=1)
        for chat in channels:
            await cluster.say(f"meanwhile in {chat.id}", chat)
        for chat in channels:
            await cluster.house.receiver.message(f"meanwhile in {chat.id}")
        assert [one for one in cluster.discord.connections if one in others] == others
    assert cluster.heard_once(*(f"{when} in {chat.id}" for when in ("before", "meanwhile") for chat in channels))


@pytest.mark.parametrize(("before", "after"), [(None, 3), (2, 3), (3, 2), (3, None), (2, 16)])
async def test_the_number_changes_over_a_restart(cluster: Cluster, before: int | None, after: int | None) -> None:
    """Also in channels where nothing was seen before, and where a thread was begun meanwhile."""
    guilds = [cluster.guild(number % 3, 3, number) for number in range(8)]
    seen, quiet = [one.text("general") for one in guilds], [one.text("quiet") for one in guilds]
    for number, chat in enumerate(quiet):
        await cluster.say(f"long ago {number}", chat)
    async with cluster.running(before, before or 1):
        for number, chat in enumerate([cluster.dm, *seen]):
            await cluster.say(f"first {number}", chat)
            await cluster.house.receiver.message(f"first {number}")
    cluster.house.receiver.events.clear()
    threads = [one.thread("plan") for one in seen]
    chats = [cluster.dm, *seen, *quiet, *threads]
    for number, chat in enumerate(chats):
        await cluster.say(f"missed {number}", chat)
    async with cluster.running(after, after or 1):
        await cluster.house.receiver.until(lambda: len(cluster.house.receiver.messages) >= len(chats))
        await cluster.say("now", cluster.dm)
        await cluster.house.receiver.message("now")
    ids = [one.id for one in cluster.house.receiver.messages]
    assert len(ids) == len(set(ids)), "a message is read by two connections"
    assert cluster.heard_once("now", *(f"missed {number}" for number in range(len(chats))))


async def test_a_shard_that_was_down_before_the_restart_misses_nothing(cluster: Cluster) -> None:
    """The others went on meanwhile: what they have seen says nothing about its servers."""
    live, dead = cluster.guild(0, 2).text("general"), cluster.guild(1, 2).text("never seen")
    stop = asyncio.Event()

    async def run_shard(source: Source, receive: Receive) -> None:
        if source.name == "discord:shard:1/2":
            running = asyncio.create_task(source.run(receive))
            await stop.wait()
            running.cancel()
        else:
            await source.run(receive)

    async with cluster.running(2, 2, run_shard):
        await cluster.say("alive", live)
        await cluster.house.receiver.message("alive")
        stop.set()
        await cluster.discord.wait_for(lambda: cluster.discord.shards == [(0, 2)])
        await cluster.say("to a shard that is down", dead)
        await cluster.say("still alive", live)
        await cluster.house.receiver.message("still alive")
    async with cluster.running(3, 3):
        await cluster.house.receiver.message("to a shard that is down")
    assert cluster.heard_once("alive", "still alive", "to a shard that is down")


async def test_a_server_that_is_out_of_order_holds_back_what_is_complete(cluster: Cluster) -> None:
    """Its messages are read when it is announced, even by the next process."""
    live, late = cluster.guild(0, 2).text("general"), cluster.guild(0, 2, 2)
    never_seen = late.text("never seen")
    async with cluster.running(2, 2):
        await cluster.say("alive", live)
        await cluster.house.receiver.message("alive")
    await cluster.say("missed", never_seen)
    cluster.discord.mangle("GUILD_CREATE", replace={"unavailable": True}, times=2)
    async with cluster.running(2, 2):
        await cluster.say("still alive", live)
        await cluster.house.receiver.message("still alive")
    async with cluster.running(2, 2):
        await cluster.house.receiver.message("missed")
    assert cluster.heard_once("alive", "missed", "still alive")


async def test_sending_works_where_no_shard_runs(cluster: Cluster) -> None:
    """As in a gateway whose shards all run in other processes."""
    general = cluster.guild(1, 2).text("general")
    left: list[str] = []
    all_left = asyncio.Event()

    async def elsewhere(source: Source, _: Receive) -> None:
        left.append(source.name)
        if len(left) == 2:
            all_left.set()
        await asyncio.Event().wait()

    channel = cluster.channel(2, elsewhere)
    task = asyncio.create_task(channel.run(cluster.house.receiver))
    async with asyncio.timeout(120):
        await all_left.wait()
    assert left == ["discord:shard:0/2", "discord:shard:1/2"]
    assert channel.status.state is Health.OK and channel.capabilities(address(general)).is_reachable
    for chat in (general, cluster.dm):
        sent = await channel.send(OutboundMessage(address(chat), "from afar", f"k{chat.id}"))
        await channel.edit(sent, OutboundMessage(address(chat), "from afar, edited", "k"))
        assert [one.content for one in cluster.discord.messages(chat)] == ["from afar, edited"]
    async with channel.typing(address(general)):
        await cluster.discord.wait_for(lambda: general.typing)
    assert cluster.discord.identifies == [] and cluster.discord.connections == []
    task.cancel()
    await asyncio.wait([task])
    await channel.aclose()


async def test_one_process_runs_some_shards_and_another_the_rest(cluster: Cluster) -> None:
    channels = [cluster.guild(shard, 3).text("general") for shard in range(3)]

    def only(*numbers: int) -> Callable[[Source, Receive], object]:
        async def run_shard(source: Source, receive: Receive) -> None:
            if source.name in {f"discord:shard:{number}/3" for number in numbers}:
                await source.run(receive)

        return run_shard

    one, other = cluster.channel(3, only(0, 2)), cluster.channel(3, only(1))  # type: ignore[arg-type]
    tasks = [asyncio.create_task(channel.run(cluster.house.receiver)) for channel in (one, other)]
    await cluster.discord.until_shards(3)
    for shard, chat in enumerate([cluster.dm, *channels]):
        await cluster.say(f"message {shard}", chat)
    await cluster.house.receiver.until(lambda: len(cluster.house.receiver.messages) >= 4)
    await one.send(OutboundMessage(address(channels[1]), "answered by the other", "k"))
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    assert cluster.heard_once(*(f"message {number}" for number in range(4)))
    assert len(cluster.house.receiver.messages) == 4
    await one.aclose()
    await other.aclose()


async def test_a_command_of_a_shard_is_answered_when_another_breaks(cluster: Cluster) -> None:
    general = cluster.guild(1, 2).text("general")
    cluster.guild(0, 2)
    async with cluster.running(2, 2) as channel:
        gate = cluster.house.receiver.gate = asyncio.Event()
        asked = await cluster.discord.slash(cluster.alice, general, "status")
        (other,) = [one for one in cluster.discord.connections if one.session and one.session.shard[0] == 0]
        other.put("this is no JSON")
        await cluster.until_state(channel, Health.DEGRADED)
        gate.set()
        heard = await cluster.house.receiver.until(lambda: cluster.house.receiver.messages)
        await channel.send(OutboundMessage(heard[0].address, "All is well.", "k", reply_to=heard[0].answer_with))
        await cluster.discord.wait_for(lambda: asked.acknowledged)
        (answer,) = cluster.discord.messages(general)
        assert (answer.content, answer.only_for) == ("All is well.", cluster.alice)


@pytest.mark.parametrize(
    ("shards", "most_guilds", "says"), [(None, 1, "set channels.discord.shards to auto"), (2, 0, "a larger number")]
)
async def test_too_many_servers_say_what_to_set(cluster: Cluster, shards: Count, most_guilds: int, says: str) -> None:
    for number in range(2):
        cluster.guild(number, 2)
    cluster.discord.most_guilds = most_guilds
    channel = cluster.channel(shards, lambda source, receive: source.run(receive))
    with pytest.raises(SourceFailed, match="4011") as failed:
        async with asyncio.timeout(120):
            await channel.run(cluster.house.receiver)
    assert failed.value.fatal and says in str(failed.value)
    assert channel.status.state is Health.DOWN
    await channel.aclose()


@pytest.mark.parametrize(
    ("states", "state", "text"),
    [
        ("ok ok", Health.OK, ""),
        ("off off", Health.OK, ""),
        ("ok off", Health.OK, ""),
        ("ok down", Health.DEGRADED, "shard:1/2: why down"),
        ("degraded down", Health.DEGRADED, "shard:1/2: why down (2 of 2 shards are not connected)"),
        ("down off", Health.DOWN, "shard:0/2: why down"),
        ("down down", Health.DOWN, "shard:0/2: why down (2 of 2 shards are not connected)"),
    ],
)
def test_the_state_of_a_channel_follows_from_its_shards(states: str, state: Health, text: str) -> None:
    known = [
        (Shard(number, 2), ChannelStatus(Health(one), f"why {one}" if one != "ok" else ""))
        for number, one in enumerate(states.split())
    ]
    assert combined(known) == ChannelStatus(state, text)


@pytest.mark.parametrize(
    ("text", "shard"),
    [("shard:3/8", Shard(3, 8)), ("shard:0/0", None), ("123", None), ("shard:-1/2", None), ("", None)],
)
def test_a_shard_is_read_as_it_is_written(text: str, shard: Shard | None) -> None:
    assert Shard.parse(text) == shard
    assert shard is None or str(shard) == text


def test_no_server_belongs_to_two_shards() -> None:
    for count in (1, 2, 3, 16):
        shards = [Shard(number, count) for number in range(count)]
        for server in ("", "81384788765712384", str(id_on(count - 1, count)), "not a number"):
            assert len([one for one in shards if one.serves(server)]) == 1


def test_the_fake_and_the_adapter_agree(house: House) -> None:
    assert isinstance(house.discord, FakeDiscord)
    assert all(Shard(number, 5).serves(str(id_on(number, 5))) for number in range(5))
