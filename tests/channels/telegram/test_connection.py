"""The connections of python-telegram-bot: the line in front of them, proxies, uploads, and what was never sent."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import RawTestServer
from telegram import Bot, InputFile
from telegram.error import NetworkError, RetryAfter, TimedOut

from channels import telegram as package
from channels.message import NotSent, OutcomeUnknown
from channels.telegram.api import NeverSent, connect, proxy_for
from channels.telegram.errors import send_error
from tests.channels.telegram.desk import Desk

_PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in _PROXIES:
        monkeypatch.delenv(name, raising=False)


@asynccontextmanager
async def _served(handle: Callable[[web.Request], Awaitable[web.Response]]) -> AsyncIterator[str]:
    server = RawTestServer(handle)
    await server.start_server()
    try:
        yield f"http://127.0.0.1:{server.port}"
    finally:
        await server.close()


async def test_a_call_waits_for_a_connection_and_one_that_got_none_was_not_sent(desk: Desk) -> None:
    telegram = desk.telegram
    connection = connect(telegram.token, telegram.base_url, read_timeout=10.0, connections=1, free_within=0.05)
    hold = telegram.hold("sendMessage")
    first = asyncio.create_task(connection.bot.send_message(11111, "first"))
    await hold.wait()
    with pytest.raises(NeverSent) as late:
        await connection.bot.send_message(11111, "second")
    assert isinstance(send_error(late.value), NotSent)
    hold.release()
    await first
    await connection.bot.send_message(11111, "third")
    await connection.aclose()
    assert [message.text for message in telegram.messages(11111)] == ["first", "third"]


async def test_a_proxy_that_refuses_was_sent_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the proxy the call would go to a host that does not exist."""
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
    connection = connect("1:x", "https://telegram.invalid/bot", read_timeout=10.0, connections=1)
    with pytest.raises(NeverSent, match="ClientProxyConnectionError") as refused:
        await connection.bot.send_message(11111, "hi")
    await connection.aclose()
    assert isinstance(send_error(refused.value), NotSent)


async def test_calls_go_through_a_proxy(monkeypatch: pytest.MonkeyPatch, desk: Desk) -> None:
    async def pass_on(request: web.Request) -> web.Response:
        seen.append(request.raw_path)
        return web.json_response({"ok": True, "result": True})

    seen: list[str] = []
    async with _served(pass_on) as proxy:
        monkeypatch.setenv("all_proxy", proxy)
        connection = connect("1:x", "http://telegram.invalid/bot", read_timeout=10.0, connections=1)
        assert await connection.bot.set_my_commands([]) is True
        await connection.aclose()
    assert seen == ["http://telegram.invalid/bot1:x/setMyCommands"]


@pytest.mark.parametrize(
    ("url", "proxy"),
    [
        ("https://api.telegram.org/bot", "http://one:1"),
        ("http://elsewhere/bot", "http://all:2"),
        ("https://inside.example/bot", None),
        ("http://127.0.0.1:8081/bot", None),
        ("https://localhost:8081/bot", None),
    ],
)
def test_the_environment_says_which_proxy(monkeypatch: pytest.MonkeyPatch, url: str, proxy: str | None) -> None:
    monkeypatch.setenv("https_proxy", "http://one:1")
    monkeypatch.setenv("all_proxy", "http://all:2")
    monkeypatch.setenv("no_proxy", "inside.example")
    assert proxy_for(url) == proxy


async def test_a_host_that_is_not_found_was_sent_nothing() -> None:
    connection = connect("1:x", "https://telegram.invalid/bot", read_timeout=10.0, connections=1)
    with pytest.raises(NeverSent) as lost:
        await connection.bot.send_message(11111, "hi")
    await connection.aclose()
    assert isinstance(send_error(lost.value), NotSent)


async def test_a_connection_can_be_used_again_after_it_was_closed(desk: Desk) -> None:
    telegram = desk.telegram
    connection = connect(telegram.token, telegram.base_url, read_timeout=10.0, connections=1)
    for text in ("first", "second"):
        await connection.bot.send_message(11111, text)
        await connection.aclose()
    assert [message.text for message in telegram.messages(11111)] == ["first", "second"]


async def test_silence_after_a_call_leaves_its_outcome_unknown(desk: Desk) -> None:
    telegram = desk.telegram
    connection = connect(telegram.token, telegram.base_url, read_timeout=0.2, connections=1)
    hold = telegram.hold("sendMessage")
    with pytest.raises(TimedOut) as silent:
        await connection.bot.send_message(11111, "hi")
    hold.release()
    await connection.aclose()
    assert isinstance(send_error(silent.value), OutcomeUnknown)


async def test_a_connection_that_breaks_in_the_middle_leaves_the_outcome_unknown() -> None:
    async def hang_up(request: web.Request) -> web.Response:
        await request.read()
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    async with _served(hang_up) as server:
        connection = connect("1:x", f"{server}/bot", read_timeout=10.0, connections=1)
        with pytest.raises(NetworkError) as broken:
            await connection.bot.send_message(11111, "hi")
        await connection.aclose()
    assert isinstance(send_error(broken.value), OutcomeUnknown) and not isinstance(broken.value, NeverSent)


@pytest.mark.parametrize("name", ["notes.txt", "Übersicht für Ännchen.pdf", "会议 记录.txt", "a;b=c&d.txt"])
async def test_a_file_arrives_whole_under_its_name(desk: Desk, name: str) -> None:
    telegram = desk.telegram
    connection = connect(telegram.token, telegram.base_url, read_timeout=10.0, connections=1)
    content = bytes(range(256)) * 12_000
    with warnings.catch_warnings():
        warnings.simplefilter("error", ResourceWarning)
        await connection.bot.send_document(11111, InputFile(content, name), caption="Für dich")
    await connection.aclose()
    (message,) = telegram.messages(11111)
    assert (message.extra["document"]["file_name"], message.caption) == (name, "Für dich")
    assert telegram.files[message.extra["document"]["file_id"]][1] == content


@pytest.mark.parametrize(
    ("body", "result"),
    [
        ('{"ok": true, "result": {"message_id": 7}}', 7),
        ('{"ok": true, "result": {"message_id": 7, "chat": {"id": 1, "type": "odd"}, "date": "soon"}}', 7),
    ],
)
async def test_an_answer_with_less_than_the_library_wants_is_read(desk: Desk, body: str, result: int) -> None:
    telegram = desk.telegram
    connection = connect(telegram.token, telegram.base_url, read_timeout=10.0, connections=1)
    telegram.junk("sendMessage", status=200, body=body)
    assert (await connection.bot.send_message(11111, "hi")).message_id == result
    await connection.aclose()


@pytest.mark.parametrize(
    "body", ['{"ok": false, "error_code": 429}', '{"ok": false, "parameters": {"retry_after": 2.5}}', "no json", "[]"]
)
async def test_a_429_always_names_a_wait(desk: Desk, body: str) -> None:
    telegram = desk.telegram
    connection = connect(telegram.token, telegram.base_url, read_timeout=10.0, connections=1)
    telegram.junk("sendMessage", status=429, body=body)
    with pytest.raises(RetryAfter) as asked:
        await connection.bot.send_message(11111, "hi")
    await connection.aclose()
    failed = send_error(asked.value)
    assert isinstance(failed, NotSent) and failed.retry_after == 3


def test_only_public_names_of_the_library_are_used() -> None:
    source = "\n".join(file.read_text(encoding="utf-8") for file in Path(package.__path__[0]).glob("*.py"))
    assert "telegram.request._" not in source and "telegram._" not in source
    private = [name for name in dir(Bot) if name.startswith("_") and not name.startswith("__")]
    assert private and [name for name in private if f"bot.{name}(" in source] == []
