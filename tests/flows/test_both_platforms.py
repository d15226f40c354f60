"""Stories of people who are on Telegram and on Discord, with one assistant between them."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import yaml

from gateway.app import open_gateway
from gateway.config import load
from gateway.home import Home
from gateway.server import Gateway
from tests import files
from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.telegram import FakeTelegram
from tests.flows.server import OWNER, Server
from tests.flows.stores import settings_of

ALICE = 11111
GROUP = -1001234567890


@pytest.fixture
async def telegram() -> AsyncIterator[FakeTelegram]:
    async with FakeTelegram(f"{secrets.randbelow(9 * 10**9) + 10**9}:AAF-{secrets.token_hex(16)[:31]}") as fake:
        yield fake


@asynccontextmanager
async def house(
    home: Home, telegram: FakeTelegram, server: Server, model: FakeAnthropic, **changes: Any
) -> AsyncIterator[Gateway]:
    """One life of a gateway on both, ended as by SIGTERM. Alice owns it, with an account on either."""
    config = {
        "timezone": "Europe/Berlin",
        "owners": [f"telegram:{ALICE}"],
        "people": {"alice": [f"telegram:{ALICE}", f"discord:{OWNER}"]},
        "model": {"api_key": model.api_key, "base_url": model.base_url},
        "channels": {
            "telegram": {
                "token": telegram.token,
                "base_url": telegram.base_url,
                "base_file_url": telegram.base_file_url,
                "groups": {GROUP: {"mention": "required"}},
            },
            "discord": dict(server.settings()),
            "web": {"enabled": False},
        },
        **settings_of(home.path),
        **changes,
    }
    home.create()
    home.config_file.write_text(yaml.safe_dump(config), encoding="utf-8")
    stop = asyncio.Event()
    async with open_gateway(home, load(home, {}).config, channels=True) as gateway:
        task = asyncio.create_task(gateway.run(stop))
        await server.discord.until_connected()
        await telegram.wait_for(lambda: telegram.polling)
        try:
            yield gateway
        finally:
            stop.set()
            async with asyncio.timeout(120):
                await task


async def hears(telegram: FakeTelegram, part: str, chat: int = ALICE) -> None:
    await telegram.wait_for(lambda: any(part in one.text for one in telegram.messages(chat)))


async def test_a_talk_goes_on_on_the_other_platform_and_is_answered_where_it_was_asked(
    home: Home, telegram: FakeTelegram, server: Server, model: FakeAnthropic
) -> None:
    async with house(home, telegram, server, model):
        model.answer("A fine boat.")
        telegram.say("My boat is blue.")
        await hears(telegram, "A fine boat.")
        model.answer("Blue.")
        await server.say("Which colour is it?")
        await server.hears("Blue.")
        assert [one.text for one in telegram.messages(ALICE)] == ["A fine boat."]
        assert server.heard() == ["Blue."]
    asked = model.requests[-1].text
    assert "My boat is blue." in asked and "A fine boat." in asked


async def test_one_person_has_one_memory_and_an_owners_accounts_are_all_the_owner(
    home: Home, telegram: FakeTelegram, server: Server, model: FakeAnthropic
) -> None:
    async with house(home, telegram, server, model):
        telegram.say("/remember The boat is called Ada.")
        await hears(telegram, "Noted")
        await server.say("/memory boat")
        await server.hears("Ada")
        await server.say("/export")
        await server.discord.wait_for(lambda: len(server.heard()) == 2)
        assert "for my owner" not in server.heard()[-1]
    assert not (home.workspace("workspace") / "people").exists()


async def test_both_at_once_are_served_in_turn_and_each_hears_its_own_answer(
    home: Home, telegram: FakeTelegram, server: Server, model: FakeAnthropic
) -> None:
    async with house(home, telegram, server, model):
        writing = model.hold(after=1)
        model.answer("For Telegram.")
        telegram.say("one")
        await model.held(writing)
        model.answer("For Discord.")
        await server.say("two")
        await server.discord.wait_for(lambda: server.dm.messages)
        writing.release()
        await server.hears("For Discord.")
        await hears(telegram, "For Telegram.")
    assert len(telegram.messages(ALICE)) == 1 and server.heard() == ["For Discord."]


async def test_a_group_learns_nothing_of_the_private_talk_on_the_other_platform(
    home: Home, telegram: FakeTelegram, server: Server, model: FakeAnthropic
) -> None:
    async with house(home, telegram, server, model):
        await server.say("/remember CANARY opens the safe")
        await server.hears("Noted")
        model.answer("I cannot say.")
        telegram.say(**{**telegram.mention("{bot} what opens the safe?"), "chat": GROUP, "user": ALICE})
        await hears(telegram, "I cannot say.", GROUP)
        model.answer("Nor here.")
        await server.call("what opens the safe?", by=server.owner)
        await server.hears("Nor here.", server.general)
    assert all("CANARY" not in request.text for request in model.requests)


async def test_one_platform_down_leaves_the_other_alone(
    home: Home, telegram: FakeTelegram, server: Server, model: FakeAnthropic
) -> None:
    async with house(home, telegram, server, model):
        await telegram.stop()
        model.answer("Discord lives.")
        await server.say("hello")
        await server.hears("Discord lives.")
        await telegram.start()
        await server.discord.stop()
        model.answer("Telegram lives.")
        telegram.say("hello")
        await hears(telegram, "Telegram lives.")
        await server.discord.start()
        model.answer("Both live.")
        await server.say("and now?")
        await server.discord.wait_for(lambda: "Both live." in server.heard(), 120.0)


@pytest.mark.parametrize("code", [4004, 4014])
async def test_what_no_new_start_can_cure_is_one_clear_line(
    home: Home, telegram: FakeTelegram, server: Server, model: FakeAnthropic, code: int
) -> None:
    async with house(home, telegram, server, model) as gateway:
        server.discord.refuse_identify(code, times=5)
        server.discord.invalidate()
        status: Any = gateway.operations["status"]
        async with asyncio.timeout(120):
            while (now := (await status({}))["channels"])["discord"]["state"] != "down":  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        told = now["discord"]["last_error"]
        assert ("token" if code == 4004 else "Message Content Intent") in told and "\n" not in told
        assert server.discord.token not in told
        model.answer("Telegram lives.")
        telegram.say("hello")
        await hears(telegram, "Telegram lives.")


async def test_files_and_pictures_are_sent_back_where_they_were_asked_for(
    home: Home, telegram: FakeTelegram, server: Server, model: FakeAnthropic
) -> None:
    async with house(home, telegram, server, model):
        workspace = home.workspace("workspace")
        (workspace / "plan.txt").write_text("The boat leaves at nine.", encoding="utf-8")
        (workspace / "boat.png").write_bytes(files.picture())
        wanted = ("send_message", {"text": "Here they are.", "files": ["plan.txt", "boat.png"]})

        model.answer(tool=wanted)
        model.answer("Sent.")
        telegram.say("Send me the plan and the picture.")
        await hears(telegram, "Sent.")
        await telegram.wait_for(lambda: len(telegram.messages(ALICE)) == 4)
        _, plan, boat, _ = sorted(telegram.messages(ALICE), key=lambda one: one.text == "Sent.")
        assert telegram.sent_file(plan) == ("plan.txt", b"The boat leaves at nine.")
        assert telegram.sent_file(boat)[1] == files.picture()

        model.answer(tool=wanted)
        model.answer("Sent here.")
        await server.say("Here too, please.")
        await server.hears("Sent here.")
        await server.discord.wait_for(lambda: len(server.heard()) == 4)
        sent = [one for message in server.discord.messages(server.dm) for one in message.attachments]
        assert [(one.name, one.content) for one in sent] == [
            ("plan.txt", b"The boat leaves at nine."),
            ("boat.png", files.picture()),
        ]
        assert len(telegram.messages(ALICE)) == 4
