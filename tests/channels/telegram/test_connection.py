"""The line before the pool of connections."""

from __future__ import annotations

import asyncio

import pytest
from telegram.error import TimedOut
from telegram.request import RequestData
from telegram.request._requestparameter import RequestParameter

from channels.message import NotSent
from channels.telegram.connection import connect
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
