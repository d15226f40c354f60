"""Reminders on the page: said in words, seen in the week, changed, paused, run, deleted; in a browser, at a gateway."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest
from playwright.async_api import Browser, Locator, Page, expect

from tests.channels.web.test_views import XSS
from tests.chromium import PATIENCE, chromium
from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.telegram import FakeTelegram
from tests.flows.process import OWNER, GatewayProcess
from tests.flows.test_web import where

__all__ = ["chromium"]
pytestmark = pytest.mark.timeout(300)
SETTINGS: Mapping[str, object] = {"channels": {"web": {"enabled": True, "port": 0}}, "timezone": "Europe/Berlin"}


@pytest.fixture
async def gateway(telegram: FakeTelegram, model: FakeAnthropic) -> AsyncIterator[GatewayProcess]:
    async with GatewayProcess(telegram, model, SETTINGS) as process:
        yield process


async def at_the_page(chromium: Browser, gateway: GatewayProcess, path: str, **options: Any) -> Page:
    """The page at a view, logged in."""
    address, token = await where(gateway)
    person = await chromium.new_context(**options)
    person.set_default_timeout(PATIENCE)
    page = await person.new_page()
    await page.goto(f"{address}{path}")
    await page.locator("#token").fill(token)
    await page.locator("#login button").click()
    await expect(page.locator("#view .inner")).to_be_visible()
    return page


async def schedule(gateway: GatewayProcess) -> dict[str, Any]:
    """The jobs as the command line lists them, by id."""
    return {one["id"]: one for one in (await gateway.cli("schedule", "list", "--json")).json()}


def line(page: Page, text: str) -> Locator:
    return page.locator("li.job").filter(has_text=text)


@pytest.mark.full
async def test_a_reminder_from_its_first_word_to_its_end(
    chromium: Browser, gateway: GatewayProcess, telegram: FakeTelegram
) -> None:
    telegram.say("/whoami", chat=OWNER)
    known = await telegram.next_message(OWNER)
    page = await at_the_page(chromium, gateway, "/jobs", timezone_id="America/New_York")
    await expect(page.get_by_text("Nothing is planned.")).to_be_visible()

    await page.get_by_label("What should I remind you of, and when?").fill("tomorrow at 15:00 call mum")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("status").filter(has_text="call mum")).to_have_text(
        "I’ll remind you tomorrow, 15:00: call mum"
    )
    await expect(line(page, "call mum").locator("time")).to_have_text("tomorrow, 15:00")

    await page.get_by_role("link", name="Week").click()
    day = page.locator(".week .day").nth(1)
    await expect(day.get_by_role("link", name="call mum")).to_be_visible()
    await expect(day.locator("h2")).to_contain_text("tomorrow")
    await day.get_by_role("link", name="call mum").click()
    await expect(page.get_by_text("It has not run yet.")).to_be_visible()
    await page.get_by_role("link", name="All reminders").click()

    await line(page, "call mum").get_by_role("button", name="Pause").click()
    await expect(line(page, "call mum").get_by_text("paused")).to_be_visible()
    assert (await schedule(gateway))["call-mum"]["enabled"] is False
    await line(page, "call mum").get_by_role("button", name="Resume").click()

    await line(page, "call mum").get_by_role("button", name="Edit").click()
    await page.get_by_label("What", exact=True).fill("call dad")
    await page.locator('[name="rhythm"]').select_option("days")
    for weekday in ("Tue", "Thu", "Sat", "Sun"):
        await page.get_by_text(weekday, exact=True).click()
    await page.get_by_label("Time", exact=True).fill("18:05")
    await page.get_by_role("button", name="Save").click()
    await expect(line(page, "call dad")).to_contain_text("Mon, Wed, Fri at 18:05")
    assert (await schedule(gateway))["call-mum"]["when"] == {"cron": "5 18 * * 1,3,5"}

    await line(page, "call dad").get_by_role("button", name="Run now").click()
    assert (await telegram.next_message(OWNER, known.id)).text == "⏰ call dad"
    await line(page, "call dad").get_by_role("link", name="call dad").click()
    await expect(page.get_by_role("table").get_by_text("delivered")).to_be_visible()

    await page.get_by_role("button", name="Delete").click()
    await page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    await expect(page.get_by_text("Nothing is planned.")).to_be_visible()
    assert "call-mum" not in await schedule(gateway)


async def test_a_job_by_the_form_and_by_the_keyboard_alone(chromium: Browser, gateway: GatewayProcess) -> None:
    page = await at_the_page(chromium, gateway, "/jobs", viewport={"width": 390, "height": 844})
    await page.get_by_role("button", name="Choose a time…").press("Enter")
    await page.keyboard.type("Look at the news")
    await page.get_by_label("What happens").select_option("prompt")
    await page.locator('[name="rhythm"]').select_option("interval")
    await page.get_by_label("Every", exact=True).fill("3")
    await page.get_by_label("Every", exact=True).press("Enter")
    await expect(line(page, "Look at the news")).to_contain_text("Every 3 hours · I do it and report")
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    await page.locator("#remind input").fill("every day at 9:00 until 24 December 2030 vitamins")
    await page.locator("#remind input").press("Enter")
    await line(page, "vitamins").get_by_role("button", name="Edit").press("Enter")
    await page.get_by_label("Time", exact=True).fill("10:30")
    await page.get_by_role("button", name="Save").press("Enter")
    await expect(line(page, "vitamins")).to_contain_text("Every day at 10:30")
    whens = [job["when"] for job in (await schedule(gateway)).values() if job["text"] == "vitamins"]
    assert whens == [{"cron": "30 10 * * *", "until": "2030-12-24"}]

    await line(page, "Look at the news").get_by_role("button", name="Edit").press("Enter")
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("dialog")).to_be_hidden()
    for wrong in ("call mum", "2020-01-01 09:00 tea"):
        await page.locator("#remind input").fill(wrong)
        await page.locator("#remind input").press("Enter")
        await expect(page.locator("#jobs-said.wrong")).to_be_visible()
        await expect(page.locator("#remind input")).to_have_value(wrong)


@pytest.mark.full
async def test_two_windows_change_one_job(chromium: Browser, gateway: GatewayProcess) -> None:
    await gateway.cli("schedule", "add", "Tea", "--cron", "0 9 * * *", "--id", "tea")
    one = await at_the_page(chromium, gateway, "/jobs")
    other = await at_the_page(chromium, gateway, "/jobs")
    for page, text in ((one, "Green tea"), (other, "Black tea")):
        await line(page, "Tea").get_by_role("button", name="Edit").click()
        await page.get_by_label("What", exact=True).fill(text)
    await one.get_by_role("button", name="Save").click()
    await expect(line(one, "Green tea")).to_contain_text("Every day at 09:00")
    await other.get_by_role("button", name="Save").click()
    await expect(other.get_by_role("alert").filter(has_text="was changed meanwhile")).to_be_visible()
    assert (await schedule(gateway))["tea"]["text"] == "Green tea"


@pytest.mark.full
async def test_nothing_that_a_reminder_says_runs(chromium: Browser, gateway: GatewayProcess) -> None:
    await gateway.cli("schedule", "add", f"{XSS}\n</script>", "--cron", "0 9 * * *", "--id", "tea")
    page = await at_the_page(chromium, gateway, "/jobs")
    for path in ("/jobs", "/jobs?show=week", "/jobs?job=tea", f"/jobs?job={XSS}", f"/jobs?show={XSS}"):
        await page.goto(f"{(await where(gateway))[0]}{path}")
        await expect(page.locator("#view .inner")).to_be_visible()
        assert await page.title() == "Daybook"
        assert await page.locator("#view script, #view img").count() == 0
    await page.goto(f"{(await where(gateway))[0]}/jobs")
    await line(page, "onerror").get_by_role("button", name="Edit").click()
    assert (await page.get_by_label("What", exact=True).input_value()).startswith(XSS)
    await page.keyboard.press("Escape")
    await line(page, "onerror").get_by_role("button", name="Pause").click()
    await expect(page.locator("#jobs-said")).to_contain_text("onerror")
    assert await page.title() == "Daybook" and await page.locator("#view script, #view img").count() == 0


async def test_a_reminder_rings_in_a_tab_in_the_background_and_is_put_off_with_one_press(
    chromium: Browser, gateway: GatewayProcess
) -> None:
    address, token = await where(gateway)
    person = await chromium.new_context(permissions=["notifications"])
    person.set_default_timeout(PATIENCE)
    page = await person.new_page()
    await page.goto(address)
    await page.locator("#token").fill(token)
    await page.locator("#login button").click()
    await page.locator("#text").fill("/remind tomorrow 15:00 call mum")
    await page.keyboard.press("Enter")
    await expect(page.locator("#messages .daybook")).to_contain_text("I'll remind you here tomorrow")
    await page.evaluate("navigator.serviceWorker.ready.then(() => 0)")
    await page.evaluate("Object.defineProperty(document, 'hidden', {value: true})")  # what a tab behind another sees

    await gateway.cli("schedule", "run", "call-mum")
    rung = page.locator("#messages .reminder")
    await expect(rung).to_contain_text("⏰ call mum")
    shown = "navigator.serviceWorker.ready.then((one) => one.getNotifications()).then((all) => all.map((n) => n.body))"
    while not (bodies := await page.evaluate(shown)):
        await page.wait_for_timeout(50)
    assert bodies == ["⏰ call mum"]
    assert (await page.title()).startswith("(1) ")
    await rung.get_by_role("button", name="In 10 minutes").click()
    await expect(rung.locator(".buttons")).to_have_count(0)
    await expect(rung).to_contain_text("I'll remind you again today at")
    assert "call-mum-again" in await schedule(gateway)


@pytest.mark.full
async def test_a_form_that_is_posted_twice_makes_one_reminder(chromium: Browser, gateway: GatewayProcess) -> None:
    page = await at_the_page(chromium, gateway, "/jobs")
    await page.locator("#remind input").fill("tomorrow 15:00 call Ann")
    await page.get_by_role("button", name="Remind me").dblclick()
    await expect(line(page, "call Ann")).to_have_count(1)
    await page.get_by_role("button", name="Choose a time…").click()
    await page.locator('dialog [name="text"]').fill("water the plants")
    await page.locator('[name="rhythm"]').select_option("interval")
    await page.get_by_label("Every", exact=True).fill("3")
    await page.get_by_role("button", name="Save").dblclick()
    await expect(line(page, "water the plants")).to_have_count(1)
    assert sorted(one["text"] for one in (await schedule(gateway)).values() if one["kind"] == "message") == [
        "call Ann",
        "water the plants",
    ]
