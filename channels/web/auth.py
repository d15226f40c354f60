"""Checks host, origin and token of requests. Pure, but for the time.

Host: only names of this machine and the address of the user's proxy, against DNS rebinding. Origin: only our own page.
Token: as a bearer token, or at the login for a session. A new token signs out all browsers.

A session's secret has two halves, signed with the token. Every port of this machine gets the cookie, so another user's
server may see it; only our origin can read the page key in `localStorage`. Neither suffices alone; for requests without
a script a short-lived signed path replaces the page key. Logged-out sessions are stored: copies must not work.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import math
import re
import secrets
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Collection
from dataclasses import dataclass
from urllib.parse import urlsplit

_HOST = re.compile(r"(?:\[(?P<v6>[0-9a-fA-F:.]+)\]|(?P<name>[A-Za-z0-9._-]+))(?::(?P<port>[0-9]{1,5}))?")
_LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})
_WILDCARDS = frozenset({"", "0.0.0.0", "::"})
SESSION_SECONDS = 30 * 86_400
"""Lifetime of a session after its last use."""
_RENEWED_AFTER = 86_400
"""Seconds after which a session in use is renewed."""
PATH_SECONDS = 600
"""Lifetime of a signed path."""
_MOST_WRONG = 10
_WRONG_WITHIN = 60.0
"""Wrong tokens within so many seconds, after which an address has to wait."""
_BEYOND_GUESSING = 16
"""Length of a token that cannot be guessed."""
_ADDRESSES = 1_000
"""Addresses remembered with their wrong tokens."""
LINK_SECONDS = 600
"""Lifetime of a link that logs in."""
_MOST_LINKS = 20
"""Unused links at a time; a further link replaces the oldest."""

Now = Callable[[], float]


@dataclass(frozen=True, slots=True)
class WebSession:
    id: str
    until: int
    """Seconds since 1970."""


class Auth:
    """`ports`: all listening ports; `token`: at least one character; `ended`: ids of logged-out sessions;
    `public_url`: the origin under which a proxy serves the page, if any."""

    def __init__(
        self,
        token: str,
        host: str,
        ports: Collection[int],
        now: Now = time.time,
        ended: Collection[str] = (),
        public_url: str = "",
    ) -> None:
        self._ended = set(ended)
        self._public = urlsplit(public_url.lower())
        self._token = token.encode()
        self._key = hashlib.sha256(b"daybook web session of two halves\0" + self._token).digest()
        self._names = _LOCAL | ({host.lower()} - _WILDCARDS)
        self._ports = frozenset(ports)
        self._now = now
        self._wrong: OrderedDict[str, deque[float]] = OrderedDict()

    # host and origin

    def is_our_host(self, host: str, reached_at: str = "") -> bool:
        """`reached_at`: our address on the connection; a number cannot be rebound."""
        if self.is_public(host):
            return True
        found = _HOST.fullmatch(host)
        if found is None or int(found["port"] or 80) not in self._ports:
            return False
        name = (found["v6"] or found["name"]).lower()
        return name in self._names or (bool(reached_at) and _address(name) == _address(reached_at) is not None)

    def is_public(self, host: str) -> bool:
        """True for a request that came by the proxy."""
        return bool(host) and host.lower() == self._public.netloc

    def is_encrypted(self, host: str) -> bool:
        return self.is_public(host) and self._public.scheme == "https"

    def is_our_origin(self, origin: str, host: str) -> bool:
        scheme = self._public.scheme if self.is_public(host) else "http"
        return origin.lower() == f"{scheme}://{host.lower()}"

    # token

    def is_token(self, shown: str) -> bool:
        return hmac.compare_digest(shown.encode("utf-8", "replace"), self._token)

    @property
    def is_beyond_guessing(self) -> bool:
        """True for a long token, for which nobody has to wait."""
        return len(self._token) >= _BEYOND_GUESSING

    # session

    def new_session(self) -> WebSession:
        return WebSession(secrets.token_hex(8), self._session_end())

    def cookie(self, session: WebSession) -> str:
        text = f"{session.until}.{session.id}"
        return f"{text}.{self._signature('cookie', text)}"

    def page_key(self, session: WebSession) -> str:
        return self._signature("page key", session.id)

    def session(self, cookie: str) -> WebSession | None:
        """The session of a cookie, which is not sufficient alone; None if it is over."""
        text, _, signature = cookie.rpartition(".")
        if not self._is_signature(signature, "cookie", text):
            return None
        until, _, id = text.partition(".")
        return WebSession(id, int(until)) if int(until) > self._now() and id not in self._ended else None

    def is_page_key(self, shown: str, session: WebSession) -> bool:
        return self._is_signature(shown, "page key", session.id)

    def renewed(self, session: WebSession) -> WebSession | None:
        """The session with a new end; None if it has nearly all of its time left."""
        end = self._session_end()
        return WebSession(session.id, end) if end - session.until >= _RENEWED_AFTER else None

    def end(self, session: WebSession) -> int:
        """Ends a session. Returns the latest time at which a cookie of the session can expire."""
        self._ended.add(session.id)
        return self._session_end()

    def _session_end(self) -> int:
        return int(self._now()) + SESSION_SECONDS

    # signed paths

    def signed_path(self, path: str, session: WebSession) -> str:
        until = int(self._now()) + PATH_SECONDS
        return f"{path}/{until}.{self._signature('path', f'{session.id}:{until}:{path}')}"

    def is_signed_path(self, path: str, session: WebSession) -> bool:
        path, _, proof = path.rpartition("/")
        until, _, signature = proof.partition(".")
        return self._is_signature(signature, "path", f"{session.id}:{until}:{path}") and self._now() < int(until)

    def _signature(self, kind: str, text: str) -> str:
        return hmac.new(self._key, f"{kind}\0{text}".encode("utf-8", "replace"), hashlib.sha256).hexdigest()

    def _is_signature(self, shown: str, kind: str, text: str) -> bool:
        return hmac.compare_digest(shown.encode("utf-8", "replace"), self._signature(kind, text).encode())

    # waiting after wrong tokens

    def wait(self, address: str) -> int:
        """Seconds until an address may try a token again; 0 for now."""
        wrong = self._wrong.get(address)
        if not wrong or len(wrong) < _MOST_WRONG:
            return 0
        left = wrong[0] + _WRONG_WITHIN - self._now()
        return math.ceil(left) if 0 < left <= _WRONG_WITHIN else 0  # longer: the clock was set back

    def was_wrong(self, address: str) -> None:
        wrong = self._wrong.setdefault(address, deque(maxlen=_MOST_WRONG))
        wrong.append(self._now())
        self._wrong.move_to_end(address)
        while len(self._wrong) > _ADDRESSES:
            self._wrong.popitem(last=False)


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        found = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return mapped or found


@dataclass(frozen=True, slots=True)
class _Link:
    digest: bytes
    made_at: float


class LoginLinks:
    """Secrets of links that log in: each works once, within ten minutes. They are in memory only, as hashes.

    `now`: seconds since 1970; a clock that was set back ends the links that are then in the future.
    """

    def __init__(self, now: Now = time.time) -> None:
        self._now = now
        self._open: deque[_Link] = deque(maxlen=_MOST_LINKS)

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
    """The link with its secret in the fragment, which no browser sends, so that no log has it."""
    return f"{address}/#once={secret}"


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "replace")).digest()
