"""The first lines of a gateway that a person starts: what is connected, who the bot is, and what to do next."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import datetime

from channels.message import ChannelStatus, Health
from gateway.cli.invocation import typed
from gateway.cli.rpc import rows
from gateway.config import Config
from gateway.home import Home, shown, version
from gateway.policy.access import Role
from gateway.server import Gateway
from gateway.supervisor import SupervisedSource

_PLATFORMS = {"telegram": "Telegram", "discord": "Discord"}
_SETTLED_WITHIN = 15.0
"""Seconds that the greeting waits for channels to connect or to fail."""
_LOOK_AGAIN = 0.05


async def settled(gateway: Gateway) -> None:
    """Waits until each channel has connected or failed once, but not for long."""
    sources = [one for one in gateway.sources if one.source.name in (*_PLATFORMS, "web")]
    try:
        async with asyncio.timeout(_SETTLED_WITHIN):
            while not all(_has_tried(one.status) for one in sources):  # noqa: ASYNC110  a status rings no bell
                await asyncio.sleep(_LOOK_AGAIN)
    except TimeoutError:
        pass  # the greeting says which of them still connect


def _has_tried(status: ChannelStatus) -> bool:
    return status.state is not Health.OFF and not status.is_connecting


async def greeting(gateway: Gateway, config: Config, home: Home) -> list[str]:
    """For people, in the user's zone."""
    here = datetime.now(config.zone)
    told = [f"Daybook {version()} is running. It is {here:%H:%M} in {config.zone}.", ""]
    told += [f"  {label:<10}{text}" for label, text in _connections(gateway, config, home)]
    return [*told, "", *await _next_steps(gateway, config, home)]


def _connections(gateway: Gateway, config: Config, home: Home) -> Iterator[tuple[str, str]]:
    sources = {one.source.name: one for one in gateway.sources}
    if gateway.web is not None:
        yield "Page", gateway.web.address or _trouble(sources["web"])
        if (port := gateway.web.port) != config.channels.web.port and config.channels.web.port and port:
            yield "", f"(another program is using port {config.channels.web.port}, so it is at {port})"
    for name, label in _PLATFORMS.items():
        if name in sources:
            source = sources[name]
            yield label, f"connected as {source.account}" if source.status.is_connected else _trouble(source)
    model = config.agents[config.default_agent].model
    if model.provider == "offline":
        yield "Model", f"none yet, so the offline assistant answers; `{typed(home, 'init')}` or"
        yield "", f"ANTHROPIC_API_KEY=… in {shown(home.env_file)} connects one"
    else:
        yield "Model", model.name


def _trouble(source: SupervisedSource) -> str:
    status = source.status
    return f"not connected yet: {status.last_error}" if status.last_error else "not connected yet"


async def _next_steps(gateway: Gateway, config: Config, home: Home) -> list[str]:
    known = rows(await gateway.operations["pair.list"]({}))
    has_owner = bool(config.owners) or any(one.get("state") == Role.OWNER for one in known)
    bots = [
        f"{one.account} on {_PLATFORMS[one.source.name]}"
        for one in gateway.sources
        if one.source.name in _PLATFORMS and one.status.is_connected
    ]
    if not bots or has_owner:
        return []
    approve = typed(home, "pair", "approve")
    return [f"Write to {' or '.join(bots)}: it answers with a code. `{approve} CODE` makes you its owner.", ""]
