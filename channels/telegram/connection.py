"""Connections to the Bot API, through the library's HTTP layer."""

from __future__ import annotations

import asyncio
import logging
import ssl
from functools import cache
from typing import Any

import httpx
from telegram.error import TimedOut
from telegram.request import HTTPXRequest

from channels.loopback import is_here

for talkative in ("httpx", "httpcore"):  # they log addresses, and Telegram's contain the token
    logging.getLogger(talkative).setLevel(logging.WARNING)
logging.getLogger("telegram.request.BaseRequest").setLevel(logging.CRITICAL)  # whole pages of proxies


class _InLine(HTTPXRequest):
    """Calls beyond the number of connections wait before the pool, not in it: for each that waits there, the pool looks
    at all connections whenever a call begins or ends."""

    def __init__(self, connections: int, free_within: float, **settings: Any) -> None:
        super().__init__(connection_pool_size=connections, pool_timeout=free_within, **settings)
        self._free = asyncio.Semaphore(connections)
        self._free_within = free_within

    async def do_request(self, *args: Any, **kwargs: Any) -> tuple[int, bytes]:
        """As the library's. Raises `TimedOut` because of `httpx.PoolTimeout`, as it does, where all are in use."""
        try:
            async with asyncio.timeout(self._free_within):
                await self._free.acquire()
        except TimeoutError:
            raise TimedOut("all connections are in use") from httpx.PoolTimeout("all connections are in use")
        try:
            return await super().do_request(*args, **kwargs)
        finally:
            self._free.release()


def connect(base_url: str, *, read_timeout: float, connections: int, free_within: float = 10.0) -> HTTPXRequest:
    """A pool of at most so many connections, for one of which a call waits `free_within` seconds; `read_timeout` in
    seconds of silence."""
    return _InLine(
        connections,
        free_within,
        read_timeout=read_timeout,
        write_timeout=20.0,
        connect_timeout=10.0,
        httpx_kwargs={"verify": _tls(), "trust_env": not is_here(base_url)},
    )


def download_client(file_url: str) -> httpx.AsyncClient:
    """For files, which the library's layer would hold in memory as a whole. Follows no redirect: the address of a
    file has the token in it."""
    return httpx.AsyncClient(
        headers={"Accept-Encoding": "identity"},
        verify=_tls(),
        trust_env=not is_here(file_url),
        timeout=httpx.Timeout(20.0, connect=10.0, pool=60.0),
        limits=httpx.Limits(max_connections=4, max_keepalive_connections=1),
    )


@cache
def _tls() -> ssl.SSLContext:
    """One for all connections: loading the certificates takes some 20 ms."""
    return httpx.create_ssl_context()
