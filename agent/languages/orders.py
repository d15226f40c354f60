"""Orders in plain words: a line that sets, cancels, moves or lists reminders, changes a list, asks for a day, for help.
Pure.

Patterns are searched for in the line without accents and politeness. `~` stands for small words after a verb, `%d` for
words of days, `%t` for those of a time; a pattern that begins with `§` fits polite questions only ("can you …?"), one
with `±` only what takes something back ("no, at 4").
"""

from __future__ import annotations

import enum
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from pydantic import BaseModel, ConfigDict

from agent.languages.codes import ALL_LANGUAGES, Language
from agent.languages.days_meant import relative_days
from agent.languages.files import read_file
from agent.languages.terms import fold, is_unspaced


class OrderKind(enum.StrEnum):
    """In the order in which they are looked for."""

    UNDO = "undo"
    STOP = "stop"
    MODEL = "model"
    """The weather, a joke, a sum: what only a language model can do."""
    HELP = "help"
    SUM_UP = "sum_up"
    TAKE_OFF = "take"
    ADD = "add"
    SHOW_LIST = "show"
    PROMISED = "promised"
    TIMER = "timer"
    WAKE = "wake"
    FORGET = "forget"
    CANCEL = "cancel"
    MOVE = "move"
    PUT = "put"
    """To move the one of several that was pressed; no words say it."""
    NAMED = "named"
    """A line that may name a reminder and another time; no pattern says it."""
    NOTE = "note"
    """To note what is no order after all, as a button says."""
    DAY = "day"
    DUE = "due"
    REMIND = "remind"
    CANNOT = "cannot"
    """Whatever else sounds like an order."""


Patterns = Sequence[str]


class OrderPatterns(BaseModel):
    """By kind. What an order is about is the group `rest` (and `more`), else the line without the match; of a list,
    `name` is its name."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    undo: Patterns = ()
    stop: Patterns = ()
    model: Patterns = ()
    help: Patterns = ()
    sum_up: Patterns = ()
    take: Patterns = ()
    add: Patterns = ()
    show: Patterns = ()
    promised: Patterns = ()
    timer: Patterns = ()
    wake: Patterns = ()
    forget: Patterns = ()
    cancel: Patterns = ()
    move: Patterns = ()
    remind: Patterns = ()
    day: Patterns = ()
    due: Patterns = ()
    cannot: Patterns = ()
    articles: str
    """Articles and possessives, separated by `|`. The like for the next ones."""
    begins: str = r"(?!)"
    """Said before an order: "oh, ok"."""
    denies: str = r"(?!)"
    """The like, where it takes back what was said: "no", "wait"."""
    asks: str = r"(?!)"
    """Begins or ends a polite question: "can you"."""
    softeners: str = r"(?!)"
    """Small words at both ends and after verbs."""
    days: str = r"(?!)"
    """Words of days."""
    times: str = r"(?!)"
    """Words of which a bare time is made, one of them or a space."""
    noise: str = r"(?!)"
    """Say nothing about which reminder, promise or memory is meant."""
    known: str = ""
    """Words in which a wrong letter is mended, separated by spaces."""
    joints: str = r"(?!)"
    """Between the items of a list, besides commas."""
    instead: str = r"(?!)"
    """From here on an order names the old time."""
    earlier: str = r"(?!)"
    later: str = r"(?!)"
    anew: str = r"(?!)"
    """Says that a time is another than before: "instead", "from now on", "not at 4 but"."""
    beside: str = ""
    """Small words that may stand beside the name of a reminder and its new time, separated by spaces."""
    kept: str = r"(?!)"
    """All but these, the group `rest`."""
    back: str = r"(?!)"
    """What was moved goes back to where it was; else it is cancelled."""
    that: str = r"(?!)"
    """The newest reminder is meant."""
    week: str = ""
    to: str = r"(?!)"
    """Stands before a new time."""
    corrects: str = r"(?!)"
    """Begins a note that corrects an earlier one."""
    reports: str = r"(?!)"
    """In a line with its accents: it tells what was done, and orders nothing."""
    ago: Patterns = ()
    """Yesterday, the day before, and so on."""
    at: Sequence[str] = ()
    """How a bare hour becomes a time, with `{}` for it."""
    within: Sequence[str] = ()
    """How a bare length of time becomes a time."""
    subjects: dict[str, str] = {}
    """Patterns of what help is about: `reminders`, `lists`, `forget`, `notes`."""
    talk: str = ""
    """Words of which small talk is made, separated by spaces."""


@dataclass(frozen=True, slots=True)
class PlainOrder:
    """`about`: what it is about, in the person's words; `name`: of the list."""

    kind: OrderKind
    language: Language
    about: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class OrderWords:
    """The patterns of one language, compiled."""

    language: Language
    given: OrderPatterns
    forms: Sequence[tuple[OrderKind, re.Pattern[str], str]]
    """The last: the mark of what alone it fits, `§` or `±`, or nothing."""
    begins: re.Pattern[str]
    ends: re.Pattern[str]
    noise: re.Pattern[str]
    anew: re.Pattern[str]
    shift: re.Pattern[str]
    kept: re.Pattern[str]
    joints: re.Pattern[str]
    beside: frozenset[str]
    known: frozenset[str]
    talk: frozenset[str]
    others: Sequence[re.Pattern[str]]
    """Those that are used by their texts: a mistake in a file is found when it is read."""


MOST_CHARS = 300
"""Of a line that may be an order: more is a tale, not a wish. The patterns see no longer text."""


def flat(text: str) -> str:
    """The text without accents and case, each letter in its place."""
    return "".join(one if len(one := fold(letter)) == 1 else letter.lower() for letter in text)


def order_in(line: str, first: Language | None = None, *, is_sure: bool = False) -> PlainOrder | None:
    """The order that a line is. `first`: its likely language. `is_sure`: it is no other."""
    line = unicodedata.normalize("NFC", line).replace("’", "'")
    languages = [first] if first and is_sure else dict.fromkeys((*([first] if first else []), *ALL_LANGUAGES))
    for is_last in (False, True):
        for language in languages:
            found = _order_of(words_of(language), line, is_last=is_last)
            if found is not None:
                return found
    return None


def is_talk(line: str) -> bool:
    """Whether it is made of greetings, thanks and the like."""
    for language in ALL_LANGUAGES:
        talk = words_of(language).talk
        spoken = re.findall(r"[^\W\d_]+", flat(line))
        if spoken and len(spoken) <= _MOST_TALK and all(_is_said(word, talk) for word in spoken):
            return True
    return False


_DONE = frozenset(OrderKind) - {OrderKind.DAY, OrderKind.DUE, OrderKind.PROMISED, OrderKind.HELP, OrderKind.MODEL}
"""What a report may tell of."""
_MOST_TALK = 6
_LAUGHTER = re.compile(r"(?:[hj][aeiou]){2,}h?|w{2,}|笑+|哈{2,}|呵{2,}|jaj\w*|lol|mdr")


def _is_said(word: str, talk: frozenset[str]) -> bool:
    if word in talk or _LAUGHTER.fullmatch(word):
        return True
    if not is_unspaced(word[:1]):
        return False
    left = word
    for known in sorted(talk, key=len, reverse=True):
        left = left.replace(known, "")
    return not left


def _order_of(words: OrderWords, line: str, *, is_last: bool) -> PlainOrder | None:
    own = _mended(line.strip(_AROUND), words)
    own, marks = _plain(own, words)
    text = flat(own)
    if not text:
        return None
    is_report = re.search(words.given.reports, own.lower()) is not None
    for kind, pattern, mark in words.forms:
        if (kind is OrderKind.CANNOT) is not is_last or mark not in marks or (is_report and kind in _DONE):
            continue
        if match := pattern.search(text):
            groups = {name: own[slice(*match.span(name))] for name, got in match.groupdict().items() if got}
            about = " ".join(filter(None, (groups.get("rest", ""), groups.get("more", ""))))
            if "rest" not in pattern.groupindex:
                about = f"{own[: match.start()]} {own[match.end() :]}"
            return PlainOrder(kind, words.language, about.strip(" ,:，、：。"), groups.get("name", "").strip())
    return None


def _plain(line: str, words: OrderWords) -> tuple[str, set[str]]:
    """The line without politeness at both ends, and the marks of the patterns that fit it then."""
    marks = {""}
    for _ in range(6):
        text = flat(line)
        begin, end = words.begins.match(text), words.ends.search(text)
        if begin is not None and begin.end():
            marks |= {mark for mark, name in _MARKS.items() if begin[name] is not None}
            line = line[begin.end() :].lstrip(_AROUND)
        elif end is not None and end.start():
            marks |= {"§"} if end["asks"] is not None else set()
            line = line[: end.start()].rstrip(_AROUND)
        else:
            break
    return line, marks


_MARKS = {"§": "asks", "±": "denies"}
_AROUND = " \t,.!?¡¿…。，！？、"


def _mended(line: str, words: OrderWords) -> str:
    """With the words that are known to be meant where a letter is wrong."""
    return re.sub(r"[^\W\d_]{5,}", lambda found: _meant(found[0], words.known), line) if words.known else line


def _meant(word: str, known: frozenset[str]) -> str:
    own = flat(word)
    return word if own in known else next((one for one in known if _is_near(own, one)), word)


def _is_near(one: str, other: str) -> bool:
    """A letter is missing, too many, or in its neighbour's place; not the first or last two: endings count."""
    if one[0] != other[0] or one[-2:] != other[-2:] or abs(len(one) - len(other)) > 1 or len(other) < 6:
        return False
    if len(one) == len(other):
        differs = [at for at, (a, b) in enumerate(zip(one, other, strict=True)) if a != b]
        return len(differs) == 2 and differs[1] == differs[0] + 1 and sorted(one) == sorted(other)
    short, long = sorted((one, other), key=len)
    return any(long[:at] + long[at + 1 :] == short for at in range(len(long)))


def without_noise(text: str, language: Language) -> str:
    """What tells which reminder or memory is meant."""
    return " ".join(_without(text, words_of(language).noise).split()).strip(" ,:'，、的のをは")


def without_anew(text: str, language: Language) -> str:
    """The text without what says that its time is another than before."""
    return _without(text, words_of(language).anew)


def without_shift(text: str, language: Language) -> str:
    """The text without words for earlier and later."""
    return _without(text, words_of(language).shift)


def _without(text: str, pattern: re.Pattern[str]) -> str:
    for match in reversed(list(pattern.finditer(flat(text)))):
        text = f"{text[: match.start()]} {text[match.end() :]}"
    return text


def without_politeness(line: str, language: Language) -> str:
    """The line without small words and politeness at both ends."""
    line = unicodedata.normalize("NFC", line).replace("’", "'")
    return _plain(line.strip(_AROUND), words_of(language))[0]


def without_articles(text: str) -> str:
    """The text without the articles and possessives before it: of `my old bike`, `old bike`."""
    rest = _articles().sub("", text.strip())
    return rest if rest.strip() else text


def past_day(text: str, today: date, language: Language | None = None) -> date | None:
    """The latest day that the words may mean, today at the latest. `language`: None for any."""
    folded = flat(text)
    for one in (language,) if language else ALL_LANGUAGES:
        words = words_of(one).given
        for back, pattern in reversed([*enumerate(words.ago, 1)]):
            if re.search(pattern, folded):
                return today - timedelta(days=back)
        alone = re.search(words.days, folded)
        told = relative_days(text, today) or (relative_days(text[slice(*alone.span())], today) if alone else ())
        if meant := [day for days in told for day in days if day <= today]:
            return max(meant)
    return None


def items_in(text: str, language: Language) -> list[str]:
    """The items of a list, as they were named together."""
    parts = words_of(language).joints.split(text)
    return [item for part in parts if (item := without_articles(part.strip().strip(" .,!?")))]


def are_joined(text: str, language: Language) -> bool:
    """Whether the text names several: `both bread and butter`."""
    return words_of(language).joints.search(text) is not None


_WORDS: dict[Language, OrderWords] = {}
_ARTICLES: list[re.Pattern[str]] = []
"""Read when they are needed first: a start does not wait for these files."""


def _articles() -> re.Pattern[str]:
    if not _ARTICLES:
        words = [word for language in ALL_LANGUAGES for word in words_of(language).given.articles.split("|")]
        forms = [rf"{word}\s+" if word.isascii() and not word.endswith("'") else word for word in words]
        longest_first = sorted(forms, key=len, reverse=True)
        _ARTICLES.append(re.compile(rf"\A(?:{'|'.join(longest_first)}){{1,2}}", re.IGNORECASE))
    return _ARTICLES[0]


def words_of(language: Language) -> OrderWords:
    if language not in _WORDS:
        _WORDS[language] = _read(language)
    return _WORDS[language]


def _read(language: Language) -> OrderWords:
    given = OrderPatterns.model_validate(read_file(language)["orders"])
    is_spaced = read_file(language).get("spaced", True)
    after, edge = (r"(?!\w)", r"(?<!\w)") if is_spaced else ("", "")
    return OrderWords(
        language,
        given,
        tuple(_forms(given)),
        re.compile(
            rf"(?:{given.begins}|(?P<denies>{given.denies})|(?:{given.softeners}){after}|(?P<asks>{given.asks}){after})"
        ),
        re.compile(rf"{edge}(?:(?:{given.softeners})|(?P<asks>{given.asks}))[\s.,!?。，！？]*\Z"),
        re.compile(rf"{edge}(?:{given.noise}){after}"),
        re.compile(rf"{edge}(?:{given.anew}){after}"),
        re.compile(f"{given.earlier}|{given.later}"),
        re.compile(given.kept),
        re.compile(rf"[,，、;&+]|{given.joints}", re.IGNORECASE),
        frozenset(given.beside.split()),
        frozenset(given.known.split()),
        frozenset(given.talk.split()),
        tuple(map(re.compile, _others(given))),
    )


def _others(given: OrderPatterns) -> Iterator[str]:
    yield from (given.corrects, given.instead, given.earlier, given.later, given.to, given.that, given.back)
    yield from (given.reports, given.days, given.week, *given.ago, *given.subjects.values())


def _forms(given: OrderPatterns) -> Iterator[tuple[OrderKind, re.Pattern[str], str]]:
    for kind in OrderKind:
        for pattern in getattr(given, kind, ()):
            mark = pattern[:1] if pattern[:1] in _MARKS else ""
            whole = pattern.removeprefix(mark).replace("~", rf"(?: (?:{given.softeners})(?!\w)){{0,3}}")
            yield kind, re.compile(whole.replace("%d", given.days).replace("%t", given.times)), mark
