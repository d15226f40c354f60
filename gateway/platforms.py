"""From configuration to channels, and to the rules of who may speak in them. Only what is on is imported."""

from __future__ import annotations

from collections.abc import Sequence

from channels.message import Channel, CommandInfo
from channels.registry import load
from gateway.access import ChannelRules, DmPolicy, GroupRule
from gateway.config import Config


def rules(config: Config) -> dict[str, ChannelRules]:
    telegram = config.channels.telegram
    return {
        "telegram": ChannelRules(
            dm_policy=DmPolicy(telegram.dm_policy),
            allow=frozenset(telegram.allow),
            groups={
                chat: GroupRule(group.mention == "required", frozenset(group.allow), group.per_minute)
                for chat, group in telegram.groups.items()
            },
        )
    }


def signs(config: Config) -> dict[str, str]:
    """Per channel that wants one, the emoji that acknowledges a message."""
    wanted = {"telegram": config.channels.telegram.reaction, "discord": config.channels.discord.reaction}
    return {name: sign for name, sign in wanted.items() if sign}


def tokens(config: Config) -> dict[str, str]:
    """Per channel that is on, the token that only one gateway of this machine's user may poll with."""
    telegram = config.channels.telegram
    return {"telegram": telegram.token.get_secret_value()} if telegram.enabled and telegram.token else {}


def build_channels(config: Config, menu: Sequence[CommandInfo]) -> list[Channel]:
    telegram = config.channels.telegram
    return [
        load(name)(token, base_url=telegram.base_url, base_file_url=telegram.base_file_url, commands=menu)
        for name, token in tokens(config).items()
    ]
