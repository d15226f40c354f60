"""The model behind a Messages API server, Anthropic's or another.

Importing the SDK costs about a second and 76 MB, so `anthropic.client` is loaded on a thread at the first call.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING

from agent.formats.imports import without_collector
from agent.languages.sentences import Sentence, joined
from agent.model.answering import AnswerReader
from agent.model.base import AccessDenied, AnswerTooLong, InvalidRequest, Json, ModelEvent, ModelNotFound, ModelRequest
from agent.model.errors import client_made

if TYPE_CHECKING:
    from agent.model.anthropic.client import AnthropicClient

ANTHROPIC_URL = "https://api.anthropic.com"
WINDOW_S = 3.0
"""Seconds to ask for the window's size, for which a first answer waits."""
_MOST_NAMES = 12
"""Models that are listed where one is not known."""


class AnthropicModel:
    """`base_url` with or without `/v1`, None for Anthropic's; `timeout_s`: the longest silence within a call;
    `window_s`: the longest wait for the models endpoint. The key may be empty. The SDK's environment variables do not
    count."""

    def __init__(
        self, api_key: str, base_url: str | None = None, timeout_s: float = 120.0, window_s: float = WINDOW_S
    ) -> None:
        self._key = api_key.strip()
        self._base_url = (base_url or ANTHROPIC_URL).rstrip("/").removesuffix("/v1")
        self._timeout_s = timeout_s
        self._window_s = window_s
        self._answers = AnswerReader(timeout_s, is_makers=self._base_url == ANTHROPIC_URL)
        self._client: AnthropicClient | None = None
        self._opening = asyncio.Lock()
        self._windows: dict[str, int] = {}
        self._most: dict[str, int] = {}

    def __repr__(self) -> str:
        return f"AnthropicModel(base_url={self._base_url!r})"

    async def warm_up(self) -> None:
        """Imports the SDK and builds the client ahead of the first call."""
        await self._opened()

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        problem = self._key_problem()
        if problem is not None:
            raise AccessDenied(problem)
        client = await self._opened()
        allowed = self._allowed(request)
        try:
            async with contextlib.aclosing(self._answers.read(client.events(allowed), allowed)) as events:
                async for event in events:
                    yield event
            return
        except AnswerTooLong as error:
            if error.most >= request.max_tokens or error.most == self._most.get(request.model):
                raise
            self._most[request.model] = error.most  # refused before anything was said
        except ModelNotFound as error:
            raise ModelNotFound(joined([str(error), known_models(await client.models())], " ")) from error
        allowed = self._allowed(request)
        async with contextlib.aclosing(self._answers.read(client.events(allowed), allowed)) as events:
            async for event in events:
                yield event

    def _allowed(self, request: ModelRequest) -> ModelRequest:
        most = self._most.get(request.model, request.max_tokens)
        return request if most >= request.max_tokens else dataclasses.replace(request, max_tokens=most)

    async def context_window(self, model: str) -> int | None:
        if model not in self._windows and self._key_problem() is None:
            try:
                window = await (await self._opened()).window(model)
            except InvalidRequest:  # there is no client: said where it is asked something
                return None
            if window is None:
                return None
            self._windows[model] = window
        return self._windows.get(model)

    async def aclose(self) -> None:
        if self._client is not None:
            await self._client.aclose()

    async def _opened(self) -> AnthropicClient:
        async with self._opening:
            if self._client is None:
                self._client = await asyncio.to_thread(
                    _load, self._key, self._base_url, self._timeout_s, self._window_s
                )
            return self._client

    def _key_problem(self) -> str | None:
        if not self._key and self._base_url == ANTHROPIC_URL:
            return Sentence("No API key is set. Put {key}=… into .env and restart Daybook.", key="ANTHROPIC_API_KEY")
        if not (self._key.isascii() and self._key.isprintable() and " " not in self._key):
            return Sentence(
                "The API key contains characters that keys never have. Check {key} in .env.", key="ANTHROPIC_API_KEY"
            )
        return None


def known_models(models: list[str]) -> str:
    shown = ", ".join(models[:_MOST_NAMES])
    shown += ", …" if len(models) > _MOST_NAMES else ""
    return Sentence("It has: {models}.", models=shown) if models else ""


def _load(key: str, base_url: str, timeout_s: float, window_s: float) -> AnthropicClient:
    with without_collector():
        from agent.model.anthropic.client import AnthropicClient  # noqa: PLC0415 (imports the SDK)

    with client_made():
        return AnthropicClient(key, base_url, timeout_s, window_s)


_WINDOW = (
    "max_input_tokens",  # Anthropic
    "max_model_len",  # vLLM, SGLang
    "loaded_context_length",  # LM Studio: as it is loaded, before what it could be
    "max_context_length",
    "context_length",  # OpenRouter
    "context_window",  # Groq
    "n_ctx",  # llama.cpp, in `meta`; its `n_ctx_train` is only what the model could take
)
_LARGEST = 100_000_000


def entries_of(page: Json) -> list[Mapping[str, Json]]:
    listed = page.get("data") if isinstance(page, Mapping) else page
    return [entry for entry in listed if isinstance(entry, Mapping)] if isinstance(listed, list) else []


def window_of(entry: Json) -> int | None:
    """Tokens of the window, in whichever field."""
    if not isinstance(entry, Mapping):
        return None
    meta = entry.get("meta")
    fields = {**(meta if isinstance(meta, Mapping) else {}), **entry}
    for name in _WINDOW:
        if size := _size(fields.get(name)):
            return size
    return None


def _size(value: Json) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 12:
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= _LARGEST else None
