"""Hostile text in every field that the page shows: it stays text, nothing of it runs, and no other host is asked."""

from __future__ import annotations

import asyncio

import pytest
from playwright.async_api import Browser, ConsoleMessage, Dialog, Page, Request, expect

from tests.chromium import chromium
from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.telegram import FakeTelegram
from tests.flows.process import OWNER, GatewayProcess
from tests.flows.test_page_accessible import STATES, gateway, logged_in
from tests.flows.test_page_people import CARLA
from tests.flows.test_web import where

__all__ = ["chromium", "gateway"]
pytestmark = pytest.mark.timeout(400)

TAKE = "document.title='taken'"
CORPUS = (
    f"<script>{TAKE}</script>",
    f"<img src=x onerror={TAKE}>",
    f"<svg onload={TAKE}><animate onbegin={TAKE} attributeName=x></svg>",
    f"<svg><script href='data:text/javascript,{TAKE}'/></svg>",
    f'"><script>{TAKE}</script>',
    f"' autofocus onfocus={TAKE} x='",
    f'" onmouseover="{TAKE}" x="',
    f"</textarea><script>{TAKE}</script>",
    f"</title><script>{TAKE}</script>",
    f"--><script>{TAKE}</script><!--",
    f"]]><script>{TAKE}</script>",
    f"[press](javascript:{TAKE})",
    f"[press](JaVa\tScRiPt:{TAKE})",
    f"[press](data:text/html,<script>{TAKE}</script>)",
    f"![x](javascript:{TAKE})",
    "![x](http://203.0.113.9/spy.png)",
    "[x]: http://203.0.113.9/spy.css\n<link rel=stylesheet href=http://203.0.113.9/spy.css>",
    "<style>@import 'http://203.0.113.9/spy.css'; body { display: none }</style>",
    "<base href=http://203.0.113.9/>",
    "<meta http-equiv=refresh content='0;url=http://203.0.113.9/'>",
    "<iframe srcdoc='<script>parent.document.title=1</script>'></iframe>",
    "<form action=http://203.0.113.9/><input name=q><button>press</button></form>",
    "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
    f"<noscript><p title='</noscript><img src=x onerror={TAKE}>'>",
    "{{7*7}} {% raw %} {{ config }} ${7*7} <%= 7*7 %> #{7*7}",
    "`code` ```\n<script>alert(1)</script>\n```",
    "|a|b|\n|-|-|\n|<script>alert(1)</script>|<img src=x onerror=alert(1)>|",
    "\u202egnp.exe\u202c \u2066<b>\u2069 \u0000\u0008\ufeff \ud83d",
    "&lt;script&gt;alert(1)&lt;/script&gt; &#60;img src=x onerror=alert(1)&#62;",
    "||spoiler <img src=x onerror=alert(1)>|| ~~x~~ <b onclick=alert(1)>bold</b>",
)
FORBIDDEN = (
    "script, iframe, object, embed, link, style, base, meta, form[action], [onerror], [onload], [onfocus], [onclick]"
)


class Watch:
    """What a page did that it must not."""

    def __init__(self, page: Page, address: str) -> None:
        self.page = page
        self.wrong: list[str] = []
        self._address = address
        page.on("dialog", self._dialog)
        page.on("request", self._request)
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.wrong.append(f"error: {error}"))

    async def _dialog(self, dialog: Dialog) -> None:
        self.wrong.append(f"dialog: {dialog.message}")
        await dialog.dismiss()

    def _request(self, request: Request) -> None:
        if not request.url.startswith((self._address, self._address.replace("http", "ws"), "data:", "blob:")):
            self.wrong.append(f"request: {request.url}")

    def _console(self, message: ConsoleMessage) -> None:
        if "Content Security Policy" in message.text or "Content-Security-Policy" in message.text:
            self.wrong.append(f"console: {message.text}")

    async def is_clean(self, place: str) -> None:
        assert not self.wrong, (place, self.wrong)
        assert await self.page.title() in ("Daybook", "(1) Daybook"), place
        content = self.page.locator("#view, #messages, #waiting, #drafts")
        assert await content.locator(FORBIDDEN).count() == 0, place
        links = await content.locator("a").evaluate_all("all => all.map((one) => one.protocol)")
        assert set(links) <= {"http:", "https:", "mailto:", "tg:"}, (place, links)
        assert await content.locator("img:not([src^='blob:'], [src^='/'])").count() == 0, place
        assert "49 " not in await content.first.inner_text() or place != "/", place


@pytest.mark.full
async def test_hostile_text_in_every_field_stays_text(
    chromium: Browser, gateway: GatewayProcess, telegram: FakeTelegram, model: FakeAnthropic
) -> None:
    address, _ = await where(gateway)
    page = await logged_in(chromium, gateway)
    watch = Watch(page, address)
    for number, text in enumerate(CORPUS):
        model.reply = lambda _, text=text: text  # type: ignore[misc]
        await page.locator("#text").fill(text)
        await page.locator("#send").click()
        await expect(page.locator("#messages .daybook")).to_have_count(number + 1)
    await watch.is_clean("/")
    await page.reload()
    await expect(page.locator("#messages .daybook").last).to_be_visible()
    await watch.is_clean("/ again")

    everything = "\n\n".join(CORPUS).encode("utf-8", "replace").decode()
    plain = [text.encode("utf-8", "replace").decode().replace("\0", "") for text in CORPUS]
    names = [one.replace("/", "∕").replace("\n", " ")[:60] for one in plain]
    memory = gateway.workspace / "memory"
    (memory / "notes").mkdir(parents=True, exist_ok=True)
    await asyncio.to_thread((gateway.workspace / "MEMORY.md").write_text, f"# Memory\n\n{everything}\n")
    await asyncio.to_thread((memory / "2026-11-01.md").write_text, f"# 2026-11-01\n\n{everything}\n")
    await asyncio.to_thread((memory / "open.md").write_text, "".join(f"- [ ] {one}\n" for one in names))
    for name in names:
        await asyncio.to_thread((memory / "notes" / f"{name}.md").write_text, everything)
    for name in names[:6]:
        await gateway.cli("chat", "-m", f"/remind tomorrow 15:00 {name}")
    for number, name in enumerate((names[0], names[1], names[5])):
        telegram.say("hello", chat=CARLA + number, user=CARLA + number, name=name)
        await telegram.next_message(CARLA + number)
    telegram.say(everything[:4000], chat=OWNER, name=names[1])
    await telegram.next_message(OWNER)

    for path, pressed in {**STATES, "/memory?folder=memory/notes": (), "/memory?q=script": ()}.items():
        await page.goto(path)
        await expect(page.locator("#messages .daybook" if path == "/" else "#view .inner").first).to_be_visible()
        for one in pressed:
            if await page.locator(one).count():
                await page.locator(one).first.click()
        await expect(page.locator("button:disabled")).to_have_count(0)
        await watch.is_clean(path)
    for address_of in (
        "/memory?path=<script>alert(1)</script>",
        "/conversations?q=<img src=x onerror=alert(1)>",
        "/jobs?show=%22><script>",
    ):
        await page.goto(address_of)
        await expect(page.locator("#view .inner")).to_be_visible()
        await watch.is_clean(address_of)
