"""Up to where chats are on disk, over restarts."""

from __future__ import annotations

from channels.discord.last_seen import LastSeen, PositionsInMemory, newest_message_id
from gateway.factories import StoredPositions
from gateway.store.database import Database


async def test_the_newest_message_is_kept_by_number(database: Database) -> None:
    for seen in (StoredPositions(database, "discord"), PositionsInMemory()):
        await seen.note([LastSeen("1", "", "99"), LastSeen("2", "7", "5")])
        await seen.note([LastSeen("1", "", "100")])
        await seen.note([LastSeen("1", "", "98")])
        assert sorted(await seen.load(), key=lambda one: one.chat_id) == [
            LastSeen("1", "", "100"),
            LastSeen("2", "7", "5"),
        ]
        assert newest_message_id({one.chat_id: one for one in await seen.load()}) == "100"
        await seen.forget("1")
        assert list(await seen.load()) == [LastSeen("2", "7", "5")]
    assert list(await StoredPositions(database, "other").load()) == [] and newest_message_id({}) == ""
