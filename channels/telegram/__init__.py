"""Telegram: what is configured and asked, without its library."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import ClassVar

from pydantic import Field

from agent.languages.sentences import Sentence
from channels.checks import CheckResult, Finding, ServerClock
from channels.manifest import ChannelManifest, ChannelRules, ChannelSettings, GroupSettings, SetupQuestion, Wiring
from channels.message import Channel
from channels.settings import ChatId, Url


class TelegramConfig(ChannelSettings):
    base_url: Url = "https://api.telegram.org/bot"
    base_file_url: Url = "https://api.telegram.org/file/bot"
    groups: dict[ChatId, GroupSettings] = Field(default={})

    texts: ClassVar[Mapping[str, str]] = {
        **ChannelSettings.texts,
        "base_url": "A Bot API server of your own.",
        "base_file_url": "The same, for files.",
        **{f"groups.*.{key}": text for key, text in GroupSettings.texts.items()},
    }

    @property
    def rules(self) -> ChannelRules:
        return replace(super().rules, groups={chat: group.rule for chat, group in self.groups.items()})

    def open(self, wiring: Wiring) -> Channel:
        from channels.telegram.channel import TelegramChannel  # noqa: PLC0415 (only where it is on)

        return TelegramChannel(
            self.secret, base_url=self.base_url, base_file_url=self.base_file_url, commands=wiring.commands
        )

    def probe(self) -> CheckResult:
        from channels.telegram.checks import check_telegram  # noqa: PLC0415 (only where it is asked)

        return check_telegram(self.secret, self.base_url)

    def checks(self) -> Iterator[Finding | ServerClock]:
        from channels.telegram.checks import findings  # noqa: PLC0415 (only where it is asked)

        optional = [chat for chat, group in self.groups.items() if group.mention == "optional"]
        return findings(self.secret, self.base_url, optional, has_groups=bool(self.groups))


CHANNEL = ChannelManifest(
    "telegram",
    "Telegram",
    TelegramConfig,
    {"token": "TELEGRAM_BOT_TOKEN"},
    Sentence("set TELEGRAM_BOT_TOKEN in .env (@BotFather gives you one)"),
    (
        SetupQuestion(
            "telegram_token",
            "token",
            Sentence("Telegram bot token from @BotFather"),
            "The bot's token from @BotFather; empty for no Telegram.",
            without=Sentence("no Telegram"),
            label=Sentence("Bot token"),
            hint=Sentence("In Telegram, send /newbot to @BotFather. It asks for a name and gives you the token."),
        ),
        SetupQuestion(
            "owner_id",
            "",
            Sentence("Your numeric Telegram id (leave empty to pair later)"),
            "Your numeric Telegram id; if empty, the first person approved becomes the owner.",
            wanted=Sentence("A Telegram id is a number, such as 123456789."),
        ),
    ),
    Sentence("Write to me from your phone, and get reminders there."),
    Sentence("Connect Telegram"),
    has_chats_by_person=True,
)
