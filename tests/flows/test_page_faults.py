"""What goes wrong around the page: a gateway that restarts under a view, a phone that sleeps, a clock that differs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from playwright.async_api import Browser, Page, WebSocketRoute, expect

from channels.web.views.registry import VIEWS
from tests.chromium import chromium
from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.telegram import FakeTelegram
from tests.flows.process import GatewayProcess
from tests.flows.test_page_accessible import logged_in
from tests.flows.test_page_jobs import SETTINGS
from tests.flows.test_page_setup import free_port
from tests.flows.test_web import at_the_page
from tests.strength import first

__all__ = ["chromium"]
pytestmark = pytest.mark.timeout(400)
VIEW_PATHS = [view.path for view in VIEWS if view.name]


@pytest.fixture
async def gateway(telegram: FakeTelegram, model: FakeAnthropic) -> AsyncIterator[GatewayProcess]:
    settings = {**SETTINGS, "channels": {"web": {"enabled": True, "port": free_port()}}}
    async with GatewayProcess(telegram, model, settings) as process:
        yield process


async def say(page: Page, text: str) -> None:
    await page.locator("#text").fill(text)
    await page.keyboard.press("Enter")


@pytest.mark.full
async def test_the_gateway_restarts_under_each_view(chromium: Browser, gateway: GatewayProcess) -> None:
    page = await logged_in(chromium, gateway)
    heading = page.locator("#view h1").first
    link = page.locator("#side .links a")
    for before, path in pairwise([*VIEW_PATHS, VIEW_PATHS[0]]):
        await link.and_(page.locator(f'[href="{before}"]')).click()
        await expect(heading).to_be_visible()
        await gateway.kill()
        await expect(page.locator("#state")).to_have_text("Offline. Reconnecting…")
        await expect(heading).to_be_visible()  # what was there can still be read
        await link.and_(page.locator(f'[href="{path}"]')).click()
        await expect(page.locator("#view .empty")).to_have_text("Offline. Reconnecting…")
        await gateway.start()
        await expect(heading).to_be_visible()
        await expect(page.locator("#state")).to_have_text("")


async def test_a_phone_that_slept_on_a_dead_connection_sees_what_came_meanwhile(
    chromium: Browser, gateway: GatewayProcess, model: FakeAnthropic
) -> None:
    page = await logged_in(chromium, gateway)
    asleep = asyncio.Event()

    def connect(socket: WebSocketRoute) -> None:
        server = socket.connect_to_server()
        if not asleep.is_set():  # a connection that is opened after the sleep is a live one
            server.on_message(lambda frame: None if asleep.is_set() else socket.send(frame))
            socket.on_message(lambda frame: None if asleep.is_set() else server.send(frame))

    await page.route_web_socket("**/ws", connect)
    await page.reload()
    await say(page, "hello")
    await expect(page.locator("#messages .daybook")).to_have_count(1)
    await page.clock.install()
    await show(page, is_hidden=True)
    asleep.set()
    model.reply = lambda _: "While you slept."
    async with at_the_page(gateway) as other, other.opened() as tab:
        await tab.say("and now?")
        await tab.hears("While you slept.")
    await page.clock.fast_forward("10:00")
    await expect(page.locator("#messages .daybook")).to_have_count(1)
    await show(page, is_hidden=False)
    await expect(page.locator("#messages")).to_contain_text("While you slept.")


async def show(page: Page, *, is_hidden: bool) -> None:
    await page.evaluate(
        """isHidden => {
            Object.defineProperty(document, 'hidden', {configurable: true, get: () => isHidden});
            document.dispatchEvent(new Event('visibilitychange'));
        }""",
        is_hidden,
    )


@pytest.mark.parametrize("days", first(-400, 400))
@pytest.mark.full
async def test_a_browser_whose_clock_differs_by_a_year_works_and_stays_logged_in(
    chromium: Browser, gateway: GatewayProcess, model: FakeAnthropic, days: int
) -> None:
    model.reply = lambda _: "Luna it is."
    page = await logged_in(chromium, gateway)
    await page.clock.set_fixed_time(datetime.now(UTC) + timedelta(days=days))
    await say(page, "What is my cat called?")
    await expect(page.locator("#messages .daybook .body")).to_have_text("Luna it is.")
    await page.reload()
    await expect(page.locator("#messages .daybook .body")).to_have_text("Luna it is.")
    await say(page, "/remind in 2 hours tea")
    await expect(page.locator("#messages")).to_contain_text("I'll remind you")
    for path in VIEW_PATHS:
        await page.goto(path)
        await expect(page.locator("#view h1").first).to_be_visible()
