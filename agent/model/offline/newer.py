"""Which of several notes holds: of two that say different things of one matter, the newer. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent.languages.codes import ALL_LANGUAGES
from agent.languages.order_words import flat, words_of
from agent.languages.terms import fold, is_same_word, query_terms, terms
from agent.search.result_text import ShownPassage

_PLACE = re.compile(r"(\d{4}-\d\d-\d\d)\.md:(\d+)")
_TIME = re.compile(r"\d\d:\d\d ")


def newest_first(passages: Sequence[ShownPassage], asked: str) -> tuple[list[ShownPassage], list[ShownPassage]]:
    """The passages, the newest of those before the rest that answer as the best one does; and the older ones of
    these."""
    dated = [passage for passage in passages if _PLACE.search(passage.place)]
    if not dated or dated[0] is not passages[0]:
        return list(passages), []
    best = dated[0]
    same = [passage for passage in dated if passage is best or _are_of_one_matter(best, passage, asked)]
    same.sort(key=_written, reverse=True)
    return [*same, *(passage for passage in passages if passage not in same)], same[1:]


def _are_of_one_matter(first: ShownPassage, second: ShownPassage, asked: str) -> bool:
    """They have the same of the words that are asked for, and the newer corrects, or says nearly the same."""
    older, newer = sorted((first, second), key=_written)
    if _held(older, asked) != _held(newer, asked):
        return False
    words, others = (frozenset(terms(fold(_said(passage)))) for passage in (older, newer))
    return _corrects(_said(newer)) or 2 * len(words & others) >= max(len(words), len(others))


def _held(passage: ShownPassage, asked: str) -> frozenset[str]:
    own = query_terms(_said(passage))
    return frozenset(word for word in query_terms(asked) if any(is_same_word(word, other) for other in own))


def _corrects(text: str) -> bool:
    """It begins as a correction does: "No, …", "Actually …"."""
    flattened = flat(text)
    return any(re.match(words_of(language).given.corrects, flattened) for language in ALL_LANGUAGES)


def _said(passage: ShownPassage) -> str:
    return _TIME.sub("", passage.text, count=1)


def _written(passage: ShownPassage) -> tuple[str, int]:
    place = _PLACE.search(passage.place)
    return (place[1], int(place[2])) if place else ("", 0)
