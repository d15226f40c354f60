"""Everybody can use the page: axe finds nothing in any view, by light and dark, at a desk and on a phone. `make test`
tries one of these ways."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from importlib import resources
from typing import Any

import pytest
from playwright.async_api import Browser, Page, expect

from tests.chromium import PATIENCE, chromium
from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.telegram import FakeTelegram
from tests.flows.process import OWNER, GatewayProcess
from tests.flows.test_page_jobs import SETTINGS
from tests.flows.test_page_people import CARLA
from tests.flows.test_web import where
from tests.strength import first

__all__ = ["chromium"]
pytestmark = pytest.mark.timeout(400)
AXE = resources.files("axe_playwright_python").joinpath("axe.min.js")
ANSWER = """\
## The plan

1. Buy *paint*, see [the shop](https://example.org)
2. - [ ] Call Ann

> "Two litres will do."

| what | how much |
|---|---:|
| paint | 2 l |

```python
@cached
def paint(wall: Wall, litres: float = 2.5) -> str:
    'Blue.'
    # the shop has blue only
    return f"blue {len(wall)}" if litres > 1 else None
```

The area is \\(\\pi r^2\\).
"""
STATES = {
    "/": (".earlier", '#messages [title="Edit message"]'),
    "/conversations": (),
    "/conversations?id=main/owner": ("[data-rename]",),
    "/conversations?q=plan": (),
    "/memory": (),
    "/memory?path=MEMORY.md": (),
    "/memory?path=MEMORY.md&edit": (),
    "/memory?q=sister": (),
    "/memory?sees": (),
    "/jobs": (),
    "/jobs?show=week": (),
    "/people": (),
    "/usage": (),
    "/status": ("#doctor button", "#log button"),
    "/settings": ('[data-part="telegram"] summary', ".card > summary"),
}
"""What is pressed at each address before it is looked at."""


@pytest.fixture
async def gateway(telegram: FakeTelegram, model: FakeAnthropic) -> AsyncIterator[GatewayProcess]:
    async with GatewayProcess(telegram, model, SETTINGS) as process:
        yield process


async def logged_in(chromium: Browser, gateway: GatewayProcess, **options: Any) -> Page:
    address, token = await where(gateway)
    person = await chromium.new_context(base_url=address, **options)
    person.set_default_timeout(PATIENCE)
    page = await person.new_page()
    await page.goto("/")
    await page.locator("#token").fill(token)
    await page.locator("#login button").click()
    await expect(page.locator("#text")).to_be_visible()
    return page


async def findings(page: Page, axe: str) -> str:
    await page.evaluate(axe)
    found: Any = await page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    lines = [f"{one['id']}: {node['html'][:160]}" for one in found["violations"] for node in one["nodes"]]
    return "\n".join(lines)


async def filled(page: Page, gateway: GatewayProcess, telegram: FakeTelegram, model: FakeAnthropic) -> None:
    """Something of everything that views show."""
    model.reply = lambda _: ANSWER
    await page.locator("#text").fill("What is the plan?")
    await page.keyboard.press("Enter")
    await expect(page.locator("#messages .daybook table")).to_be_visible()
    await page.get_by_role("button", name="Answer again").click()
    await expect(page.get_by_role("button", name="Earlier version")).to_be_visible()
    await expect(page.locator("#messages .daybook table")).to_be_visible()
    await gateway.cli("chat", "-m", "/remind tomorrow 15:00 call mum")
    telegram.say("hello", chat=OWNER)
    await telegram.next_message(OWNER)
    telegram.say("hello", chat=CARLA, user=CARLA, name="Carla")
    await telegram.next_message(CARLA)
    memory = gateway.workspace / "MEMORY.md"
    await asyncio.to_thread(memory.write_text, "# Memory\n\n- My sister lives in Graz.\n")


@pytest.mark.full
async def test_axe_finds_nothing(
    chromium: Browser, gateway: GatewayProcess, telegram: FakeTelegram, model: FakeAnthropic
) -> None:
    axe = await asyncio.to_thread(AXE.read_text, "utf-8")
    visit = await logged_in(chromium, gateway)
    assert not await findings(visit, axe), "the first visit"
    await filled(visit, gateway, telegram, model)
    found = ""
    for width, height in first((390, 844), (1440, 900)):
        for scheme in first("dark", "light"):
            viewport: Any = {"width": width, "height": height}
            page = await logged_in(chromium, gateway, viewport=viewport, color_scheme=scheme)
            for path, pressed in STATES.items():
                await page.goto(path)
                place = "#messages .daybook" if path == "/" else "#view .inner"
                await expect(page.locator(place).first).to_be_visible()
                if path == "/":
                    await expect(page.locator("#messages math")).to_be_attached()
                for one in pressed:
                    await page.locator(one).first.click()
                await expect(page.locator("button:disabled")).to_have_count(0)
                wide = await page.evaluate("document.documentElement.scrollWidth > innerWidth")
                if what := await findings(page, axe) + "\ntoo wide" * wide:
                    found += f"\n== {path} {width} {scheme}\n{what}"
            await page.context.close()
    assert not found, found


async def test_axe_finds_nothing_in_the_login_and_in_dialogs(chromium: Browser, gateway: GatewayProcess) -> None:
    axe = await asyncio.to_thread(AXE.read_text, "utf-8")
    address, _ = await where(gateway)
    guest = await chromium.new_page(base_url=address)
    await guest.goto("/")
    await expect(guest.locator("#token")).to_be_visible()
    assert not await findings(guest, axe)
    page = await logged_in(chromium, gateway)
    await gateway.cli("chat", "-m", "/remind tomorrow 15:00 call mum")
    await page.goto("/jobs")
    job = page.locator("li.job").filter(has_text="call mum")
    for name in ("Edit", "Delete"):
        await job.get_by_role("button", name=name).click()
        await expect(page.get_by_role("dialog")).to_be_visible()
        assert not await findings(page, axe), name
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("dialog")).to_be_hidden()


class Keys:
    """A person without a mouse: everything goes by the keyboard, and what has the focus is seen."""

    def __init__(self, page: Page) -> None:
        self.page = page

    async def to(self, selector: str, key: str = "Tab") -> None:
        """Goes on until the focus is at what `selector` names."""
        seen = []
        for _ in range(80):
            await self.page.keyboard.press(key)
            if await self.page.evaluate("(one) => document.activeElement.matches(one)", selector):
                assert await self.page.evaluate(_IS_SEEN), f"the focus on {selector} is not to be seen"
                return
            seen.append(await self.page.evaluate("document.activeElement.outerHTML.slice(0, 80)"))
        pytest.fail(f"no key leads to {selector}, but to {seen}")

    async def press(self, selector: str) -> None:
        await self.to(selector)
        await self.page.keyboard.press("Enter")

    async def open(self, view: str) -> None:
        await self.to(f'[data-view="{view}"]', "Shift+Tab")
        await self.page.keyboard.press("Enter")
        await expect(self.page.locator("#view")).to_be_focused()


_IS_SEEN = """(() => {
  const one = document.activeElement, style = getComputedStyle(one), box = one.getBoundingClientRect();
  const hasCaret = ['INPUT', 'TEXTAREA', 'SELECT'].includes(one.tagName);
  return box.width > 0 && box.height > 0 && (style.outlineStyle !== 'none' || hasCaret);
})()"""


@pytest.mark.full
async def test_everything_goes_by_keyboard(chromium: Browser, gateway: GatewayProcess, model: FakeAnthropic) -> None:
    model.reply = lambda _: "Gladly."
    address, token = await where(gateway)
    page = await chromium.new_page(base_url=address)
    keys = Keys(page)
    await page.goto("/")
    await expect(page.locator("#token")).to_be_focused()
    await page.keyboard.type(token)
    await page.keyboard.press("Enter")
    await expect(page.locator("#text")).to_be_focused()
    await page.keyboard.type("Hello!")
    await page.keyboard.press("Enter")
    await expect(page.locator("#messages .daybook")).to_contain_text("Gladly.")

    await keys.open("jobs")
    await keys.to("#view input")
    await page.keyboard.type("tomorrow at 15:00 call mum")
    await page.keyboard.press("Enter")
    await expect(page.locator("li.job").filter(has_text="call mum")).to_be_visible()
    await keys.press('li.job[data-id="call-mum"] button[data-act="pause"]')
    await expect(page.locator('li.job[data-id="call-mum"]').get_by_text("paused")).to_be_visible()
    await keys.press('li.job[data-id="call-mum"] button[data-act="edit"]')
    await expect(page.get_by_role("dialog")).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("dialog")).to_be_hidden()
    assert await page.evaluate("document.activeElement.dataset.act") == "edit", "the focus is back where it was"

    await keys.open("memory")
    await keys.press('a[href="/memory?path=USER.md"]')
    await keys.press('a[href$="&edit"]')
    await expect(page.locator(".editor textarea")).to_be_focused()
    await page.keyboard.type("Likes tea.\n")
    await page.keyboard.press("Control+s")
    await expect(page.locator("#view")).to_contain_text("Likes tea.")
    assert (await asyncio.to_thread((gateway.workspace / "USER.md").read_text)).startswith("Likes tea.")

    for view in ("conversations", "people", "usage", "status", "settings"):
        await keys.open(view)
    await keys.press('[data-part="telegram"] summary')
    await keys.to('[name="telegram_token"]')
    await page.reload()
    await keys.press("#skip")
    await expect(page.locator("#view")).to_be_focused()
