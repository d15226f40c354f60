"""What a person wants from the offline assistant: a few intents, told apart by words. Pure.

Anything else is a statement, and statements are filed, so that nothing is lost by being misread. Requests for what a
command does (reminders, forgetting, undoing) are left to the gateway and not filed.
"""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass

from agent.languages.codes import Language
from agent.languages.terms import fold, query_terms, terms
from agent.model.offline.phrases import VOCABULARIES, Vocabulary

_MOST_CHARS = 500
"""More is a tale, not a wish."""
_MOST_FORGOTTEN = 80
_END = " \t.!?…。！？"
_PLEASE = r"(?:please|bitte|por favor|s'il te pla[iî]t|s'il vous pla[iî]t)"
_REMIND = re.compile(
    rf"(?:{_PLEASE}[, ]+)?(?:(?:can|could|would|will) you (?:please )?)?(?:"
    r"remind (?:me|us)(?: please)?(?! (?:what|who|whom|whose|where|why|which|how)\b)|"
    r"erinnere? (?:mich|uns)(?: bitte)?(?! (?:was|wer|wem|wen|wo|warum|wie|welche[rsmn]?)\b)|"
    r"recu[eé]rd[ae](?:me|nos)(?! (?:qu[eé]|qui[eé]n|d[oó]nde|c[oó]mo|cu[aá]l) )|"
    r"rappel(?:le|lez)[- ](?:moi|nous)(?! (?:ce que|ce qui|qui|o[uù]|comment|quel|quelle)\b)"
    r")(?:(?=[,: ])(?P<rest>.*))?\Z",
    re.IGNORECASE,
)
_REMIND_CHINESE = re.compile(r"请?(?P<when>[^，。！？]{0,30}?)提醒我们?[，,：: ]?(?P<rest>.*)\Z")
_REMIND_JAPANESE = re.compile(
    r"(?P<rest>.+?)(?:を|と|って|ように)?(?:リマインド|思い出させて|知らせて)(?:して)?(?:ください|下さい|ね)?\Z"
)
_FORGET = re.compile(
    rf"(?:{_PLEASE}[, ]+)?(?:"
    r"forget (?!to\b|me\b)(?:about |all about |everything (?:about|on) )?|"
    r"vergiss (?!nicht\b|nie\b)(?:bitte )?(?:alles (?:über|zu) |das mit )?|"
    r"olv[ií]da(?:te de |te | )(?!que\b)(?:lo de |todo sobre )?|"
    r"oubli(?:e|ez) (?!pas\b|de\b|que\b)(?:tout sur )?"
    r")(?P<rest>.+)\Z",
    re.IGNORECASE,
)
_FORGET_CHINESE = re.compile(r"(?:请忘记|请忘掉|忘掉)(?:关于)?(?P<rest>.+?)(?:的事情?)?吧?\Z")
_JAPANESE_FORGET = ("忘れてください", "忘れて下さい", "忘れてね", "忘れて")
_JAPANESE_PARTICLES = ("のことは", "のことを", "は", "を")
_THAT = re.compile(r"(?:it|that|this|das|es|dies|eso|esto|[çc]a|cela|那个|这个|それ|これ)\Z", re.IGNORECASE)
_FORGET_IT = re.compile(r"olv[ií]dalo\Z", re.IGNORECASE)
_UNDO = re.compile(
    rf"(?:{_PLEASE}[, ]+)?(?:"
    r"undo(?: (?:it|that|this|the last (?:one|thing|change)))?|take (?:it|that) back|"
    r"(?:mach|mache) (?:das|es) (?:bitte )?(?:wieder )?rückgängig|rückgängig(?: machen)?|"
    r"nimm (?:das|es) (?:bitte )?zurück|"
    r"des(?:hazlo|haz eso|haz esto|hacer)|annule(?:z)? (?:[çc]a|cela)|défais (?:[çc]a|cela)|"
    r"(?:请)?撤[销消回](?:刚才的|上一个|那个|它)?|"
    r"(?:それを|これを|さっきのを)?(?:元に戻して|取り消して)(?:ください|下さい)?"
    r")\Z",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class PlainCommand:
    """A command's name, and the text after it."""

    name: str
    words: str = ""

    def __str__(self) -> str:
        return f"/{self.name} {self.words}".strip()


def plain_command(text: str) -> PlainCommand | None:
    """The command that a person asks for in plain words; None for anything else."""
    line = " ".join(text.split()).strip(_END)
    if not line or len(line) > _MOST_CHARS:
        return None
    if _UNDO.match(line):
        return PlainCommand("undo")
    if (found := _REMIND.match(line)) or (found := _REMIND_JAPANESE.match(line)):
        return PlainCommand("remind", (found["rest"] or "").strip(" ,:"))
    if found := _REMIND_CHINESE.match(line):
        return PlainCommand("remind", f"{found['when']} {found['rest']}".strip())
    if _FORGET_IT.match(line):
        return PlainCommand("forget")
    found = _FORGET.match(line) or _FORGET_CHINESE.match(line)
    rest = found["rest"] if found else _forgotten_in_japanese(line)
    if rest and len(rest) <= _MOST_FORGOTTEN:
        return PlainCommand("forget", "" if _THAT.match(rest) else rest.strip())
    return None


def _forgotten_in_japanese(line: str) -> str:
    ending = next((one for one in _JAPANESE_FORGET if line.endswith(one)), "")
    rest = line.removesuffix(ending) if ending else ""
    particle = next((one for one in _JAPANESE_PARTICLES if rest.endswith(one)), "")
    return rest.removesuffix(particle) if particle else ""


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
_MOST_QUERY_CHARS = 200
_TELLING_CHARS = 2_000


class IntentKind(enum.Enum):
    GREET = enum.auto()
    THANK = enum.auto()
    HELP = enum.auto()
    TODAY = enum.auto()  # show today's log
    FIND = enum.auto()
    FILE = enum.auto()
    COMMAND = enum.auto()  # what a command of the chat does
    NOTHING = enum.auto()  # no words at all


@dataclass(frozen=True, slots=True)
class Intent:
    """`query` is what to look for, for FIND, and the command, for COMMAND."""

    wish: IntentKind
    language: Language
    query: str = ""


def understand(text: str) -> Intent:
    """The intent of a person's text, without headers or marked blocks."""
    language = language_of(text)
    vocabulary = VOCABULARIES[language]
    folded = fold(text).strip()
    bare = _PUNCTUATION.sub(" ", folded).strip()
    wish = _whole_message(bare)
    if wish is not None:
        return Intent(wish, language)
    if command := plain_command(text):
        return Intent(IntentKind.COMMAND, language, str(command))
    if _is_to_be_kept(vocabulary, folded, bare):
        return Intent(IntentKind.FILE, language)
    asks = _asks(vocabulary, folded, bare)
    if _is_about_today(vocabulary, bare, asks=asks):
        return Intent(IntentKind.TODAY, language)
    if asks:
        return Intent(IntentKind.FIND, language, _query(vocabulary, text, bare))
    return Intent(IntentKind.FILE, language)


def language_of(text: str) -> Language:
    """The language, with a guess where unknown: Chinese for Han characters alone, else English."""
    return told_language(text) or (Language.CHINESE if _is_unspaced(text[:_TELLING_CHARS]) else Language.ENGLISH)


def told_language(text: str, least: int = 1) -> Language | None:
    """The language of most words, by script or by telltale words; None where fewer than `least` are telling."""
    text = text[:_TELLING_CHARS]
    if _is_unspaced(text):
        return _unspaced_language(text) if least <= 1 or _unspaced_words(text) >= least else None
    words = terms(fold(text))
    scores = {
        language: sum(word in vocabulary.signs for word in words)
        for language, vocabulary in VOCABULARIES.items()
        if vocabulary.spaced
    }
    told = max(scores, key=lambda language: scores[language])
    return told if scores[told] >= least else None


def _is_unspaced(text: str) -> bool:
    """True where most words are of a language without spaces."""
    written = sum(any(one.isalpha() and not _is_cjk(one) for one in word) for word in text.split())
    return _unspaced_words(text) > written


def _is_cjk(character: str) -> bool:
    return _KANA.match(character) is not None or _HAN.match(character) is not None


def _unspaced_words(text: str) -> int:
    """The approximate number of words: two characters make one."""
    if _PUNCTUATION.sub(" ", fold(text)).strip() in _WHOLE_MESSAGES:
        return int(any(map(_is_cjk, text)))
    return -(-sum(map(_is_cjk, text)) // 2)


def _unspaced_language(text: str) -> Language | None:
    """Kana are Japanese; Han characters alone may be either, except those that only Chinese has."""
    alone = sum(one in _CHINESE_ALONE for one in text)
    if len(_KANA.findall(text)) > alone:
        return Language.JAPANESE
    return Language.CHINESE if alone or len(_CHINESE_TOGETHER.intersection(text)) > 1 else None


def _whole_messages() -> dict[str, IntentKind]:
    listed: dict[str, IntentKind] = {}
    for vocabulary in VOCABULARIES.values():
        for wish, phrases in (
            (IntentKind.GREET, vocabulary.greeting),
            (IntentKind.THANK, vocabulary.thanks),
            (IntentKind.HELP, vocabulary.help),
        ):
            listed |= {_PUNCTUATION.sub(" ", fold(phrase)): wish for phrase in phrases.split("|")}
    return listed


_WHOLE_MESSAGES = _whole_messages()


def _whole_message(bare: str) -> IntentKind | None:
    """Greetings, thanks and calls for help, with or without the bot's name at the end."""
    if not bare:
        return IntentKind.NOTHING
    return _WHOLE_MESSAGES.get(bare.removeprefix("/")) or _WHOLE_MESSAGES.get(_BOT_NAME.sub("", bare))


def _is_to_be_kept(vocabulary: Vocabulary, folded: str, bare: str) -> bool:
    """True for a request to remember at the beginning; "do you remember …?" is a question."""
    if vocabulary.spaced:
        return vocabulary.remembers.match(bare) is not None
    return vocabulary.remembers.search(bare) is not None and not _is_question(folded)


def _is_question(folded: str) -> bool:
    return folded.rstrip(_CLOSING).endswith(("?", "？"))


def _asks(vocabulary: Vocabulary, folded: str, bare: str) -> bool:
    """True for a question, by its mark, or by its beginning where it is short ("When I was young …" is a tale)."""
    if _is_question(folded):
        return True
    if not vocabulary.spaced:
        return vocabulary.asks.search(bare) is not None
    return vocabulary.asks.match(bare) is not None and len(bare.split()) <= _MOST_WORDS_OF_A_BARE_QUESTION


def _is_about_today(vocabulary: Vocabulary, bare: str, *, asks: bool) -> bool:
    """True where it names today and nothing else in particular: "what did Anna say today?" is a search."""
    if not vocabulary.names_today.search(bare):
        return False
    rest = vocabulary.about_today.sub(" ", bare).strip()
    in_particular = _names_something(rest) if vocabulary.spaced else bool(rest)
    return not in_particular and (asks or vocabulary.names_log.search(bare) is not None)


def _names_something(rest: str) -> bool:
    """True where a search would look for any of these words."""
    return query_terms(f"daybook {rest}") != ["daybook"]


def _query(vocabulary: Vocabulary, text: str, bare: str) -> str:
    """The informative words of a question."""
    rest = _PUNCTUATION.sub(" ", vocabulary.uninformative.sub(" ", bare)).strip()
    if vocabulary.spaced:
        rest = " ".join(query_terms(rest))
    return (rest or text.strip())[:_MOST_QUERY_CHARS]
