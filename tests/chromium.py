"""A real browser for tests: the system's Chromium, started anew for each test, with nothing of it left behind."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser, async_playwright, expect

PATIENCE = 60_000
"""Milliseconds for what has to come; a browser on a busy machine is slow."""
expect.set_options(timeout=PATIENCE)

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_ARGUMENTS = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def find_chromium() -> str:
    """Its path: $CHROMIUM, or what is installed; empty where there is none."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, _NAMES)), "")


@pytest.fixture
async def chromium() -> AsyncIterator[Browser]:
    """Skips the test where there is no browser, except in CI."""
    path = find_chromium()
    if not path:
        missing = "no Chromium was found; `apt-get install chromium`, or set CHROMIUM to the path of one"
        if os.environ.get("CI") == "true":
            pytest.fail(missing)
        pytest.skip(missing)
    arguments = [*_ARGUMENTS, *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, args=arguments, timeout=PATIENCE)
        yield browser
        await browser.close()
