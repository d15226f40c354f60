"""Checks of Telegram (token, privacy mode), Discord (token, intent, servers) and the web page (port)."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import re
import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from agent.model.base import Json
from gateway.config import WebConfig
from gateway.config.schema import DiscordConfig, TelegramConfig
from gateway.doctor.clock import check_clock
from gateway.doctor.probe import Finding, ProbeReply, get
from gateway.home import Home
from gateway.rpc.client import NotRunning, connect
from gateway.rpc.protocol import OperationError
from gateway.web import host as web_token

_TELEGRAM = "telegram"
_TOKEN = re.compile(r"\d{6,14}:[A-Za-z0-9_-]{30,}")


def telegram(config: TelegramConfig) -> list[Finding]:
    """Checks Telegram by asking it; blocks for some seconds at most."""
    if not config.enabled:
        return [Finding(_TELEGRAM, True, "off: no token is set")]
    if config.token is None:
        return [
            Finding(_TELEGRAM, False, "on, but without a token", "set TELEGRAM_BOT_TOKEN in .env (@BotFather gives it)")
        ]
    token = config.token.get_secret_value()
    if not _TOKEN.fullmatch(token):
        cure = "copy it from @BotFather again; it looks like 123456789:AAE…"
        return [Finding(_TELEGRAM, False, "the token does not look like one", cure)]
    reply = get(f"{config.base_url}{token}/getMe", {})
    where = urlsplit(config.base_url).netloc
    if reply.status == 0:
        return [Finding(_TELEGRAM, False, f"{where} cannot be reached: {reply.why}", "check the network and any proxy")]
    if reply.status in (401, 404):
        cure = "the token was revoked or mistyped: ask @BotFather for it and put it into .env"
        return [Finding(_TELEGRAM, False, f"{where} does not know this token", cure)]
    bot = reply.body.get("result")
    if reply.status != 200 or not isinstance(bot, Mapping):
        return [Finding(_TELEGRAM, False, f"{where} answers with status {reply.status}", "try again in some minutes")]
    found = [Finding(_TELEGRAM, True, f"@{bot.get('username')} is there"), *check_clock(reply, where)]
    if bot.get("can_read_all_group_messages") is False:
        found += _privacy_mode(config, f"{config.base_url}{token}", bot)
    return found


def _privacy_mode(config: TelegramConfig, api: str, bot: Mapping[str, Json]) -> list[Finding]:
    """Warns of the privacy mode, in which Telegram hides from a bot what does not call it, unless it is an
    administrator (https://core.telegram.org/bots/features#privacy-mode)."""
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


_DISCORD = "discord"
_PORTAL = "discord.com/developers, your application, Bot"
_MESSAGE_CONTENT = 1 << 18 | 1 << 19
"""Flags of an application whose Message Content Intent is on: verified, or in fewer than a hundred servers
(https://discord.com/developers/docs/resources/application#application-object-application-flags)."""
_AGENT = "DiscordBot (https://github.com/Rapptz/discord.py, 2)"
"""Discord's front turns other names away."""


def discord(config: DiscordConfig) -> list[Finding]:
    """Checks Discord by asking it once or twice; blocks for some seconds at most."""
    if not config.enabled:
        return [Finding(_DISCORD, True, "off: no token is set")]
    if config.token is None:
        cure = f"set DISCORD_BOT_TOKEN in .env ({_PORTAL}, Reset Token)"
        return [Finding(_DISCORD, False, "on, but without a token", cure)]
    reply = _ask(config, config.token.get_secret_value())
    where = urlsplit(config.api_url).netloc
    if reply.status == 0:
        return [Finding(_DISCORD, False, f"{where} cannot be reached: {reply.why}", "check the network and any proxy")]
    if reply.status == 401:
        cure = f"the token was reset or mistyped: {_PORTAL}, Reset Token, and put the new one into .env"
        return [Finding(_DISCORD, False, f"{where} does not know this token", cure)]
    if reply.status == 429:
        why = "takes no calls from this machine's address for now (429): too many were refused"
        cure = "wait up to an hour; if it comes back, look for a wrong token or another bot behind the same address"
        return [Finding(_DISCORD, False, f"{where} {why}", cure)]
    if reply.status != 200:
        return [Finding(_DISCORD, False, f"{where} answers with status {reply.status}", "try again in some minutes")]
    return [Finding(_DISCORD, True, f"{reply.body.get('name')} is there"), _intent(reply), _servers(config)]


def _ask(config: DiscordConfig, token: str) -> ProbeReply:
    headers = {"Authorization": f"Bot {token.strip()}", "User-Agent": _AGENT}
    return get(f"{config.api_url.rstrip('/')}/applications/@me", headers)


def _intent(reply: ProbeReply) -> Finding:
    flags = reply.body.get("flags")
    if isinstance(flags, int) and flags & _MESSAGE_CONTENT:
        return Finding(_DISCORD, True, "the bot may read messages")
    cure = f"{_PORTAL}, Privileged Gateway Intents: switch on Message Content Intent"
    return Finding(_DISCORD, False, "the bot may not read messages, so Discord refuses its connection (4014)", cure)


def _servers(config: DiscordConfig) -> Finding:
    if not config.guilds:
        return Finding(
            _DISCORD, True, "no server is listed under channels.discord.guilds: only private chats are heard"
        )
    return Finding(_DISCORD, True, f"servers that are listed: {len(config.guilds)}")


_ANSWERED_WITHIN = 10.0
"""Seconds."""
_NOBODY = "no gateway serves it; `daybook gateway` starts one"


@dataclass(frozen=True, slots=True)
class PageAddress:
    """The page's address; empty where it cannot be opened, and `why` says why."""

    address: str = ""
    why: str = _NOBODY


async def page_place(home: Home) -> PageAddress:
    """The page's address, from the running gateway of a home."""
    with contextlib.suppress(NotRunning, OperationError, TimeoutError):
        async with asyncio.timeout(_ANSWERED_WITHIN), connect(home.socket) as connection:
            found = await connection.call("web.address", {})
            if isinstance(found, Mapping):
                return PageAddress(str(found.get("address") or ""), str(found.get("why") or _NOBODY))
    return PageAddress()


def web(home: Home, config: WebConfig) -> Iterator[Finding]:
    """Checks that the page's port is free or ours. The configuration warns of odd settings; permissions are checked
    with the home. Blocks."""
    if not config.enabled:
        yield Finding("web", True, "off (channels.web.enabled)")
        return
    if home.web_token.exists() or config.token is not None:
        try:
            web_token.read(config, home)
        except (OSError, ValueError) as error:
            yield Finding("web", False, f"the token cannot be read: {error}", "then start the gateway again")
            return
    where = f"port {config.port} of {config.host}"
    if address := asyncio.run(page_place(home)).address:
        yield Finding("web", True, f"the page is at {address}")
    elif config.port == 0:
        yield Finding("web", True, "takes any free port; `daybook web` tells which")
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
            cure = "stop that program, or set channels.web.port (0: any free port)"
            yield Finding("web", False, f"{where} is used by another program", cure)
        else:
            why = error.strerror or str(error)
            yield Finding("web", False, f"{where} cannot be listened on: {why}", "set channels.web.host and port")
    else:
        yield Finding("web", True, f"{where} is free")
