"""The owner's chat on each platform behind one face, for stories that are the same everywhere."""

from __future__ import annotations

import html
import re
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.channels.web.browser import Tab
from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.telegram import FakeTelegram
from tests.flows.process import OWNER, GatewayProcess
from tests.flows.server import OWNER as DISCORD_OWNER
from tests.flows.server import Server
from tests.flows.test_web import at_the_page

PLATFORMS = ("telegram", "discord", "page")


class OwnersChat(ABC):
    """`say` is the owner, `heard` what the assistant's messages read now, in order."""

    def __init__(self, gateway: GatewayProcess) -> None:
        self.gateway = gateway

    @abstractmethod
    async def say(self, text: str) -> None: ...

    @abstractmethod
    def heard(self) -> list[str]: ...

    @abstractmethod
    async def press(self, part: str, label: str) -> None:
        """Press the button `label` of the message that holds `part`."""

    @abstractmethod
    async def hears(self, *parts: str) -> None:
        """Wait until each part stands in a message."""

    def _has(self, parts: tuple[str, ...]) -> bool:
        heard = self.heard()
        return all(any(part in text for text in heard) for part in parts)

    def place(self, part: str) -> int:
        """The position of the one message that holds `part`."""
        (found,) = (at for at, text in enumerate(self.heard()) if part in text)
        return found


class OnTelegram(OwnersChat):
    def __init__(self, gateway: GatewayProcess, telegram: FakeTelegram) -> None:
        super().__init__(gateway)
        self.telegram = telegram

    async def say(self, text: str) -> None:
        self.telegram.say(text)

    def heard(self) -> list[str]:
        return [one.text for one in self.telegram.messages(OWNER)]

    async def press(self, part: str, label: str) -> None:
        await self.hears(part)
        asked = self.telegram.messages(OWNER)[self.place(part)]
        (data,) = (one["callback_data"] for row in asked.buttons for one in row if one["text"] == label)
        self.telegram.press(asked.id, data)

    async def hears(self, *parts: str) -> None:
        await self.gateway.while_alive(self.telegram.wait_for(lambda: self._has(parts)))


class OnDiscord(OwnersChat):
    def __init__(self, gateway: GatewayProcess, server: Server) -> None:
        super().__init__(gateway)
        self.server = server

    async def say(self, text: str) -> None:
        await self.server.say(text)

    def heard(self) -> list[str]:
        return self.server.heard()

    async def press(self, part: str, label: str) -> None:
        asked = await self.gateway.while_alive(self.server.hears(part))
        data = next(one for one in asked.buttons if one.endswith(label.casefold()))
        await self.server.discord.press(self.server.owner, asked, data)

    async def hears(self, *parts: str) -> None:
        await self.gateway.while_alive(self.server.discord.wait_for(lambda: self._has(parts), 120.0))


class OnPage(OwnersChat):
    def __init__(self, gateway: GatewayProcess, tab: Tab) -> None:
        super().__init__(gateway)
        self.tab = tab

    async def say(self, text: str) -> None:
        await self.tab.say(text)

    def heard(self) -> list[str]:
        return [html.unescape(re.sub(r"<[^>]+>", "", one)) for one in self.tab.heard]

    async def press(self, part: str, label: str) -> None:
        await self.hears(part)
        await self.tab.press(label)

    async def hears(self, *parts: str) -> None:
        await self.gateway.while_alive(self.tab.until(lambda: self._has(parts)))


@asynccontextmanager
async def owners_chat(
    platform: str, model: FakeAnthropic, telegram: FakeTelegram, server: Server, settings: dict[str, object]
) -> AsyncIterator[OwnersChat]:
    """A gateway in a process of its own, reached by its owner on one platform."""
    people = {"alice": [f"telegram:{OWNER}", f"discord:{DISCORD_OWNER}"]}
    channels: dict[str, dict[str, object]] = {
        "telegram": {},
        "discord": {"people": people, "channels": {"discord": server.settings()}},
        "page": {"channels": {"web": {"enabled": True, "port": 0}}},
    }
    async with GatewayProcess(telegram, model, {**settings, **channels[platform]}) as gateway:
        match platform:
            case "telegram":
                yield OnTelegram(gateway, telegram)
            case "discord":
                await gateway.while_alive(server.discord.until_connected())
                yield OnDiscord(gateway, server)
            case _:
                async with at_the_page(gateway) as one, one.opened() as tab:
                    yield OnPage(gateway, tab)
