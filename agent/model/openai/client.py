"""HTTP to a chat completions server through the SDK, imported nowhere else.

As in `agent.model.anthropic.client` its processing is bypassed: the body is sent as bytes, and the answer is read where
its decoder would refuse it.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Iterator, Mapping
from typing import Any
from urllib.parse import quote, urlsplit

import httpx2
import openai

from agent.languages.sentences import Sentence
from agent.model.anthropic.model import entries_of, window_of
from agent.model.anthropic.request import encoded
from agent.model.anthropic.stream import Event, EventReader, ServerEvent
from agent.model.base import InvalidRequest, Json, ModelError, ModelRequest, TryLater
from agent.model.errors import (
    CHAT_COMPLETIONS,
    ServerMessage,
    quoted,
    redirect,
    refusal,
    said_in,
    status_of,
    unexpected,
)
from agent.model.openai.dialect import Dialect, FeatureRefused, learnt
from agent.model.openai.request import body_of
from agent.model.openai.stream import ChunkReader
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

_DONE = "[DONE]"


class OpenAIClient:
    """Making it reads the machine's certificates: do it on a thread. Times as in `OpenAIModel`; `root`: the address
    with its version."""

    def __init__(self, key: str, root: str, timeout_s: float, window_s: float) -> None:
        self._key = key
        self._root = root
        self._host = urlsplit(root).hostname or root
        self._timeout_s = timeout_s
        self._window_s = window_s
        timeout = timeout_of(timeout_s)
        self._sdk = openai.AsyncOpenAI(
            api_key=key or "none",
            admin_api_key="",
            base_url=root,
            max_retries=0,
            timeout=timeout,
            http_client=http_client(root, timeout),
        )
        self._sdk.organization = self._sdk.project = None  # by the environment, which is another program's

    async def events(self, request: ModelRequest, dialect: Dialect, estimated: int) -> AsyncGenerator[Event, None]:
        """Yields the answer as events of the Messages API. Raises `ModelError`, `FeatureRefused` before the first."""
        with self._translated(request, dialect):
            async with await self._asked(request, dialect) as stream:
                reader = ChunkReader(request.model, estimated)
                body = stream.response.aiter_bytes()
                begin = await beginning(body)
                if is_whole(stream.response.headers, begin):
                    data = b"".join([begin, *[chunk async for chunk in body]])
                    for event in self._whole(data, reader, request, dialect):
                        yield event
                    return
                lines, has_begun, is_over = EventReader(), False, False
                async with contextlib.aclosing(again(begin, body)) as chunks:
                    async for piece in chunks:
                        for chunk in self._read(lines.feed(piece), request, None if has_begun else dialect):
                            has_begun, is_over = True, chunk is None
                            for event in reader.feed(chunk) if chunk is not None else ():
                                yield event
                        if is_over:
                            await drain(chunks)
                            break
                for chunk in self._read(lines.finish(), request, None if has_begun else dialect):
                    has_begun, is_over = True, is_over or chunk is None
                    for event in reader.feed(chunk) if chunk is not None else ():
                        yield event
                if not has_begun and lines.other:
                    raise unexpected(said_in(lines.other), self._key, CHAT_COMPLETIONS)
                for event in reader.finish(is_over=is_over):
                    yield event

    async def window(self, model: str) -> int | None:
        """Tokens of the window, by the list of models, by Ollama (of a loaded model) or by llama.cpp."""
        try:
            async with asyncio.timeout(self._window_s):
                if size := window_of(await self._page(f"/models/{quote(model, safe='/:')}")):
                    return size
                listed = entries_of(await self._page("/models"))
                mine = [entry for entry in listed if entry.get("id") == model] or (listed if len(listed) == 1 else [])
                if mine and (size := window_of(mine[0])):
                    return size
                return await self._window_beside(model)
        except TimeoutError:
            return None

    async def models(self) -> list[str]:
        """The server's models; empty if it does not say."""
        try:
            async with asyncio.timeout(self._window_s):
                listed = entries_of(await self._page("/models"))
        except TimeoutError:
            return []
        names = [entry.get("id") for entry in listed]
        return [quoted(name, self._key) for name in names if isinstance(name, str)]

    async def aclose(self) -> None:
        await self._sdk.close()

    async def _window_beside(self, model: str) -> int | None:
        address = urlsplit(self._root)
        server = f"{address.scheme}://{address.netloc}"
        loaded = await self._page(f"{server}/api/ps")
        running = loaded.get("models") if isinstance(loaded, Mapping) else None
        for entry in running if isinstance(running, list) else ():
            if isinstance(entry, Mapping) and model in (entry.get("name"), entry.get("model")):
                return window_of(entry)
        properties = await self._page(f"{server}/props")
        return window_of(properties.get("default_generation_settings") if isinstance(properties, Mapping) else None)

    async def _asked(self, request: ModelRequest, dialect: Dialect) -> openai.AsyncStream[object]:
        return await self._sdk.post(
            "/chat/completions",
            cast_to=object,
            content=encoded(body_of(request, dialect)),
            stream=True,
            stream_cls=openai.AsyncStream[object],
        )

    async def _page(self, path: str) -> Json:
        try:
            page: Any = await self._sdk.get(path, cast_to=object)
        except (openai.OpenAIError, httpx2.HTTPError, ValueError, RecursionError):
            return None
        answer: Json = page
        return answer

    def _read(
        self, events: Iterator[ServerEvent], request: ModelRequest, dialect: Dialect | None
    ) -> Iterator[Event | None]:
        """Chunks, and None for the end. Raises `ModelError` for an error; `dialect`: unless something was said."""
        for sse in events:
            data = sse.data.strip()
            if data == _DONE:
                yield None
                return
            chunk = data if sse.name == "error" and data[:1] not in ("{", "[") else decoded(data)
            if sse.name == "error" or is_error(chunk):
                said = said_in(chunk)
                raise self._refusal(status_of(said), said, request, dialect)
            if isinstance(chunk, Mapping):
                yield chunk

    def _whole(self, body: bytes, reader: ChunkReader, request: ModelRequest, dialect: Dialect) -> Iterator[Event]:
        text = body.decode("utf-8-sig", "replace")
        answer = None if text.lstrip().startswith("<") else decoded(text)
        if is_error(answer):
            said = said_in(answer)
            raise self._refusal(status_of(said), said, request, dialect)
        if not isinstance(answer, Mapping) or not isinstance(answer.get("choices"), list):
            raise unexpected(said_in(text), self._key, CHAT_COMPLETIONS)
        yield from reader.feed(answer)
        yield from reader.finish(is_over=True)

    def _refusal(
        self,
        status: int,
        said: ServerMessage,
        request: ModelRequest,
        dialect: Dialect | None,
        wait: float | None = None,
    ) -> ModelError:
        error = refusal(status, said, model=request.model, secret=self._key, wait=wait, api=CHAT_COMPLETIONS)
        changed = learnt(dialect, status, said, request) if dialect is not None else None
        return FeatureRefused(str(error), changed) if changed is not None else error

    @contextlib.contextmanager
    def _translated(self, request: ModelRequest, dialect: Dialect) -> Iterator[None]:
        try:
            yield
        except (openai.OpenAIError, httpx2.HTTPError, httpx2.StreamError) as error:
            secret = bool(self._key) and self._key in str(error)
            raise self._meaning(error, request, dialect) from (None if secret else error)

    def _meaning(self, error: Exception, request: ModelRequest, dialect: Dialect) -> ModelError:
        if isinstance(error, openai.APIStatusError):
            response = error.response
            if response.is_redirect:
                return redirect(redirect_target(response), self._key, CHAT_COMPLETIONS)
            said = said_in(response.content.decode("utf-8-sig", "replace"))
            return self._refusal(error.status_code, said, request, dialect, retry_after(response.headers))
        if isinstance(error, openai.APITimeoutError | httpx2.TimeoutException):
            silence = Sentence(
                "The model's server didn't respond for {seconds} seconds.", seconds=f"{self._timeout_s:g}"
            )
            return TryLater(silence, overloaded=True)
        if isinstance(error, openai.APIConnectionError):
            return TryLater(Sentence("I can't reach the model's server at {host}.", host=self._host))
        if isinstance(error, httpx2.HTTPError | httpx2.StreamError):
            return TryLater(Sentence("The connection to the model's server was lost."))
        return InvalidRequest(Sentence("I couldn't ask the model's server ({kind}).", kind=type(error).__name__))
