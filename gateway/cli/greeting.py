"""The first lines of a gateway that a person starts: what is connected, who the bot is, and what to do next."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import datetime

from rich.cells import cell_len

from agent.languages.codes import Language
from agent.languages.sentences import Sentence, said, translated
from agent.languages.zones import zone_name
from channels.message import ChannelStatus, Health
from channels.registry import MANIFESTS
from gateway.config import Config
from gateway.home import Home, shown, version
from gateway.policy.access import Role
from gateway.server import Gateway
from gateway.supervisor import SupervisedSource
from gateway.terminal.context import typed
from gateway.terminal.rpc import rows

_PLATFORMS = {name: manifest.title for name, manifest in MANIFESTS.items()}
_SETTLED_WITHIN = 15.0
"""Seconds that the greeting waits for channels to connect or to fail."""
_LOOK_AGAIN = 0.05


async def settled(gateway: Gateway) -> None:
    """Waits until each channel has connected or failed once, but not for long."""
    sources = [source for source in gateway.sources if source.source.name in (*_PLATFORMS, "web")]
    try:
        async with asyncio.timeout(_SETTLED_WITHIN):
            while not all(_has_tried(source.status) for source in sources):  # noqa: ASYNC110  a status rings no bell
                await asyncio.sleep(_LOOK_AGAIN)
    except TimeoutError:
        pass  # the greeting says which of them still connect


def _has_tried(status: ChannelStatus) -> bool:
    return status.state is not Health.OFF and not status.is_connecting


async def greeting(gateway: Gateway, config: Config, home: Home, language: Language) -> list[str]:
    """The lines of the greeting, with the time in the user's zone."""
    here, zone = f"{datetime.now(config.zone):%H:%M}", zone_name(language, str(config.zone))
    running = said(
        language, "Daybook {version} is running. It is {time} in {zone}.", version=version(), time=here, zone=zone
    )
    lines = [
        f"  {label}{' ' * max(1, 10 - cell_len(label))}{translated(language, text)}"
        for label, text in _connections(gateway, config, home, language)
    ]
    return [running, "", *lines, "", *await _next_steps(gateway, config, home, language)]


def _connections(gateway: Gateway, config: Config, home: Home, language: Language) -> Iterator[tuple[str, str]]:
    sources = {source.source.name: source for source in gateway.sources}
    if gateway.web is not None:
        yield said(language, "Page"), gateway.web.address or _trouble(sources["web"])
        if (port := gateway.web.port) != config.channels.web.port and config.channels.web.port and port:
            taken = config.channels.web.port
            yield "", Sentence("(another program is using port {taken}, so it is at {port})", taken=taken, port=port)
    for name, label in _PLATFORMS.items():
        if name in sources:
            source = sources[name]
            is_well = source.status.is_connected
            yield label, Sentence("connected as {account}", account=source.account) if is_well else _trouble(source)
    model = config.agents[config.default_agent].model
    if model.provider == "offline":
        init, file = typed(home, "init"), shown(home.env_file)
        yield said(language, "Model"), Sentence("none yet, so the offline assistant answers; `{init}` or", init=init)
        yield "", Sentence("ANTHROPIC_API_KEY=… in {file} connects one", file=file)
    else:
        yield said(language, "Model"), model.name


def _trouble(source: SupervisedSource) -> str:
    status = source.status
    if status.last_error:
        return Sentence("not connected yet: {why}", why=status.last_error)
    return Sentence("not connected yet")


async def _next_steps(gateway: Gateway, config: Config, home: Home, language: Language) -> list[str]:
    known = rows(await gateway.operations["pair.list"]({}))
    has_owner = bool(config.owners) or any(row.get("state") == Role.OWNER for row in known)
    bots = [
        said(language, "{account} on {platform}", account=source.account, platform=_PLATFORMS[source.source.name])
        for source in gateway.sources
        if source.source.name in _PLATFORMS and source.status.is_connected
    ]
    if not bots or has_owner:
        return []
    approve = typed(home, "pair", "approve")
    ask = said(
        language,
        "Write to {bots}: it answers with a code. `{approve} CODE` makes you its owner.",
        bots=bots[0] if len(bots) == 1 else said(language, "{first} or {second}", first=bots[0], second=bots[1]),
        approve=approve,
    )
    return [ask, ""]
