"""Discord: what is configured and asked, without its library."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from agent.languages.sentences import Sentence
from channels.checks import CheckResult, Finding, ServerClock
from channels.manifest import (
    ChannelManifest,
    ChannelRules,
    ChannelSettings,
    GroupSettings,
    ServerRule,
    SetupQuestion,
    Wiring,
)
from channels.message import Channel
from channels.settings import NumericId, Url

PORTAL = Sentence("discord.com/developers, your application, Bot")
MOST_SHARDS = 1000
"""As many connections as Discord lets a bot begin in a day."""


def _shards(value: object) -> object:
    """`auto`, or a number that Discord could take."""
    if value == "auto" or (isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MOST_SHARDS):
        return value
    raise ValueError(Sentence("allowed: `auto`, or a whole number from 1 to {most}", most=MOST_SHARDS))


Shards = Annotated[
    int | Literal["auto"],
    BeforeValidator(_shards),
    WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 1, "maximum": MOST_SHARDS}, {"const": "auto"}]}),
]


class GuildConfig(GroupSettings):
    channels: tuple[NumericId, ...] = ()

    texts: ClassVar[Mapping[str, str]] = {
        **GroupSettings.texts,
        "channels": "Ids of the channels in which it answers; empty: all.",
    }


class DiscordConfig(ChannelSettings):
    api_url: Url = "https://discord.com/api/v10"
    guilds: dict[NumericId, GuildConfig] = Field(default={})
    shards: Shards | None = None

    texts: ClassVar[Mapping[str, str]] = {
        **ChannelSettings.texts,
        "api_url": "Where Discord's API is.",
        "shards": "How many connections share the bot's servers; one serves at most 2,500. `auto`: as many as Discord "
        "recommends, asked at each start. By default one.",
        **{f"guilds.*.{key}": text for key, text in GuildConfig.texts.items()},
    }

    @property
    def rules(self) -> ChannelRules:
        servers = {server: ServerRule(guild.rule, frozenset(guild.channels)) for server, guild in self.guilds.items()}
        return replace(super().rules, servers=servers)

    def open(self, wiring: Wiring) -> Channel:
        from channels.discord.channel import DiscordChannel  # noqa: PLC0415 (only where it is on)

        rules = self.rules
        return DiscordChannel(
            self.secret,
            api_url=self.api_url,
            commands=wiring.commands,
            hears=lambda server, chat: rules.of_server(server, chat) is not None,
            seen=wiring.seen,
            shards=self.shards or (1 if wiring.is_shared else None),
            run_shard=wiring.run_part,
            slot=wiring.slot,
        )

    def probe(self) -> CheckResult:
        from channels.discord.checks import check_discord  # noqa: PLC0415 (only where it is asked)

        return check_discord(self.secret, self.api_url)

    def checks(self) -> Iterator[Finding | ServerClock]:
        from channels.discord.checks import findings  # noqa: PLC0415 (only where it is asked)

        return findings(self.secret, self.api_url, len(self.guilds), self.shards)


CHANNEL = ChannelManifest(
    "discord",
    "Discord",
    DiscordConfig,
    {"token": "DISCORD_BOT_TOKEN"},
    Sentence("set DISCORD_BOT_TOKEN in .env ({portal}, Reset Token)", portal=PORTAL),
    (
        SetupQuestion(
            "discord_token",
            "token",
            Sentence("Discord bot token from discord.com/developers"),
            "The bot's token from discord.com/developers; empty for no Discord.",
            without=Sentence("no Discord"),
            label=Sentence("Bot token"),
            hint=Sentence(
                "At discord.com/developers make an application; under Bot, Reset Token shows it. Turn on Message "
                "Content Intent there."
            ),
        ),
    ),
    Sentence("Write to me in private or on your server."),
    Sentence("Connect Discord"),
    is_everywhere=True,
)
