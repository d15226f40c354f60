"""A real browser for tests: the system's Chromium, started once for all of them, with nothing left behind."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser, async_playwright, expect

from tests.chromium_process import PATIENCE

expect.set_options(timeout=PATIENCE)


@pytest.fixture
async def chromium(chromium_address: str) -> AsyncIterator[Browser]:
    """Without any context of another test."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.connect(chromium_address, timeout=PATIENCE)
        yield browser
        await browser.close()
