"""Checks a Discord bot's token by asking Discord."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from agent.languages.sentences import Sentence
from gateway.setup.probe import CheckResult, Outcome, get_of_platform

PORTAL = "discord.com/developers, your application, Bot"
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


@dataclass(frozen=True, slots=True)
class DiscordCheck(CheckResult):
    """The bot of a token; `invite` adds it to a server. It has a name if the token is right."""

    name: str = ""
    invite: str = ""
    servers: int = 0
    """How many servers the bot is in, about; 0 if Discord does not say."""


def check_discord(token: str, api_url: str) -> DiscordCheck:
    """Asks who the bot is, and whether it may read messages. Blocks."""
    headers = {"Authorization": f"Bot {token.strip()}", "User-Agent": _AGENT}
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
        return DiscordCheck(Outcome.REFUSED, Sentence("{where} doesn't accept this token", where=where), fix)
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
            Outcome.FINE, Sentence("connected as {name}", name=name), name=name, invite=invite, servers=servers
        )
    refused = "the bot isn't allowed to read messages, so Discord refuses the connection (4014)"
    fix = Sentence("at {portal}, Privileged Gateway Intents, turn on Message Content Intent", portal=PORTAL)
    return DiscordCheck(Outcome.NO_INTENT, refused, fix, name=name, invite=invite, servers=servers)
