"""Rows of an index. Days are ordinals; passages of a file have consecutive ids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

from agent.search.text_kinds import TextKind


@dataclass(frozen=True, slots=True)
class NewPassage:
    """`section` counts from 0 in the file."""

    first: int
    last: int
    section: int
    speaker: str
    size: int
    tokens: str
    """`size` tokens in one string, to save memory."""
    text: str


@dataclass(frozen=True, slots=True)
class NewSection:
    """`tokens` of heading and title."""

    day: date
    """The log's (`dated`), else of the last change."""
    dated: bool
    tokens: Sequence[str]
    kind: TextKind
    earliest: date | None = None
    """Nothing was written before."""


@dataclass(frozen=True, slots=True)
class NewFile:
    path: str
    signature: str
    sha: str
    sections: Sequence[NewSection] = ()
    passages: Sequence[NewPassage] = ()
    windows: Sequence[tuple[int, int]] = ()
    """First and last passage by position."""
    names: Sequence[tuple[str, ...]] = ()
    """All forms of each."""
    greeted: Sequence[tuple[str, str]] = ()
    """Speakers, each with a name by which they are greeted."""
    problem: str = ""
    """Why it cannot be searched."""


class FileRow(NamedTuple):
    id: int
    signature: str
    sha: str
    problem: str


class WindowRow(NamedTuple):
    """`bm25` is positive, more is better; `first` and `last` are passage ids."""

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
    """Written between `earliest` (0: unknown) and `day`; `dated`: on that day. `kind`: a `TextKind`. `tokens` of
    heading and title."""

    id: int
    earliest: int
    day: int
    dated: int
    kind: int
    tokens: str


class FoundRow(NamedTuple):
    """Lines `first` to `last`; days as in `SectionRow`."""

    id: int
    path: str
    first: int
    last: int
    earliest: int
    day: int
    text: str


class TextRow(NamedTuple):
    """A text to embed: passages `first` to `last`."""

    first: int
    last: int
    text: str
    key: bytes


class UnitRow(NamedTuple):
    """A passage (`first` is `last`), window or section; days as in `SectionRow`."""

    first: int
    last: int
    earliest: int
    day: int
    file: int


class VectorRow(NamedTuple):
    first: int
    last: int
    vector: bytes
