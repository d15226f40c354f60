"""The listening socket, with readable errors."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import socket
from collections.abc import AsyncIterator, Callable

from channels.message import SourceFailed

Factory = Callable[[], asyncio.BaseProtocol]


@contextlib.asynccontextmanager
async def listening(protocol: Factory, host: str, port: int) -> AsyncIterator[list[int]]:
    """Accepted connections outlive it. Yields the ports, one for each address of `host`. Raises `SourceFailed`."""
    loop = asyncio.get_running_loop()
    try:
        server = await loop.create_server(protocol, host, port)
    except OSError as error:
        raise SourceFailed(_explain(error, host, port)) from error
    try:
        yield list(dict.fromkeys(one.getsockname()[1] for one in server.sockets))
    finally:
        server.close()


def url_host(host: str) -> str:
    if host in ("", "0.0.0.0"):
        return "127.0.0.1"
    if host == "::":  # asyncio listens on IPv6 alone there
        return "[::1]"
    return f"[{host}]" if ":" in host else host


def _explain(error: OSError, host: str, port: int) -> str:
    if isinstance(error, socket.gaierror):
        return f"this machine knows no address {host!r}; set channels.web.host"
    match error.errno:
        case errno.EADDRINUSE:
            return f"port {port} of {host} is used by another program; stop it, or set channels.web.port"
        case errno.EACCES | errno.EPERM:
            return f"port {port} of {host} may not be used by this user; set channels.web.port above 1023"
        case errno.EADDRNOTAVAIL | None:  # asyncio omits the number from Python 3.13 on
            return f"{host} is no address of this machine; set channels.web.host"
    return f"port {port} of {host} cannot be listened on: {error.strerror or error}"
