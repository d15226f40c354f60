"""The ranking `hybrid`: overlapping chunks, a weighted sum of cosine and BM25, a minimum score, optional half-life and
maximal marginal relevance.

BM25 is mapped to r / (1 + r): divided by the batch's best, every best hit would be 1. If no chunk has all words, each
word is searched alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from agent.search.chunking import Chunker
from agent.search.results import Limits, Ranked
from agent.search.rows import FoundRow
from agent.search.sources import has_day
from agent.search.store import IndexStore
from agent.search.tokenizer import query_terms, tokens
from agent.search.vectors.protocol import Similarity
from agent.settings import HybridSettings

_CHARS_PER_TOKEN = 4
_CANDIDATES = 4
"""Factor of candidates to results."""


def chunker_for(settings: HybridSettings) -> Chunker:
    size, overlap = settings.chunk_tokens * _CHARS_PER_TOKEN, settings.chunk_overlap * _CHARS_PER_TOKEN
    return Chunker(size, overlap, sections=False)


def rank(
    store: IndexStore,
    query: str,
    today: date,
    limits: Limits,
    most: int,
    settings: HybridSettings,
    like: Similarity | None = None,
) -> list[Ranked]:
    most = min(most, settings.max_results)
    texts = _text_scores(store, query, limits, most * _CANDIDATES)
    chunks = dict(texts)
    if like is not None:
        chunks |= {chunk: chunks.get(chunk, 0.0) for chunk in like.nearest_windows(most * _CANDIDATES)}
    cosines = like.windows(chunks) if like is not None else None
    rows = store.texts(passage for first, last in chunks for passage in range(first, last + 1))
    found: list[Ranked] = []
    for (first, last), text in chunks.items():
        parts = [rows[passage] for passage in range(first, last + 1) if passage in rows]
        if not parts or not limits.has(parts[0].earliest, parts[0].day):
            continue
        score, shares = _score(text, cosines.get((first, last), 0.0) if cosines is not None else None, settings)
        if settings.half_life_days is not None and _ages(parts[0]):
            score *= 0.5 ** (max(0, today.toordinal() - parts[0].day) / settings.half_life_days)
        if score >= settings.min_score:
            lines = (parts[0].first, parts[-1].last)
            words = "\n".join(part.text for part in parts)
            found.append(Ranked(first, last, parts[0].path, lines, parts[0].day, words, min(1.0, score), shares))
    found.sort(key=lambda result: (-result.score, -result.first))
    return _diversify(found, settings.mmr_lambda, most) if settings.mmr_lambda is not None else found[:most]


def _text_scores(store: IndexStore, query: str, limits: Limits, most: int) -> dict[tuple[int, int], float]:
    terms = query_terms(query)
    best: dict[tuple[int, int], float] = {}
    if not terms:
        return best
    where = (most, limits.since, limits.until, limits.below)
    for asked in [terms], [[term] for term in terms]:
        for part in asked:
            for row in store.best_windows(part, *where, every=True):
                score = row.bm25 / (1 + row.bm25) if row.bm25 > 0 else 0.0
                best[row.first, row.last] = max(score, best.get((row.first, row.last), 0.0))
        if best:
            break
    return best


def _ages(row: FoundRow) -> bool:
    """Notes and other files without a day do not age."""
    return row.earliest == row.day and has_day(row.path)


def _score(text: float, cosine: float | None, settings: HybridSettings) -> tuple[float, dict[str, float]]:
    if cosine is None:
        return text, {"text": text}
    shares = {"meaning": settings.vector_weight * cosine, "text": settings.text_weight * text}
    return sum(shares.values()), shares


def _diversify(found: Sequence[Ranked], relevance: float, most: int) -> list[Ranked]:
    """Maximal marginal relevance."""
    words = {result.first: frozenset(tokens(result.text)) for result in found}
    left, chosen = list(found), list[Ranked]()
    while left and len(chosen) < most:

        def worth(result: Ranked) -> float:
            mine, covered = words[result.first], 0.0
            for other in chosen:
                theirs = words[other.first]
                covered = max(covered, len(mine & theirs) / max(1, len(mine | theirs)))
            return relevance * result.score - (1 - relevance) * covered

        best = max(left, key=worth)
        left.remove(best)
        chosen.append(best)
    return chosen
