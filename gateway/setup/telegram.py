"""Checks a Telegram bot's token by asking Telegram."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from agent.languages.sentences import Sentence
from gateway.setup.probe import CheckResult, Outcome, check_clock, get_of_platform

_TOKEN = re.compile(r"\d{6,14}:[A-Za-z0-9_-]{30,}")


@dataclass(frozen=True, slots=True)
class TelegramCheck(CheckResult):
    """The bot of a token; `webhook` is the host to which its messages go until Daybook takes it over."""

    id: int = 0
    name: str = ""
    username: str = ""
    reads_groups: bool = True
    webhook: str = ""


def check_telegram(token: str, base_url: str) -> TelegramCheck:
    """Asks who the bot is, and whether another program gets its messages. Blocks."""
    if not _TOKEN.fullmatch(token):
        fix = "copy it from @BotFather again; tokens look like 123456789:AAE…"
        return TelegramCheck(Outcome.MALFORMED, "this doesn't look like a bot token", fix)
    reply = get_of_platform(f"{base_url}{token}/getMe", {})
    where = urlsplit(base_url).netloc
    if reply.status == 0:
        fix = "check your network and proxy settings"
        return TelegramCheck(
            Outcome.UNREACHABLE, Sentence("can't reach {where}: {why}", where=where, why=reply.why), fix
        )
    if reply.status in (401, 404):
        fix = "the token was revoked or mistyped: get the current one from @BotFather and put it into .env"
        return TelegramCheck(Outcome.REFUSED, Sentence("{where} doesn't accept this token", where=where), fix)
    bot = reply.body.get("result")
    if reply.status != 200 or not isinstance(bot, Mapping):
        what = Sentence("{where} answered with status {status}", where=where, status=reply.status)
        return TelegramCheck(Outcome.BUSY, what, "try again in a few minutes")
    hook = get_of_platform(f"{base_url}{token}/getWebhookInfo", {}).body.get("result")
    webhook = urlsplit(str(hook.get("url") or "")).netloc if isinstance(hook, Mapping) else ""
    text = Sentence("connected as @{name}", name=bot.get("username"))
    if webhook:
        text = Sentence(
            "{text}; its messages go to {host} now, and come here once Daybook runs", text=text, host=webhook
        )
    id = bot.get("id")
    return TelegramCheck(
        Outcome.FINE,
        text,
        clock=tuple(check_clock(reply, where)),
        id=id if isinstance(id, int) else 0,
        name=str(bot.get("first_name") or ""),
        username=str(bot.get("username") or ""),
        reads_groups=bot.get("can_read_all_group_messages") is not False,
        webhook=webhook,
    )
