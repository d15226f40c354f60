"""HTTP to a Messages API server through the SDK, imported nowhere else.

The SDK's processing is bypassed (100 ms for a long history, on the event loop): the body is sent as bytes, and `stream`
reads what its decoder refuses.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Iterator, Mapping
from typing import Any
from urllib.parse import quote, urlsplit

import anthropic
import httpx2

from agent.languages.sentences import Sentence
from agent.model.anthropic.model import entries_of, window_of
from agent.model.anthropic.request import body_of, encoded, key_headers
from agent.model.anthropic.stream import Event, EventReader, ServerEvent, events_of
from agent.model.base import InvalidRequest, Json, ModelError, ModelRequest, TryLater
from agent.model.errors import (
    ServerMessage,
    quoted,
    redirect,
    refusal,
    said_in,
    status_of,
    unexpected,
)
from agent.model.transport import (
    again,
    beginning,
    decoded,
    drain,
    http_client,
    is_error,
    is_whole,
    redirect_target,
    retry_after,
    timeout_of,
)


class AnthropicClient:
    """Making it reads the machine's certificates: do it on a thread. Times as in `AnthropicModel`."""

    def __init__(self, key: str, base_url: str, timeout_s: float, window_s: float) -> None:
        self._key = key
        self._host = urlsplit(base_url).hostname or base_url
        self._timeout_s = timeout_s
        self._window_s = window_s
        timeout = timeout_of(timeout_s)
        self._sdk = anthropic.AsyncAnthropic(
            api_key=key or "none",
            base_url=base_url,
            max_retries=0,
            timeout=timeout,
            default_headers=key_headers(key, self._host),
            http_client=http_client(base_url, timeout),
        )

    async def events(self, request: ModelRequest) -> AsyncGenerator[Event, None]:
        """Yields the stream's events up to message_stop as sent. Raises `ModelError`."""
        with self._translated(request):
            async with await self._asked(request) as stream:
                body = stream.response.aiter_bytes()
                begin = await beginning(body)
                if is_whole(stream.response.headers, begin):
                    for part in self._whole(b"".join([begin, *[chunk async for chunk in body]]), request):
                        yield part
                    return
                reader, is_stream = EventReader(), False
                async with contextlib.aclosing(again(begin, body)) as chunks:
                    async for chunk in chunks:
                        for event in self._read(reader.feed(chunk), request):
                            is_stream = True
                            yield event
                            if event.get("type") == "message_stop":
                                await drain(chunks)
                                return
                for event in self._read(reader.finish(), request):
                    is_stream = True
                    yield event
                if not is_stream and reader.other:
                    raise unexpected(said_in(reader.other), self._key)

    async def window(self, model: str) -> int | None:
        """Tokens of the window by the models endpoint."""
        try:
            async with asyncio.timeout(self._window_s):
                if size := window_of(await self._page(f"/v1/models/{quote(model, safe='')}")):
                    return size
                listed = entries_of(await self._page("/v1/models"))
        except TimeoutError:
            return None
        mine = [entry for entry in listed if entry.get("id") == model] or (listed if len(listed) == 1 else [])
        return window_of(mine[0]) if mine else None

    async def models(self) -> list[str]:
        """The server's models; empty if it does not say."""
        try:
            async with asyncio.timeout(self._window_s):
                listed = entries_of(await self._page("/v1/models"))
        except TimeoutError:
            return []
        names = [entry.get("id") for entry in listed]
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
        try:
            page: Any = await self._sdk.get(path, cast_to=object)
        except (anthropic.AnthropicError, httpx2.HTTPError, ValueError, RecursionError):
            return None
        answer: Json = page
        return answer

    def _read(self, events: Iterator[ServerEvent], request: ModelRequest) -> Iterator[Event]:
        """Raises `ModelError` for an error event."""
        for sse in events:
            data = sse.data.strip()
            if data == "[DONE]":
                yield {"type": "message_stop"}
                continue
            event = data if sse.name == "error" and data[:1] not in ("{", "[") else decoded(data)
            if sse.name == "error" or is_error(event):
                raise self._told(event, request)
            if isinstance(event, Mapping):
                yield event

    def _whole(self, body: bytes, request: ModelRequest) -> Iterator[Event]:
        text = body.decode("utf-8-sig", "replace")
        answer = None if text.lstrip().startswith("<") else decoded(text)
        if is_error(answer):
            raise self._told(answer, request)
        if isinstance(answer, Mapping) and isinstance(answer.get("content"), str | list):
            return events_of(answer)
        raise unexpected(said_in(text), self._key)

    def _told(self, body: Json, request: ModelRequest) -> ModelError:
        """An error in place of an answer; with a type perhaps, no status."""
        said = said_in(body)
        return self._refusal(status_of(said), said, request)

    def _refusal(
        self, status: int, said: ServerMessage, request: ModelRequest, wait: float | None = None
    ) -> ModelError:
        error = refusal(status, said, model=request.model, secret=self._key, wait=wait)
        if type(error) is InvalidRequest and request.cache != "off" and "cache_control" in said.text:
            cured = Sentence(
                "{why} If the server has no prompt cache, set model.cache: off in config.yaml.", why=str(error)
            )
            return InvalidRequest(cured, at=error.at)
        return error

    @contextlib.contextmanager
    def _translated(self, request: ModelRequest) -> Iterator[None]:
        """Turns foreign errors into `ModelError`, with the cause unless it shows the key."""
        try:
            yield
        except (anthropic.AnthropicError, httpx2.HTTPError, httpx2.StreamError) as error:
            secret = bool(self._key) and self._key in str(error)
            raise self._meaning(error, request) from (None if secret else error)

    def _meaning(self, error: Exception, request: ModelRequest) -> ModelError:
        if isinstance(error, anthropic.APIStatusError):
            response = error.response
            if response.is_redirect:
                return redirect(redirect_target(response), self._key)
            said = said_in(response.content.decode("utf-8-sig", "replace"))
            return self._refusal(error.status_code, said, request, retry_after(response.headers))
        if isinstance(error, anthropic.APITimeoutError | httpx2.TimeoutException):
            silence = Sentence(
                "The model's server didn't respond for {seconds} seconds.", seconds=f"{self._timeout_s:g}"
            )
            return TryLater(silence, overloaded=True)
        if isinstance(error, anthropic.APIConnectionError):
            return TryLater(Sentence("I can't reach the model's server at {host}.", host=self._host))
        if isinstance(error, httpx2.HTTPError | httpx2.StreamError):
            return TryLater(Sentence("The connection to the model's server was lost."))
        return InvalidRequest(Sentence("I couldn't ask the model's server ({kind}).", kind=type(error).__name__))
