"""The ranking `daybook`: a weighted sum, measured by leaving each part out in `benchmarks/retrieval.py --ablate`. Age
does not count: old memories are as true as new ones.

    score = 2.2 * near + 0.6 * window + 1.2 * date + 0.7 * speaker + 0.5 * answer + 0.1 * reply (+ 1.0 * meaning)

near        BM25 of the passage mixed with its neighbours, whose words an answer often lacks
window      BM25 of its best window, as a share of the best window's
date        1 on a named day, or if that day is written out; less around it
speaker     the named person speaks; half for the first of several
meaning     cosine of passage and best window, stretched; reported as `around` if only the window is similar
answer      it contains a time for when, a number for how many, a name for who
reply       the passage before it ends with a question
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import pairwise

from agent.languages.date_words import ANYWHERE, Region
from agent.languages.dates import Span, days_named
from agent.search.answer_types import Holds, answer_tests, is_question, only_asks
from agent.search.bm25 import BEFORE, BEHIND, SYNONYM, proximity
from agent.search.chunking import speech
from agent.search.query import Query, build_query, named, subject_of, without_subject
from agent.search.results import Limits, Ranked
from agent.search.rows import FoundRow, PassageRow, SectionRow, WindowRow
from agent.search.store import IndexStore
from agent.search.text_kinds import OF_KIND, TextKind
from agent.search.tokenizer import Term, query_terms
from agent.search.vectors.protocol import Similarity

WEIGHTS: Mapping[str, float] = {
    "near": 2.2,
    "window": 0.6,
    "date": 1.2,
    "speaker": 0.7,
    "answer": 0.5,
    "reply": 0.1,
    "meaning": 1.0,
}
_WINDOWS = 50
_DATED = 200
"""Passages of named days that are candidates, whatever they say."""
_SOONER, _LATER = 2, 10
"""Days before and after the named ones that may be meant too."""
_BESIDE = 0.75
"""Factor for those if something is of the named days."""
_SHORT, _LONG = 7, 62
"""In days. A shorter span is often written down shortly after; a longer one says little about each of its days."""
_OF_LONG = 0.5
_OLDEST = 1_000
"""Years of four digits, which all systems write alike."""
_SHORTLIST = 80
_TELLING = frozenset({"near", "window", "date", "meaning"})
_ALIKE = 0.8
_REPEATED = 0.4
"""Factor for near repeats of a better passage. They are kept: one differing word may deny it or be of another day."""
_ALIKE_MOST = 100
_ONLY_ASKS = 0.7
"""Factor for what somebody only asks another: it has the words of the question, and the answer comes after it. What a
person asks the assistant says what they are about."""
_ASKS_THE_SAME = 0.05
"""Factor for what says nothing but the question: it was asked before, and no answer to it."""
_TIME = re.compile(r"\A\d{1,2} \d\d(?: |\Z)")
"""The time at an entry's beginning, in tokens."""


@dataclass(slots=True)
class _Scored:
    passage: int
    parts: dict[str, float]
    matched: Mapping[str, float] = field(default_factory=dict)
    part: float = 1.0

    @property
    def total(self) -> float:
        return self.part * sum(self.parts.values())


def rank(
    store: IndexStore,
    query: str,
    today: date,
    limits: Limits,
    most: int,
    like: Similarity | None = None,
    region: Region = ANYWHERE,
) -> list[Ranked]:
    """The best passages for one question, best first."""
    spans = days_named(query, today, region)
    question = build_query(store, query, of_days=bool(spans))
    found = _windows(store, question.terms, limits)
    known = {row.first for row in found}
    others = _windows(store, question.synonyms, limits, _WINDOWS // 2)
    found += [row._replace(bm25=SYNONYM * row.bm25) for row in others if row.first not in known]
    wanted = [(row.first, row.last) for row in found]
    wanted += [(passage, passage) for passage in (like.nearest_passages(_ALIKE_MOST) if like is not None else ())]
    for span in spans:
        wanted += _of_days(store, span, limits)
    spelt = _spelt(spans)
    wanted += [(row.first, row.last) for row in _windows(store, [Term(day) for day in spelt], limits)]
    rows = store.passages(_merged(wanted))
    sections = store.sections({row.section for row in rows})
    scored = {
        passage: _Scored(passage, {"near": near.words}, near.matched)
        for passage, near in proximity(question, rows, sections).items()
    }
    kinds = {row.id: sections[row.section].kind for row in rows}
    _add_windows(scored, found, question.share, kinds)
    _add_dates(scored, rows, sections, spans, spelt)
    who = subject_of(query, store.speakers, [*store.names, *store.greeted])
    for passage, share in named(who, rows, sections).items():
        scored[passage].parts["speaker"] = share
    _add_likeness(scored, like)
    inside = {id for id, section in sections.items() if limits.has(section.earliest, section.day)}
    for passage, part in without_subject(who, rows, sections).items():
        scored[passage].part = part
    weighted = [_weighted(scored[row.id]) for row in rows if row.section in inside]
    short = sorted((candidate for candidate in weighted if _says(candidate)), key=_order)[: max(_SHORTLIST, 2 * most)]
    before = {row.id: row.id - 1 for last, row in pairwise(rows) if last.section == row.section}
    numbers = [candidate.passage for candidate in short]
    texts = store.texts({number for passage in numbers for number in (passage, before.get(passage, passage))})
    _add_answers(short, texts, answer_tests(query))
    _add_replies(short, texts, before)
    _put_questions_behind(short, texts, kinds, query)
    tokens = {row.id: row.tokens for row in rows}
    there = (candidate for candidate in short if candidate.passage in texts)
    order = sorted(there, key=lambda candidate: _place(candidate, texts[candidate.passage]))
    best = _with_repeats_behind(order, tokens, most)
    whole = _whole(question, spans, like)
    alike = like.alike([candidate.passage for candidate in best]) if like is not None else ()
    return [
        _given(candidate, texts[candidate.passage], whole, is_alike=candidate.passage in alike) for candidate in best
    ]


def _windows(store: IndexStore, terms: Sequence[Term], limits: Limits, most: int = _WINDOWS) -> list[WindowRow]:
    return store.best_windows(terms, most, limits.since, limits.until, limits.below) if terms else []


def _of_days(store: IndexStore, span: Span, limits: Limits) -> list[tuple[int, int]]:
    first, last = span[0].toordinal(), span[1].toordinal()
    where = (_DATED, limits.since, limits.until, limits.below)
    return store.of_days(first, last, *where) or store.of_days(first - _SOONER, last + _LATER, *where)


def _given(candidate: _Scored, row: FoundRow, whole: float, *, is_alike: bool) -> Ranked:
    score = min(1.0, max(0.0, candidate.total / whole))
    parts = {name: round(candidate.part * value / whole, 4) for name, value in candidate.parts.items() if value}
    if "meaning" in parts and not is_alike:  # found for what stands around it, if for nothing else
        parts["around"] = parts.pop("meaning")
    return Ranked(row.id, row.id, row.path, (row.first, row.last), row.day, row.text, score, parts, candidate.matched)


def _add_windows(
    scored: Mapping[int, _Scored], found: Sequence[WindowRow], most: float, kinds: Mapping[int, int]
) -> None:
    best = max((row.bm25 for row in found), default=0.0)
    if best <= 0:
        return
    for row in found:
        share = most * max(0.0, row.bm25 / best)
        for passage in range(row.first, row.last + 1):
            if (candidate := scored.get(passage)) is not None:
                part = share * OF_KIND[kinds[passage]].window
                candidate.parts["window"] = max(part, candidate.parts.get("window", 0.0))


def _add_likeness(scored: Mapping[int, _Scored], like: Similarity | None) -> None:
    """Passages without a vector get the mean."""
    shares = like.shares(scored.keys()) if like is not None else {}
    usual = sum(shares.values()) / len(shares) if shares else 0.0
    for passage, candidate in scored.items():
        candidate.parts["meaning"] = shares.get(passage, usual)


def _add_dates(
    scored: Mapping[int, _Scored],
    rows: Sequence[PassageRow],
    sections: Mapping[int, SectionRow],
    spans: Sequence[Span],
    spelt: Sequence[str],
) -> None:
    if not spans:
        return
    match = {
        id: max(_date_match(span, section.day) for span in spans) if section.dated else 0.0
        for id, section in sections.items()
    }
    others = 1.0 if 1.0 not in match.values() else _BESIDE
    for row in rows:
        share = match[row.section]
        if share < 1.0 and any(f" {day} " in f" {row.tokens} " for day in spelt):
            share = 1.0
        scored[row.id].parts["date"] = share if share == 1.0 else others * share


def _spelt(spans: Sequence[Span]) -> list[str]:
    return [f"{first:%Y} {first:%m} {first:%d}" for first, last in spans if first == last and first.year >= _OLDEST]


def _date_match(span: Span, day: int) -> float:
    first, last = span[0].toordinal(), span[1].toordinal()
    if first <= day <= last:
        return 1.0 if last - first < _LONG else _OF_LONG
    after, before = day - last, first - day
    if last - first < _SHORT:
        return 0.8 if 0 < after <= 3 else 0.5 if 0 < after <= _LATER or 0 < before <= _SOONER else 0.0
    return 0.3 if 0 < after <= 3 else 0.2 if 0 < after <= _LATER or 0 < before <= _SOONER else 0.0


def _add_answers(short: Iterable[_Scored], texts: Mapping[int, FoundRow], holds: Sequence[Holds]) -> None:
    for candidate in short if holds else ():
        if (row := texts.get(candidate.passage)) is not None:
            words = speech(row.text).words
            if kinds := sum(1 for holding in holds if holding(words)):
                candidate.parts["answer"] = WEIGHTS["answer"] * kinds


def _add_replies(short: Iterable[_Scored], texts: Mapping[int, FoundRow], before: Mapping[int, int]) -> None:
    for candidate in short:
        row = texts.get(before[candidate.passage]) if candidate.passage in before else None
        own = texts.get(candidate.passage)
        if row is not None and is_question(row.text) and (own is None or not only_asks(speech(own.text).words)):
            candidate.parts["reply"] = WEIGHTS["reply"]


def _put_questions_behind(
    short: Iterable[_Scored], texts: Mapping[int, FoundRow], kinds: Mapping[int, int], query: str
) -> None:
    asked = frozenset(query_terms(query))
    for candidate in short:
        row = texts.get(candidate.passage)
        if row is None or not only_asks(words := speech(row.text).words):
            continue
        terms = (term for term in query_terms(words) if not term.token.isdecimal())  # a time stands before it
        if asked.issuperset(terms) and only_asks(words, by_clause=True):
            candidate.part *= _ASKS_THE_SAME
        elif kinds[candidate.passage] == TextKind.PEOPLE:
            candidate.part *= _ONLY_ASKS


def _weighted(candidate: _Scored) -> _Scored:
    candidate.parts = {name: WEIGHTS[name] * value for name, value in candidate.parts.items() if value}
    return candidate


def _says(candidate: _Scored) -> bool:
    return not _TELLING.isdisjoint(candidate.parts)


def _whole(question: Query, spans: Sequence[Span], like: Similarity | None) -> float:
    """The score of a perfect passage. Unknown words lower all scores unless an embedder is used."""
    words = WEIGHTS["near"] + WEIGHTS["window"]
    return (words + 2.0 if like else words / question.known) + (WEIGHTS["date"] if spans else 0.0)


def _order(candidate: _Scored) -> tuple[float, int]:
    return -candidate.total, -candidate.passage


def _place(candidate: _Scored, row: FoundRow) -> tuple[float, int, str, int]:
    """Ties go to the newest."""
    return -round(candidate.total, 9), -row.day, row.path, row.first


def _with_repeats_behind(order: Iterable[_Scored], tokens: Mapping[int, str], most: int) -> list[_Scored]:
    """The best of `order`, with near repeats demoted.

    Two sets that overlap so much share one of a few words of each, in any fixed order, so only those with one in common
    are compared.
    """
    seen: dict[str, list[frozenset[str]]] = {}
    best: list[_Scored] = []
    new = 0
    for candidate in order:
        if new == most:
            break  # nothing behind so many that say something new can come before any of them
        best.append(candidate)
        words = frozenset(_TIME.sub("", tokens[candidate.passage]).split())
        telling = sorted(sorted(words), key=len, reverse=True)[: len(words) - math.ceil(_ALIKE * len(words)) + 1]
        if any(_alike(words, other) for word in telling for other in seen.get(word, ())):
            candidate.part *= _REPEATED
            continue
        new += 1
        for word in telling:
            seen.setdefault(word, []).append(words)
    return sorted(best, key=lambda candidate: -round(candidate.total, 9))[:most]


def _alike(words: frozenset[str], other: frozenset[str]) -> bool:
    sizes = len(words), len(other)
    if min(sizes) < _ALIKE * max(sizes):
        return False
    common = len(words & other)
    return common >= _ALIKE * (sum(sizes) - common)


def _merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans widened by their neighbours, and joined."""
    merged: list[tuple[int, int]] = []
    for first, last in sorted((first - BEHIND, last + BEFORE) for first, last in spans):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], last))
        else:
            merged.append((first, last))
    return merged
