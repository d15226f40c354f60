"""People on the page: let in, declined, shut out again, and a yes given, in a browser, at a gateway."""

from __future__ import annotations

import asyncio

import pytest
from playwright.async_api import Browser, expect

from tests.channels.web.test_views import XSS
from tests.chromium import chromium
from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.telegram import FakeTelegram
from tests.flows.process import OWNER, GatewayProcess, as_user
from tests.flows.test_guard import questions
from tests.flows.test_page_jobs import SETTINGS, at_the_page, gateway
from tests.flows.test_web import where

__all__ = ["chromium", "gateway"]
pytestmark = pytest.mark.timeout(300)
CARLA, DAN = 33333, 44444


async def test_a_newcomer_is_let_in_with_one_press_and_shut_out_again(
    chromium: Browser, gateway: GatewayProcess, telegram: FakeTelegram, model: FakeAnthropic
) -> None:
    for who, name in ((CARLA, "Carla"), (DAN, "Dan")):
        telegram.say("hello", chat=who, user=who, name=name)
    told = await telegram.next_message(CARLA)
    await telegram.next_message(DAN)
    page = await at_the_page(chromium, gateway, "/people", viewport={"width": 390, "height": 844})
    asks = page.locator(".ask")
    await asks.filter(has_text="Carla").get_by_role("button", name="Approve").click()
    await expect(page.locator("#people-said")).to_have_text("Carla may write to me now, and was told so.")
    assert "approved" in (await telegram.next_message(CARLA, told.id)).text
    await asks.filter(has_text="Dan").get_by_role("button", name="Decline").click()
    await expect(page.get_by_text("Nobody is asking.")).to_be_visible()
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    states = {one["user_id"]: one["state"] for one in (await gateway.cli("pair", "list", "--json")).json()}
    assert states == {str(CARLA): "person"}

    await page.get_by_role("button", name=f"Take back access of telegram:{CARLA}").click()
    await page.get_by_role("dialog").get_by_role("button", name="Take back").click()
    await expect(page.locator("#people-said")).to_have_text("Carla can no longer write to me.")
    assert (await gateway.cli("pair", "list", "--json")).json() == []


async def test_what_waits_for_a_yes_is_read_and_answered_on_the_page(
    chromium: Browser, gateway: GatewayProcess, telegram: FakeTelegram, model: FakeAnthropic
) -> None:
    rules = gateway.workspace / "AGENTS.md"
    page = await at_the_page(chromium, gateway, "/people")
    for answer, rule in (("No", f"Answer in verse. {XSS}\n"), ("Yes, do it", f"Answer in rhymes. {XSS}\n")):
        model.answer(tool=("write_file", {"path": "AGENTS.md", "content": rule}))
        model.answer("It waits for you.")
        telegram.say("from now on, please", chat=OWNER)
        await gateway.while_alive(telegram.wait_for(lambda: questions(telegram)))
        before = await asyncio.to_thread(rules.read_text)
        await page.reload()
        await expect(page.locator(".ask .content")).to_have_text(rule.removesuffix("\n") + "⏎")
        assert await page.title() == "Daybook" and await page.locator("#view script, #view img").count() == 0
        await page.get_by_role("button", name=answer, exact=True).click()
        await expect(page.locator("#people-said")).to_be_visible()
        await expect(page.locator(".ask")).to_have_count(0)
        await gateway.while_alive(telegram.wait_for(lambda: not questions(telegram)))
        assert await asyncio.to_thread(rules.read_text) == (before if answer == "No" else rule)


@pytest.mark.requires("bubblewrap")
@pytest.mark.full
async def test_always_on_the_page_is_for_exactly_these_leading_words(
    chromium: Browser, telegram: FakeTelegram, model: FakeAnthropic
) -> None:
    async with GatewayProcess(telegram, model, {**SETTINGS, "tools": {"exec": True}}, command=as_user()) as gateway:

        async def calls(*argv: str, then: str) -> None:
            model.answer(tool=("exec", {"argv": list(argv)}))
            model.answer(then)
            telegram.say("go on", chat=OWNER)
            await gateway.while_alive(telegram.wait_for(lambda: any(then in one for one in heard())))

        def heard() -> list[str]:
            return [one.text for one in telegram.messages(OWNER)]

        page = await at_the_page(chromium, gateway, "/people")
        await calls("git", "init", "--quiet", "boat", then="It waits for you.")
        assert not (gateway.workspace / "boat").exists()
        await page.reload()
        ask = page.locator(".ask")
        await expect(ask.locator("code")).to_have_text("git init")
        model.answer("The boat has a history.")
        await ask.get_by_role("button", name="Always", exact=True).click()
        await expect(page.locator("#people-said")).to_contain_text("git init")
        await expect(ask).to_have_count(0)
        await gateway.while_alive(telegram.wait_for(lambda: any("has a history" in text for text in heard())))
        assert (gateway.workspace / "boat/.git").is_dir() and not questions(telegram)

        await calls("git", "init", "--quiet", "raft", then="So has the raft.")
        assert (gateway.workspace / "raft/.git").is_dir() and not questions(telegram), (
            "these words are not asked about again"
        )
        for number, argv in enumerate((["git", "add", "AGENTS.md"], ["wc", "-w", "AGENTS.md"]), 1):
            await calls(*argv, then=f"It waits, {number}.")
            assert len(questions(telegram)) == number, "other words are"
        await page.reload()
        await expect(ask).to_have_count(2)


@pytest.mark.full
async def test_nothing_that_a_name_says_runs(
    chromium: Browser, gateway: GatewayProcess, telegram: FakeTelegram
) -> None:
    telegram.say("hello", chat=CARLA, user=CARLA, name=XSS)
    await telegram.next_message(CARLA)
    page = await at_the_page(chromium, gateway, "/people")
    await expect(page.locator(".ask .title")).to_contain_text("onerror")
    assert await page.locator("#view script, #view img").count() == 0
    await page.get_by_role("button", name="Approve").click()
    await expect(page.locator("#people-said")).to_contain_text("onerror")
    await page.get_by_role("button", name="Take back access").click()
    await expect(page.get_by_role("dialog")).to_contain_text("onerror")
    assert await page.title() == "Daybook" and await page.locator("#view script, #view img").count() == 0
    await page.goto(f"{(await where(gateway))[0]}/people?{XSS}")
    await expect(page.get_by_text("Nobody is asking.")).to_be_visible()
    assert await page.title() == "Daybook"
