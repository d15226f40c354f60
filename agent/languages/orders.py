"""Orders in plain words: a line that sets, cancels, moves or lists reminders, changes a list, asks for a day, for help.
Pure.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import date, timedelta

from agent.languages.codes import ALL_LANGUAGES, Language
from agent.languages.days_meant import relative_days
from agent.languages.order_words import LOOSE, MARKS, MAYBE, OrderKind, OrderWords, flat, words_of
from agent.languages.terms import is_unspaced
from agent.languages.typos import mended


@dataclass(frozen=True, slots=True)
class PlainOrder:
    """`about`: what it is about, in the person's words; `name`: of the list; `beside`: the other clauses."""

    kind: OrderKind
    language: Language
    about: str = ""
    name: str = ""
    beside: str = ""


def is_talk(line: str) -> bool:
    """Whether a line is made of greetings, thanks and the like."""
    clauses = [clause for clause in map(str.strip, _CLAUSE.split(flat(line))) if re.search(r"[^\W\d_]", clause)]
    spoken = sum(len(re.findall(r"[^\W\d_]+", clause)) for clause in clauses)
    if not clauses or spoken > _MOST_TALK:
        return False
    return any(all(_is_chat(clause, words_of(language)) for clause in clauses) for language in ALL_LANGUAGES)


def _is_chat(clause: str, words: OrderWords) -> bool:
    if words.chats.fullmatch(clause):
        return True
    spoken = re.findall(r"[^\W\d_]+", clause)
    return len(spoken) <= _MOST_WORDS and all(_is_said(word, words.talk) for word in spoken)


_CLAUSE = re.compile(r"[,;:.!?…。，！？；、~～〜]+| - ")
_MOST_WORDS = 8
_MOST_TALK = 14


_DONE = frozenset(OrderKind) - {OrderKind.DAY, OrderKind.DUE, OrderKind.PROMISED, OrderKind.HELP, OrderKind.MODEL}
"""Kinds that a line which reports what was done does not ask for."""

_DRAWN_OUT = re.compile(r"(\w)\1+(?=\Z|(?<=\1\1\1))")

_LAUGHTER = re.compile(r"(?:[hj][aeiou]){2,}h?|w{2,}|笑+|哈{2,}|呵{2,}|jaj\w*|lol|mdr")


def _is_said(word: str, talk: frozenset[str]) -> bool:
    drawn_out = (_DRAWN_OUT.sub(rf"\1{more}", word) for more in ("", r"\1"))  # "thankssss", "hellooo"
    if word in talk or _LAUGHTER.fullmatch(word) or not talk.isdisjoint(drawn_out):
        return True
    if not is_unspaced(word[:1]):
        return False
    left = word
    for known in sorted(talk, key=len, reverse=True):
        left = left.replace(known, "")
    return not left


def order_of(
    words: OrderWords, line: str, *, is_last: bool = False, beside: Collection[OrderKind] = ()
) -> PlainOrder | None:
    """The order in a line of a language. `is_last`: only what sounds like an order but cannot be done. `beside`: the
    line is a clause beside others, and its order may only be of these kinds."""
    own = line.strip(_AROUND)
    if words.given.short:
        own = words.short.sub(lambda found: words.given.short[found[0].lower()], own)
    own, marks = plain(mended(own, words.language, orders=True), words)
    marks |= {MAYBE, "¶"} if beside else {MAYBE}
    kinds = {OrderKind.CANNOT} if is_last else frozenset(OrderKind) - {OrderKind.CANNOT}
    found = _order_of(words, own, marks, kinds & frozenset(beside) if beside else kinds)
    if found is not None or is_last or (allowed := words.allows.match(flat(own))) is None:
        return found
    rest = plain(own[allowed.end() :], words)[0]
    found = _order_of(words, rest, {*marks, "§", "¶"}, _ALLOWED & frozenset(beside or _ALLOWED))
    return replace(found, beside=LOOSE) if found is not None else None


_ALLOWED = frozenset((OrderKind.UNDO, OrderKind.TAKE_OFF, OrderKind.FORGET, OrderKind.CANCEL))
"""Kinds that are also asked for as if they were allowed: "you can delete that"."""


def _order_of(words: OrderWords, own: str, marks: Collection[str], kinds: Collection[OrderKind]) -> PlainOrder | None:
    text = flat(own)
    if not text:
        return None
    is_report = re.search(words.given.reports, own.lower()) is not None
    for kind, pattern, mark in words.forms:
        if kind not in kinds or mark not in marks or (is_report and kind in _DONE):
            continue
        if match := pattern.search(text):
            groups = {name: own[slice(*match.span(name))] for name, got in match.groupdict().items() if got}
            about = " ".join(filter(None, (groups.get("rest", ""), groups.get("more", ""))))
            if "rest" not in pattern.groupindex:
                about = f"{own[: match.start()]} {own[match.end() :]}"
            name, beside = groups.get("name", "").strip(), LOOSE if mark == MAYBE else ""
            return PlainOrder(kind, words.language, about.strip(" ,:，、：。"), name, beside)
    return None


def plain(line: str, words: OrderWords) -> tuple[str, set[str]]:
    """The line without politeness at both ends, and the marks of the patterns that fit it then."""
    marks = {""}
    for _ in range(6):
        text = flat(line)
        begin, end = words.begins.match(text), words.ends.search(text)
        if begin is not None and begin.end():
            marks |= {mark for mark, name in MARKS.items() if begin[name] is not None}
            line = line[begin.end() :].lstrip(_AROUND)
        elif end is not None and end.start():
            marks |= {"§"} if end["asks"] is not None else set()
            line = line[: end.start()].rstrip(_AROUND)
        else:
            break
    return line, marks


_AROUND = " \t,.!?¡¿…。，！？、"


def without_noise(text: str, language: Language) -> str:
    """The words of the text that tell which reminder or memory is meant."""
    return " ".join(_without(text, words_of(language).noise).split()).strip(" ,:'，、的のをは")


def without_anew(text: str, language: Language) -> str:
    """The text without words that say that its time is another than before."""
    return _without(text, words_of(language).anew)


def without_change(text: str, language: Language) -> str:
    """The text without words that say that a time is another, or no longer fits."""
    words = words_of(language)
    for pattern in (words.alters, words.unready, words.hinders, words.anew):
        text = _without(text, pattern)
    return text


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
    return plain(line.strip(_AROUND), words_of(language))[0]


def may_change_reminder(line: str) -> bool:
    """Whether a line has a word for reminders, or words that say that something is no longer needed."""
    folded = flat(line)
    return any(
        re.search(words.given.subjects.get("reminders", "(?!)"), folded) is not None
        or words.drops.search(folded) is not None
        for words in map(words_of, ALL_LANGUAGES)
    )


def without_drops(text: str, language: Language) -> str:
    """The text without words that say that something is no longer needed."""
    return _without(text, words_of(language).drops)


def is_general(line: str, language: Language) -> bool:
    """Whether a line asks for something that a language model may know if no note tells it."""
    return words_of(language).general.search(plain(flat(line).strip(_AROUND), words_of(language))[0]) is not None


def is_pronoun(text: str, language: Language) -> bool:
    """Whether a text stands for something that was named elsewhere."""
    return re.fullmatch(words_of(language).given.it, flat(text.strip())) is not None


def without_articles(text: str) -> str:
    """The text without the articles and possessives before it: of `my old bike`, `old bike`."""
    rest = _articles().sub("", text.strip())
    return rest if rest.strip() else text


def past_day(text: str, today: date, language: Language | None = None) -> date | None:
    """The latest day that the words may mean, today at the latest. `language`: None for any."""
    folded = flat(text)
    for candidate in (language,) if language else ALL_LANGUAGES:
        words = words_of(candidate).given
        for back, pattern in reversed([*enumerate(words.ago, 1)]):
            if re.search(pattern, folded):
                return today - timedelta(days=back)
        alone = re.search(words.days, folded)
        told = relative_days(text, today) or (relative_days(text[slice(*alone.span())], today) if alone else ())
        if meant := [day for days in told for day in days if day <= today]:
            return max(meant)
    return None


def items_in(text: str, language: Language) -> list[str]:
    """The items that a text names together."""
    parts = words_of(language).joints.split(text)
    return [item for part in parts if (item := without_articles(part.strip().strip(" .,!?")))]


def are_joined(text: str, language: Language) -> bool:
    """Whether the text names several items: `both bread and butter`."""
    return words_of(language).joints.search(text) is not None


_ARTICLES: list[re.Pattern[str]] = []
"""Read when first needed: a start does not wait for these files."""


def _articles() -> re.Pattern[str]:
    if not _ARTICLES:
        words = [word for language in ALL_LANGUAGES for word in words_of(language).given.articles.split("|")]
        forms = [rf"{word}\s+" if word.isascii() and not word.endswith("'") else word for word in words]
        longest_first = sorted(forms, key=len, reverse=True)
        _ARTICLES.append(re.compile(rf"\A(?:{'|'.join(longest_first)}){{1,2}}", re.IGNORECASE))
    return _ARTICLES[0]
