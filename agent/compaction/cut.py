"""Where a conversation may be cut: between turns, or between the steps of a large one, where people's messages stay. No
call loses its result. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import accumulate

from agent.context.replay import id_of, in_context
from agent.model.tokens import estimate, estimate_blocks
from agent.session.entries import CompactionEntry, Entry, MessageEntry
from agent.session.prune import prune_entry

Shown = MessageEntry | CompactionEntry
"""An entry that `replay.in_context` yields."""


def size_of(entry: Shown) -> int:
    """Estimated tokens."""
    return estimate(entry.summary) if isinstance(entry, CompactionEntry) else estimate_blocks(entry.content)


def boundaries(shown: Sequence[Shown]) -> list[int]:
    """Indexes where a turn begins that no later one interleaves."""
    last_of: dict[str, int] = {}
    for at, entry in enumerate(shown):
        if isinstance(entry, MessageEntry):
            last_of[entry.meta.turn] = at
    found: list[int] = []
    turns_end = -1
    seen: set[str] = set()
    for at, entry in enumerate(shown):
        if not isinstance(entry, MessageEntry):
            continue
        begins = entry.meta.turn not in seen and entry.role == "user" and not _answers_a_call(entry)
        if begins and turns_end < at:
            found.append(at)
        seen.add(entry.meta.turn)
        turns_end = max(turns_end, last_of[entry.meta.turn])
    return found


def cut_point(shown: Sequence[Shown], keep: int) -> int | None:
    """The index of the part to keep: the latest turn from which on there are at least `keep` tokens. The turn before
    the newest stays as well, unless it is larger: a "yes, do it" needs its question. None if only a summary, or
    nothing, comes before."""
    starts = boundaries(shown)
    first = next((at for at, entry in enumerate(shown) if isinstance(entry, MessageEntry)), len(shown))
    possible = [at for at in starts if at > first]
    left = list(accumulate(map(size_of, reversed(shown))))[::-1]
    cut = max((at for at in possible if left[at] >= keep), default=None)
    if cut is not None and cut == starts[-1] and len(possible) > 1:
        before = possible[-2]
        return before if left[before] - left[cut] <= keep else cut
    return cut


def sparing(shown: Sequence[Shown], cut: int, ids: Collection[str]) -> int:
    """The latest place up to `cut` between turns with nothing of `ids` before it; `cut` itself if that drops less than
    half."""
    first = next((at for at, entry in enumerate(shown) if isinstance(entry, MessageEntry) and id_of(entry) in ids), cut)
    place = max((at for at in boundaries(shown) if at <= min(first, cut)), default=cut)
    stays, goes = sum(map(size_of, shown[place:])), sum(map(size_of, shown[:place]))
    return place if stays <= goes else cut


def cut_at_step(shown: Sequence[Shown], keep: int, least: int) -> int | None:
    """The index of the latest step from which on there are at least `keep` tokens; None if less than `least` would
    go."""
    steps = [at for at, entry in enumerate(shown) if isinstance(entry, MessageEntry) and entry.role == "assistant"]
    left = list(accumulate(map(size_of, reversed(shown))))[::-1]
    cut = max((at for at in steps if left[at] >= keep), default=None)
    if cut is None:
        return None
    goes = sum(size_of(entry) for entry in shown[:cut] if isinstance(entry, MessageEntry))
    goes -= sum(map(size_of, said_before(shown, cut)))
    return cut if goes >= least else None


def said_before(shown: Sequence[Shown], cut: int) -> list[MessageEntry]:
    """People's messages before `cut` in the turn that goes on there."""
    if cut in boundaries(shown):
        return []
    turn = next((entry.meta.turn for entry in shown[cut:] if isinstance(entry, MessageEntry)), "")
    return [e for e in shown[:cut] if isinstance(e, MessageEntry) and e.meta.turn == turn and e.meta.said]


def passes(shown: Sequence[Shown], room: int) -> list[list[Shown]]:
    """Pieces of about `room` tokens, or of one larger step; no call apart from its results."""
    pieces: list[list[Shown]] = []
    size = 0
    for step in steps_of(shown):
        more = sum(map(size_of, step))
        if pieces and size + more <= room:
            pieces[-1] += step
            size += more
        else:
            pieces.append(list(step))
            size = more
    return pieces


def steps_of(shown: Sequence[Shown]) -> Iterator[list[Shown]]:
    step: list[Shown] = []
    for entry in shown:
        if step and not (isinstance(entry, MessageEntry) and _answers_a_call(entry)):
            yield step
            step = []
        step.append(entry)
    if step:
        yield step


def _answers_a_call(entry: MessageEntry) -> bool:
    return any(block.get("type") == "tool_result" for block in entry.content)


_SHARE_OF_A_RESULT = 40
"""Where room is short, each result is cut to about this part of it, in characters."""
_SHORTEST = 200
_LONGEST = 2_000


def tight(room: int) -> int:
    """Characters of a tool result if `room` tokens are all there is."""
    return max(_SHORTEST, min(_LONGEST, room // _SHARE_OF_A_RESULT))


def fitted(entries: Sequence[Entry], room: int) -> Sequence[Shown]:
    """The newest part within so many tokens: results shortened, then the oldest steps left out. Empty if no step
    fits."""
    shown = list(in_context([*entries, prune_entry("", "", "", tight(room))]))
    kept: list[Shown] = []
    for step in reversed(list(steps_of(shown))):
        room -= sum(map(size_of, step))
        if room < 0:
            break
        kept[:0] = step
    return kept
