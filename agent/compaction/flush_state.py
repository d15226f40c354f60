"""Flush cycles: each has one flush, and ends with a compaction or where the session is left (SPEC 7.2). Computed from
the transcript alone, so that it survives crashes. Pure."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass

from agent.context.replay import id_of, in_context, settled
from agent.model.base import Json
from agent.session.entries import CompactionEntry, Entry, MarkEntry, MessageEntry

FLUSH = "flush"
SINCE = "since"
"""Field of a flush that was shown a part of the talk: the first message of that part."""


class ContextLossReason(enum.StrEnum):
    """Why context is about to be lost."""

    THRESHOLD = "threshold"  # it will be soon
    COMPACTION = "compaction"
    COMMAND = "compact-command"
    OVERFLOW = "overflow"
    NEW = "new"
    SWITCH = "switch"
    IDLE = "idle"

    @property
    def leaves(self) -> bool:
        """True where the session is left: what is written in it later belongs to another cycle."""
        return self in (ContextLossReason.NEW, ContextLossReason.SWITCH, ContextLossReason.IDLE)


class FlushStatus(enum.StrEnum):
    STARTED = "started"
    DONE = "done"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class FlushState:
    """`flushed` is the last cycle that needs no flush any more: None before the first."""

    number: int
    flushed: int | None
    tries: int


def flush_state_of(entries: Sequence[Entry]) -> FlushState:
    """The state after these entries."""
    number, flushed, tries = 0, None, 0
    for entry in entries:
        if isinstance(entry, CompactionEntry):
            number, tries = number + 1, 0
        elif isinstance(entry, MarkEntry) and entry.type == FLUSH:
            match entry.fields.get("state"):
                case FlushStatus.STARTED:
                    tries += 1
                case FlushStatus.DONE | FlushStatus.SKIPPED:
                    flushed = number
                    if entry.fields.get("reason") in [loss for loss in ContextLossReason if loss.leaves]:
                        number, tries = number + 1, 0
    return FlushState(number, flushed, tries)


def flushes(entries: Sequence[Entry]) -> int:
    """The number of flushes in a transcript."""
    return sum(map(ends_a_flush, entries))


def ends_a_flush(entry: Entry) -> bool:
    """True for the end of a flush that was made."""
    return _state_of(entry) == FlushStatus.DONE


def answered_since(entries: Sequence[Entry]) -> bool:
    """True where an answer came since the last flush or compaction."""
    for entry in reversed(entries):
        if isinstance(entry, MessageEntry) and entry.role == "assistant":
            return True
        if isinstance(entry, CompactionEntry) or _state_of(entry) in (FlushStatus.DONE, FlushStatus.SKIPPED):
            return False
    return False


def _state_of(entry: Entry) -> Json:
    """The state in a flush entry; None for any other."""
    return entry.fields.get("state") if isinstance(entry, MarkEntry) and entry.type == FLUSH else None


def unflushed(entries: Sequence[Entry]) -> frozenset[str]:
    """Ids of the messages that no finished flush has seen: those after the cycle's flush, the question open when it
    began, and the older part where only the newest fitted. A compaction keeps them where it can, and consolidation
    points them out to the model."""
    shown: list[str] = []
    seen: set[str] = set()
    for at, entry in enumerate(entries):
        if not isinstance(entry, MarkEntry) or entry.type != FLUSH:
            continue
        match entry.fields.get("state"):
            case FlushStatus.STARTED:
                shown = [id_of(one) for one in in_context(settled(entries[:at]))]
            case FlushStatus.DONE:
                since = entry.fields.get(SINCE)
                seen.update(shown[shown.index(since) :] if since in shown else shown)
    return frozenset(one.id for one in entries if isinstance(one, MessageEntry) and one.id not in seen)
