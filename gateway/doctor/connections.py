"""Checks of the channels, the model, the web page and its search."""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Iterator

from agent.languages.sentences import Sentence
from channels.checks import Finding, ServerClock
from channels.manifest import ChannelManifest, ChannelSettings
from gateway.config import ModelConfig, WebConfig
from gateway.home import Home
from gateway.setup.model import check_model
from gateway.setup.probe import check_clock
from gateway.web.host import page_address, read_token


def channel(manifest: ChannelManifest, settings: ChannelSettings) -> list[Finding]:
    """Checks a channel by asking its platform; blocks for some seconds at most."""
    if not settings.enabled:
        return [Finding(manifest.name, True, "off, because no token is set")]
    if not settings.is_on:
        return [Finding(manifest.name, False, "on, but it has no token", manifest.missing)]
    found = settings.checks()
    return [finding for told in found for finding in (check_clock(told) if isinstance(told, ServerClock) else [told])]


def web(home: Home, config: WebConfig) -> Iterator[Finding]:
    """Checks the page's token and port. Blocks."""
    if not config.enabled:
        yield Finding("web", True, "off (channels.web.enabled)")
        return
    if home.web_token.exists() or config.token is not None:
        try:
            read_token(config, home)
        except (OSError, ValueError) as error:
            yield Finding(
                "web",
                False,
                Sentence("can't read the token: {error}", error=error),
                "correct that, then restart Daybook",
            )
            return
    where = Sentence("port {port} on {host}", port=config.port, host=config.host)
    if address := asyncio.run(page_address(home)):
        yield Finding("web", True, Sentence("the page is at {address}", address=address))
    elif config.port == 0:
        yield Finding("web", True, "uses any free port; `daybook web` shows which")
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
            yield Finding(
                "web",
                True,
                Sentence("another program is using {where}, so the page will take the next free port", where=where),
            )
        else:
            why = error.strerror or str(error)
            yield Finding(
                "web",
                False,
                Sentence("can't listen on {where}: {why}", where=where, why=why),
                "set channels.web.host and channels.web.port",
            )
    else:
        yield Finding("web", True, Sentence("{where} is free", where=where))


_CHECK = "model"


def model(config: ModelConfig) -> list[Finding]:
    """Asks the model's server; blocks for some seconds at most."""
    if config.provider == "offline":
        return [Finding(_CHECK, True, "none is connected; Daybook keeps and finds notes without one")]
    server = config.server()
    key = server.api_key.get_secret_value() if server.api_key else ""
    found = check_model(config.provider, key, server.base_url, config.name)
    return [Finding(_CHECK, found.ok, found.text, found.fix), *check_clock(found.clock)]
