"""Takes the pictures of README and docs: gateways with the offline model, a little life in them, and a browser.

The evening in Telegram is what the bot sent to the tests' Telegram in a story of one day, drawn as a chat.

.venv/bin/python docs/screenshots.py      (needs the test dependencies, and Chromium)
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
from html import escape
from pathlib import Path

from playwright.async_api import Page, async_playwright

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
from tests.chromium import find_chromium  # noqa: E402  (the tests lie beside the docs, not on the path)
from tests.fakes.telegram import Message  # noqa: E402
from tests.flows.story import ALICE, story  # noqa: E402
from tests.flows.test_daily import at, awake, ran, says  # noqa: E402

IMAGES = ROOT / "docs" / "images"
PORT = 8797
ADDRESS = f"http://127.0.0.1:{PORT}"
CONFIG = f"""\
timezone: Europe/Berlin
model: {{provider: offline}}
memory: {{search: {{embedding: none}}}}
channels: {{web: {{port: {PORT}}}}}
"""
MEMORY = """\
# Memory

- Anna lives in Berlin and works as a gardener.
- Her sister Maria has her birthday on 4 May.
- Likes tea in the morning, and short answers.
"""
SAID = (
    "Remember that my sister's birthday is on 4 May.",
    "/remind tomorrow 9:00 call the dentist",
    "/remind every weekday 08:00 water the plants",
    "When is my sister's birthday?",
)
VIEWS = {"chat": "/", "memory": "/memory", "jobs": "/jobs?show=week"}


DAY = "2026-11-23"
DURING_THE_DAY = (
    ("09:10", "The tiler was here, we decided for the blue tiles, 24 m2 at 38 euros"),
    ("12:40", "Remind me tomorrow at 10:00 to see the dentist"),
    ("14:05", "Bob comes on Friday with ICE 597, 16:04 in Munich. I will send the invoice tomorrow."),
)
CHAT = """\
<!doctype html><meta charset="utf-8"><style>
body { margin: 0; padding: 14px; background: #c8d8c0; font: 15px/1.4 system-ui, sans-serif; width: 362px; }
.m { background: #fff; border-radius: 14px 14px 14px 4px; padding: 7px 11px 5px; }
.m, .b { margin: 0 46px 4px 0; white-space: pre-wrap; overflow-wrap: anywhere; }
.m small { float: right; margin: 7px 0 0 10px; color: #7a8b7a; font-size: 11px; }
.b { display: flex; gap: 4px; }
.b span, .d span { background: rgb(90 120 80 / 45%); color: #fff; border-radius: 10px; padding: 6px; font-size: 13px; }
.b span { flex: 1; text-align: center; }
.d { text-align: center; margin: 4px 0 10px; }
</style>"""


def formatted(message: Message) -> str:
    """Its text with what is bold, whose places Telegram counts in UTF-16."""
    data = message.text.encode("utf-16-le")
    parts, end = [], 0
    for one in message.entities:
        if one["type"] == "bold":
            begin, stop = 2 * one["offset"], 2 * (one["offset"] + one["length"])
            parts += [
                escape(data[end:begin].decode("utf-16-le")),
                f"<b>{escape(data[begin:stop].decode('utf-16-le'))}</b>",
            ]
            end = stop
    return "".join([*parts, escape(data[end:].decode("utf-16-le"))])


def drawn(message: Message, time: str) -> str:
    rows = [[f"<span>{escape(button['text'])}</span>" for button in row] for row in message.buttons]
    buttons = "".join(f'<div class="b">{"".join(row)}</div>' for row in rows)
    return f'<div class="m">{formatted(message)}<small>{time}</small></div>{buttons}'


async def evening(folder: Path) -> str:
    """The chat in Telegram at the end of a day, as HTML."""
    async with story(folder, model={"provider": "offline", "api_key": None, "base_url": None}) as told:
        at(told, f"{DAY} 08:30")
        async with awake(told) as gateway:
            for time, text in DURING_THE_DAY:
                await says(told, f"{DAY} {time}", text, name="Anna")
            at(told, f"{DAY} 21:00")
            await ran(gateway, "daily-summary")
            await told.idle()
        (last,) = told.telegram.messages(ALICE)[-1:]
    return f'{CHAT}<div class="d"><span>21:00</span></div>{drawn(last, "21:00")}'


async def said(page: Page, text: str) -> None:
    before = await page.locator("#messages .daybook").count()
    await page.locator("#text").fill(text)
    await page.keyboard.press("Enter")
    await page.locator("#messages .daybook").nth(before).wait_for()


async def pictures(token: str) -> None:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        context = await browser.new_context(
            viewport={"width": 1200, "height": 760}, locale="en-GB", timezone_id="Europe/Berlin"
        )
        page = await context.new_page()
        await page.goto(ADDRESS)
        await page.locator("#token").fill(token)
        await page.locator("#login button").click()
        for text in SAID:
            await said(page, text)
        for name, path in VIEWS.items():
            await page.goto(ADDRESS + path)
            await page.locator("#messages .daybook" if path == "/" else "#view h1").first.wait_for()
            await page.evaluate("document.activeElement.blur()")
            await page.screenshot(path=IMAGES / f"{name}.png")
        await context.close()
        phone = await browser.new_context(
            viewport={"width": 390, "height": 760}, color_scheme="dark", locale="en-GB", timezone_id="Europe/Berlin"
        )
        small = await phone.new_page()
        await small.goto(ADDRESS)
        await small.locator("#token").fill(token)
        await small.locator("#login button").click()
        await small.locator("#messages .daybook").last.wait_for()
        await small.evaluate("document.activeElement.blur()")
        await small.screenshot(path=IMAGES / "phone.png")
        with tempfile.TemporaryDirectory() as folder:
            chat = await evening(Path(folder))
        telegram = await (await browser.new_context(viewport={"width": 390, "height": 300})).new_page()
        await telegram.set_content(chat)
        await telegram.screenshot(path=IMAGES / "evening.png", full_page=True)
        await browser.close()


def main() -> None:
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "config.yaml").write_text(CONFIG)
        (home / "workspace").mkdir()
        (home / "workspace" / "MEMORY.md").write_text(MEMORY)
        environment = {**os.environ, "DAYBOOK_HOME": folder, "NO_COLOR": "1"}
        command = [sys.executable, "-m", "gateway", "gateway"]
        with subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True) as gateway:
            try:
                assert gateway.stderr is not None
                for line in gateway.stderr:
                    if ADDRESS in line:
                        break
                asyncio.run(pictures((home / "state" / "web-token").read_text().strip()))
            finally:
                gateway.terminate()


if __name__ == "__main__":
    main()
