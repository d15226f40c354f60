"""The rules of the memory search, each with what is put in its place to leave it out of a measurement.

Names of modules are replaced for the length of a run, so that what is shipped knows nothing of being measured.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, TypeAlias

from agent.memory import words
from agent.memory.index import synonyms, tokens
from agent.memory.index.cutting import Cut
from agent.memory.index.date_readers import KINDS, SAID
from agent.memory.index.daybook import WEIGHTS
from agent.memory.index.kinds import OF_KIND, Kind, Weights

if TYPE_CHECKING:
    from datetime import date

    from agent.memory.index.date_relations import Mention
    from agent.memory.index.dates import Span

_INDEX = "agent.memory.index."
Change: TypeAlias = tuple[str, str, object]
"""A module of the index, a name in it, its value instead."""


def _same(word: str) -> str:
    return word


def _single(text: str) -> list[str]:
    """Characters of unspaced scripts one by one."""
    found: list[str] = []
    for word in words.runs(words.fold(text)):
        found += list(word) if words.is_unspaced(word) else [tokens.stem(word)]
    return found


def _single_terms(folded: str) -> list[str]:
    found: list[str] = []
    for word in words.runs(folded):
        found += list(word) if words.is_unspaced(word) else [word]
    return found


def _that_day(span: Span, day: int) -> float:
    return float(span[0].toordinal() <= day <= span[1].toordinal())


def _never(*_: object) -> bool:
    return False


def _as_named(_text: str, mentions: Sequence[Mention], _today: date) -> Sequence[Mention]:
    return mentions


def _no_names(*_: object) -> dict[str, list[tokens.Term]]:
    return {}


def _nothing(*_: object) -> tuple[()]:
    return ()


def _of_kinds(weights: Mapping[int, Weights]) -> tuple[Change, ...]:
    return ("near", "OF_KIND", weights), ("daybook", "OF_KIND", weights)


def _weightless(*parts: str) -> Change:
    return "daybook", "WEIGHTS", {part: 0.0 if part in parts else weight for part, weight in WEIGHTS.items()}


RULES: Mapping[str, tuple[Change, ...]] = {
    # how a score is made up
    "near": (_weightless("near"),),
    "context": (("near", "_FLOWS", {}),),
    "kinds of text": _of_kinds(dict.fromkeys(Kind, OF_KIND[Kind.PEOPLE])),
    "lists of facts": _of_kinds({**OF_KIND, Kind.FACTS: OF_KIND[Kind.PEOPLE]}),
    "talk with the assistant": _of_kinds({**OF_KIND, Kind.ASSISTANT: OF_KIND[Kind.PEOPLE]}),
    "window": (_weightless("window"),),
    "date": (("daybook", "days_named", _nothing),),
    "words of days": (("asked", "_OF_DAYS", 1.0), ("asked", "without_days", _same)),
    "days beside": (("daybook", "_BESIDE", 1.0),),
    "days written out": (("daybook", "_spelt", _nothing),),
    "days near by": (("daybook", "_date_match", _that_day),),
    "names": (_weightless("speaker"),),
    "first of several": (("who", "_FIRST_NAMED", 0.0),),
    "whose turns": (("who", "_OTHER_SIDE", 1.0),),
    "days by other days": (("dates", "related", _as_named),),
    "seasons and feasts": (("dates", "KINDS", tuple(one for one in KINDS if one[1] not in SAID)),),
    "other names": (("asked", "other_names", _no_names),),
    "synonyms": (("asked", "synonyms_of", _nothing),),
    "answer": (_weightless("answer"),),
    "reply": (("daybook", "is_question", _never),),
    # what a word counts
    "heading": (("near", "_HEAD", 0.0),),
    "length": _of_kinds({kind: replace(weights, length=0.0) for kind, weights in OF_KIND.items()}),
    "least length": (("near", "_LEAST_LENGTH", 1),),
    "long questions": (("asked", "_MOST_TERMS", 32),),
    "words of questions": (("asked", "_OF_QUESTIONS", 0.0),),
    "words everywhere": (("asked", "_EVERYWHERE", 2.0),),
    "longer words": (("tokens", "_PREFIX", 1_000),),
    # words to tokens
    "beginnings": (("asked", "beginnings", _nothing),),
    "stems": (("tokens", "stem", _same),),
    "irregular forms": (("stem", "_IRREGULAR", {}),),
    "stop words": (("tokens", "_STOP", frozenset()), ("tokens", "is_common", _never)),
    "pairs of characters": (("sources", "tokens", _single), ("tokens", "terms", _single_terms)),
    # what is found
    "near repeats": (("daybook", "_REPEATED", 1.0),),
    "overlap": (("engine", "Cut", partial(Cut, overlap=0)),),
    "sections": (("engine", "Cut", partial(Cut, sections=False)),),
}
_CACHED: tuple[Callable[[], None], ...] = (
    tokens.stem.cache_clear,
    tokens.term_of.cache_clear,
    synonyms.synonyms.cache_clear,
)


@contextmanager
def left_out(rule: str) -> Iterator[None]:
    """Raises `KeyError` for a rule that there is not, `AttributeError` where one is out of date."""
    changes = [(importlib.import_module(_INDEX + module), name, value) for module, name, value in RULES[rule]]
    before = [(module, name, getattr(module, name)) for module, name, _ in changes]
    try:
        _put(changes)
        yield
    finally:
        _put(before)


def _put(values: Iterable[tuple[ModuleType, str, object]]) -> None:
    for module, name, value in values:
        setattr(module, name, value)
    for clear in _CACHED:
        clear()
