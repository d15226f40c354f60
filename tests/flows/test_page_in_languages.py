"""From a refused login to a reminder's buttons in a browser of each language: no English word is read there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect

from channels.web.views.registry import VIEWS
from tests.chromium import PATIENCE, chromium
from tests.flows.persons import Person, Seat, first_day
from tests.flows.test_daily import awake
from tests.flows.test_stories_in_languages import everyone, without_model

__all__ = ["chromium"]
pytestmark = pytest.mark.timeout(300)
NAMES = ("HEARTBEAT.md", "schedule.yaml", "Owner:")
"""Of files, and of a person whom nobody has named."""
READ = """() => [...document.querySelectorAll('body *')].flatMap((one) => {
  if (!one.checkVisibility() || one.closest('code, pre, script, svg')) return [];
  const own = [...one.childNodes].filter((child) => child.nodeType === Node.TEXT_NODE).map((child) => child.data);
  return [...own, ...['placeholder', 'aria-label', 'title', 'alt'].map((name) => one.getAttribute(name) ?? '')];
}).map((text) => text.trim()).filter(Boolean)"""
"""What can be seen or is read aloud; what is to be typed stands in `code`."""


class AtThePage(Seat):
    def __init__(self, page: Page) -> None:
        super().__init__()
        self.page = page

    async def says(self, words: str) -> None:
        await self.page.locator("#text").fill(words)
        await self.page.keyboard.press("Enter")

    async def press(self, label: str) -> None:
        await self.page.locator("#messages").get_by_role("button", name=label, exact=True).last.click()

    async def until(self, part: str, times: int) -> list[str]:
        found = self.page.locator("#messages .daybook .body").filter(has_text=part)
        await expect(found.nth(times - 1)).to_be_visible()
        return await self.looks()

    async def looks(self, name: str = "") -> list[str]:
        if name and (folder := os.environ.get("SHOTS")):
            await self.page.screenshot(path=f"{folder}/{name}.png")
        texts: list[str] = await self.page.evaluate(READ)
        self.seen |= dict.fromkeys(texts)
        return texts


@everyone
async def test_on_the_page(tmp_path: Path, chromium: Browser, person: Person) -> None:
    async with without_model(tmp_path, web={"enabled": True, "port": 0}) as told, awake(told) as gateway:
        assert gateway.web is not None
        await gateway.web.begun.wait()
        address = gateway.web.address
        browser = await chromium.new_context(base_url=address, timezone_id="Europe/Berlin", locale=person.locale)
        browser.set_default_timeout(PATIENCE)
        page = await browser.new_page()
        seat = AtThePage(page)
        await page.goto("/")
        for proof in ("no token", (told.home.state / "web-token").read_text().strip()):
            await page.locator("#token").fill(proof)
            await page.locator("#login button").click()
            if proof == "no token":
                await expect(page.locator("#login-wrong")).not_to_be_empty()
                await seat.looks("login")
        await expect(page.locator("#setup h3")).to_be_visible()
        await seat.looks(f"empty-{person.language}")

        told.say("/start")
        await told.hears("daybook pair approve")
        await page.goto("/people")
        await page.locator("[data-act='pair.approve']").wait_for()
        await seat.looks(f"asks-{person.language}")
        await page.locator("[data-act='pair.approve']").click()
        await expect(page.locator("#people-said")).to_be_visible()
        await seat.looks(f"people-{person.language}")

        await page.goto("/")
        await first_day(told, person, seat)
        await seat.looks(f"chat-{person.language}")
        for view in VIEWS:
            await page.goto(view.path)
            await expect(page.locator("#view:not(.loading) > .inner, #chat-view:not([hidden])")).to_be_visible()
            await seat.looks(f"{view.name}-{person.language}")
    assert seat.english(person, *NAMES) == []
