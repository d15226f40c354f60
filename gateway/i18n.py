"""Which language a chat has, what fits on a line, and examples to press. Our sentences are in `agent.languages`. Pure.

A chat's language is that of its people. The first message of a day that shows one clearly decides for the day, so that
later quotes change nothing; a day without one changes nothing.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import dataclass

from agent.languages.codes import Language
from agent.languages.examples import FIRST
from agent.languages.registry import LANGUAGES
from agent.languages.sentences import Sentence
from agent.languages.terms import fold
from agent.model.offline.intent import told_language
from channels.message import Button, InboundMessage, Origin

_CLEAR = 2
"""Words of one language that are more than a greeting in passing."""


@dataclass(frozen=True, slots=True)
class ChatLanguage:
    """`language` None: unknown so far. `day`: the newest of the user's days that decided, as ISO 8601; empty before the
    first."""

    language: Language | None = None
    day: str = ""


def after(known: ChatLanguage, message: InboundMessage, today: str) -> ChatLanguage:
    """The language after that message. Text that is not the sender's, commands, and a bare yes or no, which is the same
    in several languages, do not count."""
    if known.day == today or not (words := _own_words(message)):
        return known
    if clear := told_language(words, _CLEAR):
        return ChatLanguage(clear, today)
    half = -(-len(words.split()) // 2)  # "ten" alone makes "ten plus one?" no Spanish
    return ChatLanguage(known.language or told_language(words, max(1, half)), known.day)


def _own_words(message: InboundMessage) -> str:
    is_forwarded = message.quote is not None and message.quote.forwarded
    is_command = message.origin is not Origin.CHAT or message.text.lstrip().startswith("/")
    return "" if is_forwarded or is_command or answer_of(message.text) is not None else message.text


_ANSWERS = {
    fold(word): said
    for table in LANGUAGES.values()
    for words, said in ((table.yes, True), (table.no, False))
    for word in words.split("|")
}


def answer_of(text: str) -> bool | None:
    """Yes or no in the languages of chats, else None."""
    return _ANSWERS.get(fold(text).strip(" .!。！\n"))


def one_line(text: str, most: int) -> str:
    """The text on one line of at most so many characters; a cut one ends in `…`."""
    words = " ".join(text.split())
    return words if len(words) <= most else words[: most - 1].rstrip() + "…"


def command_line(argv: tuple[str, ...], most: int = 100) -> str:
    """The command line as people read it, on one line."""
    return one_line(shlex.join(argv).replace("`", "'"), most)


def example_buttons(language: Language, sentences: Iterable[Sentence] = FIRST) -> tuple[tuple[Button, ...], ...]:
    """A row of one button for each sentence; whoever presses it says that sentence."""
    return tuple((Button(text, text),) for text in (sentence.in_language(language) for sentence in sentences))


CODE_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
"""Without 0, O, 1 and I, which people mix up."""
