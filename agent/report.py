"""What `/context` and `/why` tell: how full the window is and with what; what the last reply had before it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from agent.clock import Clock
from agent.context.budget import Budget, estimate, estimate_tool, projected
from agent.context.freshness import seen_by
from agent.context.skill_list import KEY as SKILLS
from agent.foreign import in_text, names
from agent.model.base import ToolSpec
from agent.session.compact import compactions
from agent.session.cycle import flushes
from agent.session.entries import NO_FILE, Entry, MessageEntry, Recalled, Seen
from agent.session.replay import in_context, system_of
from agent.session.transcript import Transcript


@dataclass(frozen=True, slots=True)
class Share:
    """A part of the fixed prompt and its estimated tokens."""

    name: str
    tokens: int


@dataclass(frozen=True, slots=True)
class FileShown:
    """A workspace file in the context. `path` is relative to the workspace; `lines` those shown, first to last (0, 0:
    none); `modified` is None where the file is gone."""

    path: str
    lines: tuple[int, int]
    total_lines: int
    size: int
    modified: datetime | None

    @property
    def is_cut(self) -> bool:
        return self.total_lines > 0 and self.lines != (1, self.total_lines)


@dataclass(frozen=True, slots=True)
class ContextReport:
    """Sizes in tokens, estimated but for what the server counted. `session` is empty before the first message."""

    session: str
    model: str
    system: tuple[Share, ...]
    tools: tuple[Share, ...]
    files: tuple[FileShown, ...]
    messages: int
    projected: int
    budget: Budget
    flushes: int
    compactions: int

    @property
    def fixed(self) -> int:
        return sum(share.tokens for share in (*self.system, *self.tools))


@dataclass(frozen=True, slots=True)
class WhyReport:
    """`files` and the passages `recalled` from memory, the newest first, stood before the last reply; `tools` were used
    for it, in order; `at` is its moment. `foreign`: where text of others came from that was before it."""

    model: str
    at: datetime
    files: tuple[FileShown, ...]
    tools: tuple[str, ...]
    recalled: tuple[Recalled, ...] = ()
    foreign: tuple[str, ...] = ()


def context_report(
    transcript: Transcript,
    tools: Sequence[ToolSpec],
    model: str,
    budget: Budget,
    workspace: Path,
    clock: Clock,
) -> ContextReport:
    """Blocks: looks at the files' dates."""
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
        budget=budget,
        flushes=flushes(entries),
        compactions=compactions(entries),
    )


def why_report(transcript: Transcript, workspace: Path, clock: Clock) -> WhyReport | None:
    """None where there is no reply yet."""
    entries = transcript.entries
    last = next(
        (
            at
            for at in reversed(range(len(entries)))
            if isinstance(e := entries[at], MessageEntry) and e.role == "assistant"
        ),
        None,
    )
    if last is None:
        return None
    reply = entries[last]
    assert isinstance(reply, MessageEntry)
    of_turn = [entry for entry in entries if isinstance(entry, MessageEntry) and entry.meta.turn == reply.meta.turn]
    return WhyReport(
        model=reply.meta.model,
        at=clock.local(datetime.fromisoformat(reply.ts)),
        files=shown_files(seen_by(transcript.header, entries[:last]), workspace, clock),
        tools=tuple(entry.meta.tool for entry in of_turn if entry.meta.tool),
        recalled=_recalled(entries[:last]),
        foreign=names((*(reply.meta.foreign or ()), *in_text("\n".join(system_of(transcript.header, entries[:last]))))),
    )


def shown_files(seen: Mapping[str, Seen], workspace: Path, clock: Clock) -> tuple[FileShown, ...]:
    """Blocks: looks at the files' dates."""
    shown = []
    for path, file in seen.items():
        if file.sha == NO_FILE or path == SKILLS:
            continue
        try:
            modified = clock.local(datetime.fromtimestamp((workspace / path).stat().st_mtime, UTC))
        except OSError:
            modified = None
        shown.append(FileShown(path, file.lines, max(file.total, file.lines[1]), file.size, modified))
    return tuple(shown)


def _recalled(entries: Sequence[Entry]) -> tuple[Recalled, ...]:
    """What of memory still stands in the talk."""
    messages = [entry for entry in in_context(entries) if isinstance(entry, MessageEntry)]
    return tuple(passage for entry in reversed(messages) for passage in entry.meta.recalled)


def _shares(system: Sequence[str]) -> tuple[Share, ...]:
    """The frozen fixed part, split at its marks."""
    shares: list[Share] = []
    for block in system:
        head, *files = re.split(r'<daybook-(?:rules|file|notice) name="', block)
        if head.strip():
            shares.append(Share("rules", estimate(head)))
        shares += [Share(file.partition('"')[0], estimate(file)) for file in files]
    return tuple(shares)
