"""Vectors in an audience's index file, and in memory to compare a question with all of them.

In the file they stand by the hash of what they were made of (`vector`), so that a text which moves, or a file that is
indexed anew, needs none twice; `embedded` says which passages, and windows by their first and last, have been hashed.
A vector is kept as one byte a number and their scale, which costs no quality (SEARCH.md) and a quarter of the room.
"""

from __future__ import annotations

import struct
import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agent.memory.embedding.encoder import Vector
from agent.memory.index.embedding import Likeness
from agent.memory.index.ranking import Limits
from agent.memory.index.store import Store, VectorRow

Bytes = NDArray[np.int8]
Floats = NDArray[np.float32]
Numbers = NDArray[np.int64]

_COVERED = 0.5
"""Part of the passages that must be embedded before meaning counts."""
_BLOCK = 16_384
"""Vectors compared at once: what is upcast then fits into the processor's cache."""


def packed(vector: Vector) -> bytes:
    """The scale as a float32, then a byte for each number."""
    numbers = np.asarray(vector, np.float32)
    scale = max(float(np.abs(numbers).max(initial=0.0)), 1e-9) / 127
    data: bytes = np.rint(numbers / scale).astype(np.int8).tobytes()
    return struct.pack("<f", scale) + data


@dataclass(frozen=True, slots=True)
class _Table:
    """Units of one kind; `first` and `last` passage, `day` and `file` of each, in the order of `first`."""

    first: Numbers
    last: Numbers
    day: Numbers
    file: Numbers
    vectors: Bytes
    scales: Floats

    def cosines(self, question: Floats) -> Floats:
        found = np.empty(len(self.first), np.float32)
        for start in range(0, len(found), _BLOCK):
            block = slice(start, start + _BLOCK)
            found[block] = self.vectors[block].astype(np.float32) @ question
        found *= self.scales
        return found

    def within(self, limits: Limits, files: Collection[int] | None) -> NDArray[np.bool_]:
        inside = np.ones(len(self.first), bool)
        if limits.since:
            inside &= self.day >= limits.since
        if limits.until:
            inside &= self.day <= limits.until
        if files is not None:
            inside &= np.isin(self.file, list(files))
        return inside


class Vectors:
    """Those of one index file in memory, read again when the file has changed. One thread at a time."""

    def __init__(self) -> None:
        self._state: tuple[tuple[int, int], str] | None = None
        self._passages = self._windows = _table([])
        self._paths: Mapping[int, str] = {}
        self._missing = 0
        self._loading = threading.Lock()

    def likeness(self, store: Store, model: str, question: Vector, limits: Limits) -> tuple[Likeness | None, str]:
        """How like a question everything within limits is; None, and the reason, where too little is embedded."""
        with self._loading:
            self._load(store, model)
        passages, windows = self._passages, self._windows
        there = len(passages.first)
        if there < _COVERED * (there + self._missing) or not there:
            return None, f"{self._missing} passages are not embedded yet" if self._missing else ""
        asked = np.asarray(question, np.float32)
        if len(asked) != passages.vectors.shape[1]:
            return None, "the embedder changed its size"
        files = None
        if limits.below:
            files = [file for file, path in self._paths.items() if path.startswith(f"{limits.below}/")]
        return Cosines(_limited(passages, asked, limits, files), _limited(windows, asked, limits, files)), ""

    def _load(self, store: Store, model: str) -> None:
        state = (store.state, model)
        if state == self._state:
            return
        self._passages = _table(store.passage_vectors(model))
        self._windows = _table(store.window_vectors(model))
        self._paths = store.paths()
        self._missing = store.passage_count() - len(self._passages.first)
        self._state = state


@dataclass(frozen=True, slots=True)
class _Found:
    first: Numbers
    last: Numbers
    cosines: Floats
    shares: Floats
    """Stretched from the least to the greatest, 0 to 1."""

    def best(self, most: int) -> Numbers:
        if most >= len(self.cosines):
            return np.argsort(-self.cosines, kind="stable")
        top = np.argpartition(-self.cosines, most)[:most]
        return np.asarray(top[np.argsort(-self.cosines[top], kind="stable")])


class Cosines:
    """As `Likeness`."""

    def __init__(self, passages: _Found, windows: _Found) -> None:
        self._passages = passages
        self._windows = windows

    def nearest_passages(self, most: int) -> Sequence[int]:
        return [int(passage) for passage in self._passages.first[self._passages.best(most)]]

    def nearest_windows(self, most: int) -> Mapping[tuple[int, int], float]:
        found = self._windows
        return {(int(found.first[at]), int(found.last[at])): float(found.cosines[at]) for at in found.best(most)}

    def shares(self, passages: Collection[int]) -> Mapping[int, float]:
        wanted = np.array(sorted(passages), np.int64)
        own = _at(self._passages, wanted)
        around = np.zeros(len(wanted), np.float32)
        first = np.searchsorted(wanted, self._windows.first)
        last = np.searchsorted(wanted, self._windows.last, side="right")
        for at in np.nonzero(last > first)[0]:
            span = slice(first[at], last[at])
            np.maximum(around[span], self._windows.shares[at], out=around[span])
        known = ~np.isnan(own)
        return {int(wanted[at]): float(own[at] + around[at]) for at in np.nonzero(known)[0]}

    def windows(self, wanted: Collection[tuple[int, int]]) -> Mapping[tuple[int, int], float]:
        found = self._windows
        if not len(found.first):
            return {}
        ordered = list(wanted)
        at = np.searchsorted(found.first, np.array([first for first, _ in ordered], np.int64))
        at = np.minimum(at, len(found.first) - 1)
        return {
            (first, last): float(found.cosines[place])
            for (first, last), place in zip(ordered, at, strict=True)
            if found.first[place] == first and found.last[place] == last
        }


def _at(found: _Found, wanted: Numbers) -> Floats:
    """The share of each wanted passage; not a number where it is not embedded."""
    shares = np.full(len(wanted), np.nan, np.float32)
    if len(found.first):
        at = np.minimum(np.searchsorted(found.first, wanted), len(found.first) - 1)
        there = found.first[at] == wanted
        shares[there] = found.shares[at[there]]
    return shares


def _limited(table: _Table, question: Floats, limits: Limits, files: Collection[int] | None) -> _Found:
    cosines = table.cosines(question)
    inside = table.within(limits, files)
    kept = cosines[inside]
    least, greatest = (float(kept.min()), float(kept.max())) if len(kept) else (0.0, 0.0)
    return _Found(table.first[inside], table.last[inside], kept, (kept - least) / ((greatest - least) or 1.0))


def _table(rows: Sequence[VectorRow]) -> _Table:
    """A server may have changed its size: the newest one's holds."""
    rows = [row for row in rows if len(row.vector) == len(rows[-1].vector)]
    numbers = np.array([row[:4] for row in rows], np.int64).reshape(len(rows), 4)
    width = len(rows[0].vector) if rows else 4
    data = np.frombuffer(b"".join(row.vector for row in rows), np.uint8).reshape(len(rows), width)
    scales = np.ascontiguousarray(data[:, :4]).view(np.float32).reshape(len(rows))
    vectors = np.ascontiguousarray(data[:, 4:]).view(np.int8)
    return _Table(numbers[:, 0], numbers[:, 1], numbers[:, 2], numbers[:, 3], vectors, scales)
