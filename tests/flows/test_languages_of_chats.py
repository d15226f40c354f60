"""Stories of people whose apps are not in English: what they read is in their language from the first word on."""

from __future__ import annotations

import re
from pathlib import Path

from gateway.home import Home
from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.discord.model import Guild
from tests.flows.server import Server, living
from tests.flows.story import ALICE, story


async def test_a_german_on_telegram_reads_german_from_the_first_message(tmp_path: Path) -> None:
    async with story(tmp_path) as told:
        told.telegram.languages[ALICE] = "de"
        async with told.running():
            await told.telegram.wait_for(lambda: "all_private_chats/de" in told.telegram.commands)
            told.say("/hilfe")
            await told.hears("Schreib mir einfach wie einem Menschen.")
            told.say("/status")
            await told.hears("Gespräch: gerade ruhig")
            told.model.answer("42, ich merke es mir.")
            told.say("42")
            await told.hears("42, ich merke es mir.")
            told.say("/sessions")
            listed = await told.hears("Gespräche hier, das neueste zuerst.")
            assert "1. 42, 2 Nachrichten, zuletzt heute um" in listed.text
            assert [button["text"] for row in listed.buttons for button in row] == ["1. 42"]
            told.say("/language")
            asks = await told.hears("Hier spreche ich Deutsch. Welche Sprache soll es sein?")
            told.telegram.press(asks.id, "/language fr")
            await told.hears("Désormais, je parle Français ici.")
            told.say("/status")
            await told.hears("Conversation : au repos")
        async with told.running():
            told.say("/stop")
            await told.hears("Rien n’est en cours.")
        menu = {one["command"]: one["description"] for one in told.telegram.commands["all_private_chats/de"]}
        assert menu["language"] == "in welcher Sprache ich hier spreche"
        told.no_request_was_refused()


async def test_a_command_from_discords_menu_tells_the_language_of_its_giver(
    home: Home, server: Server, model: FakeAnthropic
) -> None:
    server.owner.locale = "es-419"
    async with living(home, server, model):
        await server.discord.wait_for(lambda: "help" in server.discord.command_names())
        await server.discord.slash(server.owner, server.dm, "help")
        await server.hears("Escríbeme como a cualquier persona.")
        await server.say("/estado")
        await server.hears("Conversación: en reposo")
        shown = server.discord.find_command(None, "remind")
    assert shown["description_localizations"]["es-ES"].startswith("poner un recordatorio")
    assert shown["options"][0]["description_localizations"]["zh-TW"] == "时间 内容"


async def test_a_server_has_the_language_that_its_people_chose_for_it(
    home: Home, server: Server, model: FakeAnthropic
) -> None:
    guild: Guild = server.guild
    guild.locale = "ja"
    async with living(home, server, model):
        await server.call("/停止")
        await server.hears("今は何もしていません。", server.general)
        await server.say("/停止")
        await server.hears("Nothing is running.")
    assert not re.search("[぀-ヿ]", "".join(server.heard()))
