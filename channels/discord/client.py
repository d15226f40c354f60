"""One connection to Discord: REST, and the gateway while it listens."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import discord
from discord.http import Route

from channels.discord.errors import CALL_FAILED, source_failed
from channels.discord.library import LibraryClient, OnEvent, Turn, check_version
from channels.discord.rate_limit import GlobalRateLimit
from channels.discord.shards import Shard
from channels.json_fields import get, object_of
from channels.message import SourceFailed
from channels.network import WrongVariable
from channels.tasks import Pause

LOGIN_TIMEOUT = 60.0
Where = Mapping[str, str]
"""Values for the placeholders in a path."""


@dataclass(frozen=True, slots=True)
class ClientOptions:
    token: str
    api_url: str
    pause: Pause
    silence: float
    """Seconds without data before the gateway connection is replaced."""
    rate_limit: GlobalRateLimit


@dataclass(frozen=True, slots=True)
class SessionStart:
    """Discord's limits for a bot with several connections."""

    shards: int = 1
    """Recommended."""
    at_once: int = 1
    """Sessions that may be begun within five seconds."""


class DiscordClient:
    def __init__(self, options: ClientOptions, shard: Shard | None, turn: Turn) -> None:
        self._rate_limit = options.rate_limit
        self._client = LibraryClient(
            options.api_url, options.pause, options.silence, options.rate_limit, shard=shard, turn=turn
        )

    @classmethod
    async def open(cls, options: ClientOptions, shard: Shard | None = None, turn: Turn = nullcontext) -> DiscordClient:
        """Logs in. `shard`: whose events the gateway sends, by default all. Raises `SourceFailed`."""
        check_version()
        try:
            client = cls(options, shard, turn)
        except WrongVariable as problem:
            raise SourceFailed(str(problem)) from None
        try:
            async with asyncio.timeout(LOGIN_TIMEOUT):
                await client._client.login(options.token)
                await client._client.own_http.find_gateway()
        except Exception as error:
            await client.aclose()
            raise source_failed(error, options.rate_limit.shut_out) from None
        except BaseException:
            await client.aclose()
            raise
        return client

    async def session_start(self) -> SessionStart:
        """Asks Discord for its limits. Raises `SourceFailed`, also if no more sessions are allowed: beyond the limit
        Discord would reset the token."""
        try:
            async with asyncio.timeout(LOGIN_TIMEOUT):
                answer: object = await self.call("GET", "/gateway/bot")
        except CALL_FAILED as error:
            raise source_failed(error, self._rate_limit.shut_out) from None
        described = answer if isinstance(answer, dict) else {}
        limit = object_of(described, "session_start_limit") or {}
        if (left := get(limit, "remaining", int)) is not None and left < 1:
            wait = (get(limit, "reset_after", int) or 0) / 60_000
            raise SourceFailed(
                f"Discord allows the bot no new connection for another {wait:.0f} min, because there were too many "
                f"today ({get(limit, 'total', int) or 1000}); look in the log why they break, or whether another "
                "program uses the same token"
            )
        return SessionStart(max(get(described, "shards", int) or 1, 1), max(get(limit, "max_concurrency", int) or 1, 1))

    @property
    def user_id(self) -> str:
        assert self._client.user is not None
        return str(self._client.user.id)

    @property
    def user_name(self) -> str:
        assert self._client.user is not None
        return self._client.user.display_name

    @property
    def application_id(self) -> str:
        return str(self._client.application_id)

    async def listen(self, on_event: OnEvent, on_lost: Callable[[], None]) -> None:
        """Passes events on until the connection ends, then raises `SourceFailed`. `on_lost` is called when the
        connection is lost and being resumed."""
        self._client.on_event, self._client.on_lost = on_event, on_lost
        try:
            await self._client.connect()
        except Exception as error:
            raise source_failed(error) from None
        finally:
            await self._client.close()
        raise source_failed(ConnectionError("the gateway closed the connection"))

    async def call(
        self,
        method: str,
        path: str,
        where: Where | None = None,
        *,
        json: object = None,
        query: Mapping[str, str] | None = None,
    ) -> Any:
        """Waits for rate limits. Raises `CALL_FAILED`."""
        more: dict[str, object] = {} if json is None else {"json": json}
        if query:
            more["params"] = query
        return await self._client.own_http.request(Route(method, path, **(where or {})), **more)

    async def upload(
        self, path: str, where: Where, files: Sequence[discord.File], form: Sequence[Mapping[str, object]]
    ) -> Any:
        http = self._client.own_http
        return await http.request(Route("POST", path, **where), files=files, form=[dict(field) for field in form])

    def wait_for_capacity(self, method: str, path: str, where: Where) -> float:
        """Seconds until a call would not take a bucket's last slot."""
        return self._rate_limit.left() or self._client.own_http.wait_for_capacity(Route(method, path, **where))

    async def aclose(self) -> None:
        await self._client.aclose()
