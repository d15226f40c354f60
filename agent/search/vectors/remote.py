"""Vectors from an OpenAI-compatible `POST /embeddings`."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager
from threading import Lock
from typing import TYPE_CHECKING, Any

from agent.formats.parsing import load_json
from agent.languages.sentences import Sentence
from agent.search.vectors.encoder import NoEmbedding, Vector

if TYPE_CHECKING:
    import aiohttp
    from anyio.from_thread import BlockingPortal

_CONNECT = 5.0
_KEY_REFUSED = (401, 403)
_TEXT_REFUSED = (400, 413, 422, 500)
"""Status codes for texts that are too long or crash the server."""
_HARMLESS = "What is said here?"
_MOST_CHARS = 8_000
"""Per text. The usual limit is 8,192 tokens; passages and windows are far shorter."""


class _TextRefused(NoEmbedding):
    """Possibly because of a single text."""


class RemoteEncoder:
    """`base_url` includes `/v1`. The key may be empty."""

    batch = 16

    def __init__(self, base_url: str, model: str, api_key: str = "") -> None:
        self.id = f"server-{hashlib.sha256(f'{base_url} {model}'.encode()).hexdigest()[:16]}"
        self._url = f"{base_url.rstrip('/')}/embeddings"
        self._model = model
        self._key = api_key
        self._opening = Lock()
        self._connection: _Connection | None = None

    def encode(self, texts: Sequence[str], seconds: float, *, is_question: bool = False) -> Sequence[Vector]:
        try:
            return self._encode(texts, seconds)
        except _TextRefused:
            if is_question:
                raise
            return self._encode_singly(texts, seconds)

    def _encode_singly(self, texts: Sequence[str], seconds: float) -> Sequence[Vector]:
        """A text refused alone gets a zero vector, if the server accepts another one."""
        (harmless,) = self._encode([_HARMLESS], seconds)
        found: list[Vector] = []
        for text in texts:
            try:
                found += self._encode([text], seconds)
            except _TextRefused:
                found.append([0.0] * len(harmless))
        return found

    def _encode(self, texts: Sequence[str], seconds: float) -> Sequence[Vector]:
        from agent.formats import http  # noqa: PLC0415 (only where texts are to be embedded)

        with self._opening:
            if self._connection is None:
                self._connection = _Connection(self._key)
        wanted = {
            "model": self._model,
            "input": [text[:_MOST_CHARS] for text in texts],
            "encoding_format": "float",
        }
        try:
            return _parse_vectors(load_json(self._connection.post(self._url, wanted, seconds)), len(texts))
        except http.RefusedCall as refusal:
            kind = _TextRefused if refusal.status in _TEXT_REFUSED else NoEmbedding
            it = Sentence("the embedding server refused it ({status})", status=refusal.status)
            key = Sentence("the embedding server refused the key ({status})", status=refusal.status)
            raise kind(key if refusal.status in _KEY_REFUSED else it) from refusal
        except http.Unreachable as problem:
            raise NoEmbedding(Sentence("the embedding server cannot be reached ({why})", why=problem)) from problem
        except (ValueError, KeyError, TypeError) as problem:
            raise NoEmbedding(Sentence("the embedding server's answer is not what such servers answer")) from problem

    def knows(self, text: str) -> bool:
        return bool(text.strip())

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()


class _Connection:
    """A session on an event loop of its own, for the threads that encode."""

    def __init__(self, key: str) -> None:
        from anyio.from_thread import start_blocking_portal  # noqa: PLC0415

        from agent.formats import http  # noqa: PLC0415

        async def opened() -> aiohttp.ClientSession:
            return http.open_session(key)

        self._post: Callable[..., Awaitable[bytes]] = http.post
        self._running: AbstractContextManager[BlockingPortal] = start_blocking_portal()
        self._portal = self._running.__enter__()
        self._session = self._portal.call(opened)

    def post(self, url: str, body: object, seconds: float) -> bytes:
        async def posted() -> bytes:
            return await self._post(self._session, url, seconds, connect=_CONNECT, json=body)

        answer: bytes = self._portal.call(posted)
        return answer

    def close(self) -> None:
        self._portal.call(self._session.close)
        self._running.__exit__(None, None, None)


def _parse_vectors(answer: Any, count: int) -> list[Vector]:
    found: dict[int, Vector] = {int(item["index"]): _unit(item["embedding"]) for item in answer["data"]}
    vectors = [found[at] for at in range(count)]
    if len({len(vector) for vector in vectors}) > 1:
        raise ValueError("vectors of several sizes")
    return vectors


def _unit(numbers: Sequence[float]) -> Vector:
    length = math.sqrt(sum(number * number for number in numbers))
    if not math.isfinite(length) or not length:
        raise ValueError("a vector that points nowhere")
    return [number / length for number in numbers]
