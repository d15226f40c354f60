"""What goes into an index, and what comes out of it. Days are ordinals; passages have consecutive numbers in a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

from agent.search.text_kinds import TextKind


@dataclass(frozen=True, slots=True)
class NewPassage:
    """`section` counts from 0 within the file. `tokens` with spaces between, `size` of them: a list of them would take
    ten times the memory in a large file."""

    first: int
    last: int
    section: int
    speaker: str
    size: int
    tokens: str
    text: str


@dataclass(frozen=True, slots=True)
class NewSection:
    """`day` is the log's own (`dated`), else that of the file's last change. `earliest`: the day before which nothing
    of it was written, where that is known. `tokens`: of its heading and the file's title."""

    day: date
    dated: bool
    tokens: Sequence[str]
    kind: TextKind
    earliest: date | None = None


@dataclass(frozen=True, slots=True)
class NewFile:
    """A file as it is put in: sections in their order, each with at least one passage; of `windows` first and last
    passage, by place in `passages`. `names`: all forms of each name of which it tells others. `problem`: why nothing
    of it can be searched, a sentence."""

    path: str
    signature: str
    sha: str
    sections: Sequence[NewSection] = ()
    passages: Sequence[NewPassage] = ()
    windows: Sequence[tuple[int, int]] = ()
    names: Sequence[tuple[str, ...]] = ()
    problem: str = ""


class FileRow(NamedTuple):
    id: int
    signature: str
    sha: str
    problem: str


class WindowRow(NamedTuple):
    """`bm25` is positive, more is better. `first` and `last` are numbers of passages."""

    first: int
    last: int
    bm25: float


class PassageRow(NamedTuple):
    id: int
    file: int
    section: int
    speaker: str
    size: int
    tokens: str


class SectionRow(NamedTuple):
    """Written between `earliest` (0: not known) and `day`; `dated`: on that day; `kind`: the number of a
    `Kind`. `tokens` of heading and title."""

    id: int
    earliest: int
    day: int
    dated: int
    kind: int
    tokens: str


class FoundRow(NamedTuple):
    """Lines `first` to `last` of the file; the days as in `SectionRow`."""

    id: int
    path: str
    first: int
    last: int
    earliest: int
    day: int
    text: str


class TextRow(NamedTuple):
    """What is to be embedded: passages `first` to `last`, their text and its key."""

    first: int
    last: int
    text: str
    key: bytes


class UnitRow(NamedTuple):
    """A passage (`first` is `last`), a window or a section; the days as in `SectionRow`."""

    first: int
    last: int
    earliest: int
    day: int
    file: int


class VectorRow(NamedTuple):
    first: int
    last: int
    vector: bytes
