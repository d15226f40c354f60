"""One day, told in Telegram, in Discord and in the terminal at once: each chat its own day, once."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from channels.terminal import Final, Shown
from gateway.messages.outbox import REPEAT_MARK
from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.discord import PLAUSIBLE_TOKEN, FakeDiscord
from tests.fakes.telegram import FakeTelegram
from tests.flows.diarist import Diarist
from tests.flows.process import GatewayProcess
from tests.flows.story import ALICE
from tests.flows.test_daily import DAY, a_day, at, awake, ran, says
from tests.flows.test_discord import OWNER as ALICE_THERE
from tests.flows.test_discord import Server


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with FakeDiscord(f"{PLAUSIBLE_TOKEN[:-8]}{secrets.token_hex(4)}") as discord:
        yield Server(discord)


def on_both(server: Server, *more: str) -> dict[str, Any]:
    """The owner has an account on either platform, and the room in the server is told its day too."""
    to = [f"telegram:{ALICE}", f"discord:{server.dm.id}", f"discord:{server.general.id}", *more]
    return {
        "owners": [f"telegram:{ALICE}", f"discord:{ALICE_THERE}"],
        "channels": {"discord": server.settings()},
        "schedule": {"daily_summary": {"to": to}},
    }


class Window:
    """A terminal that somebody opens."""

    def __init__(self) -> None:
        self.read: list[str] = []

    async def show(self, shown: Shown) -> None:
        if isinstance(shown, Final):
            self.read.append(shown.text)


async def test_a_day_on_every_channel_told_late_and_once(tmp_path: Path, server: Server) -> None:
    """Down at nine in the evening, up again at ten: everybody hears of the day then, and never again."""
    async with a_day(tmp_path, **on_both(server, "terminal:main")) as (told, diarist):
        async with awake(told):
            await server.discord.until_connected()
            await says(told, f"{DAY} 09:00", "I'll send the invoice by 2026-11-27")
            at(told, f"{DAY} 12:00")
            await server.say("We take the blue tiles")
            await server.hears("Fine.")
            await server.call("Who brings the cake?")
            await server.hears("Fine.", server.general)
            await told.idle()
        at(told, f"{DAY} 22:00")
        window = Window()
        async with awake(told) as gateway:
            mine = await told.hears("A full day")
            there = await server.hears("A full day")
            ours = await server.hears("A full day", server.general)
            assert await ran(gateway, "daily-summary") == "done"
            with gateway.terminal.attach("main", window):
                async with asyncio.timeout(120):
                    while not any("A full day" in text for text in window.read):  # noqa: ASYNC110  no bell rings
                        await asyncio.sleep(0)
            await told.idle()
        for summary in (mine.text, there.content, *window.read):
            assert "send the invoice" in summary and "blue tiles" in summary and "cake" not in summary
            assert "Sorry, I'm late: this was due today at 21:00" in summary
        assert "cake" in ours.content and "invoice" not in ours.content and "tiles" not in ours.content
        async with awake(told):
            await told.idle()
        heard = [*told.heard(), *server.heard(), *server.heard(server.general), *window.read]
        assert len([text for text in heard if "A full day" in text]) == 4
        assert told.read(f"memory/{DAY}.md").count("Alice said I'll send the invoice") == 1
        assert len(diarist.journals) == 2  # of Alice's talk, and of the room's
        told.no_request_was_refused()


async def test_a_reminder_s_buttons_in_telegram_and_in_discord(tmp_path: Path, server: Server) -> None:
    async with a_day(tmp_path, **on_both(server)) as (told, _):
        jobs = (("telegram", ALICE), ("discord", server.dm.id))
        lines = [f"  - {{id: {n}, text: Tea, when: {{at: '{DAY}T09:00'}}, to: '{n}:{chat}'}}\n" for n, chat in jobs]
        told.write("schedule.yaml", f"jobs:\n{''.join(lines)}")
        async with awake(told):
            await server.discord.until_connected()
            await says(told, f"{DAY} 08:40", "Hello")
            await server.say("Hello")
            await server.hears("Fine.")
            at(told, f"{DAY} 09:00")
            rung = await told.hears("Tea")
            assert [button["text"] for row in rung.buttons for button in row][1:] == [
                "In 10 minutes",
                "In an hour",
                "Tomorrow",
            ]
            told.telegram.press(rung.id, rung.buttons[1][0]["callback_data"])
            await told.hears("Tea\n\n⏰ I'll remind you again ")
            there = await server.hears("Tea")
            await server.discord.press(server.owner, there, there.buttons[0])
            await server.hears("✓ Done.")
            await told.idle()
        assert server.heard() == ["Fine.", "⏰ Tea\n\n*✓ Done.*"]
        assert "id: telegram" in told.read("schedule.yaml")


async def test_killed_between_two_platforms(telegram: FakeTelegram, model: FakeAnthropic, server: Server) -> None:
    """Telegram has its summary, Discord not yet, and the process is gone: after the start each has one."""
    model.reply = Diarist()
    async with GatewayProcess(telegram, model, on_both(server)) as gateway:
        await gateway.while_alive(server.discord.until_connected())
        telegram.say("I'll water the roses by 2999-01-01")
        await gateway.while_alive(telegram.wait_for(lambda: telegram.messages(ALICE)))
        await server.say("Hello")
        await gateway.while_alive(server.hears("Fine."))
        sends = server.discord.hold("POST", "/messages$")
        assert (await gateway.cli("schedule", "run", "daily-summary")).code == 0
        await gateway.while_alive(telegram.wait_for(lambda: len(telegram.messages(ALICE)) > 1))
        await gateway.while_alive(sends.wait())
        await gateway.kill()
        sends.release()
        await gateway.start()
        await gateway.while_alive(server.hears("A full day"))
        summaries = [text for text in server.heard() if "A full day" in text]
        assert len(summaries) == 1
        mine = [one.text for one in telegram.messages(ALICE) if "A full day" in one.text]
        assert len([text for text in mine if not text.startswith(REPEAT_MARK)]) == 1
