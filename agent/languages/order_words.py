"""The words and patterns of orders in each language, as `[orders]` of its file gives them.

Patterns are searched for in the line without accents and politeness. `~` stands for small words after a verb, `%d` for
words of days, `%t` for those of a time, `%l` for a length of time, `%r` for what a reminder is called, `%w` for how it
is wished for, `%k` for what a timer is set for; a pattern that begins with `§` fits polite questions only ("can you
…?"), one with `±` only what takes something back ("no, at 4"), one with `¶` only a clause beside others ("…, turn it
off"). What one with `‽` fits may be a note as well ("… can go").
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from pydantic import BaseModel, ConfigDict

from agent.languages.codes import Language
from agent.languages.files import read_file
from agent.languages.terms import fold


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
    """To move the reminder whose button was pressed; no words say it."""
    NEW = "new"
    """To set a reminder although one like it is there, as a button says."""
    NAMED = "named"
    """A line that may name a reminder and another time; no pattern says it."""
    NOTE = "note"
    """To note what is no order after all, as a button says."""
    DAY = "day"
    DUE = "due"
    REMIND = "remind"
    CANNOT = "cannot"
    """Anything else that sounds like an order."""


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
    """Articles and possessives, separated by `|`, as are those below."""
    begins: str = r"(?!)"
    """Said before an order: "oh, ok"."""
    denies: str = r"(?!)"
    """Said before an order that takes back what was said: "no", "wait"."""
    asks: str = r"(?!)"
    """Begins or ends a polite question: "can you"."""
    softeners: str = r"(?!)"
    """Small words at both ends and after verbs."""
    days: str = r"(?!)"
    """Words of days."""
    times: str = r"(?!)"
    """Words of which a bare time is made, one of them or a space."""
    lengths: str = r"(?!)"
    """A length of time."""
    reminders: str = r"(?!)"
    """Names of a reminder: "a nudge", "a heads-up"."""
    wishes: str = r"(?!)"
    """Says that something is wished for: "I could do with"."""
    timed: str = r"(?!)"
    """Things that a timer is set for: eggs, the laundry."""
    same_day: str = r"(?!)"
    """The day that another clause names: "that morning", with its part of the day as the group `part`."""
    noise: str = r"(?!)"
    """Words that say nothing about which reminder, promise or memory is meant."""
    known: str = ""
    """Words in which a wrong letter is mended, separated by spaces."""
    lookalikes: str = ""
    """Words that are a letter away from a known word or a word of time, and meant as they are."""
    short: dict[str, str] = {}
    """Words as they are shortened in chats, each with the whole one."""
    joints: str = r"(?!)"
    """Between the items of a list, besides commas."""
    instead: str = r"(?!)"
    """From here on an order names the old time."""
    earlier: str = r"(?!)"
    later: str = r"(?!)"
    anew: str = r"(?!)"
    """Says that a time is another than before: "instead", "from now on", "not at 4 but"."""
    alters: str = r"(?!)"
    """Beside a reminder's name and a time: it is to be moved there: "change it", "set the reminder"."""
    unready: str = r"(?!)"
    """Beside them: it is too early for it: "not done yet", "needs longer"."""
    hinders: str = r"(?!)"
    """Beside them: its time may no longer fit: "can't", "was moved"."""
    beside: str = ""
    """Small words that may stand beside the name of a reminder and its new time, separated by spaces."""
    kept: str = r"(?!)"
    """All but some, which are the group `rest`."""
    back: str = r"(?!)"
    """A moved reminder goes back to its time; without these words it is cancelled."""
    that: str = r"(?!)"
    """Says that the newest reminder is meant."""
    week: str = ""
    to: str = r"(?!)"
    """Stands before a new time."""
    slips: str = r"(?!)"
    """A clause that only says that the last message was wrong."""
    drops: str = r"(?!)"
    """Beside a reminder's name and the word for it: it is no longer needed: "can go"."""
    allows: str = r"(?!)"
    """Before something that is no longer needed: "you can" (drop it)."""
    infix: str = r"(?!)()"
    """In the midst of a form of a verb, after the group: `an` of `anzurufen`."""
    corrects: str = r"(?!)"
    """Begins a note that corrects an earlier one."""
    reports: str = r"(?!)"
    """Says, in a line with its accents, that it tells what was done and orders nothing."""
    says: str = r"(?!)"
    """At the end of a clause: the next clause is somebody's words. At the start of a clause: the clause before is."""
    opens: str = r"(?!)"
    """Here an order begins within a clause, with no comma before it."""
    so: str = r"(?!)"
    """Joins clauses."""
    since: str = r"(?!)"
    """Joins a reason to what is asked for: "because"."""
    it: str = r"(?!)"
    """Stands for the thing that another clause names."""
    lacks: str = r"(?!)"
    """At both ends of a clause, beside the thing that is wanted or is no longer wanted: "we're out of"."""
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
    chats: Patterns = ()
    """Clauses that are small talk: "I'm off to bed"."""
    general: Patterns = ()
    """Questions that notes may answer, else only a language model: "how tall is …?"."""


@dataclass(frozen=True, slots=True)
class OrderWords:
    """The patterns of one language, compiled."""

    language: Language
    given: OrderPatterns
    forms: Sequence[tuple[OrderKind, re.Pattern[str], str]]
    """Kind, pattern, and its mark or nothing."""
    begins: re.Pattern[str]
    ends: re.Pattern[str]
    breaks: re.Pattern[str]
    """Between clauses."""
    since: re.Pattern[str]
    lacks: re.Pattern[str]
    short: re.Pattern[str]
    told: re.Pattern[str]
    """A clause that says what somebody said, at one end of it."""
    noise: re.Pattern[str]
    anew: re.Pattern[str]
    alters: re.Pattern[str]
    unready: re.Pattern[str]
    hinders: re.Pattern[str]
    slips: re.Pattern[str]
    drops: re.Pattern[str]
    allows: re.Pattern[str]
    infix: re.Pattern[str]
    shift: re.Pattern[str]
    instead: re.Pattern[str]
    kept: re.Pattern[str]
    joints: re.Pattern[str]
    beside: frozenset[str]
    known: frozenset[str]
    talk: frozenset[str]
    chats: re.Pattern[str]
    general: re.Pattern[str]
    same_day: re.Pattern[str]
    others: Sequence[re.Pattern[str]]
    """Patterns that are used by their texts: a mistake in a file is found when it is read."""


MOST_CHARS = 300
"""Characters of a line that may be an order. The patterns see no longer text."""

MARKS = {"§": "asks", "±": "denies"}
MAYBE = "‽"
LOOSE = "…"
"""`beside` of an order that may be a note as well."""

_WORDS: dict[Language, OrderWords] = {}


@lru_cache(maxsize=64)  # each language asks for the same lines
def flat(text: str) -> str:
    """The text without accents and case, each letter in its place."""
    return "".join(folded if len(folded := fold(letter)) == 1 else letter.lower() for letter in text)


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
        _breaks(given, edge, after),
        re.compile(rf" ?{edge}(?:{given.since}){after} ?"),
        _lacks(given, edge, after),
        re.compile(rf"{edge}(?:{'|'.join(given.short)}){after}", re.IGNORECASE),
        re.compile(rf"\A\W*(?:{given.says}){after}|{edge}(?:{given.says})\W*\Z"),
        re.compile(rf"{edge}(?:{given.noise}){after}"),
        re.compile(rf"[-=]+>|[→➡⇒]|{edge}(?:{given.anew}){after}"),
        re.compile(rf"{edge}(?:{given.alters}){after}"),
        re.compile(rf"{edge}(?:{given.unready}){after}"),
        re.compile(rf"{edge}(?:{given.hinders}){after}"),
        re.compile(rf"(?:{given.slips}){after}[^\w]*"),
        re.compile(rf"{edge}(?:{given.drops}){after}"),
        re.compile(rf"(?:{given.allows}){after}\W*"),
        re.compile(rf"\A(?:{given.infix})"),
        re.compile(f"{given.earlier}|{given.later}"),
        re.compile(given.instead),
        re.compile(given.kept),
        re.compile(rf"[,，、;&+]|{given.joints}", re.IGNORECASE),
        frozenset(given.beside.split()),
        frozenset(given.known.split()),
        frozenset(given.talk.split()),
        re.compile("|".join(given.chats) or r"(?!)"),
        re.compile("|".join(given.general) or r"(?!)"),
        re.compile(rf"{edge}(?:{given.same_day}){after}"),
        tuple(map(re.compile, _others(given))),
    )


def _breaks(given: OrderPatterns, edge: str, after: str) -> re.Pattern[str]:
    """A full stop ends a clause after a word: `14.12. um 9` goes on."""
    marks = r"[;!?…。！？；，、]+ ?|\.{2,} ?|(?<=[^\W\d_]{3})\.(?= )|(?:(?<!\d),|,(?!\d)) ?| [-–—]+ "
    return re.compile(rf" ?(?:{marks})|{edge}(?:{given.so}){after}|{edge}(?={given.opens})")


def _lacks(given: OrderPatterns, edge: str, after: str) -> re.Pattern[str]:
    longest_first = "|".join(sorted(given.lacks.split("|"), key=len, reverse=True))
    return re.compile(rf"\A(?:{longest_first}){after}|{edge}(?:{longest_first})\Z")


def _others(given: OrderPatterns) -> Iterator[str]:
    yield from (given.corrects, given.earlier, given.later, given.to, given.that, given.back)
    yield from (given.reports, given.days, given.it, given.week, *given.ago, *given.subjects.values())


def _forms(given: OrderPatterns) -> Iterator[tuple[OrderKind, re.Pattern[str], str]]:
    named = {"%d": given.days, "%t": given.times} | {
        name: f"(?:{words})"
        for name, words in {
            "%l": given.lengths,
            "%r": given.reminders,
            "%w": given.wishes,
            "%k": given.timed,
        }.items()
    }
    for kind in OrderKind:
        for pattern in getattr(given, kind, ()):
            mark = pattern[:1] if pattern[:1] in (*MARKS, "¶", MAYBE) else ""
            whole = pattern.removeprefix(mark).replace("~", rf"(?: (?:{given.softeners})(?!\w)){{0,3}}")
            for name, words in named.items():
                whole = whole.replace(name, words)
            yield kind, re.compile(whole), mark
