"""A server at an address: MCP over streamable HTTP, with limits that the SDK does not have."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import httpx2

from agent.formats.network import is_here, tls
from gateway.features.mcp.program import MOST_BYTES
from gateway.features.mcp.values import RemoteLaunch

_CONNECT = 15.0
_BYTES_A_SECOND = 100_000
"""Bytes of events, after the first `MOST_BYTES`."""
_EVENTS = "text/event-stream"


class _Paced(httpx2.AsyncByteStream):
    """Events may come for as long as a server lives, but not faster than somebody can follow them."""

    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        read = 0
        async for chunk in self._stream:
            read += len(chunk)
            if read > MOST_BYTES:
                await asyncio.sleep(len(chunk) / _BYTES_A_SECOND)
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


class _Limited(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, most: int) -> None:
        self._stream = stream
        self._most = most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        read = 0
        async for chunk in self._stream:
            read += len(chunk)
            if read > self._most:
                raise httpx2.ReadError(f"the answer has over {self._most:,} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


class LimitingTransport(httpx2.AsyncHTTPTransport):
    """Answers are limited in size, and not compressed: a small one could become any number of bytes."""

    refused = 0
    """The status of the last answer, if it was an error."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        super().__init__(verify=tls(strict=False))
        self._most = most

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        request.headers["accept-encoding"] = "identity"
        response = await super().handle_async_request(request)
        if request.method == "POST":  # not the stream of news, which a server need not have
            self.refused = response.status_code if response.status_code >= 400 else 0
        if response.headers.get("content-encoding", "identity") != "identity":
            await response.aclose()
            raise httpx2.ReadError("the answer is compressed, which was not asked for")
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        is_events = response.headers.get("content-type", "").startswith(_EVENTS)  # each has a limit of its own
        response.stream = _Paced(response.stream) if is_events else _Limited(response.stream, self._most)
        return response


def http_client(
    launch: RemoteLaunch, transport: LimitingTransport, auth: httpx2.Auth | None = None
) -> httpx2.AsyncClient:
    """The client for a server; the caller closes it. Raises `BadEnvironment`."""
    if not is_here(launch.url):
        tls()
    # No limit of time for reading: each call has its own.
    timeout = httpx2.Timeout(_CONNECT, read=None)
    headers = dict(launch.headers)
    return httpx2.AsyncClient(headers=headers, timeout=timeout, transport=transport, auth=auth, trust_env=False)
