"""Translates the library's errors into ours."""

from __future__ import annotations

import re
from datetime import timedelta

from telegram.error import (
    BadRequest,
    ChatMigrated,
    Conflict,
    EndPointNotFound,
    Forbidden,
    InvalidToken,
    NetworkError,
    RetryAfter,
    TelegramError,
    TimedOut,
)

from agent.languages.sentences import Sentence
from channels.message import ChatGone, NotSent, OutcomeUnknown, Refused, SendError, TooLong
from channels.telegram.api import NeverSent

ODD_ANSWER = (KeyError, TypeError, AttributeError, RecursionError)
"""Raised by the library for JSON of an unexpected form."""

_TOKEN = re.compile(r"(?<!\d)\d{3,}+:[A-Za-z0-9_-]{20,}")
_REJECTED_TOKEN_PAUSE = 30.0
_ABOUT_CHAT = (
    *(
        "chat not found",
        "chat_id",
        "peer_id",
        "chat was deactivated",
        "chat was deleted",
        "chat_write",
        "chat_restricted",
    ),
    *("no rights to send", "rights to send text", "user not found", "user is", "user_is", "channel_private"),
)
_ABOUT_OTHER_THINGS = (
    *("thread", "topic", "message to", "message_id", "message can't", "not modified", "reply", "button", "keyboard"),
    *("photo", "image", "file", "document", "migrated", "upgraded", "peer", "rights", "administrator"),
)
"""Parts of Telegram's refusals, in lower case."""


def redacted(error: BaseException) -> str:
    text = " ".join(str(error).split())[:300] or type(error).__name__
    return _TOKEN.sub("***", text)


def seconds(error: RetryAfter) -> float:
    wanted = error.retry_after  # the library announces a change of type; both are accepted
    return wanted.total_seconds() if isinstance(wanted, timedelta) else float(wanted)


def send_error(error: TelegramError) -> SendError:
    """Order matters: the library's `BadRequest` and `TimedOut` are also its `NetworkError`."""
    text = redacted(error)
    match error:
        case RetryAfter():
            wait = seconds(error)
            return NotSent(f"Telegram asks to wait {wait:g} s", retry_after=wait)
        case InvalidToken() | EndPointNotFound() | Conflict():
            return NotSent(f"Telegram refuses the bot: {text}", retry_after=_REJECTED_TOKEN_PAUSE)
        case Forbidden():
            return ChatGone(Sentence("Telegram refuses this: {why}", why=text))
        case BadRequest() | ChatMigrated():
            return _refusal(error)(Sentence("Telegram refuses this: {why}", why=text))
        case NetworkError() if is_too_large(error):
            return TooLong(Sentence("Telegram refuses this: it is too large"))
        case NeverSent():
            return NotSent(f"can't reach Telegram: {text}")
        case TimedOut():
            return OutcomeUnknown(Sentence("Telegram got the message but did not answer in time"))
        case NetworkError() if error.__cause__ is None:  # the Bot API said in JSON that it failed
            return NotSent(f"Telegram has a problem: {text}")
        case _:
            return OutcomeUnknown(Sentence("Telegram's answer was lost: {why}", why=text))


def _refusal(error: TelegramError) -> type[Refused]:
    if is_too_long(error):
        return TooLong
    return ChatGone if any(words in str(error).casefold() for words in _ABOUT_CHAT) else Refused


def is_too_large(error: TelegramError) -> bool:
    """True for status 413, which a proxy answers without JSON; to the library it is a server error."""
    return isinstance(error, NetworkError) and "request entity too large" in str(error).casefold()


def is_about_upload(error: TelegramError) -> bool:
    """True if Telegram may take the file as a document: it refuses the picture, or the person takes no voice notes."""
    text = str(error).casefold()
    words = ("photo", "image_process_failed", "too big", "wrong file type", "voice", "audio")
    return is_too_large(error) or (isinstance(error, BadRequest) and any(word in text for word in words))


def is_too_long(error: TelegramError) -> bool:
    text = str(error).casefold()
    return isinstance(error, BadRequest) and "entit" not in text and ("too long" in text or "too_long" in text)


def is_about_text(error: TelegramError) -> bool:
    """True if Telegram may take plain text. A refusal without another reason counts: a reply must not be lost."""
    text = str(error).casefold()
    if not isinstance(error, BadRequest) or is_too_long(error):
        return False
    return _names_markup(text) or not any(words in text for words in (*_ABOUT_CHAT, *_ABOUT_OTHER_THINGS))


def _names_markup(text: str) -> bool:
    return "entit" in text or "can't parse" in text


def is_about_topic(error: TelegramError) -> bool:
    return isinstance(error, BadRequest) and "thread not found" in str(error).casefold()


def is_unchanged(error: TelegramError) -> bool:
    return isinstance(error, BadRequest) and "message is not modified" in str(error).casefold()


def refuses_drafts(error: TelegramError) -> bool:
    """True if the refusal is about the chat, not this text."""
    text = str(error).casefold()
    about_text = _names_markup(text) or is_too_long(error) or "empty" in text or "utf-8" in text
    return isinstance(error, BadRequest) and not about_text and not is_about_topic(error)
