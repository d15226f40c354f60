"""What a question asks for: its terms, and how much each tells."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class Asked:
    """`weights`: how much each term tells, by its token; `whole` what they add up to, with the unknown."""

    terms: Sequence[Term]
    weights: Mapping[str, float]
    whole: float


def asked(store: Store, query: str) -> Asked:
    windows = store.windows
    limit = min(max(_COMMON_AT_LEAST, windows // _COMMON_SHARE), _EVERYWHERE * windows)
    held = {term: store.frequency(term) for term in query_terms(query)}
    known = {term: count for term, count in held.items() if count}
    rare = [term for term, count in known.items() if count <= limit]
    terms = rare or sorted(known, key=lambda term: known[term])[:2]
    weights = {term.token: _telling(known[term], windows) for term in terms}
    unknown = _UNKNOWN * (len(held) - len(known)) * _telling(0, windows)
    return Asked(terms, weights, (sum(weights.values()) + unknown) or 1.0)


def _telling(count: int, windows: int) -> float:
    return math.log(1 + (max(windows - count, 0) + 0.5) / (count + 0.5))
