"""HTTP to a Messages API server through the official SDK. The only file that imports it; see `anthropic.py`.

The SDK's work on requests and answers is gone around (100 ms for a long history, on the event loop): the body goes out
as the bytes that it is, the stream is read as raw events. What the SDK is here for: connections, headers, versions,
error classes, and the decoding of server-sent events.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from urllib.parse import urlsplit

import anthropic
import httpx2

from agent.foreign import load_json
from agent.model.anthropic_answer import Event, events_of
from agent.model.anthropic_body import body_of, encoded
from agent.model.anthropic_errors import quoted, refusal, retry_after, status_of
from agent.model.base import InvalidRequest, ModelError, ModelRequest, TryLater

CONNECT_S = 10.0
WINDOW_S = 3.0
"""Seconds to ask for the window's size, for which a first answer waits."""
DRAIN_S = 0.5


class AnthropicClient:
    """One server and key. Making it reads the machine's certificates, which takes a while: do it on a thread."""

    def __init__(self, key: str, base_url: str, timeout_s: float) -> None:
        self._key = key
        self._host = urlsplit(base_url).hostname or base_url
        self._timeout_s = timeout_s
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
        """Ask, and yield the stream's events up to message_stop as they were sent. Raises `ModelError`."""
        with self._translated(request.model):
            async with await self._asked(request) as stream:
                if _is_whole(stream.response.headers):
                    message = _decoded((await stream.response.aread()).decode("utf-8", "replace"))
                    if message.get("type") == "error":
                        raise self._error_event(message, request.model)
                    for event in events_of(message):
                        yield event
                    return
                raw = stream.raw_events(stream.response)
                async for sse in raw:
                    event = _decoded(sse.data)
                    if event.get("type") == "error":
                        raise self._error_event(event, request.model)
                    yield event
                    if event.get("type") == "message_stop":
                        await _drain(raw)
                        return

    async def window(self, model: str) -> int | None:
        """`max_input_tokens` of the models endpoint, or None where it has no answer, for whatever reason."""
        try:
            async with asyncio.timeout(WINDOW_S):
                size = (await self._sdk.models.retrieve(model)).max_input_tokens
        except (anthropic.AnthropicError, httpx2.HTTPError, ValueError, AttributeError, TimeoutError):
            return None
        return size if isinstance(size, int) and size > 0 else None

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

    @contextlib.contextmanager
    def _translated(self, model: str) -> Iterator[None]:
        """Foreign errors become `ModelError`; the cause is kept where it does not show the key."""
        try:
            yield
        except (anthropic.AnthropicError, httpx2.HTTPError, httpx2.StreamError) as error:
            secret = bool(self._key) and self._key in str(error)
            raise self._meaning(error, model) from (None if secret else error)

    def _meaning(self, error: Exception, model: str) -> ModelError:
        if isinstance(error, anthropic.APIStatusError):
            said = quoted(error.api_message or "", self._key)
            wait = retry_after(error.response.headers)
            return refusal(error.status_code, error.type or "", said, model=model, wait=wait)
        if isinstance(error, anthropic.APITimeoutError | httpx2.TimeoutException):
            return TryLater(f"The model's server said nothing for {self._timeout_s:g} seconds.", overloaded=True)
        if isinstance(error, anthropic.APIConnectionError):
            return TryLater(f"The model's server at {self._host} cannot be reached.")
        if isinstance(error, httpx2.HTTPError | httpx2.StreamError):
            return TryLater("The connection to the model's server broke.")
        return InvalidRequest(f"The model's server could not be asked ({type(error).__name__}).")

    def _error_event(self, event: Event, model: str) -> ModelError:
        """An error that the server sent inside a stream; it has a type, but no status of its own."""
        told = event.get("error")
        error = told if isinstance(told, Mapping) else {}
        kind, said = str(error.get("type") or ""), str(error.get("message") or "")
        return refusal(status_of(kind), kind, quoted(said, self._key), model=model)


def _is_whole(headers: Mapping[str, str]) -> bool:
    """Whether the answer is one piece of JSON, from a server that does not stream."""
    return headers.get("content-type", "").partition(";")[0].strip().lower() == "application/json"


def _decoded(data: str) -> Event:
    """One event; an empty one for data that means nothing."""
    if not data.strip():
        return {}
    try:
        event = load_json(data)
    except ValueError as error:
        raise TryLater("The model's server sent something that cannot be read.") from error
    return event if isinstance(event, Mapping) else {}


async def _drain(rest: AsyncIterator[object]) -> None:
    """Read to the end of the stream, so that its connection can be used again; a server that dawdles loses it."""
    with contextlib.suppress(TimeoutError, httpx2.HTTPError):
        async with asyncio.timeout(DRAIN_S):
            async for _ in rest:
                pass


def _foreign_headers(key: str, host: str) -> dict[str, str]:
    """Some other servers read the key only as a bearer token, some only as x-api-key; Anthropic's takes just one."""
    anthropics = host == "anthropic.com" or host.endswith(".anthropic.com")
    return {"Authorization": f"Bearer {key}", "X-Api-Key": key} if key and not anthropics else {}


def _http_client(host: str, timeout: httpx2.Timeout) -> httpx2.AsyncClient:
    """A proxy from the environment is used for the world, never for this machine."""
    if _is_loopback(host):
        return httpx2.AsyncClient(trust_env=False, timeout=timeout, limits=anthropic.DEFAULT_CONNECTION_LIMITS)
    return anthropic.DefaultAsyncHttpxClient(timeout=timeout)


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
