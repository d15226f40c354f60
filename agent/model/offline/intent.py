"""A person's intent for the offline assistant, told apart by words. Pure.

Anything else is a statement and is filed, so that nothing is lost. Requests for commands are left to the gateway.
"""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass
from functools import lru_cache

from agent.languages.clauses import order_in
from agent.languages.codes import Language
from agent.languages.order_words import MOST_CHARS, OrderKind, flat, words_of
from agent.languages.orders import PlainOrder, is_pronoun, is_talk, without_noise
from agent.languages.remember import asks_to_remember
from agent.languages.terms import fold, query_terms
from agent.model.offline.vocabulary import VOCABULARIES, Vocabulary, told_words

_MOST_FORGOTTEN = 80
_END = " \t.!?…。！？"
SEPARATOR = " | "
"""Between what an order is about and the name of a list."""


@dataclass(frozen=True, slots=True)
class PlainCommand:
    name: str
    words: str = ""
    language: Language | None = None
    """The language of the request, for a command that `order` can carry out as well."""

    @property
    def is_about_days(self) -> bool:
        """True if it asks for a day's log, or what is due: where no command answers that, the notes are searched."""
        return self.name == "order" and self.words.startswith((OrderKind.DAY, OrderKind.DUE))

    @property
    def is_from_clause(self) -> bool:
        """True for an order in a clause: where no command carries it out, the line is something to be kept."""
        return self.name == "order" and self.words.count(SEPARATOR) > 1

    def __str__(self) -> str:
        return f"/{self.name} {self.words}".strip()


def plain_command(text: str) -> PlainCommand | None:
    """The command that a line asks for; None for a question, a statement, a greeting, and what only a model can do."""
    line = " ".join(text.split()).strip(_END)
    if not line or len(line) > MOST_CHARS or _bare(text) in _WHOLE_MESSAGES:
        return None
    order = _order_in(line, asks=_is_question(fold(text)))
    if order is None or (_is_loose(order) and (asks_to_remember(text) or is_talk(line))):
        return None
    return _command_of(order)


@lru_cache(maxsize=64)  # a message is asked about several times
def _order_in(line: str, *, asks: bool = False) -> PlainOrder | None:
    lead = _lead(line)
    return order_in(line, told_language(line) if lead else None, is_sure=lead >= _SURE, asks=asks)


def _is_loose(order: PlainOrder) -> bool:
    """True if it may as well be something to be kept."""
    return order.kind is OrderKind.CANNOT or (order.kind is OrderKind.ADD and not order.name)


def needs_model(text: str) -> bool:
    """True for what only a language model can do: the weather, a joke, a sum, a translation."""
    line = " ".join(text.split()).strip(_END)
    order = _order_in(line, asks=_is_question(fold(text))) if len(line) <= MOST_CHARS else None
    return order is not None and order.kind is OrderKind.MODEL


def _command_of(order: PlainOrder) -> PlainCommand | None:
    match order.kind:
        case OrderKind.STOP | OrderKind.UNDO:
            return PlainCommand(str(order.kind))
        case OrderKind.REMIND:
            if not order.beside:
                return PlainCommand("remind", order.about, order.language)
            return PlainCommand("order", _told(order))
        case OrderKind.FORGET if words_of(order.language).kept.search(flat(order.about)):
            return PlainCommand("order", f"{OrderKind.CANCEL} {order.language} {order.about}")
        case OrderKind.FORGET:
            if is_pronoun(order.about, order.language):
                return PlainCommand("forget")
            about = without_noise(order.about, order.language) or order.about
            return PlainCommand("forget", about, order.language) if len(about) <= _MOST_FORGOTTEN else None
        case _:
            return PlainCommand("order", _told(order))


def _told(order: PlainOrder) -> str:
    parts = [f"{order.kind} {order.language} {order.about}", order.name, order.beside]
    return SEPARATOR.join(parts[: max(at for at, part in enumerate(parts, 1) if part)])


_KANA = re.compile("[\u3040-\u30ff]")
_HAN = re.compile("[\u3400-\u9fff]")
_CHINESE_ALONE = frozenset(
    "我你您她它们們这這那哪吗嗎呢么麼吧啊啦还還很给說说请谢买卖个为过对时见开关门问间车东书长电话语让认识应该动发经样从头钱银饭马鸟鱼爱乐欢帮记"
)
"""Characters that Japanese text without kana does not hold."""
_CHINESE_TOGETHER = frozenset("的了是在不有就也都")
"""Two of these are a sentence, one may be part of a Japanese word."""
_PUNCTUATION = re.compile(r"[\s.,;:!¡?¿…。，！？、]+")
_CLOSING = " .!。！\"'»”」)"
_BOT_NAME = re.compile(r"(^| )daybook$")
_MOST_WORDS_OF_A_BARE_QUESTION = 8
_MOST_WORDS_OF_A_CLEAR_QUESTION = 16
"""Where it begins as nothing but a question does: "what did", "can you tell me"."""
_SURE = 2
"""So many more telling words of a language than of any other leave no doubt about it."""
_MOST_QUERY_CHARS = 200
_TELLING_CHARS = 2_000


class IntentKind(enum.Enum):
    GREET = enum.auto()
    THANK = enum.auto()
    HELP = enum.auto()
    TODAY = enum.auto()  # show today's log
    FIND = enum.auto()
    TALK = enum.auto()  # other small talk
    FILE = enum.auto()
    COMMAND = enum.auto()  # what a command of the chat does
    NEEDS_MODEL = enum.auto()  # what only a language model can do
    NOTHING = enum.auto()  # no words at all


@dataclass(frozen=True, slots=True)
class Intent:
    wish: IntentKind
    language: Language
    query: str = ""
    """What to look for, for FIND, and the command, for COMMAND."""


def understand(text: str, chats: Language | None = None) -> Intent:
    """The intent of a text without headers or marked blocks, in a chat of the language `chats`."""
    language = language_of(text, chats)
    vocabulary = VOCABULARIES[told_language(text) or language]
    folded = fold(text).strip()
    bare = _bare(text)
    wish = _whole_message(bare)
    if wish is not None:
        return Intent(wish, language)
    if needs_model(text):
        return Intent(IntentKind.NEEDS_MODEL, language)
    asks = _asks(vocabulary, folded, bare)
    command = plain_command(text)
    if command is not None and not command.is_about_days and not command.is_from_clause:
        return Intent(IntentKind.COMMAND, language, str(command))
    if is_talk(text):
        return Intent(IntentKind.TALK, language)
    if _is_to_be_kept(vocabulary, folded, bare):
        return Intent(IntentKind.FILE, language)
    if _is_about_today(vocabulary, bare, asks=asks):
        return Intent(IntentKind.TODAY, language)
    if asks or (command is not None and command.is_about_days):
        return Intent(IntentKind.FIND, language, _query(vocabulary, text, bare))
    return Intent(IntentKind.FILE, language)


def language_of(text: str, chats: Language | None = None) -> Language:
    """The language of a text; if unknown, that of its chat, but Chinese for Han characters in a chat that has none."""
    if told := told_language(text):
        return chats if chats is not None and _may_be(chats, text, told) else told
    chats = chats or Language.ENGLISH
    is_foreign_here = _is_unspaced(text[:_TELLING_CHARS]) and VOCABULARIES[chats].spaced
    return Language.CHINESE if is_foreign_here else chats


def _may_be(chats: Language, text: str, told: Language) -> bool:
    """True if the chat's language is as likely: one word more of another tells little in a line of several words."""
    scores = _scores(text[:_TELLING_CHARS])
    if told not in scores or chats not in scores:
        return False
    lead = scores[told] - scores[chats]
    return lead < _SURE and 2 * lead < len(told_words(text[:_TELLING_CHARS]))


def told_language(text: str, least: int = 1) -> Language | None:
    """The language by script or telltale words; None if fewer than `least` are telling, or several of as many."""
    text = text[:_TELLING_CHARS]
    if _is_unspaced(text):
        return _unspaced_language(text) if least <= 1 or _unspaced_words(text) >= least else None
    scores = _scores(text)
    told = max(scores, key=lambda language: scores[language])
    is_clear = least <= 1 or list(scores.values()).count(scores[told]) == 1
    return told if scores[told] >= least and is_clear else None


def _scores(text: str) -> dict[Language, int]:
    """The number of telling words of each language that has words."""
    words = list(dict.fromkeys(told_words(text)))  # "no no no" is one word
    return {
        language: sum(not vocabulary.signs.isdisjoint(word) for word in words)
        for language, vocabulary in VOCABULARIES.items()
        if vocabulary.spaced
    }


def _lead(text: str) -> int:
    """The number of telling words by which one language is ahead of every other."""
    if _is_unspaced(text):
        return 1
    second, first = sorted(_scores(text).values())[-2:]
    return first - second


def _is_unspaced(text: str) -> bool:
    written = sum(any(letter.isalpha() and not _is_cjk(letter) for letter in word) for word in text.split())
    return _unspaced_words(text) > written


def _is_cjk(character: str) -> bool:
    return _KANA.match(character) is not None or _HAN.match(character) is not None


def _unspaced_words(text: str) -> int:
    """The approximate number of words: two characters make one."""
    if _PUNCTUATION.sub(" ", fold(text)).strip() in _WHOLE_MESSAGES:
        return int(any(map(_is_cjk, text)))
    return -(-sum(map(_is_cjk, text)) // 2)


def _unspaced_language(text: str) -> Language | None:
    """Kana are Japanese; Han characters may be either, except those that only Chinese has."""
    alone = sum(character in _CHINESE_ALONE for character in text)
    if len(_KANA.findall(text)) > alone:
        return Language.JAPANESE
    return Language.CHINESE if alone or len(_CHINESE_TOGETHER.intersection(text)) > 1 else None


def _whole_messages() -> dict[str, IntentKind]:
    listed: dict[str, IntentKind] = {}
    for vocabulary in VOCABULARIES.values():
        for wish, phrases in (
            (IntentKind.GREET, vocabulary.words.greeting),
            (IntentKind.THANK, vocabulary.words.thanks),
            (IntentKind.HELP, vocabulary.words.help),
        ):
            listed |= {_PUNCTUATION.sub(" ", fold(phrase)): wish for phrase in phrases.split("|")}
    return listed


_WHOLE_MESSAGES = _whole_messages()


def _bare(text: str) -> str:
    return _PUNCTUATION.sub(" ", fold(text)).strip()


def _whole_message(bare: str) -> IntentKind | None:
    """Greetings, thanks, calls for help, also with the bot's name."""
    if not bare:
        return IntentKind.NOTHING
    return _WHOLE_MESSAGES.get(bare.removeprefix("/")) or _WHOLE_MESSAGES.get(_BOT_NAME.sub("", bare))


def _is_to_be_kept(vocabulary: Vocabulary, folded: str, bare: str) -> bool:
    """True if the text begins by asking to remember it; "do you remember …?" is a question."""
    if vocabulary.spaced:
        return vocabulary.remembers.match(bare) is not None
    return vocabulary.remembers.search(bare) is not None and not _is_question(folded)


def _is_question(folded: str) -> bool:
    return folded.rstrip(_CLOSING).endswith(("?", "？"))


def _asks(vocabulary: Vocabulary, folded: str, bare: str) -> bool:
    """True for a question by its mark, or if short by its beginning or end ("When I was young …" is a tale)."""
    if _is_question(folded):
        return True
    if not vocabulary.spaced:
        return vocabulary.asks.search(bare) is not None
    length = len(bare.split())
    is_worded = vocabulary.asks.match(bare) is not None or vocabulary.asks_last.search(bare) is not None
    if is_worded and length <= _MOST_WORDS_OF_A_BARE_QUESTION:
        return True
    if length <= _MOST_WORDS_OF_A_CLEAR_QUESTION and vocabulary.asks_within.match(bare):
        return True
    return vocabulary.clearly_asks.match(bare) is not None and length <= _MOST_WORDS_OF_A_CLEAR_QUESTION


def _is_about_today(vocabulary: Vocabulary, bare: str, *, asks: bool) -> bool:
    """True if it names only today: "what did Anna say today?" is a search."""
    if not vocabulary.names_today.search(bare):
        return False
    rest = vocabulary.about_today.sub(" ", bare).strip()
    in_particular = _names_something(rest) if vocabulary.spaced else bool(rest)
    return not in_particular and (asks or vocabulary.names_log.search(bare) is not None)


def _names_something(rest: str) -> bool:
    return query_terms(f"daybook {rest}") != ["daybook"]


def _query(vocabulary: Vocabulary, text: str, bare: str) -> str:
    rest = _PUNCTUATION.sub(" ", vocabulary.uninformative.sub(" ", bare)).strip()
    if vocabulary.spaced:
        rest = " ".join(query_terms(rest))
    return (rest or text.strip())[:_MOST_QUERY_CHARS]
