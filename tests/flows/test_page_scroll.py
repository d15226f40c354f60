"""A long chat on the page: every message can be reached by scrolling, over the ends of conversations too."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from agent.clock import utc_stamp
from tests.chromium import chromium
from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.telegram import FakeTelegram
from tests.flows.process import GatewayProcess
from tests.flows.stores import writing
from tests.flows.test_page_versions import SETTINGS, at_the_chat, message, say
from tests.flows.test_web import where

__all__ = ["chromium"]
pytestmark = pytest.mark.timeout(300)
MANY = 1_200


def fill(home: Path, count: int) -> None:
    """A chat of that many messages, in turns of a person and Daybook."""

    def minute(number: int) -> str:
        return utc_stamp(datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=number))

    messages = [
        (f"filled{number:08}", "daybook" if number % 2 else "person", f"Message number {number}.", minute(number))
        for number in range(count)
    ]
    with writing(home) as store:
        store.executemany(
            "INSERT INTO web_message (id, chat_id, by, text, at, reply_to, turn, is_error, buttons, files)"
            " VALUES (?, 'main', ?, ?, ?, '', '', 0, '[]', '[]')",
            messages,
        )


@pytest.mark.full
async def test_scrolling_up_reaches_the_first_message_and_keeps_the_place(
    chromium: Browser, telegram: FakeTelegram, model: FakeAnthropic
) -> None:
    async with GatewayProcess(telegram, model, SETTINGS) as gateway:
        await where(gateway)
        await gateway.terminate()
        await asyncio.to_thread(fill, gateway.home, MANY)
        await gateway.start()
        page = await at_the_chat(chromium, gateway)
        model.answer("Here.")
        await say(page, "/new")
        await expect(message(page, "new conversation")).to_be_visible()
        await say(page, "What is the newest?")
        await expect(message(page, "Here.")).to_be_in_viewport()
        scroll, messages = page.locator("#scroll"), page.locator("#messages > .message")
        count = await messages.count()
        assert 50 <= count < 200
        while count < MANY:
            place = await messages.first.get_attribute("data-id")
            await scroll.evaluate("view => { view.scrollTop = 0; }")
            await expect(messages).not_to_have_count(count)
            count = await messages.count()
            first = page.locator(f'[data-id="{place}"]')
            box, view = await first.bounding_box(), await scroll.bounding_box()
            assert box and view and box["y"] < view["y"] + view["height"], "what was read stays in sight"
        await scroll.evaluate("view => { view.scrollTop = 0; }")
        await expect(page.get_by_text("Message number 0.", exact=True)).to_be_in_viewport()
        await expect(page.locator("#scroll").get_by_role("link", name="All conversations")).to_be_visible()
        numbers = await messages.evaluate_all("all => all.map((one) => one.number)")
        assert numbers == sorted(set(numbers)) and len(numbers) == MANY + 4
        await page.get_by_role("button", name="Jump to the newest message").click()
        await expect(message(page, "Here.")).to_be_in_viewport()
        await expect(messages).to_have_count(200)
        await expect(scroll.get_by_role("button", name="Show earlier messages")).to_be_attached()
