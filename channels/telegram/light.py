"""Calls of the Bot API that carry no file, through aiohttp: the library's own layer, httpx, takes four times the
processor's time for one, and a message costs three of them."""

from __future__ import annotations

import ssl

import aiohttp
from telegram.error import NetworkError, TimedOut
from telegram.request import BaseRequest

_HEADERS = {"User-Agent": BaseRequest.USER_AGENT, "Content-Type": "application/x-www-form-urlencoded"}
_KEPT_IDLE = 5.0
"""Seconds that a connection is kept for the next call, as httpx keeps it."""


class LightCalls:
    """Its connections are opened as they are needed. `connect_within` in seconds, for one of them."""

    def __init__(self, connections: int, tls: ssl.SSLContext, connect_within: float) -> None:
        self._connections = connections
        self._tls = tls
        self._connect_within = connect_within
        self._session: aiohttp.ClientSession | None = None

    async def post(self, url: str, form: str, silence: float | None) -> tuple[int, bytes]:
        """Status and body of the answer; no more than `silence` seconds may pass without any of it. Raises `TimedOut`
        and `NetworkError` because of aiohttp's errors, as the library does because of httpx'."""
        if self._session is None:
            self._session = self._opened()
        timeout = aiohttp.ClientTimeout(sock_connect=self._connect_within, sock_read=silence)
        try:
            async with self._session.post(url, data=form.encode(), timeout=timeout, allow_redirects=False) as answer:
                return answer.status, await answer.read()
        except aiohttp.ServerTimeoutError as error:
            raise TimedOut from error
        except (aiohttp.ClientError, OSError) as error:
            raise NetworkError(f"aiohttp.{type(error).__name__}: {error}") from error

    async def aclose(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    def _opened(self) -> aiohttp.ClientSession:
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=self._connections, ssl=self._tls, keepalive_timeout=_KEPT_IDLE),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers=_HEADERS,
        )
