"""What of a talk no flush has been shown: what was said after the one of its cycle, the question that was open when it
began, and the older part where only the newest fitted. Pure.

There is one flush a cycle (SPEC 7), and pruning can make a cycle long. So a compaction keeps this part where it can,
and what is dropped of it is pointed out to the model that writes the paragraph of the talk.
"""

from __future__ import annotations

from collections.abc import Sequence

from agent.session.cycle import FLUSH, SINCE, State
from agent.session.entries import Entry, MarkEntry, MessageEntry
from agent.session.replay import id_of, in_context, settled


def unflushed(entries: Sequence[Entry]) -> frozenset[str]:
    """Ids of the messages that no flush has been shown which came to its end."""
    shown: list[str] = []
    seen: set[str] = set()
    for at, entry in enumerate(entries):
        if not isinstance(entry, MarkEntry) or entry.type != FLUSH:
            continue
        match entry.fields.get("state"):
            case State.STARTED:
                shown = [id_of(one) for one in in_context(settled(entries[:at]))]
            case State.DONE:
                since = entry.fields.get(SINCE)
                seen.update(shown[shown.index(since) :] if since in shown else shown)
    return frozenset(one.id for one in entries if isinstance(one, MessageEntry) and one.id not in seen)
