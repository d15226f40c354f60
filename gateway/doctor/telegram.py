"""What can be wrong with Telegram: the token, and a privacy mode that keeps a group's messages from the bot."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from agent.model.base import Json
from gateway.config.model import TelegramConfig
from gateway.doctor.clock import clock
from gateway.doctor.finding import Finding
from gateway.doctor.reach import get

_CHECK = "telegram"
_TOKEN = re.compile(r"\d{6,14}:[A-Za-z0-9_-]{30,}")


def telegram(config: TelegramConfig) -> list[Finding]:
    """Asks Telegram; blocks for some seconds at most."""
    if not config.enabled:
        return [Finding(_CHECK, True, "off: no token is set")]
    if config.token is None:
        return [
            Finding(_CHECK, False, "on, but without a token", "set TELEGRAM_BOT_TOKEN in .env (@BotFather gives it)")
        ]
    token = config.token.get_secret_value()
    if not _TOKEN.fullmatch(token):
        cure = "copy it from @BotFather again; it looks like 123456789:AAE…"
        return [Finding(_CHECK, False, "the token does not look like one", cure)]
    reply = get(f"{config.base_url}{token}/getMe", {})
    where = urlsplit(config.base_url).netloc
    if reply.status == 0:
        return [Finding(_CHECK, False, f"{where} cannot be reached: {reply.why}", "check the network and any proxy")]
    if reply.status in (401, 404):
        cure = "the token was revoked or mistyped: ask @BotFather for it and put it into .env"
        return [Finding(_CHECK, False, f"{where} does not know this token", cure)]
    bot = reply.body.get("result")
    if reply.status != 200 or not isinstance(bot, Mapping):
        return [Finding(_CHECK, False, f"{where} answers with status {reply.status}", "try again in some minutes")]
    found = [Finding(_CHECK, True, f"@{bot.get('username')} is there"), *clock(reply, where)]
    if bot.get("can_read_all_group_messages") is False:
        found += _privacy_mode(config, f"{config.base_url}{token}", bot)
    return found


def _privacy_mode(config: TelegramConfig, api: str, bot: Mapping[str, Json]) -> list[Finding]:
    """Telegram keeps from a bot what does not call it, except from one that is an administrator or whose owner has
    switched that off (https://core.telegram.org/bots/features#privacy-mode)."""
    name, found = bot.get("username"), list[Finding]()
    for chat, group in config.groups.items():
        if group.mention == "required":
            continue
        member = get(f"{api}/getChatMember?chat_id={chat}&user_id={bot.get('id')}", {}).body.get("result")
        if isinstance(member, Mapping) and member.get("status") == "administrator":
            continue
        what = f"group {chat} has mention: optional, but @{name}'s privacy mode keeps what does not call it from me"
        cure = (
            f"@BotFather: /setprivacy, @{name}, Disable; then take the bot out of the group and add it again "
            "(or make it an administrator there, or set mention: required)"
        )
        found.append(Finding("telegram groups", False, what, cure))
    if config.groups and not found:
        what = f"@{name}'s privacy mode is on: in groups I get only what calls me, unless I am an administrator there"
        found.append(Finding("telegram groups", True, what))
    return found
