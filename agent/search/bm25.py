"""Scores passages by BM25 of their own words mixed with those of their neighbours."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from agent.search.query import Query
from agent.search.rows import PassageRow, SectionRow
from agent.search.text_kinds import OF_KIND, TextKind
from agent.search.tokenizer import Term

_K1 = 1.2
_LEAST_LENGTH = 8
"""Minimum length in tokens: two words alone are no better than a sentence."""
_FLOWS: Mapping[int, float] = {-2: 0.2, -1: 0.4, 1: 0.6, 2: 0.4, 3: 0.2}
"""Share of a passage's words that flows into the one so many places later. Only the largest inflow counts for a word: a
passage among several that say it is not more about it."""
_FLOWING_LENGTH = 0.5
"""Share of inflowing text that adds to a passage's length."""
BEHIND, BEFORE = 3, 2
"""Passages into which a passage's words flow, after and before it."""
_HEAD = 0.5
"""Share of heading and title words that counts for each passage below."""
SYNONYM = 0.4
"""Weight of a synonym in place of a missing word."""
_PREFIX = 0.5
"""Weight of a longer word with that beginning."""

Counts: TypeAlias = dict[str, float]
_NOTHING: Counts = {}


@dataclass(frozen=True, slots=True)
class Proximity:
    """A passage's score. `matched` as in `results.Hit`."""

    words: float = 0.0
    """Share of the question's maximum."""
    matched: Mapping[str, float] = field(default_factory=dict)


_FAR = Proximity()


def proximity(asked: Query, rows: Sequence[PassageRow], heads: Mapping[int, SectionRow]) -> dict[int, Proximity]:
    """Scores of `rows`, by passage id."""
    texts = [row.tokens for row in rows]
    own = _counts(asked.terms, texts)
    for at, counts in _counts(asked.synonyms, texts).items():
        into = own.setdefault(at, {})
        for token, count in counts.items():
            into.setdefault(token, SYNONYM * min(1.0, count))
    beside = _counts(asked.beside, texts)
    held = {at: counts for at, counts in beside.items() if heads[rows[at].section].kind != TextKind.FACTS}
    held |= {at: counts | held.get(at, _NOTHING) for at, counts in own.items()}
    flowing, sizes = _flowing(rows, heads, held)
    sections = list(heads)
    titles = _counts(asked.terms, [section.tokens for section in heads.values()])
    above = {sections[at]: counts for at, counts in titles.items()}
    part_above = {id: {token: _HEAD * count for token, count in counts.items()} for id, counts in above.items()}
    usual = max(_LEAST_LENGTH, sum(sizes) / max(len(sizes), 1))
    found: dict[int, Proximity] = {}
    for at, row in enumerate(rows):
        head, counts = part_above.get(row.section), flowing.get(at, _NOTHING)
        if head:
            counts = _sum(counts, head)
        if not counts:
            found[row.id] = _FAR
            continue
        weights = OF_KIND[heads[row.section].kind]
        norm = _K1 * (1 - weights.length + weights.length * sizes[at] / usual)
        told = sum(asked.weights[token] * count / (count + norm) for token, count in counts.items())
        matched = own.get(at, _NOTHING)
        if head:
            matched = {token: min(1.0, count) for token, count in _sum(matched, above[row.section]).items()}
        found[row.id] = Proximity(told / asked.whole, matched)
    return found


def _flowing(
    rows: Sequence[PassageRow], sections: Mapping[int, SectionRow], own: Mapping[int, Counts]
) -> tuple[dict[int, Counts], list[float]]:
    lengths = [max(row.size, _LEAST_LENGTH) for row in rows]
    sizes = [float(length) for length in lengths]
    inflow: dict[int, Counts] = {}
    for at, row in enumerate(rows):
        share, counts = OF_KIND[sections[row.section].kind].flow, own.get(at, _NOTHING)
        for distance, part in _FLOWS.items() if share else ():
            to = at + distance
            if not 0 <= to < len(rows) or rows[to].id != row.id + distance or rows[to].section != row.section:
                continue
            sizes[to] += _FLOWING_LENGTH * share * part * lengths[at]
            if counts:
                into = inflow.setdefault(to, {})
                into.update((token, max(share * part * count, into.get(token, 0.0))) for token, count in counts.items())
    flowing = {at: _sum(counts, inflow.pop(at, _NOTHING)) for at, counts in own.items()}
    return flowing | inflow, sizes


def _counts(terms: Iterable[Term], texts: Sequence[str]) -> dict[int, Counts]:
    """Occurrences of each term in each text, by position. Longer tokens and substitutes count half. Searches all texts
    at once, since most contain nothing."""
    starts: list[int] = []
    size = 0
    for text in texts:
        starts.append(size)
        size += len(text) + 2
    whole = "".join(f" {text}\n" for text in texts)
    found: dict[int, Counts] = {}
    for term in terms:
        token, wanted = term.token, f" {term.token}"
        longer = 1.0 if len(token) == 1 else _PREFIX
        at = whole.find(wanted)
        while at >= 0:
            end = at + len(wanted)
            exact = whole[end] in " \n"
            if exact or term.prefix:
                counts = found.setdefault(bisect_right(starts, at) - 1, {})
                counts[term.asked] = counts.get(term.asked, 0.0) + (1.0 if exact and not term.instead else longer)
            at = whole.find(wanted, end)
    return found


def _sum(counts: Counts, other: Counts) -> Counts:
    both = dict(counts)
    for token, count in other.items():
        both[token] = both.get(token, 0.0) + count
    return both
