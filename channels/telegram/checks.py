"""Checks a Telegram bot by asking Telegram."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

from agent.languages.sentences import Sentence
from channels.checks import CheckResult, Finding, Outcome, ServerClock, get_of_platform

CHANNEL = "telegram"
_TOKEN = re.compile(r"\d{6,14}:[A-Za-z0-9_-]{30,}")

_MALFORMED = Sentence("This doesn’t look like a token. Copy it from @BotFather again; it looks like 123456789:AAE…")
_REFUSED = Sentence("Telegram doesn’t accept this token. Get the current one from @BotFather.")
_FOUND = Sentence("This is @{username}.")
_ELSEWHERE = Sentence("This is @{username}. Another program gets its messages now; they come here once you connect it.")


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
        return TelegramCheck(Outcome.MALFORMED, "this doesn't look like a bot token", fix, _MALFORMED)
    reply = get_of_platform(f"{base_url}{token}/getMe", {})
    where = urlsplit(base_url).netloc
    if reply.status == 0:
        fix = "check your network and proxy settings"
        return TelegramCheck(
            Outcome.UNREACHABLE, Sentence("can't reach {where}: {why}", where=where, why=reply.why), fix
        )
    if reply.status in (401, 404):
        fix = "the token was revoked or mistyped: get the current one from @BotFather and put it into .env"
        return TelegramCheck(Outcome.REFUSED, Sentence("{where} doesn't accept this token", where=where), fix, _REFUSED)
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
    username = str(bot.get("username") or "")
    return TelegramCheck(
        Outcome.FINE,
        text,
        link=f"https://t.me/{quote(username)}" if username else "",
        shown=_ELSEWHERE if webhook else _FOUND,
        clock=reply.clock(where),
        id=id if isinstance(id, int) else 0,
        name=str(bot.get("first_name") or ""),
        username=username,
        reads_groups=bot.get("can_read_all_group_messages") is not False,
        webhook=webhook,
    )


def findings(
    token: str, base_url: str, optional: Sequence[str], *, has_groups: bool
) -> Iterator[Finding | ServerClock]:
    """What the doctor says. `optional`: the groups in which all messages count. Blocks."""
    bot = check_telegram(token, base_url)
    yield Finding(CHANNEL, bot.ok, bot.text, bot.fix)
    if bot.clock is not None:
        yield bot.clock
    if bot.ok and not bot.reads_groups:
        yield from _privacy_mode(f"{base_url}{token}", bot, optional, has_groups=has_groups)


def _privacy_mode(api: str, bot: TelegramCheck, optional: Sequence[str], *, has_groups: bool) -> Iterator[Finding]:
    """Warns of Telegram's privacy mode, which hides most messages in groups from bots (https://core.telegram.org/bots/features#privacy-mode)."""
    name, is_hidden = bot.username, False
    for chat in optional:
        member = get_of_platform(f"{api}/getChatMember?chat_id={chat}&user_id={bot.id}", {}).body.get("result")
        if isinstance(member, Mapping) and member.get("status") == "administrator":
            continue
        is_hidden = True
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
        yield Finding("telegram groups", False, what, fix)
    if has_groups and not is_hidden:
        what = Sentence(
            "@{name}'s privacy mode is on: in groups it sees only what mentions it, unless it is an administrator",
            name=name,
        )
        yield Finding("telegram groups", True, what)
