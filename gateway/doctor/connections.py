"""Checks of Telegram, Discord, the model and the web page."""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Iterator, Mapping

from agent.languages.sentences import Sentence
from gateway.config import ModelConfig, WebConfig
from gateway.config.schema import DiscordConfig, TelegramConfig
from gateway.home import Home
from gateway.setup.discord import PORTAL, check_discord
from gateway.setup.model import check_model
from gateway.setup.probe import Finding, get_of_platform
from gateway.setup.telegram import TelegramCheck, check_telegram
from gateway.web.host import page_address, read_token

_TELEGRAM = "telegram"


def telegram(config: TelegramConfig) -> list[Finding]:
    """Checks Telegram by asking it; blocks for some seconds at most."""
    if not config.enabled:
        return [Finding(_TELEGRAM, True, "off, because no token is set")]
    if config.token is None:
        return [
            Finding(
                _TELEGRAM, False, "on, but it has no token", "set TELEGRAM_BOT_TOKEN in .env (@BotFather gives you one)"
            )
        ]
    token = config.token.get_secret_value()
    bot = check_telegram(token, config.base_url)
    found = [Finding(_TELEGRAM, bot.ok, bot.text, bot.fix), *bot.clock]
    if bot.ok and not bot.reads_groups:
        found += _privacy_mode(config, f"{config.base_url}{token}", bot)
    return found


def _privacy_mode(config: TelegramConfig, api: str, bot: TelegramCheck) -> list[Finding]:
    """Warns of Telegram's privacy mode, which hides most messages in groups from bots (https://core.telegram.org/bots/features#privacy-mode)."""
    name, found = bot.username, list[Finding]()
    for chat, group in config.groups.items():
        if group.mention == "required":
            continue
        member = get_of_platform(f"{api}/getChatMember?chat_id={chat}&user_id={bot.id}", {}).body.get("result")
        if isinstance(member, Mapping) and member.get("status") == "administrator":
            continue
        what = Sentence(
            "group {chat} has mention: optional, but @{name}'s privacy mode hides what doesn't mention it",
            chat=chat,
            name=name,
        )
        fix = Sentence(
            "in @BotFather, /setprivacy, @{name}, Disable; then remove the bot "
            "from the group and add it again (or make it an administrator there, "
            "or set mention: required)",
            name=name,
        )
        found.append(Finding("telegram groups", False, what, fix))
    if config.groups and not found:
        what = Sentence(
            "@{name}'s privacy mode is on: in groups it sees only what mentions it, unless it is an administrator",
            name=name,
        )
        found.append(Finding("telegram groups", True, what))
    return found


_DISCORD = "discord"


def discord(config: DiscordConfig) -> list[Finding]:
    """Checks Discord by asking it; blocks for some seconds at most."""
    if not config.enabled:
        return [Finding(_DISCORD, True, "off, because no token is set")]
    if config.token is None:
        fix = Sentence("set DISCORD_BOT_TOKEN in .env ({portal}, Reset Token)", portal=PORTAL)
        return [Finding(_DISCORD, False, "on, but it has no token", fix)]
    bot = check_discord(config.token.get_secret_value(), config.api_url)
    if not bot.name:
        return [Finding(_DISCORD, False, bot.text, bot.fix)]
    intent = Finding(_DISCORD, bot.ok, "the bot can read messages" if bot.ok else bot.text, bot.fix)
    servers = (
        Sentence("servers listed: {count}", count=len(config.guilds))
        if config.guilds
        else "no server is listed under channels.discord.guilds, so only private chats are answered"
    )
    return [
        Finding(_DISCORD, True, Sentence("connected as {name}", name=bot.name)),
        intent,
        Finding(_DISCORD, True, servers),
        *_shards(config, bot.servers),
    ]


_SERVERS_A_SHARD = 2500
"""As many as one connection may serve; Discord closes it with 4011 if there are more."""


def _shards(config: DiscordConfig, servers: int) -> Iterator[Finding]:
    if config.shards == "auto":
        yield Finding(_DISCORD, True, "as many connections as Discord recommends share the servers")
        return
    count = config.shards or 1
    if servers <= count * _SERVERS_A_SHARD:
        if config.shards:
            yield Finding(_DISCORD, True, Sentence("connections that share the servers: {count}", count=count))
        return
    what = Sentence(
        "the bot is in about {servers} servers, but its connections may serve only {most}",
        servers=servers,
        most=count * _SERVERS_A_SHARD,
    )
    yield Finding(_DISCORD, False, what, "set channels.discord.shards: auto in config.yaml, then start Daybook again")


def web(home: Home, config: WebConfig) -> Iterator[Finding]:
    """Checks the page's token and port. Blocks."""
    if not config.enabled:
        yield Finding("web", True, "off (channels.web.enabled)")
        return
    if home.web_token.exists() or config.token is not None:
        try:
            read_token(config, home)
        except (OSError, ValueError) as error:
            yield Finding(
                "web",
                False,
                Sentence("can't read the token: {error}", error=error),
                "correct that, then restart Daybook",
            )
            return
    where = Sentence("port {port} on {host}", port=config.port, host=config.host)
    if address := asyncio.run(page_address(home)):
        yield Finding("web", True, Sentence("the page is at {address}", address=address))
    elif config.port == 0:
        yield Finding("web", True, "uses any free port; `daybook web` shows which")
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
            yield Finding(
                "web",
                True,
                Sentence("another program is using {where}, so the page will take the next free port", where=where),
            )
        else:
            why = error.strerror or str(error)
            yield Finding(
                "web",
                False,
                Sentence("can't listen on {where}: {why}", where=where, why=why),
                "set channels.web.host and channels.web.port",
            )
    else:
        yield Finding("web", True, Sentence("{where} is free", where=where))


_CHECK = "model"


def model(config: ModelConfig) -> list[Finding]:
    """Asks the model's server; blocks for some seconds at most."""
    if config.provider == "offline":
        return [Finding(_CHECK, True, "none is connected; Daybook keeps and finds notes without one")]
    server = config.server()
    key = server.api_key.get_secret_value() if server.api_key else ""
    found = check_model(config.provider, key, server.base_url, config.name)
    return [Finding(_CHECK, found.ok, found.text, found.fix), *found.clock]
