"""The newest part of a talk that takes no more than so many tokens, for a request that must not be refused. Pure: the
talk itself stays as it is."""

from __future__ import annotations

from collections.abc import Sequence

from agent.session.cut import Shown, size_of, steps_of
from agent.session.entries import Entry
from agent.session.prune import prune_entry
from agent.session.replay import in_context

_SHARE_OF_A_RESULT = 40
"""Where room is short, one result is left about this part of it, in characters."""
_SHORTEST = 200
_LONGEST = 2_000


def tight(room: int) -> int:
    """Characters of a tool result where there are only `room` tokens for everything."""
    return max(_SHORTEST, min(_LONGEST, room // _SHARE_OF_A_RESULT))


def fitted(entries: Sequence[Entry], room: int) -> Sequence[Shown]:
    """Results shortened, then the oldest steps left out, no call apart from its results. Empty where not even the
    newest step fits."""
    shown = list(in_context([*entries, prune_entry("", "", "", tight(room))]))
    kept: list[Shown] = []
    for step in reversed(list(steps_of(shown))):
        room -= sum(map(size_of, step))
        if room < 0:
            break
        kept[:0] = step
    return kept
