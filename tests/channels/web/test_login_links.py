"""A link that logs in: once, within ten minutes, and in no log."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser as Chromium
from playwright.async_api import BrowserContext, expect

from channels.web.auth import LINK_SECONDS, LoginLinks, url_of
from tests.channels.web.browser import Browser, browser
from tests.channels.web.conftest import House
from tests.channels.web.test_halves import Clock
from tests.chromium import PATIENCE

OVER = "This link was already used, or is more than ten minutes old."


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def links(clock: Clock) -> LoginLinks:
    return LoginLinks(clock)


def test_a_secret_is_good_once(links: LoginLinks) -> None:
    secret = links.new_secret()
    assert not links.redeem(f"{secret}x") and not links.redeem("") and not links.redeem("\ud800")
    assert links.redeem(secret)
    assert not links.redeem(secret)


def test_a_secret_is_good_for_ten_minutes_and_not_in_a_future_that_a_clock_made(
    links: LoginLinks, clock: Clock
) -> None:
    early, late, ahead = (links.new_secret() for _ in range(3))
    clock.now += LINK_SECONDS - 1
    assert links.redeem(early)
    clock.now += 1
    assert not links.redeem(late)
    clock.now -= LINK_SECONDS + 1
    assert not links.redeem(ahead)


def test_links_that_nobody_opens_do_not_pile_up(links: LoginLinks) -> None:
    secrets = [links.new_secret() for _ in range(100)]
    assert not links.redeem(secrets[0]) and links.redeem(secrets[-1])
    assert sum(links.redeem(one) for one in secrets) < 20


def test_no_secret_is_kept(links: LoginLinks) -> None:
    secret = links.new_secret()
    (kept,) = links._open
    assert secret not in repr(kept) and kept.digest == hashlib.sha256(secret.encode()).digest()


async def log_in(guest: Browser, secret: object) -> tuple[int, str]:
    async with guest.post("/login", json={"once": secret}) as answer:
        if answer.status == 200:
            guest.key = (await answer.json())["key"]
        return answer.status, await answer.text()


async def test_the_secret_logs_one_browser_in(guest: Browser, house: House) -> None:
    secret = house.links.new_secret()
    assert (await log_in(guest, secret))[0] == 200
    async with guest.opened() as tab:
        await tab.say("hello")
        await tab.until(lambda: tab.said == ["hello"])
    async with browser(house.address) as second:
        status, text = await log_in(second, secret)
        assert status == 401 and text.startswith(OVER)
        async with second.get("/session") as refused:
            assert refused.status == 401


async def test_it_is_taken_from_our_own_page_and_nowhere_but_the_body(guest: Browser, house: House) -> None:
    secret = house.links.new_secret()
    for headers in ({"Origin": "http://evil.org"}, {}):
        async with guest.post("/login", json={"once": secret}, headers=headers) as refused:
            assert refused.status == 403
    async with guest.post(f"/login?once={secret}", json={}) as refused:
        assert refused.status == 400
    async with guest.get(f"/?once={secret}") as page:
        assert page.status == 401 and "Set-Cookie" not in page.headers
    assert (await log_in(guest, secret))[0] == 200, "none of them has used it up"


async def test_wrong_ones_count_as_wrong_tokens_and_do_not_keep_the_right_one_out(house: House) -> None:
    async with house.running(house.channel(token="hunter2")), browser(house.address) as guest:
        guesses: list[object] = ["guess", 5, None, ["guess"], {}]
        assert [(await log_in(guest, one))[0] for one in [*guesses, *guesses, "guess"]] == [401] * 10 + [429]
        assert await guest.log_in("hunter2") == 429
        assert (await log_in(guest, house.links.new_secret()))[0] == 200


# in a browser


@pytest.fixture
async def person(chromium: Chromium) -> AsyncIterator[BrowserContext]:
    async with await chromium.new_context() as context:
        context.set_default_timeout(PATIENCE)
        yield context


@pytest.mark.timeout(240)
async def test_a_link_opens_the_chat_and_is_gone_from_the_address(
    guest: Browser, house: House, person: BrowserContext
) -> None:
    link = url_of(house.address, house.links.new_secret())
    page = await person.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    await page.goto(link)
    await expect(page.get_by_label("Message", exact=True)).to_be_visible()
    assert page.url == f"{house.address}/"
    assert link.partition("=")[2] not in "".join(asked)
    await page.reload()
    await expect(page.get_by_label("Message", exact=True)).to_be_visible()

    again = await person.new_page()
    await again.goto(link)
    await expect(again.get_by_label("Message", exact=True)).to_be_visible()  # used, but this browser is in


@pytest.mark.timeout(240)
async def test_a_used_link_says_so_in_a_sentence(guest: Browser, house: House, person: BrowserContext) -> None:
    link = url_of(house.address, house.links.new_secret())
    assert (await log_in(guest, link.partition("=")[2]))[0] == 200
    page = await person.new_page()
    await page.goto(house.address)
    await expect(page.get_by_label("Token")).to_be_visible()
    await page.goto(link)  # into the tab that is open: only the fragment changes
    await expect(page.get_by_role("alert")).to_contain_text(OVER)
    await expect(page.get_by_label("Token")).to_be_visible()
    assert page.url == f"{house.address}/"
