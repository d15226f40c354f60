"""What both SDKs' clients share: reading an answer's headers and bytes, and an HTTP client that keeps the key at
its server.

Imported by the clients only: it loads httpx2.
"""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import math
import socket
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx2

from agent.formats.network import is_here, proxy_for, tls
from agent.formats.parsing import load_json
from agent.languages.sentences import Sentence
from agent.model.base import Json, TryLater

CONNECT_S = 10.0
DRAIN_S = 0.5
_LIMITS = httpx2.Limits(max_connections=1000, max_keepalive_connections=100)
_KEEP_ALIVE = [
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    *(
        (socket.IPPROTO_TCP, int(getattr(socket, name)), value)
        for name, value in (("TCP_KEEPINTVL", 60), ("TCP_KEEPCNT", 5), ("TCP_KEEPIDLE", 60))
        if hasattr(socket, name)
    ),
]
"""As the SDKs' own: a server that thinks for long is silent meanwhile."""


def redirect_target(response: httpx2.Response) -> str:
    """The target of a redirect without secrets."""
    location = response.headers.get("location", "")
    try:
        url = response.url.join(location)
    except (httpx2.InvalidURL, ValueError):
        return ""
    return f"{url.scheme}://{url.netloc.decode('ascii', 'replace')}{url.path}" if location else ""


async def beginning(body: AsyncIterator[bytes]) -> bytes:
    """An answer's beginning, up to the first byte that is not blank."""
    begin = b""
    async for chunk in body:
        begin += chunk
        if begin.removeprefix(codecs.BOM_UTF8).strip():
            break
    return begin


async def again(begin: bytes, rest: AsyncIterator[bytes]) -> AsyncGenerator[bytes, None]:
    """A body whose beginning was read."""
    yield begin
    async for chunk in rest:
        yield chunk


def is_whole(headers: Mapping[str, str], begin: bytes) -> bool:
    """True for one piece, of a server that does not stream."""
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    return kind == "application/json" or begin.removeprefix(codecs.BOM_UTF8).lstrip()[:1] in (b"{", b"[", b"<")


def is_error(body: Json) -> bool:
    return isinstance(body, Mapping) and bool(body.get("type") == "error" or body.get("error"))


def decoded(data: str) -> Json:
    """Raises `TryLater` for broken JSON; None for other text."""
    try:
        read: Json = load_json(data)
    except ValueError as error:
        if data[:1] in ("{", "["):
            raise TryLater(Sentence("The model's server sent something I can't read.")) from error
        return None
    return read


async def drain(rest: AsyncIterator[bytes]) -> None:
    """Reads to the end, so that the connection can be reused."""
    with contextlib.suppress(TimeoutError, httpx2.HTTPError):
        async with asyncio.timeout(DRAIN_S):
            async for _ in rest:
                pass


def timeout_of(silence: float) -> httpx2.Timeout:
    return httpx2.Timeout(silence, connect=min(CONNECT_S, silence))


def http_client(base_url: str, timeout: httpx2.Timeout) -> httpx2.AsyncClient:
    """Uses the environment's proxy and certificates for other machines only. Redirects are not followed: they would
    take the key elsewhere. Raises `BadEnvironment`."""
    transport = httpx2.AsyncHTTPTransport(
        verify=tls(strict=not is_here(base_url)),
        trust_env=False,
        limits=_LIMITS,
        proxy=proxy_for(base_url),
        socket_options=_KEEP_ALIVE,
    )
    return httpx2.AsyncClient(transport=transport, trust_env=False, timeout=timeout, follow_redirects=False)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait by `retry-after-ms`, else `retry-after`, a date there relative to the server's `date`."""
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after", "")
    seconds = _number(value)
    if seconds is not None:
        return seconds
    then, now = _moment(value), _moment(headers.get("date", ""))
    return max(0.0, (then - now).total_seconds()) if then and now else None


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return max(0.0, value) if math.isfinite(value) else None


def _moment(text: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
