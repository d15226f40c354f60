"""How heavy and how quick the page is, in a real browser: the first page, long chats, a large workspace.

python -m benchmarks.page [--messages 2000] [--stored 20000] [--files 20000] [--json FILE]

A gateway without a model serves a chat with `--stored` messages and a workspace with `--files` notes. Measured in
Chromium: what the first visit transfers, first paint, from the address to the chat with its newest messages, the frames
while one scrolls up through `--messages` messages, and each view until it is shown. Times in milliseconds.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from playwright.async_api import Browser, Page, Response, async_playwright

from benchmarks.figures import p95, table
from channels.web.record import ChatEntry, MessageAuthor
from gateway.home import Home
from gateway.store import web_rows
from gateway.store.database import Database
from tests.chromium_process import find_chromium

PORT = 8796
ADDRESS = f"http://127.0.0.1:{PORT}"
CONFIG = f"model: {{provider: offline}}\nmemory: {{search: {{embedding: none}}}}\nchannels: {{web: {{port: {PORT}}}}}\n"
ANSWER = (
    "The boiler was checked on **Monday**; see the [note](https://example.org):\n\n- pressure 1.6 bar\n- `no leak`\n"
)
VIEWS = ("conversations", "memory", "memory?folder=memory/notes", "jobs", "people", "usage", "status", "settings")
_FIRST = datetime(2026, 1, 1, tzinfo=UTC)
_IN_BATCH = 500
_SCROLL = """async (wanted) => {
  const scroll = document.querySelector('#scroll'), frames = [];
  let last = performance.now();
  for (let idle = 0; document.querySelectorAll('#messages .message').length < wanted && idle < 400; idle++) {
    const before = document.querySelectorAll('#messages .message').length;
    scroll.scrollTop = Math.max(0, scroll.scrollTop - 600);
    await new Promise(requestAnimationFrame);
    const now = performance.now();
    frames.push(now - last);
    last = now;
    if (document.querySelectorAll('#messages .message').length > before || scroll.scrollTop > 0) idle = 0;
  }
  return {frames, reached: document.querySelectorAll('#messages .message').length};
}"""

Figures = dict[str, float]


async def fill(home: Home, stored: int, files: int) -> None:
    home.create()
    (home.path / "config.yaml").write_text(CONFIG)
    notes = home.path / "workspace" / "memory" / "notes"
    notes.mkdir(parents=True)
    for number in range(files):
        (notes / f"note-{number:05}.md").write_text(f"# Note {number}\n\nThe boiler of flat {number}.\n")
    database = await Database.open(home.database)
    try:
        for begin in range(0, stored, _IN_BATCH):
            for number in range(begin, min(begin + _IN_BATCH, stored)):
                await database.run(web_rows.keep, _entry(number))
    finally:
        await database.aclose()


def _entry(number: int) -> ChatEntry:
    at = (_FIRST + timedelta(minutes=number)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    is_ours = number % 2 == 1
    author = MessageAuthor.DAYBOOK if is_ours else MessageAuthor.PERSON
    text = f"{ANSWER} {number}" if is_ours else f"What about the boiler of flat {number}?"
    return ChatEntry(0, f"message-{number:07}", "main", author, text, at)


async def measured(browser: Browser, token: str, messages: int) -> Figures:
    found: Figures = {}
    context = await browser.new_context(viewport={"width": 1280, "height": 800}, service_workers="block")
    page = await context.new_page()
    loaded: list[Response] = []
    page.on("response", lambda one: loaded.append(one))
    await page.goto(ADDRESS)
    await page.locator("#token").wait_for()
    found["first paint"] = await painted(page)
    await page.locator("#token").fill(token)
    began = time.perf_counter()
    await page.locator("#login button").click()
    await page.locator("#messages .daybook").last.wait_for()
    found["login until the chat"] = _ms(began)
    sizes = [int(one.headers.get("content-length", 0)) for one in loaded]
    found["first page, kB"] = round(sum(sizes) / 1_000, 1)
    began = time.perf_counter()
    await page.goto(ADDRESS)
    await page.locator("#messages .daybook").last.wait_for()
    found["address until the chat"] = _ms(began)
    found["first paint, logged in"] = await painted(page)
    scrolled: Mapping[str, object] = await page.evaluate(_SCROLL, messages)
    frames = scrolled["frames"]
    assert isinstance(frames, list)
    found[f"messages reached of {messages}"] = float(str(scrolled["reached"]))
    found["frame, p95"] = p95(frames)
    found["frame, worst"] = round(max(frames), 1)
    for view in VIEWS:
        began = time.perf_counter()
        await page.goto(f"{ADDRESS}/{view}")
        await page.locator("#view .inner").wait_for()
        found[f"/{view}"] = _ms(began)
    await context.close()
    return found


async def painted(page: Page) -> float:
    script = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? -1"
    while (at := float(await page.evaluate(script))) < 0:  # noqa: ASYNC110  the browser notes it a little later
        await asyncio.sleep(0.02)
    return round(at, 1)


def _ms(began: float) -> float:
    return round((time.perf_counter() - began) * 1_000, 1)


async def main(messages: int, stored: int, files: int) -> Figures:
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder))
        await fill(home, stored, files)
        command = [sys.executable, "-m", "gateway", "--home", folder, "gateway"]
        gateway = await asyncio.create_subprocess_exec(*command, stderr=subprocess.PIPE)
        assert gateway.stderr is not None
        try:
            while ADDRESS.encode() not in (line := await gateway.stderr.readline()):
                assert line, "the gateway ended"
            token = home.web_token.read_text().strip()
            async with async_playwright() as playwright:
                arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
                browser = await playwright.chromium.launch(executable_path=find_chromium(), args=arguments)
                return await measured(browser, token, messages)
        finally:
            gateway.terminate()
            await gateway.communicate()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, default=2_000)
    parser.add_argument("--stored", type=int, default=20_000)
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    figures = asyncio.run(main(asked.messages, asked.stored, asked.files))
    print(table(("", "figure"), list(figures.items())))
    if asked.json:
        asked.json.write_text(json.dumps(figures, indent=1) + "\n")
