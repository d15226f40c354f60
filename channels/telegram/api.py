"""HTTP connections to the Bot API for python-telegram-bot.

Calls without a file go through aiohttp: the library's httpx takes four times the CPU time.
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
import ssl
from functools import cache
from typing import Any
from urllib.request import getproxies

import aiohttp
import httpx
from telegram import Bot
from telegram.error import NetworkError, TimedOut
from telegram.request import BaseRequest, HTTPXRequest, RequestData

from channels.json_fields import load_json
from channels.loopback import is_here

_HEADERS = {"User-Agent": BaseRequest.USER_AGENT, "Content-Type": "application/x-www-form-urlencoded"}
_KEPT_IDLE = 5.0
"""Seconds that an idle connection is kept, like in httpx."""


class LightCalls:
    def __init__(self, connections: int, tls: ssl.SSLContext, connect_within: float) -> None:
        self._connections = connections
        self._tls = tls
        self._connect_within = connect_within
        self._session: aiohttp.ClientSession | None = None

    async def post(self, url: str, form: str, silence: float | None) -> tuple[int, bytes]:
        """Status and body. `silence`: seconds without data before it fails. Raises `TimedOut` and `NetworkError`, as
        the library."""
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=self._connections, ssl=self._tls, keepalive_timeout=_KEPT_IDLE),
                cookie_jar=aiohttp.DummyCookieJar(),
                headers=_HEADERS,
            )
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


for talkative in ("httpx", "httpcore"):  # they log addresses, and Telegram's contain the token
    logging.getLogger(talkative).setLevel(logging.WARNING)
logging.getLogger("telegram.request.BaseRequest").setLevel(logging.CRITICAL)  # logs proxies' whole pages

_LONGEST_REFUSAL = 4096
"""Bytes; a longer answer is not checked for a refusal."""
_UNNAMED_WAIT, _LONGEST_WAIT = 3, 86_400
"""Seconds to wait after a 429 that names none, and the longest wait accepted."""
_CONNECT_WITHIN = 10.0
"""Seconds for a new connection."""


class _QueuedRequest(HTTPXRequest):
    """Queues calls in front of the pool, which rescans its connections for each waiting call."""

    def __init__(self, connections: int, free_within: float, light: LightCalls | None, **settings: Any) -> None:
        super().__init__(connection_pool_size=connections, pool_timeout=free_within, **settings)
        self._free = asyncio.Semaphore(connections)
        self._free_within = free_within
        self._light = light

    async def shutdown(self) -> None:
        await super().shutdown()
        if self._light is not None:
            await self._light.aclose()

    async def do_request(
        self, url: str, method: str, request_data: RequestData | None = None, *args: Any, **kwargs: Any
    ) -> tuple[int, bytes]:
        try:
            async with asyncio.timeout(self._free_within):
                await self._free.acquire()
        except TimeoutError:
            raise TimedOut("all connections are in use") from httpx.PoolTimeout("all connections are in use")
        try:
            return _with_status(*await self._call(url, method, request_data, *args, **kwargs))
        finally:
            self._free.release()

    async def _call(
        self, url: str, method: str, request_data: RequestData | None, *args: Any, **kwargs: Any
    ) -> tuple[int, bytes]:
        if self._light is None or method != "POST" or request_data is None or request_data.contains_files:
            return await super().do_request(url, method, request_data, *args, **kwargs)
        silence = kwargs.get("read_timeout", self.DEFAULT_NONE)
        return await self._light.post(
            url,
            request_data.url_encoded_parameters(),
            self.read_timeout if silence is self.DEFAULT_NONE else silence,
        )


def _with_status(code: int, payload: bytes) -> tuple[int, bytes]:
    """Uses the status named in the body, the only thing the library looks at."""
    if code == httpx.codes.TOO_MANY_REQUESTS:
        return code, _with_wait(payload)
    if not httpx.codes.is_success(code) or len(payload) > _LONGEST_REFUSAL or not (body := _object(payload)):
        return code, payload
    named = body.get("error_code")
    if body.get("ok") is not False or not isinstance(named, int) or httpx.codes.is_success(named):
        return code, payload
    return named, payload


def _with_wait(payload: bytes) -> bytes:
    """Names a wait that the library can read; without one it assumes a server error."""
    body = _object(payload)
    parameters = body.get("parameters")
    wait = parameters.get("retry_after") if isinstance(parameters, dict) else None
    seconds = math.ceil(wait) if isinstance(wait, int | float) and 0 < wait < _LONGEST_WAIT else _UNNAMED_WAIT
    return json.dumps({**body, "parameters": {"retry_after": seconds}}).encode()


def _object(payload: bytes) -> dict[str, object]:
    try:
        body = load_json(payload)
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


def connect(base_url: str, *, read_timeout: float, connections: int, free_within: float = 10.0) -> HTTPXRequest:
    """At most `connections`, for one of which a call waits `free_within` seconds; `read_timeout` in seconds of silence.
    With a proxy all calls go through httpx, which knows every kind."""
    has_proxy = not is_here(base_url) and bool(getproxies())
    return _QueuedRequest(
        connections,
        free_within,
        None if has_proxy else LightCalls(connections, _tls(), _CONNECT_WITHIN),
        read_timeout=read_timeout,
        write_timeout=20.0,
        connect_timeout=_CONNECT_WITHIN,
        httpx_kwargs={"verify": _tls(), "trust_env": not is_here(base_url)},
    )


def download_client(file_url: str) -> httpx.AsyncClient:
    """Streams files, and follows no redirect: a file's address has the token in it."""
    return httpx.AsyncClient(
        headers={"Accept-Encoding": "identity"},
        verify=_tls(),
        trust_env=not is_here(file_url),
        timeout=httpx.Timeout(20.0, connect=10.0, pool=60.0),
        limits=httpx.Limits(max_connections=4, max_keepalive_connections=1),
    )


@cache
def _tls() -> ssl.SSLContext:
    """Shared: loading the certificates takes some 20 ms."""
    return httpx.create_ssl_context()


_SENDS = frozenset(("sendMessage", "sendPhoto", "sendDocument"))


class LenientBot(Bot):
    async def _post(self, endpoint: str, data: Any = None, **how: Any) -> Any:
        result = await super()._post(endpoint, data, **how)
        if not isinstance(result, dict):
            return result
        if endpoint in _SENDS:
            chat = {"id": 0, "type": "private"}
            return {"message_id": int(result["message_id"]), "date": 0, "chat": chat}
        if endpoint == "editMessageText":
            return True
        if endpoint == "getMe":
            return {"id": int(self.token.partition(":")[0]), "is_bot": True, "first_name": "", **result}
        return result
