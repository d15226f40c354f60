"""A model's window and the thresholds in it, computed here and nowhere else (invariant 6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from agent.clock import Clock
from agent.context.replay import in_context
from agent.model.base import Model
from agent.model.tokens import estimate, estimate_blocks
from agent.session.entries import CompactionEntry, Entry, MessageEntry, RedactionEntry, is_reset
from agent.session.pictures import has_pictures
from agent.session.prune import is_prune
from agent.settings import AgentSettings

DEFAULT_WINDOW = 200_000
SMALLEST_WINDOW = 1_000
_FARTHEST = 3
"""A count is not believed that is more than so many times our estimate, or less than that part of it."""
_ASK_AGAIN = timedelta(minutes=10)
_LEAST_SHARE = 8
"""A window is not taken for smaller than this part of the size that the server named: a single odd refusal must not
lock a chat."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Tokens of each kind; always `flush_at < compact_at < window`."""

    window: int
    reserve: int
    flush_at: int
    compact_at: int
    answer: int
    """The most an answer may take."""

    def fits(self, projected: int) -> bool:
        return projected + self.answer <= self.window

    def has_room(self, projected: int) -> bool:
        """True if nothing has to be done before a request of that size."""
        return projected < self.flush_at and self.fits(projected)


def budget_of(window: int | None, reserve: int, soft: int, max_tokens: int) -> Budget:
    """The thresholds of a window (None: unknown). In a tiny one, reserve and answer take at most a quarter each, the
    soft threshold a quarter of the rest."""
    size = max(window or DEFAULT_WINDOW, SMALLEST_WINDOW)
    kept = max(1, min(reserve, size // 4))
    compact_at = size - kept
    flush_at = compact_at - max(1, min(soft, compact_at // 4))
    return Budget(size, kept, flush_at, compact_at, answer=max(1, min(max_tokens, size // 4)))


def is_credible(counted: int, estimated: int) -> bool:
    """True if a server's count of tokens can be right; some count in another unit, or only what is new."""
    return estimated <= _FARTHEST * counted and counted <= _FARTHEST * estimated


def projected(entries: Sequence[Entry], fixed: int) -> int:
    """Tokens of a request now: the server's count at the last answer, and an estimate since. `fixed`: the estimate for
    system and tools, used without a count."""
    counted, since = _counted(entries)
    if not counted:
        return fixed + sum(map(_estimate, in_context(entries)))
    if any(map(has_pictures, since)):  # of which older ones may be shown as words
        since = list(in_context(entries))[-len(since) :]
    return counted + sum(map(_estimate, since))


def is_counted(entries: Sequence[Entry]) -> bool:
    return _counted(entries)[0] > 0


def _estimate(entry: MessageEntry | CompactionEntry) -> int:
    return estimate(entry.summary) if isinstance(entry, CompactionEntry) else estimate_blocks(entry.content)


def shortened(text: str, room: int) -> str:
    """The text's beginning, about `room` tokens to a line's end, with a line that says so."""
    if len(text) <= room or (size := estimate(text)) <= room:
        return text
    kept = text[: max(1, len(text) * room // size)]
    line_end = kept.rfind("\n", len(kept) * 9 // 10)
    kept = kept[:line_end] if line_end > 0 else kept
    return f"{kept.rstrip()}\n[Cut here: the first {len(kept):,} of {len(text):,} characters are shown]"


def _counted(entries: Sequence[Entry]) -> tuple[int, Sequence[MessageEntry | CompactionEntry]]:
    """The server's count of the context up to the last answer that has one, and the messages behind it. 0 if the
    context has been changed since."""
    since: list[MessageEntry | CompactionEntry] = []
    for entry in reversed(entries):
        if isinstance(entry, CompactionEntry | RedactionEntry) or is_prune(entry) or is_reset(entry):
            break
        if isinstance(entry, MessageEntry):
            usage = entry.meta.usage
            if usage is not None and usage.context and not entry.meta.doubted:
                return usage.context, since
            since.append(entry)
    return 0, ()


class ModelWindows:
    def __init__(self, settings: AgentSettings, model: Model, clock: Clock) -> None:
        self._settings = settings
        self._model = model
        self._clock = clock
        self._said: dict[str, tuple[int | None, datetime]] = {}
        self._overflowed: dict[str, int] = {}
        self._named: dict[str, int] = {}

    async def budget(self, model: str) -> Budget:
        window = self._settings.model.context_window or await self._asked(model)
        smaller = self._overflowed.get(model)
        if smaller is not None:
            stated = window or DEFAULT_WINDOW
            window = min(stated, max(smaller, stated // _LEAST_SHARE))
        if (named := self._named.get(model)) is not None:
            window = min(window or named, named)
        session = self._settings.session
        return budget_of(
            window, session.reserve_tokens, session.flush_soft_threshold_tokens, self._settings.model.max_tokens
        )

    async def overflowed(self, model: str, tokens: int, named: int | None = None) -> Budget:
        """Notes until the process ends that the server refused so many tokens (`named`: its own limit)."""
        if named is not None:
            self._named[model] = named
        else:
            self._overflowed[model] = min(tokens, self._overflowed.get(model, tokens))
        return await self.budget(model)

    async def _asked(self, model: str) -> int | None:
        """The server's answer, asked for again after a while: some load a model with another window."""
        window, ask_again = self._said.get(model, (None, None))
        if ask_again is None or self._clock.instant() >= ask_again:
            window = await self._model.context_window(model) or window
            self._said[model] = (window, self._clock.instant() + _ASK_AGAIN)
        return window
