"""The ranking `daybook`: passages by their own words and those around them, what day they are of and who speaks.

    score = 2.2 * near + 0.6 * window + 1.2 * date + 0.7 * speaker + 0.5 * answer - 0.2 * question (+ 1.0 * meaning)

near        BM25 of the passage with what stands before and behind it mixed in, less the farther away, as a share of
            what the question could reach at most: an answer often lacks the words that the turn before it had
window      BM25 of the best window that holds it, as a share of the best one's
date        1 on a day that the question names; less on those after it, when things are written down, and around it
speaker     the person whom the question names is the one who speaks; of several, half for the first
meaning     with an embedder: its own likeness to the question and that of its best window, each stretched over all;
            told as `around` where it is not very like the question itself
answer      it holds what such a question asks for: a time for when, a number for how many, a name for who
question    it is itself a question

Everything else about a memory's age is no matter: what is old is as true. Measured by leaving each out in
`benchmarks/retrieval.py --without`.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from agent.memory.index.answers import Holds, is_question, sought
from agent.memory.index.cutting import speech
from agent.memory.index.dates import Span, days_named
from agent.memory.index.embedding import Likeness
from agent.memory.index.ranking import Limits, Ranked
from agent.memory.index.rows import FoundRow, PassageRow, SectionRow, WindowRow
from agent.memory.index.store import Store
from agent.memory.index.tokens import Term, query_terms
from agent.memory.words import fold, runs

WEIGHTS: Mapping[str, float] = {
    "near": 2.2,
    "window": 0.6,
    "date": 1.2,
    "speaker": 0.7,
    "answer": 0.5,
    "question": -0.2,
    "meaning": 1.0,
}
_K1 = 1.2
_B = 0.4
_LEAST_LENGTH = 8
"""Tokens that a passage counts as at least: two words alone are no better than a sentence."""
_FLOWS = {-2: 0.2, -1: 0.4, 0: 1.0, 1: 0.6, 2: 0.4, 3: 0.2}
"""How much of a passage's words the one so far behind (or before) it counts as its own."""
_BEHIND, _BEFORE = max(_FLOWS), -min(_FLOWS)
_HEAD = 0.5
"""Of a heading's and title's words, for each passage below."""
_PREFIX = 0.5
"""Of a longer word that begins so."""
_UNKNOWN = 0.5
"""Part of its weight with which a word that memory does not know keeps a score down."""
_WINDOWS = 50
_DATED = 200
"""Passages of named days that are looked at, whatever they say."""
_SHORTLIST = 80
_TELLING = frozenset({"near", "window", "date", "meaning"})
_COMMON_AT_LEAST = 2_000
_COMMON_SHARE = 20
"""A word in more windows than this many, and this part of all, is not looked for beside rarer ones: it costs most and
tells least."""
_EVERYWHERE = 0.8
"""Part of all windows from which on a word tells nothing."""
_FIRST_NAMED = 0.5
"""Of the weight for a speaker, where the question names others too."""
_FAR = 1_000
_ALIKE = 0.9
_ALIKE_MOST = 100


@dataclass(slots=True)
class _Scored:
    """A passage, what it scored, and what of the question it holds."""

    passage: int
    parts: dict[str, float]
    matched: dict[str, float] = field(default_factory=dict)

    @property
    def total(self) -> float:
        return sum(self.parts.values())


@dataclass(frozen=True, slots=True)
class _Query:
    """`weights`: how much each term tells, by its token; `whole` what they add up to, with the
    unknown."""

    terms: Sequence[Term]
    weights: Mapping[str, float]
    whole: float


def ranked(
    store: Store,
    query: str,
    today: date,
    limits: Limits,
    most: int,
    like: Likeness | None = None,
    without: Collection[str] = (),
) -> list[Ranked]:
    """The best passages for one question, best first. `without`: parts of the score that are left out, for
    measurements."""
    spans = days_named(query, today) if "date" not in without else ()
    asked = _asked(store, query)
    found = store.best_windows(asked.terms, _WINDOWS, limits.since, limits.until, limits.below) if asked.terms else []
    wanted = [(row.first, row.last) for row in found]
    wanted += [(passage, passage) for passage in (like.nearest_passages(_ALIKE_MOST) if like is not None else ())]
    for first, last in spans:
        wanted += store.of_days(first.toordinal(), last.toordinal(), _DATED, limits.since, limits.until, limits.below)
    rows = store.passages(_merged(wanted))
    sections = store.sections({row.section for row in rows})
    scored = _near(asked, rows, sections, "context" not in without)
    _add_windows(scored, found)
    _add_dates(scored, rows, sections, spans)
    _add_speaker(scored, rows, _named(query, store.speakers))
    _add_likeness(scored, like)
    inside = {id for id, one in sections.items() if limits.has(one.earliest, one.day)}
    wanted_rows = {row.id for row in rows if row.section in inside}
    weighted = [_weighted(one, without) for one in scored.values() if one.passage in wanted_rows]
    short = sorted((one for one in weighted if _says(one)), key=_order)[: max(_SHORTLIST, 2 * most)]
    texts = store.texts(one.passage for one in short)
    _add_answers(short, texts, sought(query), without)
    tokens = {row.id: row.tokens for row in rows}
    order = sorted((one for one in short if one.passage in texts), key=lambda one: _place(one, texts[one.passage]))
    best = _distinct(order, tokens, most)
    whole = _whole(spans, like)
    alike = like.alike([one.passage for one in best]) if like is not None else ()
    return [_given(one, texts[one.passage], whole, is_alike=one.passage in alike) for one in best]


def _given(one: _Scored, row: FoundRow, whole: float, *, is_alike: bool) -> Ranked:
    score = min(1.0, max(0.0, one.total / whole))
    parts = {name: round(value / whole, 4) for name, value in one.parts.items() if value}
    if "meaning" in parts and not is_alike:  # found for what stands around it, if for nothing else
        parts["around"] = parts.pop("meaning")
    return Ranked(row.id, row.id, row.path, (row.first, row.last), row.day, row.text, score, parts, one.matched)


def _asked(store: Store, query: str) -> _Query:
    windows = store.windows
    held = {term: store.frequency(term) for term in query_terms(query)}
    known = {term: count for term, count in held.items() if count}
    limit = max(_COMMON_AT_LEAST, windows // _COMMON_SHARE)
    rare = [term for term, count in known.items() if count <= limit and count <= _EVERYWHERE * windows]
    terms = rare or sorted(known, key=lambda term: known[term])[:2]
    weights = {term.token: _telling(known[term], windows) for term in terms}
    unknown = _UNKNOWN * (len(held) - len(known)) * _telling(0, windows)
    return _Query(terms, weights, (sum(weights.values()) + unknown) or 1.0)


def _telling(count: int, windows: int) -> float:
    return math.log(1 + (max(windows - count, 0) + 0.5) / (count + 0.5))


def _near(
    asked: _Query, rows: Sequence[PassageRow], heads: Mapping[int, SectionRow], context: bool
) -> dict[int, _Scored]:
    own = _counts(asked.terms, [row.tokens for row in rows])
    sections = list(heads)
    head = {sections[at]: counts for at, counts in _counts(asked.terms, [one.tokens for one in heads.values()]).items()}
    usual = max(_LEAST_LENGTH, sum(row.size for row in rows) / max(len(rows), 1))
    flowing = _flowing(rows, own, _FLOWS if context else {0: 1.0})
    found: dict[int, _Scored] = {}
    for at, row in enumerate(rows):
        counts, above = flowing.get(at), head.get(row.section)
        if above:
            counts = dict(counts or {})
            for token, count in above.items():
                counts[token] = counts.get(token, 0.0) + _HEAD * count
        one = found[row.id] = _Scored(row.id, {})
        if counts:
            norm = _K1 * (1 - _B + _B * max(row.size, _LEAST_LENGTH) / usual)
            told = sum(asked.weights[token] * count / (count + norm) for token, count in counts.items())
            one.parts["near"] = told / asked.whole
            one.matched = _held(own.get(at, {}), above or {})
    return found


Counts = dict[str, float]


def _flowing(rows: Sequence[PassageRow], own: Mapping[int, Counts], flows: Mapping[int, float]) -> dict[int, Counts]:
    """What each passage counts, by its place, with what flows in from around."""
    flowing: dict[int, Counts] = {}
    for at, counts in own.items():
        row = rows[at]
        for distance, part in flows.items():
            to = at + distance
            if not 0 <= to < len(rows) or rows[to].id != row.id + distance or rows[to].section != row.section:
                continue
            into = flowing.setdefault(to, {})
            for token, count in counts.items():
                into[token] = into.get(token, 0.0) + part * count
    return flowing


def _counts(terms: Iterable[Term], texts: Sequence[str]) -> dict[int, Counts]:
    """How often each term stands in each text of tokens, by place, where any does. A longer token that begins like a
    term counts half. One search in all of the texts together: most of them hold nothing."""
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
                counts[token] = counts.get(token, 0.0) + (1.0 if exact else longer)
            at = whole.find(wanted, end)
    return found


def _held(own: Counts, head: Counts) -> Counts:
    """What a passage says itself, or is said above it."""
    if not head:
        return own
    return {token: min(1.0, own.get(token, 0.0) + head.get(token, 0.0)) for token in own.keys() | head.keys()}


def _add_windows(scored: Mapping[int, _Scored], found: Sequence[WindowRow]) -> None:
    best = max((row.bm25 for row in found), default=0.0)
    if best <= 0:
        return
    for row in found:
        share = max(0.0, row.bm25 / best)
        for passage in range(row.first, row.last + 1):
            if (one := scored.get(passage)) is not None:
                one.parts["window"] = max(share, one.parts.get("window", 0.0))


def _add_likeness(scored: Mapping[int, _Scored], like: Likeness | None) -> None:
    """What is not embedded yet is taken to be like the others."""
    shares = like.shares(scored.keys()) if like is not None else {}
    usual = sum(shares.values()) / len(shares) if shares else 0.0
    for passage, one in scored.items():
        one.parts["meaning"] = shares.get(passage, usual)


def _add_dates(
    scored: Mapping[int, _Scored],
    rows: Sequence[PassageRow],
    sections: Mapping[int, SectionRow],
    spans: Sequence[Span],
) -> None:
    if not spans:
        return
    match = {
        id: max(_date_match(span, one.day) for span in spans) if one.dated else 0.0 for id, one in sections.items()
    }
    for row in rows:
        scored[row.id].parts["date"] = match[row.section]


def _date_match(span: Span, day: int) -> float:
    first, last = span[0].toordinal(), span[1].toordinal()
    if first <= day <= last:
        return 1.0
    after, before = day - last, first - day
    if first == last:
        return 0.8 if 0 < after <= 3 else 0.5 if 0 < after <= 10 or 0 < before <= 2 else 0.0
    return 0.3 if 0 < after <= 3 else 0.2 if 0 < after <= 10 or 0 < before <= 2 else 0.0


def _named(query: str, speakers: Collection[str]) -> tuple[str, ...]:
    """The speakers whom a question names, by their whole name or the first part of it, in its order."""
    words = runs(fold(query[:1_000]))[:64]
    places: dict[str, int] = {}
    for size in (1, 2, 3):
        for at in range(len(words) - size + 1):
            places.setdefault(" ".join(words[at : at + size]), at)
    heard = ((min(places.get(name, _FAR), places.get(name.split(" ", 1)[0], _FAR)), name) for name in speakers)
    return tuple(name for at, name in sorted(heard) if at < _FAR)


def _add_speaker(scored: Mapping[int, _Scored], rows: Sequence[PassageRow], named: Sequence[str]) -> None:
    """Of several, the first is the one whom most questions are about."""
    if not named:
        return
    share = 1.0 if len(named) == 1 else _FIRST_NAMED
    for row in rows:
        if row.speaker == named[0]:
            scored[row.id].parts["speaker"] = share


def _add_answers(
    short: Iterable[_Scored], texts: Mapping[int, FoundRow], holds: Sequence[Holds], without: Collection[str]
) -> None:
    for one in short:
        row = texts.get(one.passage)
        if row is None:
            continue
        words = speech(row.text).words
        kinds = sum(1 for holding in holds if holding(words))
        if kinds and "answer" not in without:
            one.parts["answer"] = WEIGHTS["answer"] * kinds
        if is_question(words) and "question" not in without:
            one.parts["question"] = WEIGHTS["question"]


def _weighted(one: _Scored, without: Collection[str]) -> _Scored:
    one.parts = {name: WEIGHTS[name] * value for name, value in one.parts.items() if value and name not in without}
    return one


def _says(one: _Scored) -> bool:
    """Something must speak for it beside who said it."""
    return not _TELLING.isdisjoint(one.parts)


def _whole(spans: Sequence[Span], like: Likeness | None) -> float:
    """What a passage that says all that is asked, and no more, would score."""
    return WEIGHTS["near"] + WEIGHTS["window"] + (WEIGHTS["date"] if spans else 0.0) + (2.0 if like else 0.0)


def _order(one: _Scored) -> tuple[float, int]:
    return -one.total, -one.passage


def _place(one: _Scored, row: FoundRow) -> tuple[float, int, str, int]:
    """Of what scores the same, the newest first."""
    return -round(one.total, 9), -row.day, row.path, row.first


def _distinct(best: Iterable[_Scored], tokens: Mapping[int, str], most: int) -> list[_Scored]:
    """The first ones, without what says nearly the same as one before.

    Two sets that share so much share one of a few words of each, in whatever order all are sorted: only those with one
    in common are compared."""
    kept: list[_Scored] = []
    seen: dict[str, list[frozenset[str]]] = {}
    for one in best:
        words = frozenset(tokens[one.passage].split())
        telling = _longest_first(words)[: len(words) - math.ceil(_ALIKE * len(words)) + 1]
        if any(_alike(words, other) for word in telling for other in seen.get(word, ())):
            continue
        for word in telling:
            seen.setdefault(word, []).append(words)
        kept.append(one)
        if len(kept) == most:
            break
    return kept


def _longest_first(words: Iterable[str]) -> list[str]:
    ordered = sorted(words)
    ordered.sort(key=len, reverse=True)
    return ordered


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    common = len(one & other)
    return common >= _ALIKE * (len(one) + len(other) - common)


def _merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Widened by what flows in from around, and put together where they meet."""
    merged: list[tuple[int, int]] = []
    for first, last in sorted((first - _BEHIND, last + _BEFORE) for first, last in spans):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], last))
        else:
            merged.append((first, last))
    return merged
