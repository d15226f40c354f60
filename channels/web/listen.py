"""The listening socket, with readable errors."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import socket
from collections.abc import AsyncIterator, Callable

from channels.message import SourceFailed
from channels.network import is_loopback

Factory = Callable[[], asyncio.BaseProtocol]

_NEXT_PORTS = 20
"""Ports that are tried after a port in use."""
_LAST_PORT = 65_535


@contextlib.asynccontextmanager
async def listening(protocol: Factory, host: str, port: int) -> AsyncIterator[list[int]]:
    """Listens at `port`, or at the next one that no other program uses. Accepted connections outlive it. Yields the
    ports, one for each address of `host`. Raises `SourceFailed`."""
    server = await _server(protocol, host, port)
    try:
        yield list(dict.fromkeys(listener.getsockname()[1] for listener in server.sockets))
    finally:
        server.close()


async def _server(protocol: Factory, host: str, port: int) -> asyncio.Server:
    last = min(port + _NEXT_PORTS, _LAST_PORT)
    for tried in range(port, last + 1):
        try:
            return await asyncio.get_running_loop().create_server(protocol, host, tried)
        except OSError as error:
            if error.errno != errno.EADDRINUSE or tried == last:
                raise SourceFailed(_explain(error, host, port)) from error
    raise AssertionError("unreachable")


def url_host(host: str) -> str:
    if host in ("", "0.0.0.0"):
        return "127.0.0.1"
    if host == "::":  # asyncio listens on IPv6 alone there
        return "[::1]"
    return f"[{host}]" if ":" in host else host


def network_host(host: str) -> str:
    """The host as other devices of the network call it; empty where only this machine can reach it."""
    if host in ("", "0.0.0.0"):
        return _own_address(socket.AF_INET, "192.0.2.1")
    if host == "::":
        found = _own_address(socket.AF_INET6, "2001:db8::1")
        return f"[{found}]" if found else ""
    return "" if is_loopback(host) else url_host(host)


def _own_address(family: socket.AddressFamily, elsewhere: str) -> str:
    """This machine's address on the way to `elsewhere` (an address for examples; nothing is sent); empty without a
    network."""
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((elsewhere, 9))
        except OSError:
            return ""
        found = str(probe.getsockname()[0])
    return "" if is_loopback(found) else found


def _explain(error: OSError, host: str, port: int) -> str:
    if isinstance(error, socket.gaierror):
        return f"this machine has no address {host!r}; set channels.web.host"
    match error.errno:
        case errno.EADDRINUSE:
            return f"other programs are using port {port} on {host} and the next ones; set channels.web.port"
        case errno.EACCES | errno.EPERM:
            return f"this user can't use port {port} on {host}; set channels.web.port above 1023"
        case errno.EADDRNOTAVAIL | None:  # asyncio omits the number from Python 3.13 on
            return f"{host} is not an address of this machine; set channels.web.host"
    return f"can't listen on port {port} on {host}: {error.strerror or error}"
