"""HTTP to a Messages API server through the official SDK. The only file that imports it.

The SDK's processing of requests and answers is bypassed (100 ms for a long history, on the event loop): the body is
sent as bytes, and `stream` reads what the SDK's decoder refuses. The SDK provides connections, headers, versions and
error classes.
"""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import ipaddress
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from typing import Any
from urllib.parse import quote, urlsplit

import anthropic
import httpx2

from agent.formats.parsing import load_json
from agent.model.anthropic.errors import (
    ServerMessage,
    quoted,
    redirect,
    refusal,
    retry_after,
    said_in,
    status_of,
    unexpected,
)
from agent.model.anthropic.model import entries_of, window_of
from agent.model.anthropic.request import body_of, encoded
from agent.model.anthropic.stream import Event, EventReader, ServerEvent, events_of
from agent.model.base import InvalidRequest, Json, ModelError, ModelRequest, TryLater

CONNECT_S = 10.0
DRAIN_S = 0.5


class AnthropicClient:
    """One server and key. Making it reads the machine's certificates, which takes a while: do it on a thread.
    `timeout_s` and `window_s` as in `AnthropicModel`."""

    def __init__(self, key: str, base_url: str, timeout_s: float, window_s: float) -> None:
        self._key = key
        self._host = urlsplit(base_url).hostname or base_url
        self._timeout_s = timeout_s
        self._window_s = window_s
        timeout = httpx2.Timeout(timeout_s, connect=min(CONNECT_S, timeout_s))
        self._sdk = anthropic.AsyncAnthropic(
            api_key=key or "none",
            base_url=base_url,
            max_retries=0,
            timeout=timeout,
            default_headers=_foreign_headers(key, self._host),
            http_client=_http_client(self._host, timeout),
        )

    async def events(self, request: ModelRequest) -> AsyncGenerator[Event, None]:
        """Asks, and yields the stream's events up to message_stop as they were sent. Raises `ModelError`."""
        with self._translated(request):
            async with await self._asked(request) as stream:
                body = stream.response.aiter_bytes()
                begin = await _begin(body)
                if _is_whole(stream.response.headers, begin):
                    for part in self._whole(b"".join([begin, *[chunk async for chunk in body]]), request):
                        yield part
                    return
                reader, is_stream = EventReader(), False
                async with contextlib.aclosing(_again(begin, body)) as chunks:
                    async for chunk in chunks:
                        for event in self._read(reader.feed(chunk), request):
                            is_stream = True
                            yield event
                            if event.get("type") == "message_stop":
                                await _drain(chunks)
                                return
                for event in self._read(reader.finish(), request):
                    is_stream = True
                    yield event
                if not is_stream and reader.other:
                    raise unexpected(said_in(reader.other), self._key)

    async def window(self, model: str) -> int | None:
        """Tokens of the model's window by the models endpoint; None without an answer."""
        try:
            async with asyncio.timeout(self._window_s):
                if size := window_of(await self._page(f"/v1/models/{quote(model, safe='')}")):
                    return size
                listed = entries_of(await self._page("/v1/models"))
        except TimeoutError:
            return None
        mine = [one for one in listed if one.get("id") == model] or (listed if len(listed) == 1 else [])
        return window_of(mine[0]) if mine else None

    async def models(self) -> list[str]:
        """The names of the server's models; empty where it does not say."""
        try:
            async with asyncio.timeout(self._window_s):
                listed = entries_of(await self._page("/v1/models"))
        except TimeoutError:
            return []
        names = [one.get("id") for one in listed]
        return [quoted(name, self._key) for name in names if isinstance(name, str)]

    async def aclose(self) -> None:
        await self._sdk.close()

    async def _asked(self, request: ModelRequest) -> anthropic.AsyncStream[anthropic.types.RawMessageStreamEvent]:
        return await self._sdk.post(
            "/v1/messages",
            cast_to=anthropic.types.Message,
            content=encoded({**body_of(request), "stream": True}),
            stream=True,
            stream_cls=anthropic.AsyncStream[anthropic.types.RawMessageStreamEvent],
        )

    async def _page(self, path: str) -> Json:
        """The JSON of a GET; None without an answer."""
        try:
            page: Any = await self._sdk.get(path, cast_to=object)
        except (anthropic.AnthropicError, httpx2.HTTPError, ValueError, RecursionError):
            return None
        answer: Json = page
        return answer

    def _read(self, events: Iterator[ServerEvent], request: ModelRequest) -> Iterator[Event]:
        """The meaningful events. Raises `ModelError` for an error event."""
        for sse in events:
            data = sse.data.strip()
            if data == "[DONE]":
                yield {"type": "message_stop"}
                continue
            event = data if sse.name == "error" and data[:1] not in ("{", "[") else _decoded(data)
            if sse.name == "error" or _is_error(event):
                raise self._told(event, request)
            if isinstance(event, Mapping):
                yield event

    def _whole(self, body: bytes, request: ModelRequest) -> Iterator[Event]:
        """The events of an answer in one piece."""
        text = body.decode("utf-8-sig", "replace")
        answer = None if text.lstrip().startswith("<") else _decoded(text)
        if _is_error(answer):
            raise self._told(answer, request)
        if isinstance(answer, Mapping) and isinstance(answer.get("content"), str | list):
            return events_of(answer)
        raise unexpected(said_in(text), self._key)

    def _told(self, body: Json, request: ModelRequest) -> ModelError:
        """An error that was sent in place of an answer; it may have a type, but no status."""
        said = said_in(body)
        return self._refusal(status_of(said), said, request)

    def _refusal(
        self, status: int, said: ServerMessage, request: ModelRequest, wait: float | None = None
    ) -> ModelError:
        error = refusal(status, said, model=request.model, secret=self._key, wait=wait)
        if type(error) is InvalidRequest and request.cache != "off" and "cache_control" in said.text:
            cure = "If the server knows no prompt cache, set model.cache: off in config.yaml."
            return InvalidRequest(f"{error} {cure}", at=error.at)
        return error

    @contextlib.contextmanager
    def _translated(self, request: ModelRequest) -> Iterator[None]:
        """Turns foreign errors into `ModelError`; the cause is kept where it does not show the key."""
        try:
            yield
        except (anthropic.AnthropicError, httpx2.HTTPError, httpx2.StreamError) as error:
            secret = bool(self._key) and self._key in str(error)
            raise self._meaning(error, request) from (None if secret else error)

    def _meaning(self, error: Exception, request: ModelRequest) -> ModelError:
        if isinstance(error, anthropic.APIStatusError):
            response = error.response
            if response.is_redirect:
                return redirect(_target(response), self._key)
            said = said_in(response.content.decode("utf-8-sig", "replace"))
            return self._refusal(error.status_code, said, request, retry_after(response.headers))
        if isinstance(error, anthropic.APITimeoutError | httpx2.TimeoutException):
            return TryLater(f"The model's server said nothing for {self._timeout_s:g} seconds.", overloaded=True)
        if isinstance(error, anthropic.APIConnectionError):
            return TryLater(f"The model's server at {self._host} cannot be reached.")
        if isinstance(error, httpx2.HTTPError | httpx2.StreamError):
            return TryLater("The connection to the model's server broke.")
        return InvalidRequest(f"The model's server could not be asked ({type(error).__name__}).")


def _target(response: httpx2.Response) -> str:
    """The target of a redirect without secrets; empty where it has none."""
    location = response.headers.get("location", "")
    try:
        url = response.url.join(location)
    except (httpx2.InvalidURL, ValueError):
        return ""
    return f"{url.scheme}://{url.netloc.decode('ascii', 'replace')}{url.path}" if location else ""


async def _begin(body: AsyncIterator[bytes]) -> bytes:
    """The beginning of an answer, up to the first byte that is not blank."""
    begin = b""
    async for chunk in body:
        begin += chunk
        if begin.removeprefix(codecs.BOM_UTF8).strip():
            break
    return begin


async def _again(begin: bytes, rest: AsyncIterator[bytes]) -> AsyncGenerator[bytes, None]:
    yield begin
    async for chunk in rest:
        yield chunk


def _is_whole(headers: Mapping[str, str], begin: bytes) -> bool:
    """True where the answer is one piece, of a server that does not stream, whatever it claims."""
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    return kind == "application/json" or begin.removeprefix(codecs.BOM_UTF8).lstrip()[:1] in (b"{", b"[", b"<")


def _is_error(told: Json) -> bool:
    return isinstance(told, Mapping) and bool(told.get("type") == "error" or told.get("error"))


def _decoded(data: str) -> Json:
    """JSON; None for other text. Raises `TryLater` for broken JSON."""
    try:
        decoded: Json = load_json(data)
    except ValueError as error:
        if data[:1] in ("{", "["):
            raise TryLater("The model's server sent something that cannot be read.") from error
        return None
    return decoded


async def _drain(rest: AsyncIterator[bytes]) -> None:
    """Reads to the end of the stream, so that its connection can be reused; a slow server loses it."""
    with contextlib.suppress(TimeoutError, httpx2.HTTPError):
        async with asyncio.timeout(DRAIN_S):
            async for _ in rest:
                pass


def _foreign_headers(key: str, host: str) -> dict[str, str]:
    """Some other servers read the key only as a bearer token, some only as x-api-key; Anthropic's takes just one."""
    anthropics = host == "anthropic.com" or host.endswith(".anthropic.com")
    return {"Authorization": f"Bearer {key}", "X-Api-Key": key} if key and not anthropics else {}


def _http_client(host: str, timeout: httpx2.Timeout) -> httpx2.AsyncClient:
    """A client that uses the environment's proxy for other machines only. Redirects are reported, not followed: they
    would take the key to another server."""
    if _is_loopback(host):
        limits = anthropic.DEFAULT_CONNECTION_LIMITS
        return httpx2.AsyncClient(trust_env=False, timeout=timeout, limits=limits, follow_redirects=False)
    return anthropic.DefaultAsyncHttpxClient(timeout=timeout, follow_redirects=False)


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
