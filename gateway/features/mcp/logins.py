"""The owner's logins at servers, kept in a private file each. Imports no SDK."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from filelock import FileLock, Timeout
from pydantic import TypeAdapter, ValidationError

from agent.fs import atomic_write, make_folder
from gateway.home import Home

log = logging.getLogger(__name__)

_SPARE = 30.0
"""Seconds before its end at which a token counts as over."""
_OTHERS = 60.0
"""Seconds that another process may take to renew."""
_LOOKS = 0.05


@dataclass(frozen=True, slots=True)
class Challenge:
    """The answer by which a server asks for a login."""

    status: int
    header: str = ""
    """The answer's `WWW-Authenticate`."""


@dataclass(frozen=True, slots=True)
class Grant:
    """The tokens that a login has brought. `host`: where the owner logged in."""

    host: str
    access: str = field(repr=False)
    expires_at: float | None = None
    """Seconds since 1970."""
    details: str = field(default="", repr=False)
    """JSON: the details that a renewal needs."""

    def is_over(self, now: float) -> bool:
        return self.expires_at is not None and now > self.expires_at - _SPARE


@dataclass(frozen=True, slots=True)
class KeptLogin:
    """A login as it is kept. `challenge`: the server has asked for a login since."""

    grant: Grant | None = None
    challenge: Challenge | None = None


_KEPT = TypeAdapter(KeptLogin)
_DETAILS = TypeAdapter(dict[str, dict[str, object] | None])
_SECRET = ("access_token", "refresh_token", "id_token", "client_secret")


def secrets_in(text: str) -> list[str]:
    """The secrets in a kept login; none where it cannot be read."""
    try:
        grant = _KEPT.validate_json(text).grant
    except ValidationError:
        return []
    if grant is None:
        return []
    details: dict[str, dict[str, object] | None] = {}
    with suppress(ValidationError):
        details = _DETAILS.validate_json(grant.details)
    found = [part.get(name) for part in details.values() if part for name in _SECRET]
    return list({grant.access, *(secret for secret in found if isinstance(secret, str))})


def kept_secrets(home: Home) -> Iterator[str]:
    """What is secret in all kept logins."""
    for file in home.mcp_logins.glob("*.json"):
        with suppress(OSError):
            yield from secrets_in(file.read_text("utf-8", "replace"))


class ServerLogin:
    """The login of one server. Making one blocks."""

    def __init__(self, name: str, url: str, folder: Path) -> None:
        self.name = name
        self.url = url
        self._file = folder / f"{name}-{hashlib.sha256(url.encode()).hexdigest()[:12]}.json"
        self._lock = asyncio.Lock()
        self._kept = _read(self._file)

    @property
    def grant(self) -> Grant | None:
        return self._kept.grant

    @property
    def challenge(self) -> Challenge | None:
        return self._kept.challenge

    @property
    def is_needed(self) -> bool:
        return self._kept.challenge is not None

    async def accept(self, grant: Grant) -> None:
        """Keeps a new grant. Raises `OSError`."""
        await self._keep(KeptLogin(grant))

    async def need(self, challenge: Challenge, *, keeps_grant: bool) -> None:
        """Notes that the server asks for a login. A grant that still counts for other things is kept."""
        now = KeptLogin(self.grant if keeps_grant else None, challenge)
        if now != self._kept:
            self._kept = now
            try:
                await self._keep(now)
            except OSError as error:
                log.warning("that %s needs a login is not kept: %s", self.name, error)

    async def works_without(self) -> None:
        """Notes that the server lets us in without a login."""
        if self.is_needed and self.grant is None:
            try:
                await self.forget()
            except OSError as error:
                log.warning("that %s needs no login is not kept: %s", self.name, error)

    async def forget(self) -> None:
        """Deletes what is kept. Raises `OSError`."""
        self._kept = KeptLogin()
        await asyncio.to_thread(self._file.unlink, missing_ok=True)

    @asynccontextmanager
    async def renewing(self) -> AsyncIterator[None]:
        """Allows one renewal at a time, also among processes: a token that renews is often good for one time. Another
        process may have renewed meanwhile, so the kept login is read first. Raises `OSError`."""
        async with self._lock:
            lock = FileLock(self._file.with_suffix(".lock"), timeout=0, mode=0o600, thread_local=False)
            await asyncio.to_thread(make_folder, self._file.parent)
            async with asyncio.timeout(_OTHERS):
                while not await asyncio.to_thread(_is_locked_by, lock):  # noqa: ASYNC110 (another process rings no bell)
                    await asyncio.sleep(_LOOKS)
            try:
                self._kept = replace(self._kept, grant=(await asyncio.to_thread(_read, self._file)).grant)
                yield
            finally:
                await asyncio.to_thread(lock.release)

    async def _keep(self, now: KeptLogin) -> None:
        await asyncio.to_thread(atomic_write, self._file, _KEPT.dump_json(now))
        self._kept = now


def _is_locked_by(lock: FileLock) -> bool:
    try:
        lock.acquire()
    except Timeout:
        return False
    return True


def _read(file: Path) -> KeptLogin:
    try:
        return _KEPT.validate_json(file.read_bytes())
    except FileNotFoundError:
        return KeptLogin()
    except (OSError, ValidationError) as error:
        log.warning("%s can't be read, so %s counts as not logged in: %s", file.name, file.stem, type(error).__name__)
        return KeptLogin()
