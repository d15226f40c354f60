"""What a question asks for: its terms, and how much each tells."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from agent.memory.index.aliases import other_names
from agent.memory.index.dates import without_days
from agent.memory.index.store import Store
from agent.memory.index.synonyms import synonyms_of
from agent.memory.index.tokens import Term, beginnings, query_terms, words_of_questions

_UNKNOWN = 0.5
"""Part of its weight with which a word that memory does not know keeps a score down."""
_MOST_TERMS = 100
"""Of a long question, the rarest ones: each costs time in every passage that is looked at."""
_COMMON_AT_LEAST = 2_000
_COMMON_SHARE = 20
"""A word in more windows than this many, and this part of all, is not looked for beside rarer ones: it costs most and
tells least."""
_OF_DAYS = 0.25
"""Part of its weight for a word that names a day: what is of that day need not say so. Unknown, it keeps no
score down."""
_MOST_SYNONYM_WINDOWS = 300
"""Windows that hold the synonyms that are looked for, added up, the rarest synonym first: each window costs time."""
_OF_QUESTIONS = 0.3
"""Part of its weight for a word that questions are made of: nothing is found by it, but of two passages that say the
same, the one that says it in the words of the question is meant. Not in a list of facts, which are written down in
other words than they are asked for."""
_OFTEN = 0.5
"""Part of all windows from which on such a word is not counted: it tells little, and is counted at each place."""
_EVERYWHERE = 0.9
"""Part of all windows from which on a word tells nothing."""


@dataclass(frozen=True, slots=True)
class Asked:
    """`weights`: how much each term tells, by its token; `whole` what they add up to, and `known` its part of all that
    is asked, with the words that memory does not know. `share`: of what words count at all, less where they name days
    and nothing else. `synonyms`: terms that may stand for one that is asked for. `beside`: terms that are looked for
    only where something else was found."""

    terms: Sequence[Term]
    weights: Mapping[str, float]
    whole: float
    known: float = 1.0
    share: float = 1.0
    synonyms: Sequence[Term] = ()
    beside: Sequence[Term] = ()


def asked(store: Store, query: str, *, of_days: bool = False) -> Asked:
    """`of_days`: it names days."""
    windows = store.windows
    limit = min(max(_COMMON_AT_LEAST, windows // _COMMON_SHARE), _EVERYWHERE * windows)
    wanted = query_terms(query)
    beside = frozenset(query_terms(without_days(query)) if of_days else wanted)
    shares = {term.token: 1.0 if term in beside else _OF_DAYS for term in wanted}
    others = other_names(query, store.names)
    held = dict(_held(store, term, others.get(term.token, ())) for term in wanted)
    known = {term: count for term, count in held.items() if count}
    rarest = sorted(known, key=lambda term: known[term])
    terms = [term for term in rarest if known[term] <= limit][:_MOST_TERMS] or rarest[:2]
    weights = {term.asked: shares[term.asked] * _telling(known[term], windows) for term in terms}
    share = 1.0 if any(term in beside for term in wanted) else _OF_DAYS
    terms = [*terms, *(other for term in terms for other in others.get(term.asked, ()))]
    whole = sum(weights.values())
    synonyms = _synonyms(store, wanted, {term.token for term in terms})
    for token in {term.of for term in synonyms} - weights.keys():
        count = sum(count for term, count in synonyms.items() if term.of == token)
        weights[token] = _UNKNOWN * _telling(count, windows)
    whole = (whole or sum(weights.values())) / share or 1.0
    missing = sum(1 for term in held if term in beside and term not in known and term.asked not in weights)
    unknown = _UNKNOWN * missing * _telling(0, windows)
    known_share = whole / (whole + unknown)
    others_beside = {term: store.frequency(term) for term in words_of_questions(query) if term.token not in weights}
    counted = {term: count for term, count in others_beside.items() if 0 < count < _OFTEN * windows}
    weights |= {term.token: _OF_QUESTIONS * _telling(count, windows) for term, count in counted.items()}
    return Asked(terms, weights, whole, known_share, share, list(synonyms), list(counted))


def _synonyms(store: Store, wanted: Iterable[Term], taken: Collection[str]) -> dict[Term, int]:
    """The synonyms of what is asked for that memory holds, each for one word, and in how many windows it stands."""
    others = {token: term.token for term in wanted for token in synonyms_of(term.token) if token not in taken}
    terms = [Term(token, of=asked) for token, asked in others.items()]
    counts = {term: store.frequency(term) for term in terms}
    kept: dict[Term, int] = {}
    room = _MOST_SYNONYM_WINDOWS
    for term, count in sorted(counts.items(), key=lambda one: (one[1], one[0].token)):
        room -= count
        if room < 0:
            break
        if count:
            kept[term] = count
    return kept


def _held(store: Store, term: Term, names: Sequence[Term]) -> tuple[Term, int]:
    """A term, or what is looked for instead, and in how many windows it stands; of a name its commonest form."""
    if count := max(map(store.frequency, (term, *names))):
        return term, count
    others = ((other, store.frequency(other)) for other in beginnings(term))
    return next(((other, count) for other, count in others if count), (term, 0))


def _telling(count: int, windows: int) -> float:
    return math.log(1 + (max(windows - count, 0) + 0.5) / (count + 0.5))
