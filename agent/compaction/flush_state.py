"""Flush cycles: each has one flush, and ends with a compaction or the session. From the transcript alone. Pure."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass

from agent.context.replay import id_of, in_context, settled
from agent.model.base import Json
from agent.session.entries import CompactionEntry, Entry, MarkEntry, MessageEntry

FLUSH = "flush"
SINCE = "since"
"""Field of a flush that was shown a part of the conversation: the first message of that part."""


class ContextLossReason(enum.StrEnum):
    THRESHOLD = "threshold"  # it will be soon
    COMPACTION = "compaction"
    COMMAND = "compact-command"
    OVERFLOW = "overflow"
    NEW = "new"
    SWITCH = "switch"
    IDLE = "idle"

    @property
    def leaves(self) -> bool:
        """True if the session is left: what comes later belongs to another cycle."""
        return self in (ContextLossReason.NEW, ContextLossReason.SWITCH, ContextLossReason.IDLE)


class FlushStatus(enum.StrEnum):
    STARTED = "started"
    DONE = "done"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class FlushState:
    number: int
    flushed: int | None
    """The last cycle that needs no flush any more, if any."""
    tries: int


def flush_state_of(entries: Sequence[Entry]) -> FlushState:
    number, flushed, tries = 0, None, 0
    for entry in entries:
        if isinstance(entry, CompactionEntry):
            number, tries = number + 1, 0
        elif isinstance(entry, MarkEntry) and entry.type == FLUSH:
            match entry.fields.get("state"):
                case FlushStatus.STARTED:
                    tries += 1
                case FlushStatus.DONE | FlushStatus.SKIPPED if entry.fields.get("cycle", number) == number:
                    flushed = number
                    if entry.fields.get("reason") in [loss for loss in ContextLossReason if loss.leaves]:
                        number, tries = number + 1, 0
    return FlushState(number, flushed, tries)


def flushes(entries: Sequence[Entry]) -> int:
    return sum(map(ends_a_flush, entries))


def ends_a_flush(entry: Entry) -> bool:
    return _state_of(entry) == FlushStatus.DONE


def answered_since(entries: Sequence[Entry]) -> bool:
    for entry in reversed(entries):
        if isinstance(entry, MessageEntry) and entry.role == "assistant":
            return True
        if isinstance(entry, CompactionEntry) or _state_of(entry) in (FlushStatus.DONE, FlushStatus.SKIPPED):
            return False
    return False


def _state_of(entry: Entry) -> Json:
    return entry.fields.get("state") if isinstance(entry, MarkEntry) and entry.type == FLUSH else None


def unflushed(entries: Sequence[Entry]) -> frozenset[str]:
    """Ids of messages that no finished flush has seen: kept if possible, and pointed out at consolidation."""
    shown: list[str] = []
    seen: set[str] = set()
    for at, entry in enumerate(entries):
        if not isinstance(entry, MarkEntry) or entry.type != FLUSH:
            continue
        match entry.fields.get("state"):
            case FlushStatus.STARTED:
                shown = list(map(id_of, in_context(settled(entries[:at]))))
            case FlushStatus.DONE:
                since = entry.fields.get(SINCE)
                seen.update(shown[shown.index(since) :] if since in shown else shown)
    return frozenset(entry.id for entry in entries if isinstance(entry, MessageEntry) and entry.id not in seen)
