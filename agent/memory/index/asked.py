"""What a question asks for: its terms and how much each tells, and other words that may stand for them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent.memory.index.related import RELATED
from agent.memory.index.store import Store
from agent.memory.index.tokens import Term, query_terms

_UNKNOWN = 0.5
"""Part of its weight with which a word that memory does not know keeps a score down."""
_COMMON_AT_LEAST = 2_000
_COMMON_SHARE = 20
"""A word in more windows than this many, and this part of all, is not looked for beside rarer ones: it costs most and
tells least."""
_EVERYWHERE = 0.8
"""Part of all windows from which on a word tells nothing."""
_RELATED_MOST = 2_000
"""Windows that words standing for others may be in, added up, the rarest first: what looking for them costs."""


@dataclass(frozen=True, slots=True)
class Asked:
    """`weights`: how much each term tells, by its token; `whole` what they add up to, with the unknown. `related`: by a
    token that may stand for some of them, how much of each it counts as."""

    terms: Sequence[Term]
    weights: Mapping[str, float]
    whole: float
    related: Mapping[str, Mapping[str, float]]

    @property
    def related_terms(self) -> list[Term]:
        return [Term(token) for token in self.related]


def asked(store: Store, query: str) -> Asked:
    windows = store.windows
    limit = min(max(_COMMON_AT_LEAST, windows // _COMMON_SHARE), _EVERYWHERE * windows)
    held = {term: store.frequency(term) for term in query_terms(query)}
    known = {term: count for term, count in held.items() if count}
    rare = [term for term, count in known.items() if count <= limit]
    terms = rare or sorted(known, key=lambda term: known[term])[:2]
    weights = {term.token: _telling(known[term], windows) for term in terms}
    unknown = [term.token for term in held if term not in known]
    others = _others(store, [*weights, *unknown], limit)
    for token in unknown:
        if count := sum(others[other] for other in RELATED.get(token, ()) if other in others):
            weights[token] = _telling(count, windows)
    missing = _UNKNOWN * sum(token not in weights for token in unknown) * _telling(0, windows)
    related = {other: _stands_for(other, _telling(count, windows), weights) for other, count in others.items()}
    return Asked(terms, weights, (sum(weights.values()) + missing) or 1.0, related)


def _others(store: Store, tokens: Sequence[str], limit: float) -> dict[str, int]:
    """The words that may stand for `tokens`, and in how many windows each is, as many as can be afforded."""
    wanted = dict.fromkeys(other for token in tokens for other in RELATED.get(token, ()))
    counts = {other: store.frequency(Term(other)) for other in wanted}
    found: dict[str, int] = {}
    room = _RELATED_MOST
    for other in sorted(counts, key=lambda other: counts[other]):
        if 0 < counts[other] <= min(limit, room):
            found[other] = counts[other]
            room -= counts[other]
    return found


def _stands_for(other: str, tells: float, weights: Mapping[str, float]) -> dict[str, float]:
    """A word that is more common than the one that it stands for tells no more than it does itself."""
    return {token: min(1.0, tells / weight) for token, weight in weights.items() if other in RELATED.get(token, ())}


def _telling(count: int, windows: int) -> float:
    return math.log(1 + (max(windows - count, 0) + 0.5) / (count + 0.5))
