"""Old tool results shown shortened. Pure: the transcript keeps them, and a `prune` entry says which.

That invalidates the server's cache and thinking, so it is done when the cache is cold, or saves a compaction.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence

from agent.model.base import Block, Json
from agent.session.entries import Entry, MarkEntry, MessageEntry

PRUNE = "prune"
KEPT_TURNS = 3
"""Turns whose results stay as they are, as long as there is room."""
LONGEST = 4_000
"""Characters of a result that need no shortening."""


def is_prune(entry: Entry) -> bool:
    return isinstance(entry, MarkEntry) and entry.type == PRUNE


def prune_entry(id: str, ts: str, before: str, limit: int) -> MarkEntry:
    """Shortens results over `limit` characters before the entry `before` (empty: before this mark)."""
    return MarkEntry(id, ts, PRUNE, {"before": before, "limit": limit})


class Shortenings:
    def __init__(self, entries: Sequence[Entry]) -> None:
        self._limits: dict[str, int] = {}
        if not any(map(is_prune, entries)):
            return
        places = {entry.id: at for at, entry in enumerate(entries)}
        ends = [(places.get(before, at) if before else at, limit) for at, before, limit in _prunes(entries)]
        for at, entry in enumerate(entries):
            limits = [limit for end, limit in ends if at < end]
            if limits and isinstance(entry, MessageEntry) and entry.meta.tool:
                self._limits[entry.id] = min(limits)

    def shown(self, entry: MessageEntry) -> MessageEntry:
        """The entry as sent, with another id where shortened."""
        limit = self._limits.get(entry.id)
        if limit is None:
            return entry
        content = tuple(_shortened(block, limit) for block in entry.content)
        if content == entry.content:
            return entry
        return dataclasses.replace(entry, id=f"{entry.id}~{limit}", content=content)


def older_than(entries: Sequence[Entry], turns: int) -> str | None:
    """The entry with which the newest `turns` turns begin, if there are older ones."""
    begun: list[str] = []
    seen = ""
    for entry in entries:
        if isinstance(entry, MessageEntry) and entry.meta.turn != seen:
            seen = entry.meta.turn
            begun.append(entry.id)
    return begun[-turns] if len(begun) > turns else None


def _prunes(entries: Sequence[Entry]) -> Iterator[tuple[int, str, int]]:
    for at, entry in enumerate(entries):
        if isinstance(entry, MarkEntry) and entry.type == PRUNE:
            before, limit = entry.fields.get("before"), entry.fields.get("limit")
            if isinstance(before, str) and isinstance(limit, int) and limit > 0:
                yield at, before, limit


def _shortened(block: Block, limit: int) -> Block:
    content = block.get("content")
    if isinstance(content, str):
        return {**block, "content": head_and_tail(content, limit)}
    if isinstance(content, Sequence):
        return {**block, "content": [_shortened_part(part, limit) for part in content]}
    return block


def _shortened_part(part: Json, limit: int) -> Json:
    if isinstance(part, Mapping) and isinstance(text := part.get("text"), str):
        return {**part, "text": head_and_tail(text, limit)}
    return part


def head_and_tail(text: str, limit: int) -> str:
    """A text over `limit` characters as its beginning and end, about half of that."""
    if len(text) <= limit:
        return text
    head, tail = limit * 3 // 8, limit // 8
    return f"{text[:head]}\n[… {len(text) - head - tail:,} characters left out here …]\n{text[len(text) - tail :]}"
