"""The view of usage: sums, charts and tables of what the ledger answers, on a phone and in the dark too."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest
from playwright.async_api import Browser as Chromium
from playwright.async_api import expect

from channels.web.channel import WebChannel
from channels.web.views.usage import chart
from tests.channels.web.browser import Browser
from tests.channels.web.conftest import STATUS, House
from tests.channels.web.test_jobs_and_people import is_harmless, shown
from tests.channels.web.test_views import XSS, logged_in

TODAY = {**STATUS, "usage": {"day": "2026-11-22"}}


def row(day: str, **fields: object) -> Mapping[str, object]:
    used = {"input": 2_000, "output": 1_000, "cache_read": 6_000, "cache_write": 1_000, "calls": 2}
    known = {"day": day, "purpose": "chat", "session": "main/owner", "model": "claude-sonnet-5-5"}
    return {**known, **used, "cost_usd": 0.25, "unpriced_calls": 0, **fields}


ROWS = [
    row("2026-11-20", cost_usd=1.5, input=90_000),
    row("2026-11-20", purpose="daily"),
    row("2026-11-22", model="claude-haiku-4-5", cost_usd=0.004),
]


def test_columns_are_made_of_parts_that_stand_upon_each_other() -> None:
    drawn = chart([[("a", 3), ("b", 1)], [("a", 0), ("b", 0)], [("a", 2)]])
    assert drawn.most == 4
    assert [(one.kind, one.top, one.height) for one in drawn.bars] == [("a", 25, 75), ("b", 0, 25), ("a", 50, 50)]
    assert all(one.left >= 0 and one.left + one.width <= 100 for one in drawn.bars)
    assert chart([]).bars == chart([[("a", 0)]]).bars == []


async def test_a_period_is_asked_for_and_nothing_else(owner: Browser, house: House) -> None:
    house.operations |= {"status": TODAY, "usage": []}
    for query in ("", "?days=7", "?days=90", "?days=9999999", "?days=x"):
        assert "No model was used" in await shown(owner, f"/usage{query}")
    assert [given["days"] for name, given in house.calls if name == "usage"] == [30, 7, 90, 30, 30]


async def test_calls_of_unknown_price_are_named(owner: Browser, house: House) -> None:
    house.operations |= {"status": TODAY, "usage": [row("2026-11-22", cost_usd=0, unpriced_calls=2)]}
    html = await shown(owner, "/usage")
    assert "what this model costs" in html and "Cost by day" not in html and "$" not in html
    house.operations["usage"] = [*ROWS, row("2026-11-21", cost_usd=0, unpriced_calls=2)]
    html = await shown(owner, "/usage")
    assert "price I don’t know: 2." in html and "Cost by day" in html and "$2.00" not in html and "$1.75" in html


async def test_days_that_the_calendar_does_not_have_are_shown_too(owner: Browser, house: House) -> None:
    house.operations |= {"status": TODAY, "usage": [row("2026-10-23"), row("2026-11-23")]}
    days = re.findall(r'<th scope="row"><time data-day="([^"]*)"', await shown(owner, "/usage"))
    assert days == ["2026-11-23", "2026-10-23"]


async def test_no_field_of_usage_is_markup(owner: Browser, house: House) -> None:
    house.operations |= {"status": TODAY, "usage": [row(XSS, purpose=XSS, model=XSS, session=XSS)]}
    html = await shown(owner, "/usage")
    assert is_harmless(html) and html.count("&lt;script&gt;") >= 3


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1024, "light")])
async def test_what_was_used_is_seen_and_counted(
    chromium: Chromium, house: House, channel: WebChannel, width: int, scheme: str
) -> None:
    house.operations |= {"status": TODAY, "usage": ROWS}
    page = await logged_in(
        chromium, house, viewport={"width": width, "height": 844}, color_scheme=scheme, locale="de-DE"
    )
    refused: list[str] = []
    page.on("console", lambda message: refused.append(message.text) if message.type == "error" else None)
    await page.goto(f"{house.address}/usage?days=7")
    await expect(page.locator("#usage dd").first).to_have_text("1,75\xa0$")
    await expect(page.locator("#usage dd").nth(1)).to_have_text("0,004\xa0$")
    await expect(page.locator("tbody tr").filter(has_text="Abendlicher Überblick")).to_contain_text("0,25\xa0$")
    await expect(page.locator("tbody tr").filter(has_text="heute")).to_contain_text("10.000")
    await expect(page.locator("#usage dd").nth(3)).to_have_text("16\xa0%")
    heights = [await one.bounding_box() for one in await page.locator("svg rect.cost").all()]
    assert next(round(box["height"]) for box in heights if box) > 100
    colour = "getComputedStyle(document.querySelector('svg rect.cost')).fill"
    assert await page.evaluate(colour) == ("rgb(130, 180, 236)" if scheme == "dark" else "rgb(36, 90, 150)")
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert refused == []


async def test_a_period_is_chosen_by_keyboard(chromium: Chromium, house: House, channel: WebChannel) -> None:
    house.operations |= {"status": TODAY, "usage": []}
    page = await logged_in(chromium, house)
    await page.get_by_role("link", name="Usage").click()
    await page.get_by_role("link", name="90 days").focus()
    await page.keyboard.press("Enter")
    await expect(page.locator(".empty")).to_contain_text("these 90 days")
    assert page.url == f"{house.address}/usage?days=90"
