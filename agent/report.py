"""The reports of `/context` and `/why`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from agent.clock import Clock
from agent.compaction.compact import compactions
from agent.compaction.flush_state import flushes
from agent.context.budget import Budget, is_counted, projected
from agent.context.file_changes import seen_by
from agent.context.prompt import KEY as SKILLS
from agent.context.replay import in_context
from agent.memory.files import FileError, read_bytes, sha_of
from agent.model.base import ToolSpec
from agent.model.tokens import estimate, estimate_tool
from agent.search.result_text import QuotedLines
from agent.session.entries import LineRanges, MessageEntry, RecalledPassage, SeenFile, system_of
from agent.session.transcript import Transcript
from agent.tools.foreign_text import in_text, names


@dataclass(frozen=True, slots=True)
class Share:
    """A part of the fixed prompt and its estimated tokens."""

    name: str
    tokens: int


@dataclass(frozen=True, slots=True)
class FileShown:
    path: str
    lines: LineRanges
    """The lines shown."""
    total_lines: int
    size: int
    modified: datetime | None
    """None if the file is gone."""
    is_older: bool = False
    """The file has changed since."""

    @property
    def is_cut(self) -> bool:
        return self.lines != ((1, self.total_lines),)


@dataclass(frozen=True, slots=True)
class ContextReport:
    """Tokens, estimated; `counted`: the server counted most of `projected`."""

    session: str
    """Empty before the first message."""
    model: str
    system: tuple[Share, ...]
    tools: tuple[Share, ...]
    files: tuple[FileShown, ...]
    messages: int
    projected: int
    counted: bool
    budget: Budget
    flushes: int
    compactions: int

    @property
    def fixed(self) -> int:
        return sum(share.tokens for share in (*self.system, *self.tools))


@dataclass(frozen=True, slots=True)
class WhyReport:
    """The basis of the reply of `at`: `files`, `recalled` passages (newest first), `tools` in order, what their results
    `quoted`, and the sources of `foreign` text."""

    model: str
    at: datetime
    files: tuple[FileShown, ...]
    tools: tuple[str, ...]
    recalled: tuple[RecalledPassage, ...] = ()
    quoted: tuple[QuotedLines, ...] = ()
    foreign: tuple[str, ...] = ()


def context_report(
    transcript: Transcript,
    tools: Sequence[ToolSpec],
    model: str,
    budget: Budget,
    workspace: Path,
    clock: Clock,
) -> ContextReport:
    """Blocks."""
    tool_shares = tuple(Share(tool.name, estimate_tool(tool)) for tool in tools)
    entries = transcript.entries
    system = system_of(transcript.header, entries)
    fixed = sum(estimate(block) for block in system) + sum(share.tokens for share in tool_shares)
    return ContextReport(
        session=transcript.header.id if entries else "",
        model=model,
        system=_shares(system),
        tools=tool_shares,
        files=shown_files(seen_by(transcript.header, entries), workspace, clock),
        messages=sum(isinstance(entry, MessageEntry) for entry in entries),
        projected=projected(entries, fixed),
        counted=is_counted(entries),
        budget=budget,
        flushes=flushes(entries),
        compactions=compactions(entries),
    )


def why_report(transcript: Transcript, workspace: Path, clock: Clock) -> WhyReport | None:
    """None without a reply. Blocks."""
    entries = transcript.entries
    last = next(
        (
            at
            for at in reversed(range(len(entries)))
            if isinstance(entry := entries[at], MessageEntry) and entry.role == "assistant"
        ),
        None,
    )
    if last is None:
        return None
    reply = entries[last]
    assert isinstance(reply, MessageEntry)
    in_prompt = [entry for entry in in_context(entries[:last]) if isinstance(entry, MessageEntry)]
    of_turn = [
        entry for entry in entries[:last] if isinstance(entry, MessageEntry) and entry.meta.turn == reply.meta.turn
    ]
    return WhyReport(
        model=reply.meta.model,
        at=clock.local(datetime.fromisoformat(reply.ts)),
        files=shown_files(seen_by(transcript.header, entries[:last]), workspace, clock),
        tools=tuple(entry.meta.tool for entry in of_turn if entry.meta.tool),
        recalled=tuple(passage for entry in reversed(in_prompt) for passage in entry.meta.recalled),
        quoted=tuple(dict.fromkeys(lines for entry in of_turn for lines in entry.meta.quoted)),
        foreign=names((*(reply.meta.foreign or ()), *in_text("\n".join(system_of(transcript.header, entries[:last]))))),
    )


def shown_files(seen: Mapping[str, SeenFile], workspace: Path, clock: Clock) -> tuple[FileShown, ...]:
    """Blocks."""
    shown = []
    for path, file in seen.items():
        if not file.shown or path == SKILLS:
            continue
        try:
            modified = clock.local(datetime.fromtimestamp((workspace / path).stat().st_mtime, UTC))
        except OSError:
            modified = None
        shown.append(FileShown(path, file.shown, file.total, file.size, modified, _sha(workspace, path) != file.sha))
    return tuple(shown)


def _sha(workspace: Path, path: str) -> str:
    try:
        data = read_bytes(workspace / path, workspace)
    except FileError:
        return ""
    return sha_of(data) if data is not None else ""


def _shares(system: Sequence[str]) -> tuple[Share, ...]:
    shares: list[Share] = []
    for block in system:
        head, *files = re.split(r'<daybook-(?:rules|file|notice) name="', block)
        if head.strip():
            shares.append(Share("rules", estimate(head)))
        shares += [Share(file.partition('"')[0], estimate(file)) for file in files]
    return tuple(shares)
