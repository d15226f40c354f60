"""The content of a transcript: its header, and an entry for each thing that happened.

A message that replaces an earlier one goes on from before it. The file keeps both versions, the context has the newest
only. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import TypeAlias

from agent.model.base import Block, Json, Usage
from agent.search.result_text import QuotedLines
from agent.tools.foreign_text import ForeignText

LineRanges: TypeAlias = tuple[tuple[int, int], ...]
"""Lines of a file, first and last of each run of neighbours, counted from 1, in order."""

RESET = "reset"
"""Type of the mark behind which the context starts anew. It is read because the format has it; Daybook itself
begins another transcript."""
BRANCH = "branch"
"""Type of the mark that ends a version of the conversation; its field `from` names the version's first entry."""
_FROM = "from"
NO_FILE = ""
"""`Seen.sha` of a file that did not exist when the session looked."""


@dataclass(frozen=True, slots=True)
class SeenFile:
    """A file as a session last saw it: SHA-256, size in bytes, number of lines."""

    sha: str = NO_FILE
    size: int = 0
    total: int = 0
    shown: LineRanges = ()
    """Lines that the model sees as they are in the file."""
    known: LineRanges = ()
    """The lines shown, and lines that the session wrote or that summarise it."""


@dataclass(frozen=True, slots=True)
class RecalledPassage:
    """A memory that was put before a message: its path, the lines shown, its day and its score at that time."""

    path: str
    lines: tuple[int, int]
    day: date
    score: float
    sha: str
    """Names the text of the passage."""
    parts: Mapping[str, float] = field(default_factory=dict)
    is_part: bool = False
    """Some lines were left out."""


@dataclass(frozen=True, slots=True)
class Header:
    """The first line of a transcript."""

    id: str
    key: str
    agent: str
    started: str
    """UTC, ISO 8601."""
    system: tuple[str, ...] = ()
    """The fixed part of every request."""
    files: Mapping[str, SeenFile] = field(default_factory=dict)
    """The workspace files in the fixed part."""


@dataclass(frozen=True, slots=True)
class Meta:
    """Facts about a message beyond its blocks; never sent to a model."""

    turn: str = ""
    said: tuple[str, ...] = ()
    """Ids of a person's messages in it."""
    sender: str = ""
    """Name of the person who wrote it."""
    model: str = ""
    usage: Usage | None = None
    stop_reason: str = ""
    """Of an assistant message, as the server sent them."""
    prefix: str = ""
    """Of an assistant message: names what was sent before it (`replay.Context.prefix`)."""
    tool: str = ""
    """Of a result: the tool's name."""
    error: bool = False
    """Of a result: the call failed."""
    files: Mapping[str, SeenFile] = field(default_factory=dict)
    """Workspace files as seen by what this message shows or its tool wrote."""
    recalled: tuple[RecalledPassage, ...] = ()
    """Memories that were put before it."""
    quoted: tuple[QuotedLines, ...] = ()
    """Lines of files that this result shows."""
    doubted: bool = False
    """`usage` cannot be right."""
    foreign: tuple[ForeignText, ...] | None = None
    """Text of others that came with it, or from which it was made; None: not looked for."""
    by: str = ""
    """The account of its sender, `channel:id`."""


@dataclass(frozen=True, slots=True)
class MessageEntry:
    id: str
    ts: str
    role: str
    content: tuple[Block, ...]
    """The Messages API's blocks, as sent."""
    meta: Meta = Meta()


@dataclass(frozen=True, slots=True)
class CompactionEntry:
    """`summary` replaces what is before the entry `first_kept`. `system` and `files`: the fixed part from here on,
    unless empty."""

    id: str
    ts: str
    summary: str
    first_kept: str
    tokens_before: int = 0
    system: tuple[str, ...] = ()
    files: Mapping[str, SeenFile] = field(default_factory=dict)
    said: tuple[str, ...] = ()
    """Ids of entries before `first_kept` that stay word for word."""
    asked: str = ""
    """Names the request of a person that it was made for."""


@dataclass(frozen=True, slots=True)
class MarkEntry:
    """An entry without a message: `flush`, `prune` (older tool results are shortened), `uncompacted`, `branch` (the
    messages from the entry `from` up to it are an earlier version), `reset` (the context begins after it), or a later
    version's type, which is ignored."""

    id: str
    ts: str
    type: str
    fields: Mapping[str, Json] = field(default_factory=dict)
    """The rest of the line."""


@dataclass(frozen=True, slots=True)
class RedactionEntry:
    """Forgotten `lines`, which are read as a mark: by entry, numbers of a text in it and of a line in that text."""

    id: str
    ts: str
    day: str = ""
    lines: Mapping[str, Sequence[tuple[int, int]]] = field(default_factory=dict)
    change: str = ""
    """The change of memory that it belongs to."""
    lifts: str = ""
    """The redaction that this one undoes."""
    system: tuple[str, ...] = ()
    files: Mapping[str, SeenFile] = field(default_factory=dict)


def is_reset(entry: Entry) -> bool:
    return isinstance(entry, MarkEntry) and entry.type == RESET


Entry: TypeAlias = MessageEntry | CompactionEntry | RedactionEntry | MarkEntry


def branch_mark(id: str, ts: str, replaced: MessageEntry) -> MarkEntry:
    return MarkEntry(id, ts, BRANCH, {_FROM: replaced.id})


def replaces(mark: Entry, entry: Entry) -> bool:
    """True if the mark ends the version that began with the entry."""
    return isinstance(mark, MarkEntry) and mark.type == BRANCH and mark.fields.get(_FROM) == entry.id


def is_branch(entry: Entry) -> bool:
    return isinstance(entry, MarkEntry) and entry.type == BRANCH


def in_newest_version(entries: Sequence[Entry]) -> list[bool]:
    """For each entry, whether it belongs to the newest version.

    Messages of an earlier version do not, nor do summaries that cover some of them. Other marks stay: what was
    forgotten remains so.
    """
    belongs = [True] * len(entries)
    for at, mark in enumerate(entries):
        if not isinstance(mark, MarkEntry) or mark.type != BRANCH:
            continue
        first = mark.fields.get(_FROM)
        start = next((place for place in range(at) if belongs[place] and entries[place].id == first), at)
        before = {entry.id for entry in entries[:start]}
        for place in range(start, at):
            match entries[place]:
                case MessageEntry():
                    belongs[place] = False
                case CompactionEntry(first_kept=kept) if kept not in before:
                    belongs[place] = False
    return belongs


def newest_version(entries: Sequence[Entry]) -> list[Entry]:
    return [entry for entry, belongs in zip(entries, in_newest_version(entries), strict=True) if belongs]


def system_of(header: Header, entries: Sequence[Entry]) -> tuple[str, ...]:
    """The fixed part: frozen at the start, read again at each compaction and redaction."""
    for entry in reversed(entries):
        if isinstance(entry, CompactionEntry | RedactionEntry) and entry.system:
            return entry.system
    return header.system
