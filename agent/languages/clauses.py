"""Finds the order in a line or in a clause of it: "gonna nap, wake me in 40 minutes". Pure.

What somebody else said is no order: "Bob said, remind me tomorrow".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from agent.languages.codes import ALL_LANGUAGES, Language
from agent.languages.order_words import LOOSE, OrderKind, OrderWords, flat, words_of
from agent.languages.orders import PlainOrder, is_pronoun, is_talk, order_of, plain, without_noise
from agent.languages.remember import QUOTED

_MOST_CLAUSES = 6
_QUESTIONS = frozenset((OrderKind.MODEL, OrderKind.SHOW_LIST, OrderKind.PROMISED, OrderKind.DAY, OrderKind.DUE))
_LISTED = frozenset((OrderKind.ADD, OrderKind.TAKE_OFF))
_IN_CLAUSES = (
    _QUESTIONS
    | _LISTED
    | frozenset((OrderKind.TIMER, OrderKind.WAKE, OrderKind.FORGET, OrderKind.CANCEL, OrderKind.MOVE, OrderKind.REMIND))
)
"""Kinds that may be asked for in a clause. To undo or to stop is said alone."""
_STOPS = frozenset((OrderKind.STOP,))
_WISHES = frozenset((OrderKind.CANNOT,))
_GO_ON = frozenset((OrderKind.TIMER, OrderKind.WAKE, OrderKind.REMIND, OrderKind.ADD))
"""The clauses after it tell more of the same."""
_ALONE = frozenset((OrderKind.CANCEL, OrderKind.FORGET, OrderKind.TIMER, OrderKind.WAKE, OrderKind.REMIND))
"""Their own clause counts before the others."""
_POINT = _ALONE | _LISTED | frozenset((OrderKind.MOVE,))
"""They may be about a thing that another clause names, even where the whole line is an order of this kind."""
_TAKE_BACK = frozenset((OrderKind.CANCEL, OrderKind.FORGET))
_RESET = frozenset((OrderKind.REMIND, OrderKind.CANCEL, OrderKind.MOVE))
"""A clause tells better than the whole line which of these is meant."""
_MOST_ITEM_WORDS = 6


@dataclass(frozen=True, slots=True)
class _Split:
    """The clauses of a line, read in the words of one language."""

    words: OrderWords
    clauses: Sequence[str]

    def order(self, *, asks: bool = False, whole: PlainOrder | None = None) -> PlainOrder | None:
        """The first order in a clause, or None. `asks`: the line is a question. `whole`: the order of the whole line;
        then only an order that points to another clause counts."""
        for at, clause in enumerate(self.clauses):
            found = self._in(clause)
            if found is None or self._is_quoted(at) or (whole is not None and not self._points(found, whole)):
                continue
            if found.kind in _QUESTIONS and not (asks and at == len(self.clauses) - 1):
                continue
            if found.kind not in _LISTED:
                return self._with_others(found, at)
            if listed := self._with_items(found, at):
                return listed
        return None

    def undo(self) -> PlainOrder | None:
        """The order to take back the last change, if each other clause only says that it was wrong."""
        taking = [self._takes_back(clause) for clause in self.clauses]
        rest = [clause for clause, takes in zip(self.clauses, taking, strict=True) if not takes]
        is_undo = any(taking) and all(self._is_slip(clause) for clause in rest)
        return PlainOrder(OrderKind.UNDO, self.words.language) if is_undo else None

    def _takes_back(self, clause: str) -> bool:
        found = order_of(self.words, clause) or order_of(self.words, clause, beside=_TAKE_BACK)
        return found is not None and (
            found.kind is OrderKind.UNDO or (found.kind in _TAKE_BACK and _names_nothing(found))
        )

    def _is_slip(self, clause: str) -> bool:
        left = flat(plain(f"{clause}, ", self.words)[0])
        while left and (found := self.words.slips.match(left)) is not None:
            left = left[found.end() :]
        return not left

    def other(self, whole: PlainOrder) -> PlainOrder | None:
        """The first order in a clause, if no clause is of the kind that the whole line seems to be."""
        if whole.kind not in _RESET:
            return None
        found = [(order, at) for at, clause in enumerate(self.clauses) if (order := self._in(clause)) is not None]
        if not found or any(order.kind is whole.kind for order, _ in found) or found[0][0].kind not in _RESET:
            return None
        return self._with_others(*found[0])

    def is_reported(self) -> bool:
        """Whether the line tells of somebody else's order."""
        return any(self._is_quoted(at) and self._in(clause) is not None for at, clause in enumerate(self.clauses))

    def wish(self) -> PlainOrder | None:
        """A polite request in a clause for something that cannot be done: "…, can you text Anna?". Without politeness
        ("…, buy a present") it may be meant for the person."""
        for at, clause in enumerate(self.clauses):
            if "§" not in plain(clause, self.words)[1]:
                continue
            found = order_of(self.words, clause, is_last=True, beside=_WISHES)
            if found is not None and not self._is_quoted(at):
                return found
        return None

    def _in(self, clause: str) -> PlainOrder | None:
        return order_of(self.words, clause, beside=_IN_CLAUSES)

    def _points(self, found: PlainOrder, whole: PlainOrder) -> bool:
        """Whether the order lacks the thing that it is about, or its own clause is to be read first."""
        is_bare = _names_nothing(found)
        return found.kind is whole.kind and (not is_bare if whole.beside == LOOSE else found.kind in _ALONE or is_bare)

    def _with_others(self, found: PlainOrder, at: int) -> PlainOrder:
        if found.kind in _GO_ON and at + 1 < len(self.clauses):
            whole = order_of(self.words, ", ".join(self.clauses[at:]), beside=_IN_CLAUSES)
            if whole is not None and whole.kind is found.kind:
                return replace(whole, beside=", ".join(self.clauses[:at]))
        return replace(found, beside=", ".join((*self.clauses[:at], *self.clauses[at + 1 :])))

    def _with_items(self, found: PlainOrder, at: int) -> PlainOrder | None:
        """The order with its items: in place of "it", those that the clause next to it names. None without items."""
        if not found.name:
            return None
        if not _names_nothing(found):
            return found
        named = [self._named_in(clause) for clause in (*self.clauses[at - 1 : at], *self.clauses[at + 1 : at + 2])]
        items = [item for item in named if item and len(item.split()) <= _MOST_ITEM_WORDS]
        return replace(found, about=items[0]) if items else None

    def _named_in(self, clause: str) -> str:
        """The clause without its words for lacking something ("we're out of"); empty if it has none."""
        rest = clause.strip()
        while (found := self.words.lacks.search(flat(rest))) is not None and found.end() > found.start():
            rest = f"{rest[: found.start()]}{rest[found.end() :]}".strip(" ,")
        return rest if rest != clause.strip() else ""

    def _is_quoted(self, at: int) -> bool:
        """Whether the clause before ends, the clause after begins, or the clause itself ends with who said it."""
        told = self.words.told
        before = at and [match for match in told.finditer(flat(self.clauses[at - 1])) if _is_at_end(match)]
        after = at + 1 < len(self.clauses) and told.match(flat(self.clauses[at + 1]))
        own = self.clauses[at]
        is_asked = "§" in plain(own, self.words)[1]  # "can you say something"
        return bool(
            before or after or [match for match in told.finditer(flat(own)) if _is_at_end(match) and not is_asked]
        )


def _names_nothing(found: PlainOrder) -> bool:
    return not without_noise(found.about, found.language) or is_pronoun(found.about, found.language)


def _is_at_end(found: re.Match[str]) -> bool:
    return found.end() == len(found.string)


def order_in(
    line: str, first: Language | None = None, *, is_sure: bool = False, asks: bool = False
) -> PlainOrder | None:
    """The order in a line. `first`: its likely language; `is_sure`: it is no other. `asks`: it is a question."""
    line = unicodedata.normalize("NFC", line).replace("’", "'")
    languages = [first] if first and is_sure else [*dict.fromkeys((*([first] if first else []), *ALL_LANGUAGES))]
    splits = [*_splits(line, [first] if first else languages)]
    for language in languages:
        own = [split for split in splits if split.words.language is language]
        if undo := next(filter(None, (split.undo() for split in own)), None):
            return undo
        if _is_stop(line, words_of(language)):
            return PlainOrder(OrderKind.STOP, language)
        if whole := order_of(words_of(language), line):
            if any(split.is_reported() for split in own):
                return None
            if clear := next(filter(None, (split.other(whole) for split in own)), None):
                return clear
            pointing = own if whole.kind in _POINT else ()
            return next((found for split in pointing if (found := split.order(whole=whole))), whole)
        if language is first and (found := next(filter(None, (split.order(asks=asks) for split in own)), None)):
            return found
    if not first and (found := next(filter(None, (split.order(asks=asks) for split in splits)), None)):
        return found
    for language in languages:
        if found := order_of(words_of(language), line, is_last=True):
            return found
    return next((found for split in splits if (found := split.wish())), None)


def clauses_in(line: str, language: Language) -> list[str]:
    """The clauses of a line, with the reasons in them apart; the whole line if it is not divided."""
    line = unicodedata.normalize("NFC", line).replace("’", "'")
    clauses = next((split.clauses for split in _splits(line, [language])), [line.strip()])
    return [part for clause in clauses for part in _cut(clause, words_of(language).since)] or [line.strip()]


def _cut(line: str, pattern: re.Pattern[str]) -> list[str]:
    at, parts = 0, list[str]()
    for found in pattern.finditer(flat(line)):
        parts.append(line[at : found.start()])
        at = found.end()
    return [own for part in (*parts, line[at:]) if (own := part.strip())]


def _is_stop(line: str, words: OrderWords) -> bool:
    """Whether the line only asks to stop: "ok, that's enough, stop"."""
    clauses = _cut(line, words.breaks)
    if not 1 < len(clauses) <= _MOST_CLAUSES:
        return False
    found = [order_of(words, clause, beside=_STOPS) is not None for clause in clauses]
    return any(found) and all(is_stop or is_talk(clause) for clause, is_stop in zip(clauses, found, strict=True))


def _splits(line: str, languages: Iterable[Language]) -> Iterable[_Split]:
    if QUOTED.search(line) is not None:
        return
    for language in languages:
        words = words_of(language)
        clauses = [own for own in _cut(line, words.breaks) if plain(f"{own}, ", words)[0]]
        if 1 < len(clauses) <= _MOST_CLAUSES:
            yield _Split(words, clauses)
