"""The page in a real browser: its login, what it keeps, and what another user's server on another port gets of it."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator, Mapping
from http.cookies import SimpleCookie
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
import pytest
from aiohttp import web
from PIL import Image
from playwright.async_api import Browser, BrowserContext, Download, Page, expect

from channels.message import OutboundFile, OutboundMessage
from channels.web.auth import PATH_SECONDS
from channels.web.channel import WebChannel
from tests import files
from tests.channels.web.browser import browser
from tests.channels.web.conftest import MAIN, SETUP, TOKEN, House, answer
from tests.channels.web.test_halves import Clock
from tests.chromium import PATIENCE

DAY = 86_400
pytestmark = pytest.mark.timeout(240)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def channel(house: House, clock: Clock) -> AsyncIterator[WebChannel]:
    one = house.channel(now=clock)
    async with house.running(one):
        yield one


@pytest.fixture
async def person(chromium: Browser) -> AsyncIterator[BrowserContext]:
    """Their browser, with what it keeps."""
    async with await chromium.new_context() as context:
        context.set_default_timeout(PATIENCE)
        yield context


async def opened(person: BrowserContext, address: str) -> Page:
    page = await person.new_page()
    await page.goto(address)
    return page


async def logged_in(person: BrowserContext, address: str) -> Page:
    page = await opened(person, address)
    await page.get_by_label("Token").fill(TOKEN)
    await page.get_by_role("button", name="Log in").click()
    await expect(page.get_by_label("Message", exact=True)).to_be_visible()
    return page


async def is_in(page: Page) -> None:
    await expect(page.get_by_label("Message", exact=True)).to_be_visible()
    await expect(page.get_by_label("Token")).to_be_hidden()


async def is_asked_for_the_token(page: Page) -> None:
    await expect(page.get_by_label("Token")).to_be_visible()
    await expect(page.locator("#messages")).to_be_hidden()
    assert await page.locator("#messages").inner_text() == ""


async def session_cookie(person: BrowserContext) -> dict[str, object]:
    (cookie,) = [dict(one) for one in await person.cookies() if str(one.get("name")).startswith("daybook-")]
    return cookie


async def test_the_token_is_asked_for_once(person: BrowserContext, house: House, channel: WebChannel) -> None:
    page = await opened(person, house.address)
    await page.get_by_label("Token").fill("wrong")
    await page.get_by_role("button", name="Log in").click()
    await expect(page.get_by_role("alert")).to_have_text("Wrong token. Run daybook web to see the right one.")
    await page.close()

    page = await logged_in(person, house.address)
    await page.get_by_label("Message", exact=True).fill("hello")
    await page.get_by_role("button", name="Send").click()
    await expect(page.locator(".person")).to_contain_text("hello")
    await channel.send(answer("**Good** morning"))
    await expect(page.locator(".daybook strong")).to_have_text("Good")

    await page.reload()
    await is_in(page)
    await expect(page.locator(".daybook strong")).to_have_text("Good")
    second = await opened(person, house.address)
    await expect(second.locator(".daybook strong")).to_have_text("Good")
    assert [one.text for one in house.received] == ["hello"]


async def test_a_file_is_loaded_by_a_path_that_ends(
    person: BrowserContext, house: House, channel: WebChannel, clock: Clock, tmp_path: Path
) -> None:
    (tmp_path / "report").write_bytes(b"figures")
    await asyncio.to_thread(Image.new("RGB", (8, 8), "red").save, tmp_path / "boat", "PNG")
    page = await logged_in(person, house.address)
    await channel.send(OutboundMessage(MAIN, "", key="k:1", file=OutboundFile(tmp_path / "report", "report.pdf")))
    async with page.expect_download() as downloading:
        await page.get_by_role("button", name="report.pdf").click()
    download = await downloading.value
    assert download.suggested_filename == "report.pdf"
    assert await content_of(download, tmp_path) == b"figures"

    boat = OutboundFile(tmp_path / "boat", "boat.png", is_image=True)
    await channel.send(OutboundMessage(MAIN, "", key="k:2", file=boat))
    await expect(page.locator(".files img")).to_have_js_property("naturalWidth", 8)
    async with person.expect_page() as opening:
        await page.get_by_role("button", name="boat.png").click()
    picture = await opening.value
    await expect(picture.locator("img")).to_have_js_property("naturalWidth", 8)

    for url in (download.url, picture.url):
        assert await loads(page, url)
    clock.now += PATH_SECONDS
    for url in (download.url, picture.url):
        assert not await loads(page, url)
    async with page.expect_download() as downloading:
        await page.get_by_role("button", name="report.pdf").click()
    assert (await downloading.value).url != download.url


async def test_speech_is_played_where_it_stands_and_can_be_saved(
    person: BrowserContext, house: House, channel: WebChannel, clock: Clock, tmp_path: Path
) -> None:
    (tmp_path / "answer").write_bytes(files.wav(1.0))
    page = await logged_in(person, house.address)
    spoken = OutboundFile(tmp_path / "answer", "answer.wav", is_voice=True)
    await channel.send(OutboundMessage(MAIN, "", key="k:1", file=spoken))
    player = page.locator(".files audio")
    await expect(player).to_have_attribute("src", re.compile("/files/"))
    clock.now += PATH_SECONDS  # its path is no longer good: another is asked for
    await player.evaluate("(sound) => { sound.play().catch(() => {}); }")
    await expect(player).to_have_js_property("duration", 1)
    assert await player.get_attribute("aria-label") == "answer.wav"
    async with page.expect_download() as downloading:
        await page.get_by_role("button", name="answer.wav").click()
    assert await content_of(await downloading.value, tmp_path) == files.wav(1.0)


async def content_of(download: Download, folder: Path) -> bytes:
    file = folder / "downloaded"
    await download.save_as(file)
    return await asyncio.to_thread(file.read_bytes)


async def loads(page: Page, url: str) -> bool:
    """As a link would, with the cookie and without the key."""
    status = await page.evaluate("(url) => fetch(url).then((answer) => answer.status)", url)
    assert status in (200, 401)
    return bool(status == 200)


@contextlib.asynccontextmanager
async def server_of_another_user() -> AsyncIterator[tuple[str, list[dict[str, str]]]]:
    """On another port of this machine. Yields its address, and the cookies that it is sent."""
    sent: list[dict[str, str]] = []

    async def serve(request: web.Request) -> web.Response:
        cookies = SimpleCookie(request.headers.get("Cookie", ""))
        sent.append({name: morsel.value for name, morsel in cookies.items()})
        return web.Response(text="<h1>Photos</h1>", content_type="text/html")

    app = web.Application()
    app.router.add_get("/", serve)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}", sent
    finally:
        await runner.cleanup()


@pytest.mark.full
async def test_a_server_on_another_port_is_sent_the_cookie_and_opens_nothing_with_it(
    person: BrowserContext, house: House, channel: WebChannel, tmp_path: Path
) -> None:
    (tmp_path / "diary").write_bytes(b"a secret")
    page = await logged_in(person, house.address)
    await channel.send(OutboundMessage(MAIN, "", key="k:1", file=OutboundFile(tmp_path / "diary", "diary.txt")))
    async with page.expect_download() as downloading:
        await page.get_by_role("button", name="diary.txt").click()
    signed = urlsplit((await downloading.value).url).path

    async with server_of_another_user() as (address, sent):
        assert urlsplit(address).hostname == urlsplit(house.address).hostname
        photos = await opened(person, address)
        name, value = (await session_cookie(person))["name"], (await session_cookie(person))["value"]
        assert sent[0] == {name: value}, "this is how browsers are: a cookie knows no port"
        assert await photos.evaluate("localStorage.length") == 0
        assert await photos.evaluate(_TRIES, house.address) == ["refused"] * 3, "from its page"

    headers = {"Cookie": f"{name}={value}", "Origin": house.address}
    async with aiohttp.ClientSession(headers=headers) as thief:
        async with thief.ws_connect(f"{house.address}/ws") as socket:
            await socket.send_json({"type": "open", "chat": "main"})
            assert (await socket.receive()).type is aiohttp.WSMsgType.CLOSE, "from its own machine"
        for path in ("/session", signed.rpartition("/")[0], f"{signed}0"):
            async with thief.get(house.address + path) as refused:
                assert refused.status == 401
        for path in ("/files", "/logout"):
            async with thief.post(house.address + path, data=b"x") as refused:
                assert refused.status == 401
    await page.reload()
    await is_in(page)


_TRIES = """async (address) => {
  const outcome = (promise) => promise.then(() => 'opened', () => 'refused');
  const socket = new WebSocket(address.replace('http', 'ws') + '/ws');
  return Promise.all([
    outcome(new Promise((opened, refused) => { socket.onopen = opened; socket.onerror = refused; })),
    outcome(fetch(address + '/session', {credentials: 'include'})),
    outcome(new Promise((loaded, failed) => {
      const image = new Image(); image.onload = loaded; image.onerror = failed; image.src = address + '/files/x/0';
    })),
  ]);
}"""


@pytest.mark.full
async def test_what_the_page_keeps_opens_nothing_without_the_cookie(
    person: BrowserContext, house: House, channel: WebChannel
) -> None:
    page = await logged_in(person, house.address)
    await channel.send(answer("a secret"))
    await expect(page.locator(".daybook")).to_contain_text("a secret")
    await person.clear_cookies()
    await page.reload()
    await is_asked_for_the_token(page)


@pytest.mark.full
async def test_the_cookie_opens_nothing_without_what_the_page_keeps(
    person: BrowserContext, house: House, channel: WebChannel
) -> None:
    """A login of the time when the cookie was all is such a one."""
    page = await logged_in(person, house.address)
    await channel.send(answer("a secret"))
    await expect(page.locator(".daybook")).to_contain_text("a secret")
    await page.evaluate("localStorage.clear()")
    await page.reload()
    await is_asked_for_the_token(page)
    assert await session_cookie(person)
    again = await logged_in(person, house.address)
    await expect(again.locator(".daybook")).to_contain_text("a secret")
    await is_in(page)  # the other tab follows


async def test_a_logout_ends_every_tab_and_both_halves(
    person: BrowserContext, house: House, channel: WebChannel
) -> None:
    page, second = await logged_in(person, house.address), await opened(person, house.address)
    await channel.send(answer("a secret"))
    await expect(second.locator(".daybook")).to_contain_text("a secret")
    cookie = await session_cookie(person)
    key = await page.evaluate("Object.values(localStorage)[0]")
    assert re.fullmatch("[0-9a-f]{64}", key)

    await second.get_by_role("button", name="Log out").click()
    await is_asked_for_the_token(second)
    await is_asked_for_the_token(page)
    await page.reload()
    await is_asked_for_the_token(page)
    assert await page.evaluate("localStorage.length") == 0
    async with browser(house.address) as copy:
        copy.key = key
        headers = {"Cookie": f"{cookie['name']}={cookie['value']}"}
        async with copy.get("/session", headers=headers) as refused:
            assert refused.status == 401


async def test_what_is_written_offline_says_that_it_is_sent_later(person: BrowserContext, house: House) -> None:
    async with house.running(house.channel()):
        page = await logged_in(person, house.address)
    status = page.locator("#state")
    await expect(status).to_have_text("Offline. Reconnecting…")
    await page.get_by_label("Message", exact=True).fill("hello")
    await page.get_by_role("button", name="Send").click()
    await expect(status).to_have_text("Offline: your message will be sent when Daybook is back.")


async def test_a_login_lasts_thirty_days_from_its_last_use(
    person: BrowserContext, house: House, channel: WebChannel, clock: Clock
) -> None:
    page = await logged_in(person, house.address)
    for _ in range(3):
        before = await session_cookie(person)
        clock.now += 20 * DAY
        await page.reload()
        await is_in(page)
        assert (await session_cookie(person))["value"] != before["value"]
    clock.now += 31 * DAY
    await page.reload()
    await is_asked_for_the_token(page)


@pytest.mark.full
async def test_a_page_that_stays_open_is_in_use(
    person: BrowserContext, house: House, channel: WebChannel, clock: Clock
) -> None:
    page = await person.new_page()
    await page.clock.install()
    await page.goto(house.address)
    await page.get_by_label("Token").fill(TOKEN)
    await page.get_by_role("button", name="Log in").click()
    await is_in(page)
    for _ in range(3):
        clock.now += 20 * DAY
        async with page.expect_response("**/session") as renewing:
            await page.clock.fast_forward("01:00:00")
        assert (await renewing.value).status == 204
    clock.now += 31 * DAY
    await page.clock.fast_forward("01:00:00")
    await is_asked_for_the_token(page)


async def test_the_owner_is_asked_once_and_sees_how_far_it_is(
    person: BrowserContext, channel: WebChannel, house: House
) -> None:
    house.operations["memory.embedder"] = {"state": "offered", "text": "Semantic?", "size": 105, "done": 0, "of": 0}
    page = await logged_in(person, house.address)
    offer = page.locator("#offer")
    await expect(offer.get_by_text("Find memories by what they mean, not only by their words?")).to_be_visible()
    house.operations["memory.embedder"] = {"state": "fetching", "text": "", "done": 0, "of": 0}
    await page.get_by_role("button", name="Yes, download it").click()
    await expect(offer.get_by_text("Downloading the model")).to_be_visible()
    await expect(page.get_by_role("button", name="Yes, download it")).to_be_hidden()
    house.operations["memory.embedder"] = {"state": "embedding", "text": "", "done": 30, "of": 120}
    await expect(offer.get_by_text("30 of 120")).to_be_visible()
    assert await offer.locator("progress").evaluate("one => one.value / one.max") == 0.25
    house.operations["memory.embedder"] = {
        "state": "failed",
        "text": "That didn't work: no network.",
        "done": 0,
        "of": 0,
    }
    await expect(offer.get_by_text("no network")).to_be_visible()
    await expect(page.get_by_role("button", name="Try again")).to_be_visible()
    house.operations["memory.embedder"] = {"state": "", "text": "", "done": 0, "of": 0}
    await page.get_by_role("button", name="No, thanks").click()
    await expect(offer).to_be_hidden()
    answers = [given["answer"] for name, given in house.calls if name == "memory.embedder" and given]
    assert answers == ["yes", "no"]


@pytest.mark.full
async def test_the_search_card_downloads_its_model_goes_on_when_it_is_online_again_and_is_done(
    person: BrowserContext, channel: WebChannel, house: House
) -> None:
    def now(state: str, text: str = "", done: int = 0, of: int = 0) -> None:
        house.operations["memory.embedder"] = {"state": state, "text": text, "done": done, "of": of}

    def after_yes(before: Mapping[str, object], state: str, done: int = 0, of: int = 0) -> None:
        """The state changes with the yes: before it, the page may look at any moment."""

        def answer(parameters: Mapping[str, object]) -> object:
            if parameters.get("answer") != "yes":
                return before
            now(state, done=done, of=of)
            return house.operations["memory.embedder"]

        house.operations["memory.embedder"] = answer

    now("offered")
    offered = {**SETUP, "search": {"ready": False, "offer": {"state": "offered"}, "download_mb": 105}}
    house.operations["setup.status"] = offered
    page = await logged_in(person, house.address)
    one = page.locator('#setup details[data-part="search"]')
    await one.locator("summary").click()
    await expect(one).to_contain_text("105 MB")

    after_yes({"state": "offered", "text": "", "done": 0, "of": 0}, "fetching")
    await one.get_by_role("button", name="Yes, download it").click()
    await expect(one.get_by_text("Downloading the model…")).to_be_visible()
    await expect(one.locator("progress")).to_be_visible()
    await person.set_offline(True)
    await expect(one.get_by_text("Daybook is offline")).to_be_visible()
    failed = {"state": "failed", "text": "That didn't work: can't reach the package index.", "done": 0, "of": 0}
    after_yes(failed, "embedding", done=30, of=120)
    await person.set_offline(False)
    await expect(one.get_by_text("can't reach the package index")).to_be_visible()
    await one.get_by_role("button", name="Yes, download it").click()
    await expect(one.get_by_text("30 of 120")).to_be_visible()
    house.operations["setup.status"] = SETUP
    now("")
    await expect(one).to_have_count(0)  # everything is set up
    assert [call for call in house.calls if call == ("memory.embedder", {"answer": "yes"})] == [
        ("memory.embedder", {"answer": "yes"})
    ] * 2
