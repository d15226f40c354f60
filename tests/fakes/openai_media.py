"""A server of OpenAI's kind that speaks and draws, as strict as the real ones: what they refuse, it refuses."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests import files
from tests.fakes.parking import Parking

KEY = "sk-media"
SPEECH_MODEL = "tts-test"
VOICE = "alloy"
IMAGE_MODEL = "gpt-image-test"
"""Takes no `response_format`, as those of its family."""
URL_MODEL = "dall-e-test"
"""Answers with an address unless it is asked for the bytes."""
_MOST_INPUT = 4_096
_MOST_PROMPT = 32_000
_CHUNK = 1_000_000
_SPEECH_FIELDS = {"model", "voice", "input", "response_format", "speed", "instructions", "stream_format"}
_IMAGE_FIELDS = {"model", "prompt", "n", "size", "quality", "output_format", "user", "background", "moderation"}


@dataclass
class OpenAiMedia:
    """`status` and `body` replace an answer; `megabytes` sends so many without end; `hold` parks calls until it is
    released; `spoken` and `drawn` hold what was asked for and served."""

    key: str = KEY
    status: int = 200
    body: bytes | None = None
    content_type: str = "audio/ogg"
    megabytes: int = 0
    hold: Parking | None = None
    sound: bytes | None = None
    picture: bytes = field(default_factory=files.picture)
    picture_url: str = ""
    cost: float | None = None
    spoken: list[str] = field(default_factory=list)
    drawn: list[str] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    """Of each call, downloads of pictures too."""
    base_url: str = ""

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[OpenAiMedia]:
        app = web.Application(client_max_size=1_000_000)
        app.router.add_post("/v1/audio/speech", self._speak)
        app.router.add_post("/v1/images/generations", self._draw)
        app.router.add_get("/v1/models", self._models)
        app.router.add_get("/pictures/1.png", self._download)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        host, port = runner.addresses[0][:2]
        self.base_url = f"http://{host}:{port}/v1"
        try:
            yield self
        finally:
            await runner.cleanup()

    @property
    def origin(self) -> str:
        return self.base_url.removesuffix("/v1")

    async def _speak(self, request: web.Request) -> web.StreamResponse:
        asked = await self._checked(request, _SPEECH_FIELDS, {SPEECH_MODEL})
        if isinstance(asked, web.Response):
            return asked
        if asked.get("voice") != VOICE:
            return _refused(400, "Input should be 'alloy', 'ash'…")
        text = asked.get("input")
        if not isinstance(text, str) or not 0 < len(text) <= _MOST_INPUT:
            return _refused(400, "String should have at least 1 and at most 4096 characters")
        if asked.get("response_format") != "opus":
            return _refused(400, "this fake speaks opus only")
        if instead := await self._instead(request):
            return instead
        self.spoken.append(text)
        return web.Response(body=files.opus(text) if self.sound is None else self.sound, content_type="audio/ogg")

    async def _draw(self, request: web.Request) -> web.StreamResponse:
        asked = await self._checked(request, _IMAGE_FIELDS | {"response_format"}, {IMAGE_MODEL, URL_MODEL})
        if isinstance(asked, web.Response):
            return asked
        if asked["model"] == IMAGE_MODEL and "response_format" in asked:
            return _refused(400, "Unknown parameter: 'response_format'.")
        prompt = asked.get("prompt")
        if not isinstance(prompt, str) or not 0 < len(prompt) <= _MOST_PROMPT:
            return _refused(400, "Invalid 'prompt'")
        if instead := await self._instead(request):
            return instead
        self.drawn.append(prompt)
        as_bytes = asked["model"] == IMAGE_MODEL or (
            asked.get("response_format") == "b64_json" and not self.picture_url
        )
        one = {"b64_json": base64.b64encode(self.picture).decode()} if as_bytes else {"url": self.picture_url}
        usage: dict[str, object] = {"input_tokens": 12, "output_tokens": 272, "total_tokens": 284}
        usage |= {"cost": self.cost} if self.cost is not None else {}
        return web.json_response({"created": 1, "data": [one | {"revised_prompt": f"A fine {prompt}"}], "usage": usage})

    async def _models(self, request: web.Request) -> web.StreamResponse:
        if problem := self._unauthorized(request):
            return problem
        if self.status != 200:
            return _refused(self.status, "as the test wants it")
        listed = [{"id": name, "object": "model"} for name in (SPEECH_MODEL, IMAGE_MODEL, URL_MODEL)]
        return web.json_response({"object": "list", "data": listed})

    async def _download(self, request: web.Request) -> web.StreamResponse:
        self.keys.append(request.headers.get("Authorization", ""))
        return web.Response(body=self.picture, content_type="image/png")

    async def _checked(self, request: web.Request, fields: set[str], models: set[str]) -> web.Response | dict[str, Any]:
        if problem := self._unauthorized(request):
            return problem
        if request.content_type != "application/json":
            return _refused(400, "the body must be JSON")
        asked = await request.json()
        if not isinstance(asked, dict) or (unknown := set(asked) - fields):
            return _refused(400, f"Unknown parameter: {sorted(unknown)}" if isinstance(asked, dict) else "no object")
        if asked.get("model") not in models:
            return _refused(404, f"The model `{asked.get('model')}` does not exist")
        return asked

    def _unauthorized(self, request: web.Request) -> web.Response | None:
        self.keys.append(request.headers.get("Authorization", ""))
        is_right = not self.key or self.keys[-1] == f"Bearer {self.key}"
        return None if is_right else _refused(401, "Incorrect API key provided")

    async def _instead(self, request: web.Request) -> web.StreamResponse | None:
        if self.hold is not None:
            await self.hold.park()
        if self.status != 200:
            return _refused(self.status, "as the test wants it")
        if self.megabytes:
            response = web.StreamResponse(headers={"Content-Type": self.content_type})
            await response.prepare(request)
            for _ in range(self.megabytes):
                await response.write(bytes(_CHUNK))
                await asyncio.sleep(0)
            return response
        if self.body is not None:
            return web.Response(body=self.body, content_type=self.content_type)
        return None


def _refused(status: int, message: str) -> web.Response:
    error = {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": None}}
    return web.json_response(error, status=status)
