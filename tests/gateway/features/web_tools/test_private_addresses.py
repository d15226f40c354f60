"""The table of private addresses and the fetcher: named, redirected to or looked up, none is connected to."""

from __future__ import annotations

import asyncio
import contextlib
import re
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from ipaddress import IPv4Address, ip_address

import pytest

from agent.formats.addresses import AddressRules, IpAddress, is_public
from agent.media.reader import Reader
from gateway.features.web_tools.fetch import Fetcher
from gateway.features.web_tools.page import PageUnavailable
from tests.agent.formats.test_addresses import PRIVATE
from tests.gateway.features.web_tools.pages import Names, page, redirect

HOP = "127.0.0.9"
"""The one address of loopback that counts as public, for a page that leads on."""
HOSTS = sorted({re.sub(r":\d+$", "", re.sub(r"^http://|/.*$", "", one)) for one in PRIVATE})


def addresses() -> Iterator[str]:
    """Those of the table that a name may lead to, as look-ups spell them."""
    for host in HOSTS:
        try:
            yield str(ip_address(host.strip("[]").replace("%25", "%")))
        except ValueError:
            with contextlib.suppress(OSError, UnicodeError):
                yield str(IPv4Address(socket.inet_aton(host.rstrip("."))))


ADDRESSES = sorted(set(addresses()))


def is_public_here(address: IpAddress) -> bool:
    return str(address) == HOP or is_public(address)


@dataclass
class Trap:
    """Listens on all addresses of this machine. `hits`: requests that should have come to nobody."""

    port: int = 0
    target: str = ""
    hops: int = 0
    hits: list[str] = field(default_factory=list)

    def fetcher(self, names: dict[str, list[list[str]]]) -> Fetcher:
        rules = AddressRules(frozenset({self.port}), is_public_here)
        return Fetcher(Reader(10_000, 20), rules, Names({"hop.example": [[HOP]], **names}), seconds=60)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            if f"Host: hop.example:{self.port}\r\n" in head:
                self.hops += 1
                writer.write(redirect(self.target))
            else:
                self.hits.append(head)
                writer.write(page("<p>The key</p>"))
            await writer.drain()
        writer.close()


@asynccontextmanager
async def trap() -> AsyncIterator[Trap]:
    one = Trap()
    both = socket.has_dualstack_ipv6()
    family = socket.AF_INET6 if both else socket.AF_INET
    listener = socket.create_server(("", 0), family=family, dualstack_ipv6=both)
    one.port = listener.getsockname()[1]
    async with await asyncio.start_server(one.serve, sock=listener):
        yield one


async def refused(one: Trap, url: str, names: dict[str, list[list[str]]] | None = None) -> str:
    with pytest.raises(PageUnavailable) as why:
        await one.fetcher(names or {}).page(url)
    return str(why.value)


async def test_none_is_opened_by_its_name_or_by_a_redirect() -> None:
    async with trap() as one:
        for host in HOSTS:
            one.target = f"http://{host}:{one.port}/"
            with contextlib.suppress(UnicodeEncodeError):  # no header has such letters
                await refused(one, f"http://hop.example:{one.port}/")
            await refused(one, one.target)
        assert one.hits == [] and one.hops >= len(HOSTS) - 6


async def test_no_name_leads_there_nor_does_one_that_changes_in_between() -> None:
    assert len(ADDRESSES) >= 40
    async with trap() as one:
        one.target = f"http://hop.example:{one.port}/again"
        for address in ADDRESSES:
            for found in ([address], [HOP, address], [address, HOP]):
                why = await refused(one, f"http://evil.example:{one.port}/", {"evil.example": [found]})
                assert "private network" in why, address
            why = await refused(one, f"http://hop.example:{one.port}/", {"hop.example": [[HOP], [address]]})
            assert "private network" in why, address
        assert one.hits == [] and one.hops == len(ADDRESSES)
