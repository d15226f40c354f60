"""Up to where chats are on disk, over restarts."""

from __future__ import annotations

from channels.discord.last_seen import PositionsInMemory, ShardPositions
from channels.discord.shards import Shard
from channels.manifest import LastSeen
from gateway.factories import StoredPositions
from gateway.store.database import Database


async def test_the_newest_message_is_kept_by_number(database: Database) -> None:
    for seen in (StoredPositions(database, "discord"), PositionsInMemory()):
        await seen.note([LastSeen("1", "", "99"), LastSeen("2", "7", "5")])
        await seen.note([LastSeen("1", "", "100")])
        await seen.note([LastSeen("1", "", "98")])
        assert sorted(await seen.load(), key=lambda position: position.chat_id) == [
            LastSeen("1", "", "100"),
            LastSeen("2", "7", "5"),
        ]
        await seen.forget("1")
        assert list(await seen.load()) == [LastSeen("2", "7", "5")]
    assert list(await StoredPositions(database, "other").load()) == []


async def test_a_home_of_one_connection_knows_since_when_chats_of_every_shard_may_be_missed(database: Database) -> None:
    """Releases before shards kept chats alone."""
    stored = StoredPositions(database, "discord")
    await stored.note([LastSeen("1", "", "99"), LastSeen("2", str(1 << 22), "50")])
    for number in range(2):
        shard = ShardPositions(stored, Shard(number, 2))
        await shard.load()
        assert shard.complete_until(str((2 + number) << 22)) == "99"
        assert [position.chat_id for position in shard.private()] == (["1"] if number == 0 else [])
        assert shard.of_chat("2") == ("50" if number == 1 else "")


async def test_what_a_shard_completed_holds_for_its_servers_under_every_other_number(database: Database) -> None:
    stored = StoredPositions(database, "discord")
    shard = ShardPositions(stored, Shard(1, 2))
    await shard.load()
    assert shard.complete_until(str(1 << 22)) == "", "nothing was ever seen"
    await shard.note([LastSeen("7", str(1 << 22), "70")], is_complete=True)
    await shard.note([LastSeen("7", str(1 << 22), "80")], is_complete=False)
    await shard.note([LastSeen("7", str(1 << 22), "75")], is_complete=True)
    after = ShardPositions(stored, Shard(1, 3))
    await after.load()
    assert [after.complete_until(str(server << 22)) for server in (1, 4, 7)] == ["70", "", "70"]
    assert after.of_chat("7") == "80"
    await after.forget("7")
    assert after.of_chat("7") == "" and "7" not in {position.chat_id for position in await stored.load()}
