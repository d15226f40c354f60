"""Usage on the page: what an answer cost is there, as the command line counts it; in a browser, at a gateway."""

from __future__ import annotations

import pytest
from playwright.async_api import Browser, expect

from tests.chromium import chromium
from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.telegram import FakeTelegram
from tests.flows.process import OWNER, GatewayProcess
from tests.flows.test_page_jobs import at_the_page, gateway

__all__ = ["chromium", "gateway"]
pytestmark = pytest.mark.timeout(300)


async def test_what_an_answer_used_is_on_the_page(
    chromium: Browser, gateway: GatewayProcess, telegram: FakeTelegram, model: FakeAnthropic
) -> None:
    page = await at_the_page(chromium, gateway, "/usage", viewport={"width": 390, "height": 844})
    await expect(page.get_by_text("No model was used in these 30 days.")).to_be_visible()
    model.answer("Good morning!")
    telegram.say("hello", chat=OWNER)
    await telegram.next_message(OWNER)
    rows = (await gateway.cli("usage", "--days", "7", "--json")).json()
    (chat,) = (one for one in rows if one["purpose"] == "chat")
    await page.get_by_role("link", name="7 days").click()
    line = page.locator("tbody tr").filter(has_text="Our conversations")
    await expect(line.locator("data.count")).to_have_attribute("value", str(chat["calls"]))
    tokens = chat["input"] + chat["output"] + chat["cache_read"] + chat["cache_write"]
    await expect(line.locator("data.tokens")).to_have_attribute("value", str(tokens))
    assert await page.locator(".chart rect.new").count() == 1
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")


async def test_the_command_line_adds_up_what_was_used(
    gateway: GatewayProcess, telegram: FakeTelegram, model: FakeAnthropic
) -> None:
    for text in ("hello", "/new", "hello again", "/compact"):
        last = telegram.messages(OWNER)[-1].id if telegram.messages(OWNER) else 0
        telegram.say(text, chat=OWNER)
        await telegram.next_message(OWNER, last)
    rows = (await gateway.cli("usage", "--json")).json()
    shown = (await gateway.cli("usage")).out.splitlines()
    assert len(rows) > 1 and shown[-1].startswith("total ")
    assert shown[-1].split()[1:3] == [f"{sum(one[name] for one in rows):,}" for name in ("calls", "input")]
