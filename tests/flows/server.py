"""A Discord with people in it, and one life of a gateway on it, for stories that read like a conversation."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import yaml

from agent.formats.addresses import AddressRules
from gateway.app import open_gateway
from gateway.config import load
from gateway.home import Home
from gateway.server import Gateway
from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.discord import Channel, FakeDiscord, Guild, Message, User
from tests.flows.stores import settings_of

OWNER = 22222


class Server:
    """A Discord with the owner in private, and a server where some others are."""

    def __init__(self, discord: FakeDiscord) -> None:
        self.discord = discord
        self.owner: User = discord.user("Alice", OWNER)
        self.bob: User = discord.user("Bob")
        self.dm: Channel = discord.dm(self.owner)
        self.guild: Guild = discord.guild("Home")
        self.general: Channel = self.guild.text("general")

    def settings(self) -> Mapping[str, Any]:
        return {
            "token": self.discord.token,
            "api_url": self.discord.api_url,
            "guilds": {str(self.guild.id): {"mention": "required"}},
        }

    async def say(self, text: str, chat: Channel | None = None, by: User | None = None, **more: Any) -> Message:
        return await self.discord.say(by or self.owner, chat or self.dm, text, **more)

    async def call(self, text: str, chat: Channel | None = None, by: User | None = None) -> Message:
        """Somebody calls the bot in the server."""
        return await self.say(text, chat or self.general, by or self.bob, mentions=[self.discord.bot])

    def heard(self, chat: Channel | None = None) -> list[str]:
        """What the bot has written in a chat, as it reads now."""
        return [one.content for one in self.discord.messages(chat or self.dm) if one.author is self.discord.bot]

    async def hears(self, part: str, chat: Channel | None = None) -> Message:
        def find() -> Message | None:
            written = self.discord.messages(chat or self.dm)
            return next((one for one in written if one.author is self.discord.bot and part in one.content), None)

        found = await self.discord.wait_for(find, 120.0)
        assert found is not None
        return found


@asynccontextmanager
async def living(
    home: Home,
    server: Server,
    model: FakeAnthropic,
    *,
    top: Mapping[str, Any] | None = None,
    web_rules: AddressRules | None = None,
    **discord: Any,
) -> AsyncIterator[Gateway]:
    """One life of a gateway with Discord alone, ended as by SIGTERM. `top`: sections of its configuration beside those
    of Discord."""
    config = {
        "timezone": "Europe/Berlin",
        "owners": [f"discord:{OWNER}"],
        "model": {"api_key": model.api_key, "base_url": model.base_url},
        "channels": {"discord": {**server.settings(), **discord}, "web": {"enabled": False}},
        **settings_of(home.path),
        **(top or {}),
    }
    home.create()
    home.config_file.write_text(yaml.safe_dump(config), encoding="utf-8")
    stop = asyncio.Event()
    async with open_gateway(home, load(home, {}).config, channels=True, web_rules=web_rules) as gateway:
        task = asyncio.create_task(gateway.run(stop))
        await server.discord.until_connected()
        try:
            yield gateway
        finally:
            stop.set()
            async with asyncio.timeout(120):
                await task
