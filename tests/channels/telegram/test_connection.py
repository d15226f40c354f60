"""The line before the pool of connections."""

from __future__ import annotations

import asyncio

import httpx
import pytest
from telegram.error import NetworkError, TimedOut
from telegram.request import RequestData
from telegram.request._requestparameter import RequestParameter

from channels.message import NotSent
from channels.telegram.api import connect
from channels.telegram.errors import send_error
from tests.channels.telegram.desk import Desk


def _to_alice(text: str) -> RequestData:
    return RequestData([RequestParameter.from_input("chat_id", 11111), RequestParameter.from_input("text", text)])


async def test_a_call_waits_for_a_connection_and_one_that_got_none_was_not_sent(desk: Desk) -> None:
    url = f"{desk.telegram.base_url}{desk.telegram.token}/sendMessage"
    request = connect(url, read_timeout=10.0, connections=1, free_within=0.05)
    hold = desk.telegram.hold("sendMessage")
    async with request:
        first = asyncio.create_task(request.post(url, _to_alice("first")))
        await hold.wait()
        with pytest.raises(TimedOut) as late:
            await request.post(url, _to_alice("second"))
        assert isinstance(send_error(late.value), NotSent)
        hold.release()
        await first
        await request.post(url, _to_alice("third"))
    assert [message.text for message in desk.telegram.messages(11111)] == ["first", "third"]


async def test_where_a_proxy_is_set_calls_go_through_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """It refuses; without it the call would go to a host that does not exist."""
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
    async with connect("https://telegram.invalid/bot", read_timeout=10.0, connections=1) as request:
        with pytest.raises(NetworkError) as refused:
            await request.post("https://telegram.invalid/bot1:x/sendMessage", _to_alice("hi"))
    assert isinstance(refused.value.__cause__, httpx.ConnectError)
    assert isinstance(send_error(refused.value), NotSent)


async def test_a_host_that_is_not_found_was_sent_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    async with connect("https://telegram.invalid/bot", read_timeout=10.0, connections=1) as request:
        with pytest.raises(NetworkError) as lost:
            await request.post("https://telegram.invalid/bot1:x/sendMessage", _to_alice("hi"))
    assert isinstance(send_error(lost.value), NotSent)


async def test_a_connection_can_be_used_again_after_it_was_closed(desk: Desk) -> None:
    url = f"{desk.telegram.base_url}{desk.telegram.token}/sendMessage"
    request = connect(url, read_timeout=10.0, connections=1)
    for text in ("first", "second"):
        async with request:
            await request.post(url, _to_alice(text))
    assert [message.text for message in desk.telegram.messages(11111)] == ["first", "second"]
