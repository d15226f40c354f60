"""Similarity of a question to all texts of a scope, by int8 vectors with a scale (SEARCH.md)."""

from __future__ import annotations

import struct
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from agent.languages.sentences import Sentence
from agent.search.results import Limits
from agent.search.store import IndexStore
from agent.search.text_kinds import TextKind
from agent.search.vectors.cache import Floats, Mask, Numbers, VectorCache, VectorTable
from agent.search.vectors.encoder import Vector
from agent.search.vectors.protocol import CHANGED_SIZE, Similarity

_COVERED = 0.5
"""Share of passages that must be embedded before meaning counts."""
_ALIKE = 0.6
"""From the least to the most similar; most passages are at about 0.3."""
_STEEP = 1.5
"""Power of a share: the most similar passages stand out, and most are a little similar to any question."""
_NEAREST = 2
_TOWARDS = 0.5
"""In lists of facts the question moves by so much towards its nearest passages: facts about one thing are short, and
share more with one another than with what asks for them."""
_OUTSIDE = -2.0
"""Less than any cosine."""


def packed(vector: Vector) -> bytes:
    numbers = np.asarray(vector, np.float32)
    scale = max(float(np.abs(numbers).max(initial=0.0)), 1e-9) / 127
    data: bytes = np.rint(numbers / scale).astype(np.int8).tobytes()
    return struct.pack("<f", scale) + data


class Vectors:
    """The vectors of one index file, for one thread at a time."""

    def __init__(self) -> None:
        self._cache = VectorCache()

    def follow(self, store: IndexStore, model: str) -> None:
        self._cache.follow(store, model)

    def likeness(
        self, store: IndexStore, model: str, question: Vector, limits: Limits
    ) -> tuple[Similarity | None, str]:
        """Similarity within limits, valid until the next call. None and the reason if too little is embedded."""
        cache = self._cache
        cache.follow(store, model)
        there, missing = int(np.count_nonzero(cache.passages.embedded)), cache.passages.missing
        if there < _COVERED * (there + missing) or not there:
            return None, Sentence("{count} passages are not embedded yet", count=missing) if missing else ""
        numbers = np.asarray(question, np.float32)
        if len(numbers) != cache.width:
            return None, CHANGED_SIZE
        files = cache.below(limits.below) if limits.below else None
        passages, windows = (_compare(table, numbers, limits, files) for table in (cache.passages, cache.windows))
        found = Cosines(passages, windows, windows)
        nearest = passages.best(_NEAREST)
        if len(nearest) and _are_facts(store, passages.first[nearest].tolist()):
            moved = numbers + _TOWARDS * cache.passages.mean(nearest)
            moved /= np.linalg.norm(moved)
            passages, nearer = (_compare(table, moved, limits, files) for table in (cache.passages, cache.windows))
            found = Cosines(passages, nearer, windows)
        return found, ""


@dataclass(frozen=True, slots=True)
class _TableScores:
    first: Numbers
    last: Numbers
    cosines: Floats
    """`_OUTSIDE` for other rows."""
    inside: int
    least: float
    greatest: float

    def best(self, most: int) -> Numbers:
        most = min(most, self.inside)
        if most == 0:
            return np.empty(0, np.int64)
        top = np.argpartition(-self.cosines, most - 1)[:most]
        return np.asarray(top[np.lexsort((top, -self.cosines[top]))])

    def shares(self, rows: Numbers) -> Floats:
        return np.asarray((self.cosines[rows] - self.least) / ((self.greatest - self.least) or 1.0), np.float32)

    def has(self, rows: Numbers) -> Mask:
        return np.asarray(self.cosines[rows] > _OUTSIDE)


class Cosines:
    def __init__(self, passages: _TableScores, windows: _TableScores, asked: _TableScores) -> None:
        """`asked`: the windows by the question as it was asked, for the ranking `hybrid`."""
        self._passages = passages
        self._windows = windows
        self._asked = asked

    def nearest_passages(self, most: int) -> Sequence[int]:
        return [int(passage) for passage in self._passages.first[self._passages.best(most)]]

    def nearest_windows(self, most: int) -> Mapping[tuple[int, int], float]:
        found = self._asked
        return {(int(found.first[at]), int(found.last[at])): float(found.cosines[at]) for at in found.best(most)}

    def alike(self, passages: Collection[int]) -> Collection[int]:
        rows = _rows(self._passages, np.array(list(passages), np.int64))
        known = rows[rows >= 0]
        return set(self._passages.first[known[self._passages.shares(known) >= _ALIKE]].tolist())

    def shares(self, passages: Collection[int]) -> Mapping[int, float]:
        wanted = np.array(sorted(passages), np.int64)
        rows = _rows(self._passages, wanted)
        known = rows[rows >= 0]
        shares = self._passages.shares(known) ** _STEEP + self._around(self._passages.first[known]) ** _STEEP
        return dict(zip(self._passages.first[known].tolist(), shares.tolist(), strict=True))

    def _around(self, passages: Numbers) -> Floats:
        windows = self._windows
        row = np.searchsorted(windows.last, passages)
        ends = np.searchsorted(windows.first, passages, side="right")
        best = np.zeros(len(passages), np.float32)
        while (left := np.flatnonzero(row < ends)).size:
            shares = windows.shares(row[left])
            best[left] = np.maximum(best[left], np.where(windows.has(row[left]), shares, 0))
            row += 1
        return best

    def windows(self, wanted: Collection[tuple[int, int]]) -> Mapping[tuple[int, int], float]:
        found, ordered = self._asked, list(wanted)
        rows = _rows(found, np.array([first for first, _ in ordered], np.int64))
        return {
            (first, last): float(found.cosines[row])
            for (first, last), row in zip(ordered, rows, strict=True)
            if row >= 0 and found.last[row] == last
        }


def _are_facts(store: IndexStore, passages: Sequence[int]) -> bool:
    rows = store.passages((passage, passage) for passage in passages)
    sections = store.sections({row.section for row in rows})
    return all(sections[row.section].kind == TextKind.FACTS for row in rows)


def _rows(found: _TableScores, firsts: Numbers) -> Numbers:
    """The row of each first passage; -1 if none is inside."""
    if not len(found.first):
        return np.full(len(firsts), -1, np.int64)
    rows = np.minimum(np.searchsorted(found.first, firsts), len(found.first) - 1)
    there = (found.first[rows] == firsts) & found.has(rows)
    return np.where(there, rows, -1)


def _compare(table: VectorTable, question: Floats, limits: Limits, files: Collection[int] | None) -> _TableScores:
    cosines = table.cosines(question)
    inside = table.within(limits, files)
    cosines[~inside] = _OUTSIDE
    count = int(np.count_nonzero(inside))
    least = float(cosines.min(where=inside, initial=np.inf)) if count else 0.0
    greatest = float(cosines.max(initial=_OUTSIDE)) if count else 0.0
    return _TableScores(table.first, table.last, cosines, count, least, greatest)
