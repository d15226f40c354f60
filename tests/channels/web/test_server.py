"""The door: every request of every kind, by whom and from where."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import re
import socket
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
import pytest

from channels.message import ChannelStatus, Health, OutboundFile, OutboundMessage, SourceFailed
from channels.web import connection_limiter, websocket
from channels.web.channel import WebChannel
from channels.web.record import NotRecorded
from tests.channels.web.browser import Browser, browser
from tests.channels.web.conftest import MAIN, TOKEN, House, answer

PNG = b"\x89PNG\r\n\x1a\n" + bytes(100)
EVERYTHING = [
    "/",
    "/session",
    "/ws",
    f"/files/{'0' * 32}/0",
    "/healthz",
    "/readyz",
    "/metrics",
    "/nothing",
]
PROTECTED = ["/session", "/ws", f"/files/{'0' * 32}/0", "/nothing"]


# who is let in


@pytest.mark.parametrize("path", PROTECTED)
async def test_without_the_token_there_is_nothing(guest: Browser, path: str) -> None:
    async with guest.get(path, headers={"Origin": guest.address}) as refused:
        assert refused.status == 401
    async with guest.get(path, headers={"Origin": guest.address, "Authorization": "Bearer wrong"}) as refused:
        assert refused.status == 401
    async with guest.get(f"{path}?token={TOKEN}&address=x", headers={"Origin": guest.address}) as refused:
        assert refused.status == 401, "nothing is ever taken from a query"


async def test_the_page_asks_once_and_remembers(guest: Browser, house: House) -> None:
    async with guest.get("/") as page:
        assert page.status == 401 and '<main id="login"' in await page.text()
    assert await guest.log_in("wrong") == 401
    assert await guest.log_in(f" {TOKEN}\n") == 200
    async with guest.get("/") as page:
        assert page.status == 200
    async with guest.opened() as tab:
        assert tab.messages == []
    async with guest.post("/logout") as left:
        assert left.status == 204
    async with guest.get("/session") as refused:
        assert refused.status == 401


async def test_who_logs_out_closes_all_pages_of_that_browser_and_no_others(guest: Browser, owner: Browser) -> None:
    await guest.log_in(TOKEN)
    async with guest.opened() as tab, guest.opened() as second, owner.opened() as elsewhere:
        async with guest.post("/logout") as left:
            assert left.status == 204
        assert [await one.gone() for one in (tab, second)] == [aiohttp.WSCloseCode.POLICY_VIOLATION] * 2
        await elsewhere.told("kept", await elsewhere.say("still here"))


async def test_a_copy_of_a_cookie_opens_nothing_once_its_browser_logged_out(guest: Browser, owner: Browser) -> None:
    await guest.log_in(TOKEN)
    async with guest.get("/session") as let_in:
        assert let_in.status == 204
        stolen = {"Cookie": let_in.request_info.headers["Cookie"]}
    async with guest.post("/logout") as left:
        assert left.status == 204
    for path in ("/session", "/ws"):
        async with guest.get(path, headers=stolen | {"Origin": guest.address}) as refused:
            assert refused.status == 401
    assert await guest.log_in(TOKEN) == 200, "a new login is a new session"
    async with guest.get("/session") as let_in:
        assert let_in.status == 204


async def test_a_logout_that_cannot_be_written_down_says_so_and_holds_until_the_next_start(
    guest: Browser, house: House
) -> None:
    await guest.log_in(TOKEN)
    house.record.failure = NotRecorded("My disk takes no more writing.")
    async with guest.post("/logout") as left:
        assert left.status == 503 and "My disk takes no more writing." in await left.text()
        stolen = {"Cookie": left.request_info.headers["Cookie"]}
    async with guest.get("/session", headers=stolen) as refused:
        assert refused.status == 401


async def test_the_cookie_is_for_the_browser_alone(guest: Browser) -> None:
    async with guest.post("/login", json={"token": TOKEN}) as answered:
        cookie = answered.headers["Set-Cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and "Path=/" in cookie
    assert TOKEN not in cookie
    assert cookie.startswith(f"daybook-{urlsplit(guest.address).port}=")


async def test_behind_a_proxy_with_tls_the_page_is_served_under_its_public_address(house: House) -> None:
    at_proxy = {"Host": "daybook.example.org", "Origin": "https://daybook.example.org"}
    async with (
        house.running(house.channel(public_url="https://daybook.example.org")),
        browser(house.address, TOKEN) as one,
    ):
        async with one.get("/", headers=at_proxy) as shell:
            assert "connect-src 'self' wss://daybook.example.org" in shell.headers["Content-Security-Policy"]
        async with one.post("/login", json={"token": TOKEN}, headers=at_proxy) as answered:
            assert answered.status == 200 and "Secure" in answered.headers["Set-Cookie"]
        for wrong in ("http://daybook.example.org", house.address, "https://evil.org"):
            async with one.post("/login", json={"token": TOKEN}, headers=at_proxy | {"Origin": wrong}) as refused:
                assert refused.status == 403
        assert await one.log_in(TOKEN) == 200, "and here as before"


async def test_a_bearer_token_does_instead(guest: Browser) -> None:
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    async with guest.get("/session", headers=bearer) as let_in:
        assert let_in.status == 204
    async with guest.post("/files", headers=bearer, data=b"x") as kept:
        assert kept.status == 200, "a program names no origin"
    async with guest.get("/session", headers={"Authorization": f"Basic {TOKEN}"}) as refused:
        assert refused.status == 401


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b'"x"', b"{}", b'{"token": 1}', b'{"token": null}', b"\xff\xfe", b"[" * 8_000]
)
async def test_a_login_that_is_none(guest: Browser, body: bytes) -> None:
    async with guest.post("/login", data=body) as refused:
        assert refused.status in (400, 401)
    async with guest.post("/login", data=b"x" * 100_000) as refused:
        assert refused.status == 413


async def test_guessing_has_to_wait_and_a_session_does_not(guest: Browser, owner: Browser) -> None:
    assert [await guest.log_in("guess") for _ in range(11)] == [401] * 10 + [429]
    async with guest.get("/session", headers={"Authorization": "Bearer guess"}) as waits:
        assert waits.status == 429 and int(waits.headers["Retry-After"]) > 0
    async with owner.get("/session") as known:
        assert known.status == 204
    assert await guest.log_in(TOKEN) == 200, "nobody keeps the owner out by showing wrong tokens"


async def test_a_token_that_can_be_guessed_waits_too(house: House) -> None:
    async with house.running(house.channel(token="hunter2")), browser(house.address) as guest:
        assert [await guest.log_in("guess") for _ in range(11)] == [401] * 10 + [429]
        assert await guest.log_in("hunter2") == 429


# from where


@pytest.mark.parametrize("path", EVERYTHING)
@pytest.mark.parametrize(
    "host", ["evil.org", "evil.org:{port}", "localhost", "localhost:1", "127.0.0.1.evil.org:{port}", ""]
)
async def test_a_foreign_host_is_refused_everywhere(owner: Browser, path: str, host: str) -> None:
    port = str(urlsplit(owner.address).port)
    async with owner.get(path, headers={"Host": host.format(port=port), "Authorization": f"Bearer {TOKEN}"}) as refused:
        assert refused.status == 403


@pytest.mark.parametrize("hosts", ["", "Host: {0}\r\nHost: {0}\r\n", "Host: {0}\r\nHost: evil.org\r\n"])
@pytest.mark.parametrize("version", ["1.0", "1.1"])
async def test_no_host_or_two_are_none(owner: Browser, hosts: str, version: str) -> None:
    address = urlsplit(owner.address)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    head = f"GET /healthz HTTP/{version}\r\n{hosts.format(address.netloc)}Connection: close\r\n\r\n"
    writer.write(head.encode())
    assert (await reader.read()).split()[1] in (b"400", b"403")
    writer.close()


@pytest.mark.parametrize("path", EVERYTHING)
@pytest.mark.parametrize("origin", ["http://evil.org", "https://localhost", "null", "http://localhost:1", ""])
async def test_a_foreign_page_is_refused_everywhere(owner: Browser, path: str, origin: str) -> None:
    async with owner.get(path, headers={"Origin": origin}) as refused:
        assert refused.status == 403


async def test_a_page_that_names_no_origin_gets_no_socket_and_posts_nothing(owner: Browser) -> None:
    for headers in ({}, {"Authorization": f"Bearer {TOKEN}"}):
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await owner.http.ws_connect(f"{owner.address}/ws", headers=headers)
        assert refused.value.status == 403
    for path in ("/files", "/login", "/logout"):
        async with owner.post(path, headers={}, data=b"x") as answered:
            assert answered.status == 403


async def test_another_site_may_lead_here_and_read_nothing(owner: Browser) -> None:
    foreign = {"Sec-Fetch-Site": "cross-site"}
    async with owner.get("/", headers={**foreign, "Sec-Fetch-Mode": "navigate"}) as page:
        assert page.status == 200
    for path in EVERYTHING:
        for site in ("cross-site", "same-site"):
            async with owner.get(path, headers={"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "no-cors"}) as refused:
                assert refused.status == 403


async def test_a_target_that_names_another_place_is_refused(owner: Browser) -> None:
    place = urlsplit(owner.address).netloc
    for target, status in (
        (f"http://{place}/healthz", b"200"),
        ("http://evil.org/healthz", b"403"),
        (f"http://a@{place}/", b"403"),
    ):
        answered = await raw(owner, f"GET {target} HTTP/1.1\r\nHost: {place}\r\nConnection: close\r\n\r\n")
        assert answered.split()[1] == status


async def test_what_is_no_http_is_neither_repeated_nor_logged(owner: Browser, caplog: pytest.LogCaptureFixture) -> None:
    place = urlsplit(owner.address).netloc
    with caplog.at_level("DEBUG"):
        for noise in (
            f"GET / HTTP/1.1\r\nHost: {place}\r\nAuthorization: Bearer {TOKEN}\x01\r\n\r\n",
            f"GET / HTTP/1.1\r\nHost: {place}\r\nCookie: {TOKEN}\x01\r\n\r\n",
            f"POST / HTTP/1.1\r\nHost: {place}\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        ):
            head, _, body = (await raw(owner, noise)).partition(b"\r\n\r\n")
            assert b" 400 " in head and b"no-store" in head and b"aiohttp" not in head
            assert body == b"This is not HTTP that Daybook understands.\n"
    assert TOKEN not in caplog.text and "ERROR" not in caplog.text


async def raw(at: Browser, request: str) -> bytes:
    """All that is answered until the connection ends."""
    address = urlsplit(at.address)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    writer.write(request.encode("latin-1"))
    async with asyncio.timeout(120):
        answered = await reader.read()
    writer.close()
    return answered


async def test_any_name_of_this_machine_will_do(owner: Browser) -> None:
    port = urlsplit(owner.address).port
    async with owner.get("/healthz", headers={"Host": f"localhost:{port}"}) as answered:
        assert answered.status == 200


@pytest.mark.parametrize("path", [path for path in EVERYTHING if path != "/ws"])  # which needs an Origin anyway
async def test_where_another_gateway_serves_the_page_only_the_process_answers(
    owner: Browser, house: House, path: str
) -> None:
    house.serves = False
    async with owner.get(path) as answered:
        if path in ("/healthz", "/readyz", "/metrics"):
            assert answered.status != 503 or path == "/readyz"
        else:
            assert answered.status == 503 and "Another gateway serves this page" in await answered.text()


# what every answer has


@pytest.mark.parametrize("path", EVERYTHING)
async def test_every_answer_is_for_nobody_else(owner: Browser, path: str) -> None:
    async with owner.get(path, headers={"Origin": owner.address}) as answered:
        headers = answered.headers
    assert headers["Cache-Control"] == "no-store"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert "aiohttp" not in headers["Server"] and "Access-Control-Allow-Origin" not in headers


async def test_the_page_runs_its_own_script_and_nothing_else(owner: Browser) -> None:
    async with owner.get("/") as answered:
        html, policy = await answered.text(), answered.headers["Content-Security-Policy"]
    assert "unsafe" not in policy and "data:" not in policy.partition("img-src")[0]
    assert "script-src 'self';" in policy and "style-src 'self';" in policy
    assert not re.search(r"<script(?![^>]* src=\"/static/)|<style", html), "nothing inline"
    assert f"connect-src 'self' ws://{urlsplit(owner.address).netloc}" in policy
    assert not re.search(r"\son\w+=", html), "no handlers in attributes"
    assert not re.search(r"\sstyle=", html)
    assert not re.search(r"""(?:src|href|url)\s*[=(]\s*["']?(?:https?:)?//""", html), "nothing from elsewhere"


# how it is


async def test_probes_need_no_token(guest: Browser, house: House) -> None:
    async with guest.get("/healthz") as healthy:
        assert (healthy.status, await healthy.json()) == (200, {"status": "ok"})
    async with guest.get("/readyz") as ready:
        assert (ready.status, await ready.json()) == (200, {"ready": True, "channels": {"web": "ok"}})
    house.states["telegram"] = ChannelStatus(Health.DEGRADED, "connecting to Telegram")
    async with guest.get("/readyz") as unready:
        assert unready.status == 503
        assert await unready.json() == {"ready": False, "channels": {"web": "ok", "telegram": "degraded"}}
    house.states["telegram"] = ChannelStatus(Health.OK)
    house.states["web"] = ChannelStatus(Health.DEGRADED, "My disk is full.", in_touch=True)
    async with guest.get("/readyz") as full:
        assert (full.status, await full.json()) == (
            200,
            {"ready": True, "channels": {"web": "degraded", "telegram": "ok"}},
        ), "they are connected; that the disk is full is told by /metrics and `daybook status`"
    async with guest.get("/metrics") as figures:
        assert figures.headers["Content-Type"].startswith("text/plain; version=0.0.4")
        assert await figures.text() == "daybook_figure 1\n"


# files


async def test_a_file_comes_back_to_the_chat_it_was_said_in(owner: Browser, guest: Browser, house: House) -> None:
    picture = await owner.upload(PNG, "a cat.png", "image/png")
    text = await owner.upload(b"<script>alert(1)</script>", 'ä"\n.html', "text/html")
    async with owner.opened() as tab:
        await tab.told("kept", await tab.say("look", picture, text))
        files = (await tab.until(lambda: tab.messages))[0]["files"]
    assert [file["image"] for file in files] == [True, False]
    async with owner.get(await owner.path_of(files[0]["url"])) as shown:
        assert (shown.content_type, await shown.read()) == ("image/png", PNG)
        assert "sandbox" in shown.headers["Content-Security-Policy"]
    async with owner.get(await owner.path_of(files[1]["url"])) as saved:
        assert saved.content_type == "application/octet-stream"
        assert saved.headers["Content-Disposition"].startswith("attachment;")
    async with guest.get(files[0]["url"]) as refused:
        assert refused.status == 401
    kinds = [(one.kind, one.name, one.size) for one in house.received[0].attachments]
    assert kinds[0] == ("photo", "a cat.png", len(PNG)) and kinds[1][0] == "document"


@pytest.mark.parametrize(
    ("content", "claimed"),
    [
        (b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>", "image/svg+xml"),
        (b"<html><script>alert(1)</script>", "image/png"),
        (b"<html>", "image/png\nSet-Cookie: x=1"),
        (b"%PDF-1.4", "application/pdf"),
    ],
)
async def test_only_a_picture_by_its_bytes_is_shown(owner: Browser, content: bytes, claimed: str) -> None:
    file = await owner.upload(content, "a.svg", claimed)
    async with owner.opened() as tab:
        await tab.told("kept", await tab.say("look", file))
        (shown,) = (await tab.until(lambda: tab.messages))[0]["files"]
    assert not shown["image"]
    async with owner.get(await owner.path_of(shown["url"])) as saved:
        assert saved.content_type == "application/octet-stream" and "Set-Cookie" not in saved.headers
        assert saved.headers["Content-Disposition"].startswith("attachment;")
        assert await saved.read() == content


async def test_a_file_is_called_what_it_is(owner: Browser) -> None:
    file = await owner.upload(b"MZ", "photo\u202egnp.\nexe")
    async with owner.opened() as tab:
        await tab.told("kept", await tab.say("look", file))
        (shown,) = (await tab.until(lambda: tab.messages))[0]["files"]
    assert shown["name"] == "photognp. exe"
    async with owner.get(await owner.path_of(shown["url"])) as saved:
        assert saved.headers["Content-Disposition"].endswith("''photognp.%20exe")


async def test_a_packed_body_is_not_unpacked(owner: Browser, house: House) -> None:
    bomb = gzip.compress(bytes(50_000_000))
    headers = {"Origin": owner.address, "Content-Encoding": "gzip"}
    async with owner.post("/files", data=bomb, headers=headers) as kept:
        assert (await kept.json())["size"] == len(bomb)


async def test_a_file_that_was_sent_and_no_other(owner: Browser, channel: WebChannel, tmp_path: Path) -> None:
    (tmp_path / "report").write_bytes(b"figures")
    file = OutboundFile(tmp_path / "report", "Bericht für März.pdf")
    id = await channel.send(OutboundMessage(MAIN, "", key="k:1", file=file))
    async with owner.get(await owner.path_of(f"/files/{id}/0")) as saved:
        assert await saved.read() == b"figures"
        assert "filename*=UTF-8''Bericht%20f%C3%BCr%20M%C3%A4rz.pdf" in saved.headers["Content-Disposition"]
    unsaid = await owner.upload(b"never said", "x")
    for path in (f"/files/{id}/1", f"/files/{unsaid['handle']}/0", "/files/..%2f..%2fconfig/0", f"/files/{id}/0/.."):
        async with owner.get(path) as missing:
            assert missing.status == 404
    (tmp_path / "report").unlink()
    async with owner.get(f"/files/{id}/0") as gone:
        assert gone.status == 404


async def test_an_upload_has_a_limit(owner: Browser, house: House) -> None:
    async def endless():  # type: ignore[no-untyped-def]
        for _ in range(20):
            yield b"x" * 100_000

    for body in (b"x" * 1_000_001, endless()):
        async with owner.post("/files", data=body) as refused:
            assert refused.status == 413
            assert "1 MB" in await refused.text()
    assert list((house.folder / "web").glob("*")) == []


async def test_an_upload_that_breaks_off_leaves_nothing(owner: Browser, house: House) -> None:
    host, port = urlsplit(owner.address).hostname, urlsplit(owner.address).port
    _, writer = await asyncio.open_connection(host, port)
    head = (
        f"POST /files HTTP/1.1\r\nHost: {host}:{port}\r\nAuthorization: Bearer {TOKEN}\r\nContent-Length: 5000\r\n\r\n"
    )
    writer.write(head.encode() + b"x" * 10)
    await writer.drain()
    await _until(lambda: list((house.folder / "web").glob("*.new")))
    writer.transport.abort()
    await _until(lambda: not list((house.folder / "web").glob("*")))


async def _until(true: Callable[[], object]) -> None:
    """Of what nobody tells."""
    async with asyncio.timeout(120):
        while not true():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_a_file_that_is_not_there_is_not_said(owner: Browser, house: House) -> None:
    async with owner.opened() as tab:
        id = await tab.say("look", {"handle": "0" * 32, "name": "a.png", "media_type": "image/png"})
        refused = await tab.told("refused", id)
    assert "Choose it again" in refused["why"] and not refused["again"]
    assert house.received == []


# too many, too much


async def test_more_pages_than_anybody_has(owner: Browser) -> None:
    open_ = [await owner.enter() for _ in range(websocket.MOST_PAGES)]
    for one in open_:
        assert (await one.receive_json())["type"] == "opened"
    refused = await (await owner.enter()).receive()
    assert (refused.type, refused.data) == (aiohttp.WSMsgType.CLOSE, aiohttp.WSCloseCode.TRY_AGAIN_LATER)
    await asyncio.gather(*(one.close() for one in open_))
    async with owner.opened() as tab:
        assert tab.frames


async def test_more_connections_than_there_is_room_for_are_ended_and_the_page_lives(owner: Browser) -> None:
    host, port = urlsplit(owner.address).hostname, urlsplit(owner.address).port
    async with owner.opened() as tab:
        others = [await asyncio.open_connection(host, port) for _ in range(1_000)]
        ended = [asyncio.create_task(reader.read()) for reader, _ in others]
        await _until(lambda: sum(task.done() for task in ended) >= 1_000 - connection_limiter.MOST_CONNECTIONS)
        await tab.told("kept", await tab.say("hello"))
        for _, writer in others:
            writer.transport.abort()
        await asyncio.gather(*ended, return_exceptions=True)


async def test_what_is_no_http_at_all(owner: Browser) -> None:
    host, port = urlsplit(owner.address).hostname, urlsplit(owner.address).port
    for noise in (
        b"\x16\x03\x01\x02\x00",
        b"GET\r\n\r\n",
        b"\0" * 100_000,
        b"GET / HTTP/1.1\r\nX: " + b"a" * 100_000 + b"\r\n\r\n",
    ):
        reader, writer = await asyncio.open_connection(host, port)
        try:
            writer.write(noise)
            writer.write_eof()
            await reader.read()
        except ConnectionError:
            pass
        writer.close()
    async with owner.get("/healthz") as answered:
        assert answered.status == 200


# where it listens


async def test_instead_of_a_port_in_use_the_next_free_one_is_taken(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "channels.web")
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        channel = house.channel(port=port)
        async with house.running(channel), browser(house.address, TOKEN) as one, one.opened() as tab:
            taken = urlsplit(house.address).port
            assert taken and port < taken <= port + 20
            await channel.send(answer("here"))
            await tab.hears("here")
        told = f"another program is using port {port}, so the page is at port {taken}"
        assert caplog.messages.count(told) == 1
    async with house.running(house.channel(port=port)):
        assert urlsplit(house.address).port == port, "it is free again"


async def test_where_no_port_is_free_it_is_told(house: House) -> None:
    with contextlib.ExitStack() as stack:
        other = stack.enter_context(socket.socket())
        with contextlib.suppress(OSError):  # another program has it
            other.bind(("127.0.0.1", 65_535))
            other.listen()
        channel = house.channel(port=65_535)
        with pytest.raises(SourceFailed, match="other programs are using port 65535") as failed:
            await channel.run(house.receive)
        assert not failed.value.fatal and channel.status.state is Health.OFF and house.begun.is_set()


@pytest.mark.parametrize(
    ("host", "why"), [("no.such.host.invalid", "has no address"), ("203.0.113.7", "is not an address of this")]
)
async def test_a_host_that_is_not_ours_is_told(house: House, host: str, why: str) -> None:
    with pytest.raises(SourceFailed, match=why):
        await house.channel(host=host).run(house.receive)


async def test_a_token_that_cannot_be_had_keeps_the_page_shut(house: House) -> None:
    def no_token() -> str:
        raise ValueError("state/web-token is empty; delete the file to get a new one")

    channel = WebChannel(no_token, house.record, house, house.folder / "web", port=0)
    with pytest.raises(SourceFailed, match="is empty"):
        await channel.run(house.receive)
    assert house.address == ""


async def test_who_listens_on_all_addresses_is_reached_by_each(house: House) -> None:
    channel = house.channel(host="0.0.0.0")
    async with house.running(channel):
        port = urlsplit(house.address).port
        assert house.address == f"http://127.0.0.1:{port}"
        async with browser(house.address, TOKEN) as one:
            for host, status in ((f"127.0.0.1:{port}", 200), (f"127.0.0.2:{port}", 403), (f"evil.org:{port}", 403)):
                async with one.get("/healthz", headers={"Host": host}) as answered:
                    assert answered.status == status


@pytest.mark.skipif(not socket.has_ipv6, reason="no IPv6 here")
async def test_who_listens_on_all_addresses_of_ipv6_is_told_by_one_of_them(house: House) -> None:
    async with house.running(house.channel(host="::")):
        assert house.address.startswith("http://[::1]:")
        async with browser(house.address, TOKEN) as one, one.opened() as tab:
            assert tab.frames


async def test_a_record_that_cannot_be_read_is_said_and_tried_again_later(owner: Browser, house: House) -> None:
    house.record.failure = NotRecorded("daybook.db could not be read")
    socket = await owner.enter()
    closed = await socket.receive()
    assert (closed.type, closed.data) == (aiohttp.WSMsgType.CLOSE, aiohttp.WSCloseCode.TRY_AGAIN_LATER)
    for path in (f"/files/{'0' * 32}/0", "/metrics"):
        async with owner.get(path) as unavailable:
            assert unavailable.status == 503
    house.record.failure = None
    async with owner.opened() as tab:
        assert tab.frames
