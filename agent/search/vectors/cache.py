"""The vectors of one index file in RAM.

Rows are ordered by first passage: new ones have larger ids (`database`), so they are appended; removed ones stay empty
until they are a quarter of all. Scale 0: no vector.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agent.search.results import Limits
from agent.search.rows import UnitRow, VectorRow
from agent.search.store import IndexStore
from agent.search.vectors.store import VectorStore

Bytes = NDArray[np.int8]
Floats = NDArray[np.float32]
Numbers = NDArray[np.int64]
Mask = NDArray[np.bool_]
Data = NDArray[np.uint8]
"""Stored vectors, one per row."""

SCALE_BYTES = 4
"""At the beginning of a stored vector."""
_BLOCK = 512
"""Vectors compared at once, so that they fit the processor's cache."""
_COLUMNS = len(UnitRow._fields)
_KEY = "S16"
_GONE = -1
_ROOM = 8
"""A full table grows by this fraction."""
_LEAST_ROOM = 1_024
_EMPTY = 4
"""Fraction of removed rows that triggers compaction."""


class VectorTable:
    """Passages or windows with their vectors."""

    def __init__(self, units: Numbers, width: int) -> None:
        """`units`: columns as in `UnitRow`."""
        self.size = 0
        self._units = np.empty((0, _COLUMNS), np.int64)
        self._vectors: Bytes = np.empty((0, width), np.int8)
        self._scales: Floats = np.empty(0, np.float32)
        self.append(units)

    @property
    def first(self) -> Numbers:
        return self._units[: self.size, 0]

    @property
    def last(self) -> Numbers:
        return self._units[: self.size, 1]

    @property
    def _file(self) -> Numbers:
        return self._units[: self.size, 4]

    @property
    def embedded(self) -> Mask:
        return self._scales[: self.size] > 0

    @property
    def missing(self) -> int:
        return int(np.count_nonzero(self._file != _GONE) - np.count_nonzero(self.embedded))

    def append(self, units: Numbers) -> None:
        size = self.size + len(units)
        if size > len(self._scales):
            room = size + size // _ROOM + _LEAST_ROOM
            self._units, self._vectors = _grown(self._units, room), _grown(self._vectors, room)
            self._scales = _grown(self._scales, room)
        self._units[self.size : size] = units
        self._scales[self.size : size] = 0
        self.size = size

    def update_days(self, units: Numbers) -> None:
        self._units[np.searchsorted(self.first, units[:, 0])] = units

    def remove(self, files: Collection[int]) -> None:
        gone = np.isin(self._file, list(files))
        self._file[gone] = _GONE
        self._scales[: self.size][gone] = 0
        if _EMPTY * np.count_nonzero(self._file == _GONE) > self.size:
            left = np.flatnonzero(self._file != _GONE)
            self.size = len(left)
            self._units, self._vectors, self._scales = self._units[left], self._vectors[left], self._scales[left]

    def put(self, ends: Numbers, vectors: Data) -> None:
        """Store vectors; unknown units are ignored."""
        if not self.size:
            return
        rows = np.minimum(np.searchsorted(self.first, ends[:, 0]), self.size - 1)
        ours = (self._units[rows, :2] == ends).all(1) & (self._file[rows] != _GONE)
        rows, vectors = rows[ours], vectors[ours]
        self._scales[rows] = np.ascontiguousarray(vectors[:, :SCALE_BYTES]).view(np.float32)[:, 0]
        self._vectors[rows] = vectors[:, SCALE_BYTES:].view(np.int8)

    def cosines(self, question: Floats) -> Floats:
        found = np.empty(self.size, np.float32)
        for start in range(0, self.size, _BLOCK):
            block = slice(start, min(start + _BLOCK, self.size))
            found[block] = self._vectors[block].astype(np.float32) @ question
        found *= self._scales[: self.size]
        return found

    def mean(self, rows: Numbers) -> Floats:
        vectors = self._vectors[rows].astype(np.float32) * self._scales[rows, None]
        return np.asarray(vectors.mean(axis=0), np.float32)

    def within(self, limits: Limits, files: Collection[int] | None) -> Mask:
        """Rows with a vector that may be within the limits."""
        inside = self.embedded
        units = self._units[: self.size]
        if limits.since:
            inside &= units[:, 3] >= limits.since
        if limits.until:
            inside &= units[:, 2] <= limits.until
        if files is not None:
            inside &= np.isin(self._file, list(files))
        return inside


class VectorCache:
    """For one thread at a time."""

    def __init__(self) -> None:
        self.passages = VectorTable(_numbers([], _COLUMNS), 0)
        self.windows = VectorTable(_numbers([], _COLUMNS), 0)
        self._state: tuple[tuple[int, int], str] | None = None
        self._whole: tuple[int, str, int, int] | None = None
        self._files: dict[int, tuple[int, str]] = {}
        self._number = 0

    @property
    def width(self) -> int:
        """Numbers per vector; 0 if there is none."""
        return self._whole[3] if self._whole is not None else 0

    def below(self, folder: str) -> list[int]:
        return [file for file, (_, path) in self._files.items() if path.startswith(f"{folder}/")]

    def follow(self, store: IndexStore, model: str) -> None:
        """Update from the file. Raises as `IndexStore`."""
        serial, _ = now = store.state
        if self._state == (now, model):
            return
        with store.vectors.snapshot():
            number, size = store.vectors.newest(model)
            whole = (serial, model, store.vectors.dropped, max(0, size - SCALE_BYTES))
            if whole == self._whole:
                self._catch_up(store.vectors, model)
            else:
                self._whole = None  # in case reading fails
                self._read_all(store.vectors, model, whole[3])
                self._whole = whole
            self._number = max(number, self._number)
        self._state = (now, model)

    def _read_all(self, stored: VectorStore, model: str, width: int) -> None:
        self._files = stored.files()
        self._number = 0
        self.passages = VectorTable(_each_passage(stored.sections()), width)
        self.windows = VectorTable(_numbers(stored.windows(), _COLUMNS), width)
        if not width:
            return
        ends, keys = _keys_in_order(stored)
        for part in stored.all(model):
            right = [(key, vector) for key, vector in part if len(vector) == width + SCALE_BYTES]
            wanted = np.frombuffer(b"".join(key for key, _ in right), _KEY)
            low, high = np.searchsorted(keys, wanted), np.searchsorted(keys, wanted, side="right")
            vectors = _data([vector for _, vector in right], width)
            self._put(ends[_ranges(low, high)], vectors[np.repeat(np.arange(len(right)), high - low)])

    def _catch_up(self, stored: VectorStore, model: str) -> None:
        files = stored.files()
        gone = self._files.keys() - files.keys()
        if gone:
            self.passages.remove(gone)
            self.windows.remove(gone)
        for file in sorted(id for id, known in files.items() if self._files.get(id) != known):
            passages, windows = _each_passage(stored.sections(file)), _numbers(stored.windows(file), _COLUMNS)
            if file in self._files:
                self.passages.update_days(passages)
                self.windows.update_days(windows)
            else:
                self.passages.append(passages)
                self.windows.append(windows)
            self._put_rows(stored.of_file(model, file))
        self._files = files
        self._put_rows(stored.since(model, self._number))

    def _put_rows(self, found: Sequence[VectorRow]) -> None:
        """Ignores other sizes: a server may have changed it."""
        right = [row for row in found if len(row.vector) == self.width + SCALE_BYTES]
        ends = _numbers([(row.first, row.last) for row in right], 2)
        self._put(ends, _data([row.vector for row in right], self.width))

    def _put(self, ends: Numbers, vectors: Data) -> None:
        self.passages.put(ends, vectors)
        self.windows.put(ends, vectors)


def _keys_in_order(stored: VectorStore) -> tuple[Numbers, NDArray[np.bytes_]]:
    ends, keys = [_numbers([], 2)], [b""]
    for part in stored.named():
        ends.append(_numbers([row[:2] for row in part], 2))
        keys.append(b"".join(row[2] for row in part))
    found = np.frombuffer(b"".join(keys), _KEY)
    order = np.argsort(found, kind="stable")
    return np.concatenate(ends)[order], found[order]


def _each_passage(sections: Iterable[UnitRow]) -> Numbers:
    rows = _numbers(sections, _COLUMNS)
    passages = _ranges(rows[:, 0], rows[:, 1] + 1)
    units = np.repeat(rows, rows[:, 1] + 1 - rows[:, 0], axis=0)
    units[:, 0] = units[:, 1] = passages
    return units


def _ranges(low: Numbers, high: Numbers) -> Numbers:
    """The concatenated ranges from `low` to before `high`."""
    counts = high - low
    ends = np.cumsum(counts)
    return np.asarray(np.arange(ends[-1] if len(ends) else 0) + np.repeat(low - ends + counts, counts), np.int64)


def _numbers(rows: Iterable[tuple[int, ...]], columns: int) -> Numbers:
    return np.fromiter(chain.from_iterable(rows), np.int64).reshape(-1, columns)


def _data(vectors: Sequence[bytes], width: int) -> Data:
    return np.frombuffer(b"".join(vectors), np.uint8).reshape(len(vectors), SCALE_BYTES + width)


def _grown(old: NDArray[Any], room: int) -> NDArray[Any]:
    new = np.empty((room, *old.shape[1:]), old.dtype)
    new[: len(old)] = old
    return new
