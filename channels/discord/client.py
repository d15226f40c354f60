"""One connection to Discord: REST, and the gateway while it listens."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import discord
from discord.http import Route

from channels.discord.errors import source_failed
from channels.discord.library import LibraryClient, OnEvent, check_version
from channels.discord.rate_limit import GlobalRateLimit
from channels.tasks import Pause

LOGIN_TIMEOUT = 60.0
Where = Mapping[str, str]
"""Values for the placeholders in a path."""


class DiscordClient:
    def __init__(self, api_url: str, pause: Pause, silence: float, rate_limit: GlobalRateLimit) -> None:
        self._client = LibraryClient(api_url, pause, silence, rate_limit)
        self._rate_limit = rate_limit

    @classmethod
    async def open(
        cls, token: str, api_url: str, pause: Pause, silence: float, rate_limit: GlobalRateLimit
    ) -> DiscordClient:
        """Logs in. `silence`: seconds without data before the gateway connection is replaced. Raises `SourceFailed`."""
        check_version()
        client = cls(api_url, pause, silence, rate_limit)
        try:
            async with asyncio.timeout(LOGIN_TIMEOUT):
                await client._client.login(token)
                await client._client.own_http.find_gateway()
        except Exception as error:
            await client.aclose()
            raise source_failed(error, rate_limit.shut_out) from None
        except BaseException:
            await client.aclose()
            raise
        return client

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
        """`on_lost` is called while the connection is being resumed. Raises `SourceFailed` if it cannot be."""
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
        return await http.request(Route("POST", path, **where), files=files, form=[dict(one) for one in form])

    def wait_for_capacity(self, method: str, path: str, where: Where) -> float:
        """Seconds until a call would not take a bucket's last slot."""
        return self._rate_limit.left() or self._client.own_http.wait_for_capacity(Route(method, path, **where))

    async def aclose(self) -> None:
        await self._client.aclose()
