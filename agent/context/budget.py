"""The thresholds of a context window, computed here and nowhere else (invariant 6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agent.context.replay import in_context
from agent.model.tokens import (
    estimate,
    estimate_blocks,
)
from agent.session.entries import CompactionEntry, Entry, MessageEntry, RedactionEntry
from agent.session.prune import is_prune

DEFAULT_WINDOW = 200_000
SMALLEST_WINDOW = 1_000
_FARTHEST = 3
"""A count is not believed that is more than so many times our estimate, or less than that part of it."""


@dataclass(frozen=True, slots=True)
class Budget:
    """All in tokens. `answer` is the most an answer may take; `flush_at < compact_at < window` always."""

    window: int
    reserve: int
    flush_at: int
    compact_at: int
    answer: int

    def fits(self, projected: int) -> bool:
        """True where a request of that size leaves room for its answer."""
        return projected + self.answer <= self.window


def budget(window: int | None, reserve: int, soft: int, max_tokens: int) -> Budget:
    """The thresholds of a window; None: unknown. Contradicting settings, or a tiny window, give way: reserve and answer
    each take at most a quarter of the window, the soft threshold at most a quarter of the rest."""
    size = max(window or DEFAULT_WINDOW, SMALLEST_WINDOW)
    kept = max(1, min(reserve, size // 4))
    compact_at = size - kept
    flush_at = compact_at - max(1, min(soft, compact_at // 4))
    return Budget(size, kept, flush_at, compact_at, answer=max(1, min(max_tokens, size // 4)))


def is_credible(counted: int, estimated: int) -> bool:
    """True where a server's count of tokens can be right. Some count in another unit, or only what is new."""
    return estimated <= _FARTHEST * counted and counted <= _FARTHEST * estimated


def projected(entries: Sequence[Entry], fixed: int) -> int:
    """Tokens of a request made now: the server's count at the last answer, and an estimate since. `fixed` is the
    estimate for system and tools, used without a count (or none since compaction or pruning)."""
    size = 0
    for entry in reversed(list(in_context(entries))):
        if isinstance(entry, CompactionEntry):
            return fixed + size + estimate(entry.summary)
        if counted := _counted(entries, entry):
            return counted + size
        size += estimate_blocks(entry.content)
    return fixed + size


def is_counted(entries: Sequence[Entry]) -> bool:
    """True where `projected` is based on a server's count."""
    return any(isinstance(entry, MessageEntry) and _counted(entries, entry) for entry in in_context(entries))


def shortened(text: str, room: int) -> str:
    """The beginning of the text, about `room` tokens, cut at a line's end where one is near, with a line that says
    so."""
    if len(text) <= room or (size := estimate(text)) <= room:
        return text
    kept = text[: max(1, len(text) * room // size)]
    line_end = kept.rfind("\n", len(kept) * 9 // 10)
    kept = kept[:line_end] if line_end > 0 else kept
    return f"{kept.rstrip()}\n[Cut here: the first {len(kept):,} of {len(text):,} characters are shown]"


def _counted(entries: Sequence[Entry], entry: MessageEntry) -> int:
    """The server's count of the context up to an answer; 0 where there is none that still applies."""
    usage = entry.meta.usage
    if usage is None or not usage.context or entry.meta.doubted or _changed_since(entries, entry):
        return 0
    return usage.context


def _changed_since(entries: Sequence[Entry], counted: MessageEntry) -> bool:
    """True where the history was changed after a count, which no longer applies then."""
    for entry in reversed(entries):
        if entry is counted:
            return False
        if isinstance(entry, CompactionEntry | RedactionEntry) or is_prune(entry):
            return True
    return False
