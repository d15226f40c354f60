"""What can be wrong with Discord: the token, the intent without which a bot reads nothing, no server on the list."""

from __future__ import annotations

from urllib.parse import urlsplit

from gateway.config.model import DiscordConfig
from gateway.doctor.finding import Finding
from gateway.doctor.reach import Reply, get

_CHECK = "discord"
_PORTAL = "discord.com/developers, your application, Bot"
_MESSAGE_CONTENT = 1 << 18 | 1 << 19
"""Flags of an application whose Message Content Intent is on: verified, or in fewer than a hundred servers
(https://discord.com/developers/docs/resources/application#application-object-application-flags)."""
_AGENT = "DiscordBot (https://github.com/Rapptz/discord.py, 2)"
"""Discord's front turns other names away."""


def discord(config: DiscordConfig) -> list[Finding]:
    """Asks Discord once or twice; blocks for some seconds at most."""
    if not config.enabled:
        return [Finding(_CHECK, True, "off: no token is set")]
    if config.token is None:
        cure = f"set DISCORD_BOT_TOKEN in .env ({_PORTAL}, Reset Token)"
        return [Finding(_CHECK, False, "on, but without a token", cure)]
    reply = _ask(config, config.token.get_secret_value())
    where = urlsplit(config.api_url).netloc
    if reply.status == 0:
        return [Finding(_CHECK, False, f"{where} cannot be reached: {reply.why}", "check the network and any proxy")]
    if reply.status == 401:
        cure = f"the token was reset or mistyped: {_PORTAL}, Reset Token, and put the new one into .env"
        return [Finding(_CHECK, False, f"{where} does not know this token", cure)]
    if reply.status == 429:
        why = "takes no calls from this machine's address for now (429): too many were refused"
        cure = "wait up to an hour; if it comes back, look for a wrong token or another bot behind the same address"
        return [Finding(_CHECK, False, f"{where} {why}", cure)]
    if reply.status != 200:
        return [Finding(_CHECK, False, f"{where} answers with status {reply.status}", "try again in some minutes")]
    return [Finding(_CHECK, True, f"{reply.body.get('name')} is there"), _intent(reply), _servers(config)]


def _ask(config: DiscordConfig, token: str) -> Reply:
    headers = {"Authorization": f"Bot {token.strip()}", "User-Agent": _AGENT}
    return get(f"{config.api_url.rstrip('/')}/applications/@me", headers)


def _intent(reply: Reply) -> Finding:
    flags = reply.body.get("flags")
    if isinstance(flags, int) and flags & _MESSAGE_CONTENT:
        return Finding(_CHECK, True, "the bot may read messages")
    cure = f"{_PORTAL}, Privileged Gateway Intents: switch on Message Content Intent"
    return Finding(_CHECK, False, "the bot may not read messages, so Discord refuses its connection (4014)", cure)


def _servers(config: DiscordConfig) -> Finding:
    if not config.guilds:
        return Finding(_CHECK, True, "no server is listed under channels.discord.guilds: only private chats are heard")
    return Finding(_CHECK, True, f"servers that are listed: {len(config.guilds)}")
