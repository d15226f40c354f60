"""Vectors from an OpenAI-compatible `POST /embeddings`."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from agent.formats.parsing import load_json
from agent.search.vectors.encoder import NoEmbedding, Vector

if TYPE_CHECKING:
    import httpx

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
        self._client: httpx.Client | None = None

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
        import httpx  # noqa: PLC0415 (only where texts are to be embedded)

        if self._client is None:
            headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
            self._client = httpx.Client(headers=headers)
        wanted = [text[:_MOST_CHARS] for text in texts]
        try:
            answer = self._client.post(
                self._url,
                json={"model": self._model, "input": wanted, "encoding_format": "float"},
                timeout=httpx.Timeout(seconds, connect=min(seconds, _CONNECT)),
            )
            answer.raise_for_status()
            return _parse_vectors(load_json(answer.content), len(texts))
        except httpx.HTTPStatusError as refusal:
            status = refusal.response.status_code
            what = "the key" if status in _KEY_REFUSED else "it"
            kind = _TextRefused if status in _TEXT_REFUSED else NoEmbedding
            raise kind(f"the embedding server refused {what} ({status})") from refusal
        except httpx.HTTPError as problem:
            raise NoEmbedding(f"the embedding server cannot be reached ({type(problem).__name__})") from problem
        except (ValueError, KeyError, TypeError) as problem:
            raise NoEmbedding("the embedding server's answer is not what such servers answer") from problem

    def knows(self, text: str) -> bool:
        return bool(text.strip())

    def close(self) -> None:
        if self._client is not None:
            self._client.close()


def _parse_vectors(answer: Any, count: int) -> list[Vector]:
    found: dict[int, Vector] = {int(one["index"]): _unit(one["embedding"]) for one in answer["data"]}
    vectors = [found[at] for at in range(count)]
    if len({len(vector) for vector in vectors}) > 1:
        raise ValueError("vectors of several sizes")
    return vectors


def _unit(numbers: Sequence[float]) -> Vector:
    length = math.sqrt(sum(number * number for number in numbers))
    if not math.isfinite(length) or not length:
        raise ValueError("a vector that points nowhere")
    return [number / length for number in numbers]
