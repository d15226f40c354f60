"""Translates the library's errors into ours."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

import aiohttp
import discord

from agent.languages.sentences import Sentence
from channels.message import (
    AnswerLost,
    ChatGone,
    NotSent,
    OutcomeUnknown,
    Refused,
    SendError,
    SourceFailed,
    TooLong,
)
from channels.network import certificates_problem

BAD_TOKEN = (
    "Discord does not accept the bot's token: check channels.discord.token (DISCORD_BOT_TOKEN); "
    "discord.com/developers, your application, Bot, Reset Token shows a new one"
)
BAD_INTENTS = (
    "Discord does not let the bot read messages: switch on Message Content Intent at discord.com/developers, "
    "your application, Bot, Privileged Gateway Intents; then start again"
)
_FATAL_CLOSES = {
    4004: BAD_TOKEN,
    4010: "Discord does not take this number of connections (4010): check channels.discord.shards",
    4011: "the bot is in more servers than its connections may serve, 2,500 each (4011): set channels.discord.shards "
    "to auto, or to a larger number, in config.yaml; then start again",
    4012: "Discord no longer speaks this version of its gateway (4012): update Daybook",
    4013: "Discord does not know an intent that Daybook asks for (4013): update Daybook",
    4014: BAD_INTENTS,
}
"""Close codes after which connecting again cannot help
(https://discord.com/developers/docs/topics/opcodes-and-status-codes)."""

ODD_ANSWER = (KeyError, TypeError, AttributeError, ValueError)
"""Raised while reading JSON of an unexpected form."""
CALL_FAILED = (discord.DiscordException, aiohttp.ClientError, OSError, TimeoutError)
"""Raised by calls. `TimeoutError` is our own; the library's errors are `DiscordException`s."""

_TOKEN = re.compile(r"[\w-]{23,28}\.[\w-]{6,7}\.[\w-]{27,}")
_CALL_TOKEN = re.compile(r"(?<=/)[\w-]{60,}")
_REJECTED_TOKEN_PAUSE = 30.0
_SHORTEST_PAUSE, _UNNAMED_PAUSE, _LONGEST_PAUSE = 0.5, 5.0, 86_400.0

UNKNOWN_CHANNEL, UNKNOWN_MESSAGE = 10003, 10008
ALREADY_ACKNOWLEDGED = 40060
INVALID_TOKEN = 50027
"""Of an interaction, which is over then."""
_NO_HISTORY = 160002
_ABOUT_CHAT = frozenset({UNKNOWN_CHANNEL, 50001, 50007, 50008, 50013, 50024, 50083, 160005})
_ABOUT_OTHER_THINGS = (
    "in components",
    "in message_reference",
    "in attachments",
    "in nonce",
    "in flags",
    "thread",
    "file",
)
"""Parts of Discord's refusals, in lower case."""
_SENTENCES = {
    UNKNOWN_CHANNEL: Sentence("the channel is gone"),
    UNKNOWN_MESSAGE: Sentence("the message is gone"),
    40005: Sentence("the file is larger than Discord accepts"),
    50001: Sentence("the bot can't see that channel"),
    50007: Sentence("the person doesn't accept messages from this bot, or no longer shares a server with it"),
    50013: Sentence("the bot lacks a permission there (Send Messages, Read Message History, Attach Files)"),
}


def redacted(error: BaseException) -> str:
    text = " ".join(str(error).split())[:300] or type(error).__name__
    return _CALL_TOKEN.sub("***", _TOKEN.sub("***", text))


def code(error: BaseException) -> int:
    return error.code if isinstance(error, discord.HTTPException) else 0


def source_failed(error: Exception, shut_out: str = "") -> SourceFailed:
    """`shut_out`: why no calls were made, if so."""
    match error:
        case SourceFailed():
            return error
        case discord.HTTPException() | discord.RateLimited() if shut_out:
            return SourceFailed(shut_out)
        case discord.LoginFailure():
            return SourceFailed(BAD_TOKEN, fatal=True)
        case discord.PrivilegedIntentsRequired():
            return SourceFailed(BAD_INTENTS, fatal=True)
        case discord.ConnectionClosed():
            fatal = _FATAL_CLOSES.get(error.code)
            return SourceFailed(fatal or f"Discord closed the connection ({error.code})", fatal=fatal is not None)
        case discord.HTTPException() if error.status == 401:
            return SourceFailed(BAD_TOKEN, fatal=True)
        case aiohttp.ClientConnectorCertificateError():
            return SourceFailed(f"can't reach Discord: {redacted(error)}.{certificates_problem()}")
        case discord.DiscordException() | aiohttp.ClientError() | OSError():
            return SourceFailed(f"Discord gave an unexpected answer: {redacted(error)}")
        case _:
            return SourceFailed(f"Discord's library broke: {type(error).__name__}: {redacted(error)}")


def send_error(error: Exception, *, repeatable: bool) -> SendError:
    """`repeatable`: Discord would recognize a repeat."""
    text = redacted(error)
    lost = AnswerLost if repeatable else OutcomeUnknown
    match error:
        case discord.RateLimited():
            return NotSent(f"Discord asks to wait {error.retry_after:g} s", retry_after=error.retry_after)
        case discord.HTTPException() if error.status == 429:
            wait = retry_after(error)
            return NotSent(f"Discord asks to wait {wait:g} s", retry_after=wait)
        case discord.HTTPException() if error.status == 401:
            return NotSent(f"Discord refuses the bot: {text}", retry_after=_REJECTED_TOKEN_PAUSE)
        case discord.HTTPException() if error.status < 500:
            return _refusal(error)(Sentence("Discord refuses this: {why}", why=_SENTENCES.get(error.code) or text))
        case discord.HTTPException():
            return lost(Sentence("Discord has a problem: {why}", why=text))
        case aiohttp.ClientConnectorError():
            return NotSent(f"can't reach Discord: {text}")
        case _:
            return lost(Sentence("Discord's answer was lost: {why}", why=text))


def _refusal(error: discord.HTTPException) -> type[Refused]:
    if error.code in _ABOUT_CHAT:
        return ChatGone
    return TooLong if is_too_long(error) else Refused


def is_too_long(error: Exception) -> bool:
    found = isinstance(error, discord.HTTPException) and error.status == 400
    return found and "in content:" in str(error).casefold() and "or fewer in length" in str(error)


def is_about_text(error: Exception) -> bool:
    """True if Discord may take plain text. A refusal without another reason counts: a reply must not be lost."""
    if not isinstance(error, discord.HTTPException) or error.status != 400 or is_too_long(error):
        return False
    text = str(error).casefold()
    return error.code not in _ABOUT_CHAT and not any(words in text for words in _ABOUT_OTHER_THINGS)


def retry_after(error: discord.HTTPException) -> float:
    """Seconds to wait by a 429's headers; the library passes on nothing else."""
    return seconds_of(error.response.headers) or _UNNAMED_PAUSE


def retry_seconds(headers: Mapping[str, str], body: object) -> float:
    value = body.get("retry_after") if isinstance(body, Mapping) else None
    named = isinstance(value, int | float) and math.isfinite(value) and value > 0
    return seconds_of(headers) or (seconds_of({"Retry-After": str(value)}) if named else 0.0)


def seconds_of(headers: Mapping[str, str]) -> float:
    """Seconds to pause by the headers of a 429, at most a day; 0 for none."""
    for name in ("Retry-After", "X-RateLimit-Reset-After"):
        try:
            seconds = float(headers[name])
        except (KeyError, ValueError):
            continue
        if math.isfinite(seconds):
            return min(max(seconds, _SHORTEST_PAUSE), _LONGEST_PAUSE)
    return 0.0


def is_about_reply(error: Exception) -> bool:
    about = isinstance(error, discord.HTTPException) and error.status in (400, 403)
    return about and (code(error) == _NO_HISTORY or "message_reference" in str(error))
