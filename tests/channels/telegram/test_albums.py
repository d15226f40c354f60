from __future__ import annotations

from channels.message import InboundMessage
from tests.channels.telegram.desk import Desk

FRIENDS = -1001234567890


async def test_an_album_that_calls_the_bot_does_so_as_a_whole(desk: Desk) -> None:
    """In a group only the caption mentions the bot, on whichever picture it stands."""
    bot = f"@{desk.telegram.username}"
    desk.telegram.add_album(FRIENDS, "", f"{bot} which one?", "")
    desk.telegram.add_album(FRIENDS, "", "just for you all")
    async with desk.running():
        events = [event for event in await desk.received(5) if isinstance(event, InboundMessage)]
    assert [event.calls_bot for event in events] == [True, True, True, False, False]
    assert [event.text for event in events] == ["", "which one?", "", "", "just for you all"]
    assert len({event.album for event in events[:3]}) == 1
    assert len({event.album for event in events}) == 2


async def test_pictures_that_come_with_a_later_poll_belong_to_the_call(desk: Desk) -> None:
    album = {"media_group_id": "77"}
    photo = [{"file_id": "p", "width": 9, "height": 9}]
    async with desk.running():
        desk.telegram.say(None, chat=FRIENDS, photo=photo, caption=f"/ask@{desk.telegram.username}", **album)
        await desk.received(1)
        for user in (11111, 22222):  # another person's album cannot have the same name; if it had, it would not count
            desk.telegram.say(None, chat=FRIENDS, user=user, photo=photo, **album)
        events = [event for event in await desk.received(3) if isinstance(event, InboundMessage)]
    assert [event.calls_bot for event in events[1:]] == [True, False]
