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

from agent.languages import terms
from agent.languages.date_readers import KINDS, SPOKEN
from agent.languages.stemming import stem
from agent.search import aliases, tokenizer
from agent.search.chunking import Chunker
from agent.search.ranking import WEIGHTS
from agent.search.text_kinds import OF_KIND, TextKind, Weights

if TYPE_CHECKING:
    from datetime import date

    from agent.languages.date_relations import Mention
    from agent.languages.dates import Span

_AGENT = "agent."
Change: TypeAlias = tuple[str, str, object]
"""A module of the index, a name in it, its value instead."""


def _same(word: str) -> str:
    return word


def _single(text: str) -> list[str]:
    """Characters of unspaced scripts one by one."""
    found: list[str] = []
    for word in terms.runs(terms.fold(text)):
        found += list(word) if terms.is_unspaced(word) else [stem(word)]
    return found


def _single_terms(folded: str) -> list[str]:
    found: list[str] = []
    for word in terms.runs(folded):
        found += list(word) if terms.is_unspaced(word) else [word]
    return found


def _that_day(span: Span, day: int) -> float:
    return float(span[0].toordinal() <= day <= span[1].toordinal())


def _never(*_: object) -> bool:
    return False


def _as_named(_text: str, mentions: Sequence[Mention], _today: date) -> Sequence[Mention]:
    return mentions


def _no_names(*_: object) -> dict[str, list[tokenizer.Term]]:
    return {}


def _nothing(*_: object) -> tuple[()]:
    return ()


def _of_kinds(weights: Mapping[int, Weights]) -> tuple[Change, ...]:
    return ("search.bm25", "OF_KIND", weights), ("search.ranking", "OF_KIND", weights)


def _weightless(*parts: str) -> Change:
    return "search.ranking", "WEIGHTS", {part: 0.0 if part in parts else weight for part, weight in WEIGHTS.items()}


RULES: Mapping[str, tuple[Change, ...]] = {
    # how a score is made up
    "near": (_weightless("near"),),
    "context": (("search.bm25", "_FLOWS", {}),),
    "kinds of text": _of_kinds(dict.fromkeys(TextKind, OF_KIND[TextKind.PEOPLE])),
    "lists of facts": _of_kinds({**OF_KIND, TextKind.FACTS: OF_KIND[TextKind.PEOPLE]}),
    "talk with the assistant": _of_kinds({**OF_KIND, TextKind.ASSISTANT: OF_KIND[TextKind.PEOPLE]}),
    "window": (_weightless("window"),),
    "date": (("search.ranking", "days_named", _nothing),),
    "words of days": (("search.query", "_OF_DAYS", 1.0), ("search.query", "without_days", _same)),
    "days beside": (("search.ranking", "_BESIDE", 1.0),),
    "days written out": (("search.ranking", "_spelt", _nothing),),
    "days near by": (("search.ranking", "_date_match", _that_day),),
    "names": (_weightless("speaker"),),
    "first of several": (("search.query", "_FIRST_NAMED", 0.0),),
    "in one breath": (("search.query", "_IN_ONE_BREATH", 0),),
    "names in greetings": (("search.sources", "greeted_in", _nothing),),
    "whose turns": (("search.query", "_OTHER_SIDE", 1.0),),
    "days by other days": (("languages.dates", "related", _as_named),),
    "seasons and feasts": (("languages.dates", "KINDS", tuple(one for one in KINDS if one[1] not in SPOKEN)),),
    "other names": (("search.query", "other_names", _no_names),),
    "synonyms": (("search.query", "synonyms_of", _nothing),),
    "answer": (_weightless("answer"),),
    "only asks": (("search.ranking", "_ONLY_ASKS", 1.0),),
    "reply": (("search.ranking", "is_question", _never),),
    # what a word counts
    "heading": (("search.bm25", "_HEAD", 0.0),),
    "length": _of_kinds({kind: replace(weights, length=0.0) for kind, weights in OF_KIND.items()}),
    "least length": (("search.bm25", "_LEAST_LENGTH", 1),),
    "long questions": (("search.query", "_MOST_TERMS", 32),),
    "words of questions": (("search.query", "_OF_QUESTIONS", 0.0),),
    "words everywhere": (("search.query", "_EVERYWHERE", 2.0),),
    "longer words": (("search.tokenizer", "_PREFIX", 1_000),),
    # words to tokens
    "beginnings": (("search.query", "beginnings", _nothing),),
    "stems": (("search.tokenizer", "stem", _same),),
    "irregular forms": (("languages.stemming", "_IRREGULAR", {}),),
    "stop words": (("search.tokenizer", "_STOP", frozenset()), ("search.tokenizer", "is_common", _never)),
    "pairs of characters": (("search.sources", "tokens", _single), ("search.tokenizer", "terms", _single_terms)),
    # what is found
    "near repeats": (("search.ranking", "_REPEATED", 1.0),),
    "overlap": (("search.engine", "Chunker", partial(Chunker, overlap=0)),),
    "sections": (("search.engine", "Chunker", partial(Chunker, sections=False)),),
}
_CACHED: tuple[Callable[[], None], ...] = (
    stem.cache_clear,
    tokenizer.term_of.cache_clear,
    aliases.synonyms.cache_clear,
)


@contextmanager
def left_out(rule: str) -> Iterator[None]:
    """Raises `KeyError` for a rule that there is not, `AttributeError` where one is out of date."""
    changes = [(importlib.import_module(_AGENT + module), name, value) for module, name, value in RULES[rule]]
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
