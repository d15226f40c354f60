"""What a test makes go wrong with REST calls, and the rate limits that a hasty bot runs into."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.fakes.discord.errors import throttled
from tests.fakes.parking import Parking


@dataclass(slots=True)
class Fault:
    """Waits for `times` calls (None: all). `after_effect`: the call is carried out, and the fault meets its answer.
    `status` 0 cuts the connection. `hits` counts the calls it met."""

    method: str
    path: re.Pattern[str]
    status: int = 500
    json: Any = None
    text: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    after_effect: bool = False
    seconds: float = 0.0
    times: int | None = 1
    hits: int = 0

    def matches(self, method: str, path: str) -> bool:
        alive = self.times is None or self.hits < self.times
        return alive and self.method in ("*", method) and self.path.search(path) is not None

    def cancel(self) -> None:
        self.times = self.hits


@dataclass(slots=True, kw_only=True)
class Hold(Parking):
    """Parks calls of `method` (`*`: any) to `path`. `after_effect`: they are carried out, and their answers wait."""

    method: str
    path: re.Pattern[str]
    after_effect: bool

    def matches(self, method: str, path: str) -> bool:
        return not self.is_over and self.method in ("*", method) and self.path.search(path) is not None


@dataclass(frozen=True, slots=True)
class Rule:
    """`count` calls of a route in `seconds`, for each channel (or webhook) apart."""

    method: str
    path: re.Pattern[str]
    count: int
    seconds: float

    @property
    def bucket(self) -> str:
        return hashlib.md5(f"{self.method} {self.path.pattern}".encode()).hexdigest()


def rule(method: str, path: str, count: int, seconds: float) -> Rule:
    return Rule(method, re.compile(path), count, seconds)


RULES = (
    rule("POST", r"^/channels/\d+/messages$", 5, 5.0),
    rule("PATCH", r"^/channels/\d+/messages/\d+$", 5, 5.0),
    rule("GET", r"^/channels/\d+/messages$", 5, 5.0),
    rule("DELETE", r"^/channels/\d+/messages/\d+$", 5, 1.0),
    rule("POST", r"^/channels/\d+/typing$", 5, 5.0),
    rule("PUT", r"^/channels/\d+/messages/\d+/reactions/", 1, 0.25),
    rule("DELETE", r"^/channels/\d+/messages/\d+/reactions/", 1, 0.25),
    rule("POST", r"^/webhooks/\d+/[^/]+$", 5, 2.0),
    rule("PATCH", r"^/webhooks/\d+/[^/]+/messages/", 5, 2.0),
)
"""As bots observe them; Discord publishes none and wants the headers read
(https://discord.com/developers/docs/topics/rate-limits)."""


@dataclass(slots=True)
class _Window:
    ends: float
    used: int = 0


@dataclass(slots=True)
class Limits:
    """Fixed windows, begun by their first call; and `per_second` calls of the bot altogether in `second` seconds."""

    rules: tuple[Rule, ...] = RULES
    per_second: int = 50
    second: float = 1.0
    _windows: dict[tuple[str, str], _Window] = field(default_factory=dict)
    _all: _Window = field(default_factory=lambda: _Window(0.0))

    def spend(self, method: str, path: str, now: float, epoch: float) -> dict[str, str]:
        """The headers of a call that is taken. Raises `ApiError` (429) for one that is not."""
        if not path.startswith(("/interactions/", "/webhooks/")):
            self._spend_global(now)
        rule = next((one for one in self.rules if one.method == method and one.path.search(path)), None)
        if rule is None:
            return {}
        major = "/".join(path.split("/")[1:3])
        window = self._windows.get((rule.bucket, major))
        if window is None or window.ends <= now:
            window = self._windows[rule.bucket, major] = _Window(now + rule.seconds)
        over = window.used >= rule.count
        window.used += 0 if over else 1
        left = window.ends - now
        headers = {
            "X-RateLimit-Limit": str(rule.count),
            "X-RateLimit-Remaining": str(rule.count - window.used),
            "X-RateLimit-Reset": f"{epoch + left:.3f}",
            "X-RateLimit-Reset-After": f"{left:.3f}",
            "X-RateLimit-Bucket": rule.bucket,
        }
        if over:
            error = throttled(left)
            error.headers |= headers
            raise error
        return headers

    def _spend_global(self, now: float) -> None:
        if self._all.ends <= now:
            self._all = _Window(now + self.second)
        if self._all.used >= self.per_second:
            raise throttled(self._all.ends - now, scope="global")
        self._all.used += 1
