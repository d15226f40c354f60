"""Connections to the Bot API, through the library's HTTP layer."""

from __future__ import annotations

import ipaddress
import logging
import ssl
from functools import cache
from urllib.parse import urlsplit

import httpx
from telegram.request import HTTPXRequest

for talkative in ("httpx", "httpcore"):  # they log addresses, and Telegram's contain the token
    logging.getLogger(talkative).setLevel(logging.WARNING)
logging.getLogger("telegram.request.BaseRequest").setLevel(logging.CRITICAL)  # whole pages of proxies


def connect(base_url: str, *, read_timeout: float, connections: int) -> HTTPXRequest:
    """A pool of at most so many connections; `read_timeout` in seconds of silence."""
    return HTTPXRequest(
        connection_pool_size=connections,
        read_timeout=read_timeout,
        write_timeout=20.0,
        connect_timeout=10.0,
        pool_timeout=10.0,
        httpx_kwargs={"verify": _tls(), "trust_env": not is_loopback(base_url)},
    )


def download_client(file_url: str) -> httpx.AsyncClient:
    """For files, which the library's layer would hold in memory as a whole. Follows no redirect: the address of a
    file has the token in it."""
    return httpx.AsyncClient(
        headers={"Accept-Encoding": "identity"},
        verify=_tls(),
        trust_env=not is_loopback(file_url),
        timeout=httpx.Timeout(20.0, connect=10.0, pool=60.0),
        limits=httpx.Limits(max_connections=4, max_keepalive_connections=1),
    )


def is_loopback(url: str) -> bool:
    """Whether an address is this machine: a proxy from the environment has no business there."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


@cache
def _tls() -> ssl.SSLContext:
    """One for all connections: loading the certificates takes some 20 ms."""
    return httpx.create_ssl_context()
