"""`doctor` looks at the web page: is its port free, or does our own gateway listen there?"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from gateway.config import WebConfig
from gateway.control import NotRunning, OperationError, connect
from gateway.doctor.finding import Finding
from gateway.home import Home
from gateway.web import token as web_token

_ANSWERED_WITHIN = 10.0
"""Seconds."""
_NOBODY = "no gateway serves it; `daybook gateway` starts one"


@dataclass(frozen=True, slots=True)
class Place:
    """Where the page is; `address` is empty where it cannot be opened, and `why` says why."""

    address: str = ""
    why: str = _NOBODY


async def page_place(home: Home) -> Place:
    """As the running gateway of a home tells it."""
    with contextlib.suppress(NotRunning, OperationError, TimeoutError):
        async with asyncio.timeout(_ANSWERED_WITHIN), connect(home.socket) as connection:
            found = await connection.call("web.address", {})
            if isinstance(found, Mapping):
                return Place(str(found.get("address") or ""), str(found.get("why") or _NOBODY))
    return Place()


def web(home: Home, config: WebConfig) -> Iterator[Finding]:
    """What is allowed and probably not meant is a warning of the configuration; who may read the token's file is looked
    at with the home. Blocks."""
    if not config.enabled:
        yield Finding("web", True, "off (channels.web.enabled)")
        return
    if home.web_token.exists() or config.token is not None:
        try:
            web_token.read(config, home)
        except (OSError, ValueError) as error:
            yield Finding("web", False, f"the token cannot be read: {error}", "then start the gateway again")
            return
    where = f"port {config.port} of {config.host}"
    if address := asyncio.run(page_place(home)).address:
        yield Finding("web", True, f"the page is at {address}")
    elif config.port == 0:
        yield Finding("web", True, "takes any free port; `daybook web` tells which")
    else:
        yield from _free(config, where)


def _free(config: WebConfig, where: str) -> Iterator[Finding]:
    try:
        found = socket.getaddrinfo(config.host or None, config.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        for family, kind, protocol, _, address in found:
            with socket.socket(family, kind, protocol) as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind(address)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            cure = "stop that program, or set channels.web.port (0: any free port)"
            yield Finding("web", False, f"{where} is used by another program", cure)
        else:
            why = error.strerror or str(error)
            yield Finding("web", False, f"{where} cannot be listened on: {why}", "set channels.web.host and port")
    else:
        yield Finding("web", True, f"{where} is free")
