"""Makes pictures on a server that speaks OpenAI's `POST /images/generations`."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from urllib.parse import urlsplit

import aiohttp

from agent.formats import http
from agent.formats.addresses import AddressRefused, AddressRules
from agent.formats.network import tls
from agent.formats.parsing import load_json
from gateway.features.pictures.painter import DrawnPicture, NotDrawn

SECONDS = 180.0
"""The time to make a picture."""
MOST_BYTES = 15_000_000
_FETCH_SECONDS = 60.0
_ODD = "the server's answer is not what such servers answer"


@dataclass(frozen=True, slots=True)
class ImageServer:
    """`base_url` includes `/v1`; the key may be empty."""

    base_url: str
    model: str
    api_key: str = field(default="", repr=False)
    seconds: float = SECONDS

    @property
    def host(self) -> str:
        return urlsplit(self.base_url).hostname or self.base_url

    async def draw(self, prompt: str) -> DrawnPicture:
        """Raises `NotDrawn`."""
        try:
            answer = load_json(await self._asked(prompt))
            found = answer["data"][0]
            inline = found.get("b64_json")
            content = base64.b64decode(inline, validate=True) if inline else await self._fetched(str(found["url"]))
            usage = answer.get("usage")
        except http.RefusedCall as refusal:
            raise NotDrawn(f"the server refused it ({refusal.status})") from refusal
        except http.Unreachable as problem:
            raise NotDrawn(f"the server cannot be reached ({problem})") from problem
        except (ValueError, KeyError, TypeError, IndexError, AttributeError) as problem:
            raise NotDrawn(_ODD) from problem
        told = usage if isinstance(usage, Mapping) else {}
        cost = told.get("cost")
        return DrawnPicture(
            content,
            float(cost) if isinstance(cost, int | float) and 0 <= cost < 1_000 else None,
            _count(told.get("input_tokens")),
            _count(told.get("output_tokens")),
        )

    async def _asked(self, prompt: str) -> bytes:
        """Requests bytes, and again without that wish: some models always give bytes and refuse it."""
        url = f"{self.base_url.rstrip('/')}/images/generations"
        wanted = {"model": self.model, "prompt": prompt, "n": 1}
        async with http.open_session(self.api_key) as session:
            try:
                as_bytes = {**wanted, "response_format": "b64_json"}
                return await http.post(session, url, self.seconds, connect=10, json=as_bytes)
            except http.RefusedCall as refusal:
                if refusal.status != HTTPStatus.BAD_REQUEST:
                    raise
            return await http.post(session, url, self.seconds, connect=10, json=wanted)

    async def _fetched(self, url: str) -> bytes:
        """Fetches a picture; sends the key to the own server only. Raises `NotDrawn`."""
        is_own = _origin(url) == _origin(self.base_url)
        if not is_own:
            try:
                is_safe = AddressRules().checked(url).scheme == "https"
            except AddressRefused:
                is_safe = False
            if not is_safe:
                raise NotDrawn("its address is not public")
        headers = {"Authorization": f"Bearer {self.api_key}"} if self.api_key and is_own else {}
        connector = aiohttp.TCPConnector(resolver=None if is_own else http.PublicResolver(AddressRules()), ssl=tls())
        timeout = aiohttp.ClientTimeout(total=_FETCH_SECONDS, sock_connect=10)
        try:
            async with (
                aiohttp.ClientSession(connector=connector, headers=headers, timeout=timeout) as session,
                session.get(url, allow_redirects=False) as answer,
            ):
                if answer.status != HTTPStatus.OK:
                    raise NotDrawn(f"it cannot be fetched ({answer.status})")
                body = bytearray()
                async for chunk in answer.content.iter_any():
                    body += chunk
                    if len(body) > MOST_BYTES:
                        raise NotDrawn(f"it has more than {MOST_BYTES // 1_000_000} MB")
        except (aiohttp.ClientError, OSError, ValueError) as problem:  # among them TimeoutError
            raise NotDrawn(f"it cannot be fetched ({type(problem).__name__})") from problem
        return bytes(body)


def _origin(url: str) -> tuple[str, str, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname or "", parts.port


def _count(value: object) -> int:
    return value if isinstance(value, int) and 0 <= value < 10**9 else 0
