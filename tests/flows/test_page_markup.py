"""Code in colours and formulas on the page, in both lights, and what a hostile block does to the gateway: nothing."""

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
from tests.strength import first

__all__ = ["chromium"]
pytestmark = pytest.mark.timeout(300)
CODE = f"""Here it is:

```python
def area(radius: float) -> str:
    # {XSS}
    return "wide" if radius > 10 else 'small'
```

and in a language that I don't know:

```klingon
{XSS}
```

It is \\(\\pi r^2\\), so

$$A = \\frac{{\\pi d^2}}{{4}}$$

and \\(\\text{{{XSS}}}\\) is none.
"""


@pytest.fixture
async def gateway(telegram: FakeTelegram, model: FakeAnthropic) -> AsyncIterator[GatewayProcess]:
    async with GatewayProcess(telegram, model, SETTINGS) as process:
        yield process


@pytest.mark.parametrize("light", first("light", "dark"))
async def test_code_has_colours_and_formulas_are_drawn(
    chromium: Browser, gateway: GatewayProcess, model: FakeAnthropic, light: str
) -> None:
    page = await at_the_chat(chromium, gateway, color_scheme=light)
    model.answer(CODE)
    await say(page, "The area of a circle?")
    shown = message(page, "Here it is:")
    keyword = shown.locator(".c-k").first
    await expect(keyword).to_have_text("def")
    ink = await shown.locator(".prose p").first.evaluate("one => getComputedStyle(one).color")
    assert await keyword.evaluate("one => getComputedStyle(one).color") != ink
    await expect(shown.locator("pre[data-language=klingon] code")).to_have_text(XSS)
    await expect(shown.locator(".maths math")).to_have_count(2)
    await expect(shown.locator(".maths[data-kind=block] mfrac")).to_be_visible()
    await expect(shown.locator(".maths:not(.drawn)")).to_contain_text(XSS)
    assert await page.title() == "Daybook"
    assert await page.locator("script:not([src]), #messages img").count() == 0
    copied = await shown.locator("pre[data-language=python] code").inner_text()
    assert copied.splitlines()[1] == f"    # {XSS}"

    await page.get_by_role("link", name="Conversations", exact=True).click()
    await page.get_by_role("link", name="The area of a circle?").click()
    await expect(page.locator("#view .c-k").first).to_have_text("def")
    await expect(page.locator("#view math")).to_have_count(2)
