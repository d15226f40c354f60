"""The adapter over HTTP and the gateway: what people write, see and press."""

from __future__ import annotations

from channels.message import ChatKind, OutboundMessage
from tests.channels.discord.conftest import House, address


async def test_a_private_talk(house: House) -> None:
    alice = house.discord.user("Alice")
    dm = house.discord.dm(alice)
    async with house.running() as channel:
        said = await house.discord.say(alice, dm, "hello")
        heard = await house.receiver.message("hello")
        assert heard.kind is ChatKind.PRIVATE and heard.sender.id == str(alice.id)
        sent = await channel.send(OutboundMessage(heard.address, "**hi**", "k1", heard.platform_id))
        seen = await house.discord.next_message(dm)
        assert (seen.content, seen.reference, seen.pinged) == ("**hi**", said, set())
        await channel.edit(sent, OutboundMessage(address(dm), "hi https://example.org", "k1"))
        assert (seen.content, seen.link_previews) == ("hi https://example.org", [])
