"""A server of OpenAI's kind for `POST /v1/embeddings`, as strict as the real ones: what they refuse, it refuses.

Words that mean alike lie in one direction: `meanings` groups them. Every other word has a direction of its own.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from aiohttp import web

KEY = "sk-embeddings"
MODEL = "text-embedding-test"
_MOST_INPUTS = 2_048
_MOST_CHARS = 32_000
_BETWEEN_SPACES = 0.5
"""Seconds."""


def is_too_slow(problem: str) -> bool:
    """Whether this machine was slower than an embedder may be. That says nothing of the embedder: ask again."""
    return any(slow in problem for slow in ("did not answer in time", "(ReadTimeout)", "(ConnectTimeout)"))


_FIELDS = {"model", "input", "encoding_format", "dimensions", "user"}


@dataclass
class Embeddings:
    """`silent` is waited for before each answer; until `hold` is set, vectors are announced and only spaces come, so
    that whoever asked does not give up; `status` other than 200 refuses everything, and 400 what holds a word of
    `refused`; `requests` holds the inputs of each that was served."""

    meanings: Sequence[Sequence[str]] = ()
    size: int = 64
    key: str = KEY
    model: str = MODEL
    silent: asyncio.Event | None = None
    hold: asyncio.Event | None = None
    status: int = 200
    refused: str = ""
    answer: str | None = None
    requests: list[list[str]] = field(default_factory=list)
    base_url: str = ""

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[Embeddings]:
        app = web.Application(client_max_size=64_000_000)
        app.router.add_post("/v1/embeddings", self._handle)
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        host, port = runner.addresses[0][:2]
        self.base_url = f"http://{host}:{port}/v1"
        try:
            yield self
        finally:
            await runner.cleanup()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        if self.key and request.headers.get("Authorization") != f"Bearer {self.key}":
            return _refused(401, "Incorrect API key provided")
        if request.content_type != "application/json":
            return _refused(400, "the body must be JSON")
        try:
            body = await request.json()
        except ValueError:
            return _refused(400, "the body is no JSON")
        if problem := self._problem(body):
            return problem
        if self.silent is not None:
            await self.silent.wait()
        if self.status != 200:
            return _refused(self.status, "as the test wants it")
        if self.answer is not None:
            return web.Response(text=self.answer, content_type="application/json")
        texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
        self.requests.append(texts)
        data = [{"object": "embedding", "index": at, "embedding": self.vector(text)} for at, text in enumerate(texts)]
        usage = {"prompt_tokens": sum(map(len, texts)), "total_tokens": sum(map(len, texts))}
        # the order of `data` is not promised; `index` is
        answer = {"object": "list", "data": data[::-1], "model": self.model, "usage": usage}
        return web.json_response(answer) if self.hold is None else await self._held(request, self.hold, answer)

    @staticmethod
    async def _held(request: web.Request, hold: asyncio.Event, answer: object) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        while not hold.is_set():
            await response.write(b" ")  # which JSON allows before a value
            with suppress(TimeoutError):
                await asyncio.wait_for(hold.wait(), _BETWEEN_SPACES)
        await response.write(json.dumps(answer).encode())
        await response.write_eof()
        return response

    def _problem(self, body: object) -> web.Response | None:
        if not isinstance(body, dict) or (unknown := set(body) - _FIELDS):
            return _refused(400, f"Unrecognized request argument supplied: {sorted(unknown)}" if body else "no object")
        if body.get("model") != self.model:
            return _refused(404, f"The model `{body.get('model')}` does not exist")
        if body.get("encoding_format", "float") != "float":
            return _refused(400, "this fake knows floats only")
        texts = body.get("input")
        texts = [texts] if isinstance(texts, str) else texts
        if not isinstance(texts, list) or not 0 < len(texts) <= _MOST_INPUTS:
            return _refused(400, "'input' must be a text or a list of at most 2048")
        if any(not isinstance(text, str) or not text or len(text) > _MOST_CHARS for text in texts):
            return _refused(400, "an input is empty, no text, or longer than the model takes")
        if self.refused and any(self.refused in text for text in texts):
            return _refused(400, "as the test wants it")
        return None

    def vector(self, text: str) -> list[float]:
        found = [0.0] * self.size
        for word in re.findall(r"\w+", text.lower()):
            group = next((at for at, words in enumerate(self.meanings) if word in words), None)
            name = f"group {group}" if group is not None else word
            seed = hashlib.sha256(name.encode()).digest()
            found[seed[0] % self.size] += 1.0 if group is None else 4.0
            found[seed[1] % self.size] += 0.5 if seed[2] % 2 else -0.5
        length = math.sqrt(sum(number * number for number in found)) or 1.0
        return [number / length for number in found] if any(found) else [1.0, *found[1:]]


def _refused(status: int, message: str) -> web.Response:
    error = {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": None}}
    return web.Response(status=status, text=json.dumps(error), content_type="application/json")
