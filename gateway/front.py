"""Where people speak to a gateway: its channels, made and closed with it."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial

from channels.message import Channel, ChannelStatus, CommandInfo, Health
from channels.terminal import TerminalChannel
from gateway.config import Config
from gateway.home import Home, TokenBusy, hold_token
from gateway.platforms import build_channels, tokens
from gateway.store.database import Database
from gateway.supervise import Supervised
from gateway.web import token as web_token
from gateway.web.house import WebHouse
from gateway.web.record import StoredRecord

log = logging.getLogger(__name__)

Platforms = Callable[[Config, Sequence[CommandInfo], Database], list[Channel]]
"""Makes the channels that are on, given the commands for their menus."""


@dataclass(frozen=True, slots=True)
class Front:
    """Where people speak. `channels` by their names; `sources`: the same, as they are run."""

    terminal: TerminalChannel
    channels: dict[str, Channel]
    sources: list[Supervised]
    web_house: WebHouse
    web_record: StoredRecord


def open_front(
    stack: AsyncExitStack,
    home: Home,
    config: Config,
    database: Database,
    menu: Sequence[CommandInfo],
    platforms: Platforms | None,
    *,
    is_alone: bool,
) -> Front:
    """`is_alone`: nobody is listened to but the terminal."""
    terminal = TerminalChannel()
    web_house = WebHouse(web_token.place(config.channels.web, home))
    web_record = StoredRecord(database)
    platforms = platforms or partial(build_channels, home=home, web_house=web_house, web_record=web_record)
    others = [] if is_alone else platforms(config, menu, database)
    channels: dict[str, Channel] = {one.name: one for one in (terminal, *others)}
    for channel in channels.values():
        stack.push_async_callback(channel.aclose)
    sources = [Supervised(channel) for channel in channels.values()]
    _hold_tokens(stack, tokens(config), sources)
    return Front(terminal, channels, sources, web_house, web_record)


def _hold_tokens(stack: AsyncExitStack, held: Mapping[str, str], sources: list[Supervised]) -> None:
    """A channel whose token another gateway of this machine polls with stays off; the others go on."""
    for source in sources:
        token = held.get(source.source.name)
        if token is None:
            continue
        try:
            stack.enter_context(hold_token(token, os.environ))
        except TokenBusy as error:
            log.error("%s stays off: %s", source.source.name, error)
            source.failure = ChannelStatus(Health.DOWN, str(error))
