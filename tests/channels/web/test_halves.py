"""Half of a session opens nothing: neither the cookie, which every port of this machine is sent, nor the page key."""

from __future__ import annotations

from collections.abc import AsyncIterator

import aiohttp
import pytest

from channels.web import websocket
from channels.web.auth import PATH_SECONDS
from channels.web.auth_middleware import OPEN_ROUTES, PROVEN_ROUTES, SHELL_ROUTES
from channels.web.channel import WebChannel
from channels.web.shell import ANSWER_PATH
from channels.web.views.registry import VIEWS
from tests.channels.web.browser import Browser, browser
from tests.channels.web.conftest import TOKEN, House, answer

SECRET = "the-secret-of-the-chat"
EVERY_METHOD = ("GET", "POST", "PUT", "DELETE")


class Clock:
    """Held by the test."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def channel(house: House, clock: Clock) -> AsyncIterator[WebChannel]:
    one = house.channel(now=clock)
    async with house.running(one):
        await one.send(answer(SECRET))
        yield one


def cookie_of(owner: Browser) -> str:
    (cookie,) = [f"{one.key}={one.value}" for one in owner.http.cookie_jar]
    return cookie


def all_routes(channel: WebChannel) -> list[tuple[str, str]]:
    """Method and canonical path of each, from the router itself, so that none can be forgotten here."""
    runner = channel._server._runner
    assert runner is not None
    routes = [
        (route.method, route.resource.canonical)
        for route in runner.app.router.routes()
        if route.resource is not None and route.method != "HEAD"
    ]
    assert len(routes) >= 10
    return routes


async def file_in_the_chat(owner: Browser) -> str:
    """Where it is, unsigned."""
    file = await owner.upload(SECRET.encode(), "secret.txt")
    async with owner.opened() as tab:
        await tab.told("kept", await tab.say("look", file))
        files = await tab.until(lambda: [one for message in tab.messages for one in message["files"]])
    return str(files[0]["url"])


def concrete(path: str, file: str) -> str:
    """A path that would be answered if all were shown."""
    _, _, id, place = file.split("/")
    names = {"name": "status" if path.startswith("/view/") else "base.css", "operation": "status"}
    return path.format(id=id, place=place, proof=f"99999999999.{'0' * 64}", **names)


@pytest.mark.parametrize("half", ["the cookie", "the page key", "the cookie and another session's key", "nothing"])
async def test_half_a_session_opens_nothing_on_any_route(
    channel: WebChannel, house: House, owner: Browser, half: str
) -> None:
    file = await file_in_the_chat(owner)
    async with browser(house.address, TOKEN) as another:
        foreign = another.key
    shown = {
        "the cookie": {"Cookie": cookie_of(owner)},
        "the page key": {"Daybook-Page-Key": owner.key},
        "the cookie and another session's key": {"Cookie": cookie_of(owner), "Daybook-Page-Key": foreign},
        "nothing": {},
    }[half]
    async with aiohttp.ClientSession() as thief:
        async with thief.get(house.address) as page:
            strangers_page = await page.read()
        for method, path in all_routes(channel):
            url, headers = house.address + concrete(path, file), {**shown, "Origin": house.address}
            async with thief.request(
                method, url, headers=headers, data=b"{}" if method == "POST" else None
            ) as answered:
                body = await answered.read()
            if path in SHELL_ROUTES:
                marked = (b' aria-current="page"', b"")
                assert path != "/" or body == strangers_page, "the shell is the same for everybody"
                assert len(body.replace(*marked)) < len(strangers_page) + 100
            elif path in ("/static/{name}", "/sw.js"):
                assert answered.status == 200
            elif path == "/login":
                assert answered.status == 400 and "Set-Cookie" not in answered.headers
            elif path in ("/healthz", "/readyz", "/metrics"):
                assert answered.status == 200
            elif path == ANSWER_PATH:
                assert answered.status == 400 and b"belongs to no open login" in body
            elif path == "/ws" and "Cookie" in shown:
                assert answered.status == 400, "let in no further than to a handshake, which this is not"
            else:
                assert answered.status == 401, f"{method} {path}"
            assert SECRET.encode() not in body
    async with owner.opened() as tab:
        assert SECRET in str(tab.messages), "the session itself is as good as before"


def test_only_what_is_listed_is_open(channel: WebChannel) -> None:
    assert {path for _, path in all_routes(channel)} >= OPEN_ROUTES | PROVEN_ROUTES
    others = {"/login", "/static/{name}", "/sw.js", "/healthz", "/readyz", "/metrics", ANSWER_PATH}
    assert others | {view.path for view in VIEWS} == OPEN_ROUTES


@pytest.mark.parametrize("method", EVERY_METHOD)
@pytest.mark.parametrize("path", ["/nothing", "/session", "/ws/", "//ws", "/files/../session", "/logout"])
async def test_what_is_no_route_is_no_way_in(owner: Browser, method: str, path: str) -> None:
    async with aiohttp.ClientSession() as thief:
        headers = {"Cookie": cookie_of(owner), "Origin": owner.address}
        async with thief.request(method, owner.address + path, headers=headers) as answered:
            assert answered.status == 401


FIRST_FRAMES = [
    {"type": "open", "chat": "main"},
    {"type": "open", "chat": "main", "key": ""},
    {"type": "open", "chat": "main", "key": "0" * 64},
    {"type": "open", "chat": "main", "key": None},
    {"type": "open", "chat": "main", "key": ["0" * 64]},
    {"type": "open", "chat": "main", "key": "0" * 5_000},
    {"type": "say", "id": "0" * 16, "text": "hello"},
    {"type": "older", "before": 1_000},
    {},
]


@pytest.mark.parametrize("first", FIRST_FRAMES)
async def test_a_socket_without_the_key_is_closed_and_shown_nothing(
    owner: Browser, house: House, first: dict[str, object]
) -> None:
    async with aiohttp.ClientSession() as thief:
        headers = {"Cookie": cookie_of(owner), "Origin": owner.address}
        async with thief.ws_connect(f"{owner.address}/ws", headers=headers) as socket:
            await socket.send_json(first)
            closed = await socket.receive()
            assert (closed.type, closed.data) == (aiohttp.WSMsgType.CLOSE, aiohttp.WSCloseCode.POLICY_VIOLATION)
    assert house.received == []


async def test_a_socket_without_a_cookie_is_no_socket(owner: Browser) -> None:
    async with aiohttp.ClientSession() as thief:
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await thief.ws_connect(f"{owner.address}/ws", headers={"Origin": owner.address})
    assert refused.value.status == 401


async def test_a_program_that_shows_the_token_needs_no_key(guest: Browser) -> None:
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    socket = await guest.connect(**bearer)
    await socket.send_json({"type": "open", "chat": "main"})
    assert (await socket.receive_json())["type"] == "opened"
    await socket.close()


async def test_a_socket_that_says_nothing_is_closed_in_time(house: House) -> None:
    """Also on a connection that was let in before, as a browser may use one again."""
    async with house.running(house.channel(auth_timeout=1.0)), browser(house.address, TOKEN) as owner:
        silent = await owner.connect()
        received = await silent.receive()
    assert received.type in (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED, aiohttp.WSMsgType.ERROR)


async def test_sockets_without_the_key_keep_nobody_out(owner: Browser) -> None:
    """Whoever has the cookie alone may open many: the oldest of them gives way, and the owner is none of them."""
    async with owner.opened() as tab:
        silent = [await owner.connect() for _ in range(websocket.MOST_PAGES + 10)]
        for socket in silent[:10]:
            assert (await socket.receive()).type in (aiohttp.WSMsgType.CLOSED, aiohttp.WSMsgType.ERROR)
        async with owner.opened() as another:
            await another.told("kept", await another.say("still here"))
        await tab.until(lambda: tab.said)
        for socket in silent:
            await socket.close()


async def test_a_signed_path_needs_its_cookie_and_ends(owner: Browser, house: House, clock: Clock) -> None:
    file = await file_in_the_chat(owner)
    path = await owner.path_of(file)
    async with owner.get(path) as loaded:
        assert (loaded.status, await loaded.read()) == (200, SECRET.encode())
    async with browser(house.address) as stranger, browser(house.address, TOKEN) as another:
        for other in (stranger, another):
            async with other.get(path) as refused:
                assert refused.status == 401
    clock.now += PATH_SECONDS
    async with owner.get(path) as ended:
        assert ended.status == 401 and "Open the file from the page" in await ended.text()
    async with owner.get(await owner.path_of(file)) as again:
        assert again.status == 200


async def test_thirty_days_that_begin_again_with_use(house: House, owner: Browser, clock: Clock) -> None:
    for _ in range(5):
        clock.now += 29 * 86_400
        async with owner.get("/session") as used:
            assert used.status == 204 and "Max-Age=2592000" in used.headers["Set-Cookie"]
    async with owner.opened() as tab:
        assert SECRET in str(tab.messages)
    async with owner.get("/session") as used:
        assert "Set-Cookie" not in used.headers, "once a day does"
    clock.now += 30 * 86_400
    async with owner.get("/session") as over:
        assert over.status == 401
    with pytest.raises(aiohttp.WSServerHandshakeError):
        await owner.enter()
