"""Rate limits for all calls: Discord's global one, and Cloudflare's in front of it.

Cloudflare blocks an address after too many refused calls. Its answers lack the header `Via`
(https://docs.discord.com/developers/topics/rate-limits#global-rate-limit, "Invalid Request Limit").
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from types import SimpleNamespace
from weakref import WeakKeyDictionary

import aiohttp

from channels.discord.errors import retry_seconds
from channels.json_fields import load_json

SHORT = 30.0
"""Longest wait in seconds inside a call; for a longer one it raises."""
_CLOUDFLARE = 60.0
"""Seconds to wait if Cloudflare names none."""
_EXEMPT = ("/interactions/", "/webhooks/")
"""Answers to commands are exempt from Discord's global limit."""


class GlobalRateLimit:
    """The limits of all calls of a bot. It outlives a channel's clients."""

    def __init__(self) -> None:
        self._all_until = 0.0
        self._shut_until = 0.0
        self._named: WeakKeyDictionary[object, float] = WeakKeyDictionary()

    def trace(self) -> aiohttp.TraceConfig:
        config = aiohttp.TraceConfig()
        config.on_request_end.append(self._answered)
        return config

    def left(self, path: str = "") -> float:
        """Seconds until a call may be made."""
        until = self._shut_until if any(part in path for part in _EXEMPT) else max(self._all_until, self._shut_until)
        return max(0.0, until - time.monotonic())

    @property
    def shut_out(self) -> str:
        """A sentence while Cloudflare blocks us, else empty."""
        left = self._shut_until - time.monotonic()
        if left <= 0:
            return ""
        shown = f"{left:.0f} s" if left < 120 else f"{left / 60:.0f} min"
        return (
            f"Cloudflare, in front of Discord, blocks this machine's address for another {shown}, because too "
            "many calls were refused (a wrong token somewhere, or another bot behind the same address). Replies wait "
            "until then"
        )

    async def _answered(
        self, _session: aiohttp.ClientSession, _context: SimpleNamespace, seen: aiohttp.TraceRequestEndParams
    ) -> None:
        if seen.response.status == 429:
            try:
                body: object = load_json(await seen.response.read())
            except (aiohttp.ClientError, ValueError):
                body = None
            self._named[seen.response] = retry_seconds(seen.response.headers, body)
            self.met(seen.response.headers, body)

    def named(self, answer: object) -> float:
        return self._named.get(answer, 0.0)

    def met(self, headers: Mapping[str, str], body: object = None) -> None:
        wait = retry_seconds(headers, body)
        # Cloudflare names no limit of Discord's.
        names_a_limit = any(headers.get(f"X-RateLimit-{name}") for name in ("Bucket", "Scope", "Global"))
        if not headers.get("Via") and not names_a_limit:
            self._shut_until = max(self._shut_until, time.monotonic() + (wait or _CLOUDFLARE))
        elif headers.get("X-RateLimit-Global") or (isinstance(body, Mapping) and body.get("global") is True):
            self._all_until = max(self._all_until, time.monotonic() + (wait or 1.0))
