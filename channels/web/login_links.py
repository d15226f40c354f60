"""Secrets of links that log in: each works once, within ten minutes. Kept in memory only, as hashes."""

from __future__ import annotations

import hmac
import secrets
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256

LINK_SECONDS = 600
_MOST = 20
"""Unused links at a time; a further one replaces the oldest."""


@dataclass(frozen=True, slots=True)
class _Link:
    digest: bytes
    made_at: float


class LoginLinks:
    """`now`: seconds since 1970; a clock that was set back ends the links that are then in the future."""

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self._now = now
        self._open: deque[_Link] = deque(maxlen=_MOST)

    def new_secret(self) -> str:
        secret = secrets.token_urlsafe(32)
        self._open.append(_Link(_digest(secret), self._now()))
        return secret

    def redeem(self, shown: str) -> bool:
        """True the first time that a secret is shown in time."""
        digest, now = _digest(shown), self._now()
        # Every link is compared, so the time that this takes says nothing about any of them.
        found = [link for link in self._open if hmac.compare_digest(link.digest, digest)]
        for link in found:
            self._open.remove(link)
        return any(0 <= now - link.made_at < LINK_SECONDS for link in found)


def url_of(address: str, secret: str) -> str:
    """The link: its secret is in the fragment, which no browser sends and so no log has."""
    return f"{address}/#once={secret}"


def _digest(secret: str) -> bytes:
    return sha256(secret.encode("utf-8", "replace")).digest()
