"""The cycles of a talk: each has one flush, and ends with a compaction, or where the talk is left (SPEC 7.2). Pure.

Where a talk stands follows from its transcript alone, so that once per cycle stays so over every crash.

What of a talk no flush has been shown: what was said after the one of its cycle, the question that was open when it
began, and the older part where only the newest fitted. Pure.

There is one flush a cycle (SPEC 7), and pruning can make a cycle long. So a compaction keeps this part where it can,
and what is dropped of it is pointed out to the model that writes the paragraph of the talk.
"""

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
        """The talk is left as it is: what is said in it later is of another cycle."""
        return self in (ContextLossReason.NEW, ContextLossReason.SWITCH, ContextLossReason.IDLE)


class FlushStatus(enum.StrEnum):
    STARTED = "started"
    DONE = "done"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class FlushState:
    """Where a talk stands. `flushed` is the last cycle that needs no flush any more: None before the first."""

    number: int
    flushed: int | None
    tries: int


def flush_state_of(entries: Sequence[Entry]) -> FlushState:
    """A cycle ends with each compaction, and where the talk was left."""
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
    """How many flushes a talk has had."""
    return sum(map(ends_a_flush, entries))


def ends_a_flush(entry: Entry) -> bool:
    """Whether it is the end of a flush that was made."""
    return _state_of(entry) == FlushStatus.DONE


def answered_since(entries: Sequence[Entry]) -> bool:
    """Whether an answer was given since the last flush or compaction."""
    for entry in reversed(entries):
        if isinstance(entry, MessageEntry) and entry.role == "assistant":
            return True
        if isinstance(entry, CompactionEntry) or _state_of(entry) in (FlushStatus.DONE, FlushStatus.SKIPPED):
            return False
    return False


def _state_of(entry: Entry) -> Json:
    """That of a flush; None for any other entry."""
    return entry.fields.get("state") if isinstance(entry, MarkEntry) and entry.type == FLUSH else None


def unflushed(entries: Sequence[Entry]) -> frozenset[str]:
    """Ids of the messages that no flush has been shown which came to its end."""
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
