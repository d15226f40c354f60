"""Connections that do not show the token: they hold no room for long, and never the owner's."""

from __future__ import annotations

import asyncio
from urllib.parse import urlsplit

import pytest

from channels.web import connection_limiter
from tests.channels.web.browser import Browser, browser
from tests.channels.web.conftest import TOKEN, House

LOGIN = "POST /login HTTP/1.1\r\nHost: {place}\r\nOrigin: http://{place}\r\nContent-Length: 100\r\n\r\n"


async def connection(at: Browser, begun: str = "") -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    address = urlsplit(at.address)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    writer.write(begun.format(place=address.netloc).encode())
    await writer.drain()
    return reader, writer


async def ended(reader: asyncio.StreamReader) -> None:
    async with asyncio.timeout(120):
        try:
            while await reader.read(1 << 16):
                pass
        except ConnectionError:
            pass


@pytest.mark.parametrize("begun", ["", "GET / HTTP/1.1\r\nHost: {place}\r\n", LOGIN, LOGIN + "{{"])
async def test_a_stranger_has_some_seconds(house: House, begun: str) -> None:
    async with house.running(house.channel(auth_timeout=0.2)), browser(house.address) as guest:
        reader, writer = await connection(guest, begun)
        await ended(reader)
        writer.close()


async def test_a_stranger_that_reads_no_answer_is_ended(house: House) -> None:
    async with house.running(house.channel(auth_timeout=0.5)), browser(house.address) as guest:
        reader, writer = await connection(guest, "GET / HTTP/1.1\r\nHost: {place}\r\n\r\n" * 1_000)
        await ended(reader)
        writer.close()


async def test_a_stranger_gets_one_answer(guest: Browser) -> None:
    reader, writer = await connection(guest, "GET /healthz HTTP/1.1\r\nHost: {place}\r\n\r\n")
    async with asyncio.timeout(120):
        assert b"Connection: close" in await reader.read()
    writer.close()


@pytest.mark.full
async def test_who_showed_the_token_stays(house: House) -> None:
    async with (
        house.running(house.channel(auth_timeout=15.0)),
        browser(house.address, TOKEN) as owner,
        owner.opened() as tab,
    ):
        reader, writer = await connection(owner)
        await ended(reader)  # as late as that, the page is still open
        await tab.told("kept", await tab.say("hello"))
        writer.close()


async def test_the_owner_gets_in_where_strangers_took_all_the_room(owner: Browser) -> None:
    strangers = [await connection(owner) for _ in range(connection_limiter.MOST_CONNECTIONS)]
    async with browser(owner.address, TOKEN) as another, another.opened() as tab:
        await tab.told("kept", await tab.say("hello"))
    await ended(strangers[0][0])
    for _, writer in strangers:
        writer.transport.abort()
