"""The model behind a chat completions server, OpenAI's or another.

As with Anthropic's, the SDK is loaded on a thread at the first call. What a server refuses of a request is left out of
the next ones, for as long as the process lives.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import logging
from collections.abc import AsyncGenerator, AsyncIterator
from typing import TYPE_CHECKING

from agent.clock import Clock
from agent.formats.imports import without_collector
from agent.languages.sentences import Sentence, joined
from agent.model.answering import AnswerReader
from agent.model.anthropic.model import WINDOW_S, known_models
from agent.model.base import (
    AccessDenied,
    AnswerTooLong,
    Completed,
    InvalidRequest,
    ModelEvent,
    ModelNotFound,
    ModelRequest,
    ToolCallStarted,
    Usage,
)
from agent.model.errors import client_made
from agent.model.offline.memory_calls import MemoryCall, asked_calls, call_blocks
from agent.model.openai.dialect import OPENAI_URL, Dialect, FeatureRefused, api_root
from agent.model.tokens import estimate_request
from agent.silence import deliverable_text

if TYPE_CHECKING:
    from agent.model.openai.client import OpenAIClient

_log = logging.getLogger(__name__)

HOSTED_WINDOW = 128_000
"""Tokens that OpenAI's current models have at least; it does not say."""
CAREFUL_WINDOW = 32_768
"""Where a server says nothing: small enough for most, large enough to work in."""
_MOST_LESSONS = 8


class OpenAIModel:
    """Arguments as those of `AnthropicModel`; `clock` tells today, for models that have no tools."""

    def __init__(
        self,
        api_key: str,
        base_url: str | None = None,
        timeout_s: float = 120.0,
        window_s: float = WINDOW_S,
        *,
        clock: Clock,
    ) -> None:
        self._key = api_key.strip()
        self._root = api_root(base_url)
        self._timeout_s = timeout_s
        self._window_s = window_s
        self._clock = clock
        self._answers = AnswerReader(timeout_s, is_makers=self._is_openais)
        self._client: OpenAIClient | None = None
        self._opening = asyncio.Lock()
        self._windows: dict[str, int] = {}
        self._most: dict[str, int] = {}
        self._dialects: dict[str, Dialect] = {}

    def __repr__(self) -> str:
        return f"OpenAIModel(root={self._root!r})"

    async def warm_up(self) -> None:
        await self._opened()

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        problem = self._key_problem()
        if problem is not None:
            raise AccessDenied(problem)
        client = await self._opened()
        for lesson in range(_MOST_LESSONS):
            if calls := self._calls_in_words(request):
                for call in calls:
                    yield ToolCallStarted(call.name)
                yield Completed(tuple(call_blocks(request, calls, "words")), "tool_use", Usage(), request.model)
                return
            try:
                async with contextlib.aclosing(self._answer(client, self._allowed(request))) as events:
                    async for event in events:
                        yield event
                return
            except FeatureRefused as refused:
                if lesson == _MOST_LESSONS - 1:
                    raise
                if not refused.dialect.tools and self._dialect(request.model).tools:
                    _log.warning("%s has no tools: notes are made and found by the words of messages", request.model)
                self._dialects[request.model] = refused.dialect
            except AnswerTooLong as error:
                if error.most >= request.max_tokens or error.most == self._most.get(request.model):
                    raise
                self._most[request.model] = error.most
            except ModelNotFound as error:
                raise ModelNotFound(joined([str(error), known_models(await client.models())], " ")) from error

    async def context_window(self, model: str) -> int | None:
        if self._key_problem() is not None:
            return None
        if self._is_openais:
            return HOSTED_WINDOW
        if model not in self._windows:
            try:
                window = await (await self._opened()).window(model)
            except InvalidRequest:  # there is no client: said where it is asked something
                return CAREFUL_WINDOW
            if window is None:
                return CAREFUL_WINDOW
            self._windows[model] = window
        return self._windows[model]

    async def aclose(self) -> None:
        if self._client is not None:
            await self._client.aclose()

    @property
    def _is_openais(self) -> bool:
        return self._root == OPENAI_URL

    def _dialect(self, model: str) -> Dialect:
        first = Dialect(limit="max_completion_tokens") if self._is_openais else Dialect()
        return self._dialects.get(model, first)

    def _allowed(self, request: ModelRequest) -> ModelRequest:
        most = self._most.get(request.model, request.max_tokens)
        return request if most >= request.max_tokens else dataclasses.replace(request, max_tokens=most)

    def _calls_in_words(self, request: ModelRequest) -> list[MemoryCall]:
        if self._dialect(request.model).tools or request.purpose not in ("chat", "job"):
            return []
        return asked_calls(request, self._clock.today())

    async def _opened(self) -> OpenAIClient:
        async with self._opening:
            if self._client is None:
                self._client = await asyncio.to_thread(_load, self._key, self._root, self._timeout_s, self._window_s)
            return self._client

    async def _answer(self, client: OpenAIClient, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        dialect = self._dialect(request.model)
        told = client.events(request, dialect, estimate_request(request))
        async with contextlib.aclosing(self._answers.read(told, request)) as events:
            async for event in events:
                if isinstance(event, Completed) and not dialect.tools and request.purpose == "flush":
                    event = _written_down(request, event)
                yield event

    def _key_problem(self) -> str | None:
        if not self._key and self._is_openais:
            return Sentence("No API key is set. Put {key}=… into .env and restart Daybook.", key="OPENAI_API_KEY")
        if not (self._key.isascii() and (self._key.isprintable()) and " " not in self._key):
            return Sentence(
                "The API key contains characters that keys never have. Check {key} in .env.", key="OPENAI_API_KEY"
            )
        return None


def _written_down(request: ModelRequest, answer: Completed) -> Completed:
    text = deliverable_text(answer.text)
    if not text or "memory_append" not in {tool.name for tool in request.tools}:
        return answer
    blocks = call_blocks(request, [MemoryCall("memory_append", {"text": text})], "words")
    return dataclasses.replace(answer, content=tuple(blocks), stop_reason="tool_use")


def _load(key: str, root: str, timeout_s: float, window_s: float) -> OpenAIClient:
    with without_collector():
        from agent.model.openai.client import OpenAIClient  # noqa: PLC0415 (imports the SDK)

    with client_made():
        return OpenAIClient(key, root, timeout_s, window_s)
