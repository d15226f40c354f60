"""Conversations on the page and the command line: named, put away, taken back, found by their titles."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser, expect

from tests.channels.web.test_views import XSS
from tests.chromium import chromium
from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.telegram import FakeTelegram
from tests.flows.process import GatewayProcess
from tests.flows.test_page_versions import SETTINGS, at_the_chat, message, say

__all__ = ["chromium"]
pytestmark = pytest.mark.timeout(300)


@pytest.fixture
async def gateway(telegram: FakeTelegram, model: FakeAnthropic) -> AsyncIterator[GatewayProcess]:
    async with GatewayProcess(telegram, model, SETTINGS) as process:
        yield process


async def test_a_conversation_is_named_put_away_and_found_by_its_name(
    chromium: Browser, gateway: GatewayProcess, model: FakeAnthropic
) -> None:
    page = await at_the_chat(chromium, gateway)
    model.answer("Take the train.")
    await say(page, "How do I get to Lisbon?")
    await expect(message(page, "Take the train.")).to_be_visible()
    link = page.get_by_role("link", name="Conversations", exact=True)
    await link.click()
    await page.get_by_role("link", name="How do I get to Lisbon?").click()
    await page.get_by_role("button", name="Rename").click()
    title = page.get_by_label("Title")
    await expect(title).to_be_focused()
    await title.fill(f"  Our trip {XSS}  ")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", name="Our trip <script>")).to_be_visible()
    assert await page.title() == "Daybook"
    await page.get_by_role("button", name="Rename").click()
    await title.fill("Our trip")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", name="Our trip", exact=True)).to_be_visible()
    await page.get_by_role("button", name="Archive").click()
    await expect(page.get_by_role("alert")).to_have_text(
        "That is the present conversation. Begin a new one first, then this one can be archived."
    )

    await page.get_by_role("link", name="Chat", exact=True).click()
    await say(page, "/new")
    await expect(message(page, "Started a new conversation.")).to_be_visible()
    await gateway.restart()
    listed = await gateway.cli("sessions", "list")
    assert "Our trip" in listed.out and "Lisbon" not in listed.out
    assert "Take the train." in (await gateway.cli("sessions", "show", "our trip")).out
    assert set((await gateway.cli("sessions", "list", "--json")).json()[0]) == {
        "id",
        "key",
        "started",
        "last",
        "messages",
    }
    assert "is archived" in (await gateway.cli("sessions", "archive", "Our trip")).out
    assert "Our trip" not in (await gateway.cli("sessions", "list")).out
    assert "Our trip" in (await gateway.cli("sessions", "list", "--archived")).out
    assert len((await gateway.cli("sessions", "list", "--json")).json()) == 2

    page = await at_the_chat(chromium, gateway)
    await page.get_by_role("link", name="Conversations", exact=True).click()
    await expect(page.get_by_role("link", name="Our trip")).to_have_count(0)
    await page.get_by_role("link", name="Archived (1)").click()
    await page.get_by_role("link", name="Our trip").click()
    await page.get_by_role("button", name="Take out of the archive").click()
    await expect(page.get_by_role("link", name="Our trip")).to_be_visible()

    await gateway.cli("sessions", "archive", "Our trip")
    await page.get_by_role("link", name="Chat", exact=True).click()
    await say(page, "/switch Our trip")
    await expect(message(page, "Back in the conversation")).to_be_visible()
    await say(page, "/sessions")
    assert "Our trip" in (await gateway.cli("sessions", "list")).out, "who goes back to one takes it out"
    assert "is called “How do I get to Lisbon?” now" in (await gateway.cli("sessions", "rename", "our")).out


async def test_a_title_is_forgotten_with_what_it_names(gateway: GatewayProcess, model: FakeAnthropic) -> None:
    model.answer("Hello Zanzibar.")
    await gateway.cli("chat", "-m", "I think of Zanzibar")
    (row,) = (await gateway.cli("sessions", "list", "--json")).json()
    await gateway.cli("sessions", "rename", row["id"], "Zanzibar", "plans")
    assert "Zanzibar plans" in (await gateway.cli("sessions", "list")).out
    await gateway.cli("chat", "-m", "/forget Zanzibar")
    await gateway.cli("chat", "-m", "yes")
    assert "Zanzibar plans" not in (await gateway.cli("sessions", "list")).out
