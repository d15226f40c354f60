"""In which language a chat is told the few sentences that are ours. Pure.

It is that of its people, as they wrote last. The first message of a day that tells one clearly decides for that day, so
that what is quoted later in it changes nothing; a day that tells none leaves it as it was.
"""

from __future__ import annotations

from dataclasses import dataclass

from agent.languages.codes import Language
from agent.model.offline.intent import told_language
from channels.message import InboundMessage, Origin

_CLEAR = 2
"""So many words of one language are no greeting in passing."""


@dataclass(frozen=True, slots=True)
class ChatLanguage:
    """`language` None: nothing has told it yet. `day`: the newest of the user's days that has decided, as ISO 8601;
    empty before the first."""

    language: Language | None = None
    day: str = ""


def after(known: ChatLanguage, message: InboundMessage, today: str) -> ChatLanguage:
    """What is known once that message has come. Words that are not its sender's, and commands, tell nothing."""
    if known.day == today or not (words := _own_words(message)):
        return known
    if clear := told_language(words, _CLEAR):
        return ChatLanguage(clear, today)
    return ChatLanguage(known.language or told_language(words), known.day)


def _own_words(message: InboundMessage) -> str:
    is_forwarded = message.quote is not None and message.quote.forwarded
    is_command = message.origin is not Origin.CHAT or message.text.lstrip().startswith("/")
    return "" if is_forwarded or is_command else message.text
