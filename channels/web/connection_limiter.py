"""Limits connections, and the time that a connection may stay unauthenticated.

An unauthenticated connection gets one answer and some seconds, and is closed first when there are too many: the owner
always gets in.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

log = logging.getLogger(__name__)

MOST_CONNECTIONS = 256
AUTH_SECONDS = 30.0
"""From the start of a connection until it must have authenticated."""
_IDLE_SECONDS = 75.0
"""Idle time of an authenticated connection."""

Seal = Callable[[web.StreamResponse], None]


class ConnectionLimiter:
    def __init__(self, server: web.Server, seal: Seal, auth_timeout: float = AUTH_SECONDS) -> None:
        self.server = server
        self.seal = seal
        self.auth_timeout = auth_timeout
        self._unauthenticated: dict[_Connection, None] = {}

    def protocol(self) -> asyncio.BaseProtocol:
        if len(self.server.connections) < MOST_CONNECTIONS:
            return _Connection(self)
        if not self._unauthenticated:
            return _RejectedConnection()
        next(iter(self._unauthenticated)).end()
        return _Connection(self)

    def is_authenticated(self, request: web.BaseRequest) -> bool:
        return request.protocol not in self._unauthenticated

    def authenticated(self, request: web.BaseRequest) -> None:
        if isinstance(request.protocol, _Connection):
            self.remove(request.protocol)

    def add(self, connection: _Connection) -> None:
        self._unauthenticated[connection] = None

    def remove(self, connection: _Connection) -> None:
        self._unauthenticated.pop(connection, None)
        connection.cancel_deadline()


class _Connection(web.RequestHandler):
    def __init__(self, limiter: ConnectionLimiter) -> None:
        super().__init__(
            limiter.server,
            loop=asyncio.get_running_loop(),
            keepalive_timeout=_IDLE_SECONDS,
            access_log=None,  # type: ignore[arg-type]  # aiohttp's own way of saying none
            auto_decompress=False,
        )
        self._limiter = limiter
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._limiter.add(self)
        self._deadline = asyncio.get_running_loop().call_later(self._limiter.auth_timeout, self.end)

    def connection_lost(self, exc: BaseException | None) -> None:
        self._limiter.remove(self)
        super().connection_lost(exc)

    def cancel_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()

    def end(self) -> None:
        """Closes at once, also during an answer."""
        self._limiter.remove(self)
        if isinstance(self.transport, asyncio.WriteTransport):
            self.transport.abort()

    def handle_error(
        self, request: web.BaseRequest, status: int = 500, exc: BaseException | None = None, message: str | None = None
    ) -> web.StreamResponse:
        """Answers invalid HTTP without repeating it: it may hold a token."""
        if not isinstance(exc, HttpProcessingError):
            return super().handle_error(request, status, exc, message)
        log.debug("invalid HTTP from %s: %s", request.remote, type(exc).__name__)
        response = web.Response(status=status, text="This is not HTTP that Daybook understands.\n")
        self._limiter.seal(response)
        response.force_close()
        return response


class _RejectedConnection(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if isinstance(transport, asyncio.WriteTransport):
            transport.abort()
