"""From configuration to channels, and to the rules of who may speak in them. Only what is on is imported."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from agent.io.imports import kept_from_the_collector
from channels.message import Channel, CommandInfo
from channels.registry import load
from gateway.access import ChannelRules, DmPolicy, GroupRule, ServerRule
from gateway.config import Config
from gateway.config.model import GroupConfig, GuildConfig
from gateway.home import Home
from gateway.seen import StoredSeen
from gateway.store.database import Database
from gateway.web import token as web_token
from gateway.web.house import WebHouse
from gateway.web.record import StoredRecord


def rules(config: Config) -> dict[str, ChannelRules]:
    telegram, discord = config.channels.telegram, config.channels.discord
    return {
        "telegram": ChannelRules(
            dm_policy=DmPolicy(telegram.dm_policy),
            allow=frozenset(telegram.allow),
            groups={chat: _rule(group) for chat, group in telegram.groups.items()},
        ),
        "discord": ChannelRules(
            dm_policy=DmPolicy(discord.dm_policy),
            allow=frozenset(discord.allow),
            servers={
                server: ServerRule(_rule(guild), frozenset(guild.channels)) for server, guild in discord.guilds.items()
            },
        ),
    }


def signs(config: Config) -> dict[str, str]:
    """Per channel that wants one, the emoji that acknowledges a message."""
    wanted = {"telegram": config.channels.telegram.reaction, "discord": config.channels.discord.reaction}
    return {name: sign for name, sign in wanted.items() if sign}


def _rule(group: GroupConfig | GuildConfig) -> GroupRule:
    return GroupRule(group.mention == "required", frozenset(group.allow), group.per_minute)


def tokens(config: Config) -> dict[str, str]:
    """Per channel that is on, the token that only one gateway of this machine's user may poll with."""
    telegram, discord = config.channels.telegram, config.channels.discord
    on = {
        "telegram": telegram.token if telegram.enabled else None,
        "discord": discord.token if discord.enabled else None,
    }
    return {name: token.get_secret_value() for name, token in on.items() if token}


def _loaded(name: str) -> type:
    with kept_from_the_collector():
        return load(name)


def build_channels(
    config: Config,
    menu: Sequence[CommandInfo],
    database: Database,
    *,
    home: Home,
    web_house: WebHouse,
    web_record: StoredRecord,
) -> list[Channel]:
    telegram, discord = config.channels.telegram, config.channels.discord
    on = tokens(config)
    channels: list[Channel] = []
    if token := on.get("telegram"):
        make = _loaded("telegram")
        channels.append(
            make(token, base_url=telegram.base_url, base_file_url=telegram.base_file_url, commands=menu),
        )
    if token := on.get("discord"):
        make = _loaded("discord")
        listed = rules(config)["discord"]
        channels.append(
            make(
                token,
                api_url=discord.api_url,
                commands=menu,
                hears=lambda server, chat: listed.of_server(server, chat) is not None,
                seen=StoredSeen(database, "discord"),
            )
        )
    if (web := config.channels.web).enabled:
        make = _loaded("web")
        channels.append(
            make(
                partial(web_token.read, web, home),
                web_record,
                web_house,
                home.uploads,
                host=web.host,
                port=web.port,
                largest_upload=config.media.max_mb * 1_000_000,
                commands=menu,
            )
        )
    return channels
