"""Checks a Discord bot by asking Discord."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from agent.languages.sentences import Sentence
from channels.checks import CheckResult, Finding, Outcome, get_of_platform
from channels.discord import PORTAL

CHANNEL = "discord"
_MESSAGE_CONTENT = 1 << 18 | 1 << 19
"""Flags of an application whose Message Content Intent is on: verified, or in fewer than a hundred servers
(https://discord.com/developers/docs/resources/application#application-object-application-flags)."""
_AGENT = "DiscordBot (https://github.com/Rapptz/discord.py, 2)"
"""Discord refuses other names."""
_PERMISSIONS = 1 << 6 | 1 << 10 | 1 << 11 | 1 << 15 | 1 << 16 | 1 << 38
"""What a bot does in a server: react, see channels, send messages and files, read the history, write in threads
(https://discord.com/developers/docs/topics/permissions)."""
_INVITE = (
    "https://discord.com/oauth2/authorize?client_id={id}&scope=bot+applications.commands&permissions={permissions}"
)
_SERVERS_A_SHARD = 2500
"""As many as one connection may serve; Discord closes it with 4011 if there are more."""
_REFUSED = Sentence("Discord doesn’t accept this token. Press Reset Token there and copy the new one.")
_FOUND = Sentence("This is {name}.")
_DEAF = Sentence(
    "This is {name}, and it can’t read messages yet: turn on Message Content Intent at discord.com/developers, under "
    "Bot, and save."
)


@dataclass(frozen=True, slots=True)
class DiscordCheck(CheckResult):
    """The bot of a token. It has a name if the token is right."""

    name: str = ""
    servers: int = 0
    """How many servers the bot is in, about; 0 if Discord does not say."""


def check_discord(token: str, api_url: str) -> DiscordCheck:
    """Asks who the bot is, and whether it may read messages. Blocks."""
    if not re.fullmatch(r"[!-~]+", token):
        return DiscordCheck(
            Outcome.MALFORMED, Sentence("allowed: a key without spaces, line breaks and accents"), shown=_REFUSED
        )
    headers = {"Authorization": f"Bot {token}", "User-Agent": _AGENT}
    reply = get_of_platform(f"{api_url.rstrip('/')}/applications/@me", headers)
    where = urlsplit(api_url).netloc
    if reply.status == 0:
        fix = "check your network and proxy settings"
        return DiscordCheck(
            Outcome.UNREACHABLE, Sentence("can't reach {where}: {why}", where=where, why=reply.why), fix
        )
    if reply.status == 401:
        fix = Sentence(
            "the token was reset or mistyped: get a new one at {portal}, Reset Token, and put it into .env",
            portal=PORTAL,
        )
        what = Sentence("{where} doesn't accept this token", where=where)
        return DiscordCheck(Outcome.REFUSED, what, fix, _REFUSED)
    if reply.status == 429:
        fix = "wait up to an hour; if it happens again, look for a wrong token or another bot behind the same address"
        what = Sentence(
            "{where} blocks this machine's address for now (429), because too many calls were refused", where=where
        )
        return DiscordCheck(Outcome.BUSY, what, fix)
    if reply.status != 200:
        what = Sentence("{where} answered with status {status}", where=where, status=reply.status)
        return DiscordCheck(Outcome.BUSY, what, "try again in a few minutes")
    name = str(reply.body.get("name"))
    invite = _INVITE.format(id=reply.body.get("id"), permissions=_PERMISSIONS)
    count = reply.body.get("approximate_guild_count")
    servers = count if isinstance(count, int) else 0
    flags = reply.body.get("flags")
    if isinstance(flags, int) and flags & _MESSAGE_CONTENT:
        return DiscordCheck(
            Outcome.FINE,
            Sentence("connected as {name}", name=name),
            shown=_FOUND,
            name=name,
            invite=invite,
            servers=servers,
        )
    refused = "the bot isn't allowed to read messages, so Discord refuses the connection (4014)"
    fix = Sentence("at {portal}, Privileged Gateway Intents, turn on Message Content Intent", portal=PORTAL)
    return DiscordCheck(Outcome.NO_INTENT, refused, fix, _DEAF, name=name, invite=invite, servers=servers)


def findings(token: str, api_url: str, listed: int, shards: int | Literal["auto"] | None) -> Iterator[Finding]:
    """What the doctor says. `listed`: how many servers are configured. Blocks."""
    bot = check_discord(token, api_url)
    if not bot.name:
        yield Finding(CHANNEL, False, bot.text, bot.fix)
        return
    yield Finding(CHANNEL, True, Sentence("connected as {name}", name=bot.name))
    yield Finding(CHANNEL, bot.ok, "the bot can read messages" if bot.ok else bot.text, bot.fix)
    none = "no server is listed under channels.discord.guilds, so only private chats are answered"
    yield Finding(CHANNEL, True, Sentence("servers listed: {count}", count=listed) if listed else none)
    if shards == "auto":
        yield Finding(CHANNEL, True, "as many connections as Discord recommends share the servers")
        return
    most = (shards or 1) * _SERVERS_A_SHARD
    if bot.servers > most:
        what = Sentence(
            "the bot is in about {servers} servers, but its connections may serve only {most}",
            servers=bot.servers,
            most=most,
        )
        fix = "set channels.discord.shards: auto in config.yaml, then start Daybook again"
        yield Finding(CHANNEL, False, what, fix)
    elif shards:
        yield Finding(CHANNEL, True, Sentence("connections that share the servers: {count}", count=shards))
