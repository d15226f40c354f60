"""The content of a transcript: its header, and an entry for each thing that happened. `jsonl` writes them."""

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
"""Type of the mark behind which the context starts anew. It is read because the format has it (SPEC 4); Daybook itself
begins another transcript."""
NO_FILE = ""
"""`Seen.sha` of a file that did not exist when the session looked."""


@dataclass(frozen=True, slots=True)
class SeenFile:
    """A workspace file as a session last saw it: SHA-256 and size in bytes of the whole, and its number of lines.
    `shown`: those that the model sees as they are in the file; `known`: these, and those that the session wrote or that
    summarise it."""

    sha: str = NO_FILE
    size: int = 0
    total: int = 0
    shown: LineRanges = ()
    known: LineRanges = ()


@dataclass(frozen=True, slots=True)
class RecalledPassage:
    """A memory that was put before a message: `path` relative to the workspace, its shown lines and its day at that
    time, its score (the share of the message's words, 0 to 1); `sha` names its text; `parts` of its ranking. `is_part`:
    some of these lines were left out."""

    path: str
    lines: tuple[int, int]
    day: date
    score: float
    sha: str
    parts: Mapping[str, float] = field(default_factory=dict)
    is_part: bool = False


@dataclass(frozen=True, slots=True)
class Header:
    """The first line of a transcript. `system` is the fixed part of every request; `files` are the workspace files in
    it, by path relative to the workspace. `started` is UTC, ISO 8601."""

    id: str
    key: str
    agent: str
    started: str
    system: tuple[str, ...] = ()
    files: Mapping[str, SeenFile] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Meta:
    """Facts about a message beyond its blocks; never sent to a model.

    turn          the turn that it belongs to
    said          ids of a person's messages in it
    sender        who wrote it
    model, usage, stop_reason
                  of an assistant message, as the server sent them
    doubted       `usage` cannot be right, so it says nothing of the size of the context
    prefix        of an assistant message: names exactly what was sent before it (`replay.Context.prefix`)
    tool          of a result: the tool's name
    error         of a result: the call failed
    files         workspace files as seen by what this message shows or by what this tool wrote
    recalled      memories that were put before it
    quoted        lines of files that this result of a tool shows
    foreign       text of others that came with it, or from which it was made; None: an earlier release did not look
    by            the account of its sender, `channel:id`
    """

    turn: str = ""
    said: tuple[str, ...] = ()
    sender: str = ""
    model: str = ""
    usage: Usage | None = None
    stop_reason: str = ""
    prefix: str = ""
    tool: str = ""
    error: bool = False
    files: Mapping[str, SeenFile] = field(default_factory=dict)
    recalled: tuple[RecalledPassage, ...] = ()
    quoted: tuple[QuotedLines, ...] = ()
    doubted: bool = False
    foreign: tuple[ForeignText, ...] | None = None
    by: str = ""


@dataclass(frozen=True, slots=True)
class MessageEntry:
    """`content` is the Messages API's blocks, as sent."""

    id: str
    ts: str
    role: str
    content: tuple[Block, ...]
    meta: Meta = Meta()


@dataclass(frozen=True, slots=True)
class CompactionEntry:
    """`summary` replaces what comes before the entry `first_kept`. `system` and `files` are the fixed part from here
    on, as in `Header`; an empty `system` leaves it as it was.

    said        ids of entries before `first_kept` that stay word for word: people's messages in the turn that was cut
    asked       names the request of a person that it was made for
    """

    id: str
    ts: str
    summary: str
    first_kept: str
    tokens_before: int = 0
    system: tuple[str, ...] = ()
    files: Mapping[str, SeenFile] = field(default_factory=dict)
    said: tuple[str, ...] = ()
    asked: str = ""


@dataclass(frozen=True, slots=True)
class MarkEntry:
    """An entry without a message: `flush`, `prune` (older tool results are shown shortened), `uncompacted` (a turn
    could not compact), `reset` (the context begins after it), or a type of a later version, which is kept and ignored.
    `fields` is the rest of the line."""

    id: str
    ts: str
    type: str
    fields: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RedactionEntry:
    """Parts of earlier entries were forgotten: the `lines` (numbers of a text in its entry, and of a line in that text)
    are read as a mark with the `day`. `change` is the id of the change of memory that it belongs to, or empty; `lifts`
    the id of an earlier redaction that this one undoes. `system` and `files` as in `CompactionEntry`."""

    id: str
    ts: str
    day: str = ""
    lines: Mapping[str, Sequence[tuple[int, int]]] = field(default_factory=dict)
    change: str = ""
    lifts: str = ""
    system: tuple[str, ...] = ()
    files: Mapping[str, SeenFile] = field(default_factory=dict)


def is_reset(entry: Entry) -> bool:
    """True where the context begins after it."""
    return isinstance(entry, MarkEntry) and entry.type == RESET


Entry: TypeAlias = MessageEntry | CompactionEntry | RedactionEntry | MarkEntry


def system_of(header: Header, entries: Sequence[Entry]) -> tuple[str, ...]:
    """The present fixed part: frozen at the session's start, read again at each compaction and redaction."""
    for entry in reversed(entries):
        if isinstance(entry, CompactionEntry | RedactionEntry) and entry.system:
            return entry.system
    return header.system
