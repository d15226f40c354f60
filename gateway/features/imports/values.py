"""Values of an import: what was found, and what will be written."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from datetime import datetime

MOST_TEXT = 100_000_000
"""Bytes of text that one import may bring."""
MOST_BYTES = 1_000_000_000
"""Bytes that are read of one file of an export, or of a zip, unpacked."""
MOST_OF_FILE = 3_000_000
"""Bytes of one file that is written, below what memory reads (`files.MAX_BYTES`)."""


class ImportKind(enum.StrEnum):
    OPENCLAW = "openclaw"
    NANOBOT = "nanobot"
    CLAUDE = "claude"
    CHATGPT = "chatgpt"
    TEXT = "text"


LABELS = {
    ImportKind.OPENCLAW: "OpenClaw",
    ImportKind.NANOBOT: "nanobot",
    ImportKind.CLAUDE: "Claude",
    ImportKind.CHATGPT: "ChatGPT",
    ImportKind.TEXT: "Markdown",
}


class ImportRefused(Exception):
    """Nothing can be imported. One `Sentence`, or several joined."""


@dataclass(frozen=True, slots=True)
class SkippedItem:
    """`why` ends a sentence that begins with `what`."""

    what: str
    why: str


@dataclass(frozen=True, slots=True)
class ImportedDocument:
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class ImportedMessage:
    at: datetime
    """In UTC."""
    speaker: str
    text: str
    documents: tuple[ImportedDocument, ...] = ()


@dataclass(frozen=True, slots=True)
class ImportedChat:
    id: str
    title: str
    messages: tuple[ImportedMessage, ...]


@dataclass(frozen=True, slots=True)
class SessionLine:
    """What one line of a session says, if anything."""

    at: datetime | None = None
    speaker: str = ""
    text: str = ""
    unknown: str = ""
    """The kind of something that is not known."""
    is_automatic: bool = False
    """Nobody wrote it."""


NOTHING = SessionLine()


class Placing(enum.StrEnum):
    NEW = "new"
    MERGED = "merged"
    REPLACED = "replaced"
    """Daybook's own template, which nobody has changed."""


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """`path` is relative to the scope's folder; `data` are the lines to merge, or the file."""

    path: str
    data: bytes
    placing: Placing = Placing.NEW


@dataclass(frozen=True, slots=True)
class FoundSecret:
    kind: str
    where: str


@dataclass(slots=True)
class Findings:
    """Collects what is told of an import beside its files."""

    chats: int = 0
    messages: int = 0
    already: int = 0
    """Chats or files that were imported before."""
    skipped: list[SkippedItem] = field(default_factory=list)
    secrets: list[FoundSecret] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def skip(self, what: str, why: str) -> None:
        self.skipped.append(SkippedItem(what, why))


@dataclass(frozen=True, slots=True)
class ImportPlan:
    kind: ImportKind
    source: str
    files: tuple[PlannedFile, ...]
    findings: Findings
