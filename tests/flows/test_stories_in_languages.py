"""From the first message of an owner to a reminder's buttons, in chats: no English word is read there."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from gateway.server import Timeouts
from tests.english import english_in
from tests.fakes.discord.model import Message as DiscordMessage
from tests.fakes.telegram import FakeTelegram
from tests.flows.persons import PERSONS, Person, Seat, first_day
from tests.flows.server import Server
from tests.flows.story import ALICE, Story, story
from tests.flows.test_daily import DAY, at, awake

everyone = pytest.mark.parametrize("person", PERSONS, ids=lambda one: str(one.language))
TYPED = re.compile(r"daybook pair approve (\w{8})")


@asynccontextmanager
async def without_model(folder: Path, **channels: object) -> AsyncIterator[Story]:
    """On a Saturday morning in Berlin, while nobody owns it."""
    summary = {"daily_summary": {"enabled": False}}
    async with story(folder, channels=channels, owners=[], model={"provider": "offline"}, schedule=summary) as told:
        told.timeouts = Timeouts(tick=0.02)
        at(told, f"{DAY} 08:30")
        yield told


class OnTelegram(Seat):
    def __init__(self, telegram: FakeTelegram) -> None:
        super().__init__()
        self.telegram = telegram

    async def says(self, words: str) -> None:
        self.telegram.say(words)

    async def press(self, label: str) -> None:
        message, data = next(
            (one, str(button["callback_data"]))
            for one in reversed(self.telegram.messages(ALICE))
            for row in one.buttons
            for button in row
            if button["text"] == label
        )
        self.telegram.press(message.id, data)

    async def until(self, part: str, times: int) -> list[str]:
        def found() -> bool:
            return sum(part in one.text for one in self.telegram.messages(ALICE)) >= times

        await self.telegram.wait_for(found)
        messages = self.telegram.messages(ALICE)
        labels = [str(button["text"]) for one in messages for row in one.buttons for button in row]
        notices = [str(one.get("text", "")) for one in self.telegram.callback_answers.values()]
        return [one.text for one in messages] + labels + notices


class OnDiscord(Seat):
    def __init__(self, server: Server) -> None:
        super().__init__()
        self.server = server

    @property
    def messages(self) -> list[DiscordMessage]:
        discord, server = self.server.discord, self.server
        return [one for one in discord.messages(server.dm, seen_by=server.owner) if one.author is discord.bot]

    async def says(self, words: str) -> None:
        await self.server.say(words)

    async def press(self, label: str) -> None:
        message, id = next(
            (one, str(button["custom_id"]))
            for one in reversed(self.messages)
            for button in one.controls
            if button["label"] == label
        )
        await self.server.discord.press(self.server.owner, message, id)

    async def until(self, part: str, times: int) -> list[str]:
        await self.server.discord.wait_for(lambda: sum(part in one.content for one in self.messages) >= times, 120.0)
        labels = [str(button["label"]) for one in self.messages for button in one.controls]
        return [one.content for one in self.messages] + labels


@everyone
async def test_on_telegram(tmp_path: Path, person: Person) -> None:
    async with without_model(tmp_path) as told:
        telegram, seat = told.telegram, OnTelegram(told.telegram)
        telegram.languages[ALICE] = person.locale
        async with awake(told) as gateway:
            await seat.says("/start")
            await seat.reads("daybook pair approve")
            (code,) = TYPED.findall(telegram.messages(ALICE)[0].text)
            await gateway.operations["pair.approve"]({"code": code})
            await first_day(told, person, seat)
            menu = telegram.commands[f"all_private_chats/{person.language}"]
    assert seat.english(person, f"daybook pair approve {code}", str(told.home.path)) == []
    assert english_in(" ".join(one["description"] for one in menu), person.language) == []


@everyone
async def test_on_discord(tmp_path: Path, server: Server, person: Person) -> None:
    async with without_model(tmp_path, discord=dict(server.settings())) as told:
        seat = OnDiscord(server)
        server.owner.locale = person.discords_locale
        async with awake(told) as gateway:
            await server.discord.until_connected()
            await server.discord.wait_for(lambda: "help" in server.discord.command_names())
            await server.discord.slash(server.owner, server.dm, "help")
            await seat.reads("daybook pair approve")
            (code,) = TYPED.findall(seat.messages[0].content)
            await gateway.operations["pair.approve"]({"code": code})
            await first_day(told, person, seat)
            menu = [server.discord.find_command(None, name) for name in server.discord.command_names()]
    assert seat.english(person) == []
    described = " ".join(str(one["description_localizations"][person.discords_locale]) for one in menu)
    assert english_in(described, person.language) == []
