"""The bar for a clock that nobody set: a server on UTC, and a browser elsewhere."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from typing import Literal

import pytest
import yaml
from playwright.async_api import Browser, Page, expect

from gateway.config import load
from gateway.home import Home
from tests.chromium import PATIENCE, chromium
from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.telegram import FakeTelegram
from tests.flows.process import GatewayProcess
from tests.flows.stores import settings_of
from tests.flows.test_page_accessible import AXE, findings
from tests.flows.test_page_setup import free_port
from tests.flows.test_web import where

__all__ = ["chromium"]
pytestmark = pytest.mark.timeout(300)
SCHEMES: tuple[Literal["light"], Literal["dark"]] = ("light", "dark")


@pytest.fixture
async def gateway(telegram: FakeTelegram, model: FakeAnthropic) -> AsyncIterator[GatewayProcess]:
    process = GatewayProcess(telegram, model, start_now=False)
    process.environ["TZ"] = "UTC"
    settings = {"channels": {"web": {"port": free_port()}}, **settings_of(process.home)}
    (process.home / "config.yaml").write_text(yaml.safe_dump(settings))
    async with process:
        await process.start(wait=False)
        yield process


async def visit(chromium: Browser, gateway: GatewayProcess, zone: str, locale: str = "de-DE", width: int = 390) -> Page:
    address, token = await gateway.while_alive(where(gateway))
    person = await chromium.new_context(
        base_url=address, timezone_id=zone, locale=locale, viewport={"width": width, "height": 844}
    )
    person.set_default_timeout(PATIENCE)
    page = await person.new_page()
    await page.goto("/")
    await page.locator("#token").fill(token)
    await page.locator("#login button").click()
    await expect(page.locator("#empty")).to_be_visible()
    return page


async def photographed(page: Page, name: str) -> None:
    """Kept only where `SHOTS` names a folder."""
    if folder := os.environ.get("SHOTS"):
        await page.screenshot(path=f"{folder}/{name}.png")


async def test_one_press_takes_the_browsers_zone_while_daybook_runs(chromium: Browser, gateway: GatewayProcess) -> None:
    page = await visit(chromium, gateway, "Europe/Berlin")
    bar = page.get_by_role("region", name="Zeitzone")
    await expect(bar).to_contain_text("Dein Browser ist in Berlin (")
    await expect(bar).to_contain_text(", und meine Uhr geht nach UTC (")
    axe = await asyncio.to_thread(AXE.read_text, "utf-8")
    for width in (1440, 390):
        await page.set_viewport_size({"width": width, "height": 844})
        for scheme in SCHEMES:
            await page.emulate_media(color_scheme=scheme)
            await photographed(page, f"zone-{width}-{scheme}")
            assert not await findings(page, axe)
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    await bar.get_by_role("button", name="Berlin nehmen").click()
    await expect(bar).to_be_hidden()
    await expect(page.locator("#text")).to_be_focused()
    assert load(Home(gateway.home), {}).config.timezone == "Europe/Berlin"
    assert gateway.log.count("is running (process") == 1

    await page.locator("#text").fill("/remind morgen um 9 Zahnarzt")
    await page.keyboard.press("Enter")
    await expect(page.locator("#messages .daybook .body")).to_contain_text("9:00")
    schedule = (gateway.home / "workspace" / "schedule.yaml").read_text()
    assert "T09:00" in schedule or " 09:00" in schedule
    async with page.expect_response("**/session") as answered:
        await page.reload()
    assert (await answered.value).headers["daybook-zone"] == "Europe/Berlin"
    await expect(page.locator("#messages .daybook .body")).to_be_visible()
    await expect(bar).to_be_hidden()


async def test_who_keeps_the_servers_zone_is_not_asked_again_in_any_browser(
    chromium: Browser, gateway: GatewayProcess
) -> None:
    same = await visit(chromium, gateway, "Atlantic/Reykjavik")
    await expect(same.locator("#setup h3")).to_be_visible()
    await expect(same.locator("#zone")).to_be_hidden()
    page = await visit(chromium, gateway, "Europe/London", "en-GB", width=1440)
    await expect(page.locator("#zone")).to_contain_text("Your browser is in London (")
    await page.get_by_role("button", name="Keep UTC").click()
    await expect(page.locator("#zone")).to_be_hidden()
    assert "timezone: " in (gateway.home / "config.yaml").read_text()
    other = await visit(chromium, gateway, "Asia/Tokyo", "ja-JP", width=1440)
    await other.goto("about:blank")  # an answer to the first look goes with its page
    async with other.expect_response("**/call/zone.offer") as answered:
        await other.goto("/")
    assert (await (await answered.value).json())["result"]["asks"] is False
    await expect(other.locator("#zone")).to_be_hidden()
