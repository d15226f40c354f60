"""What a session has before it already, and so need not be told of again."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence

from agent.context.line_ranges import holds
from agent.memory.search import Hit
from agent.model.base import Block, Json
from agent.session.entries import Entry, MessageEntry, Seen
from agent.session.replay import in_context

_STAMP = re.compile(r"\A(?:[-*+]|\d+[.)])[ \t]+(?:\d\d:\d\d[ \t]+)?")
"""What a log puts before the words that it was given."""


def sha_of(hit: Hit) -> str:
    """Names a passage by its text, so that it is the same one after lines were put above it."""
    return hashlib.sha256(" ".join(hit.text.split()).encode("utf-8", "replace")).hexdigest()[:16]


class Told:
    """`seen`: files as the session sees them with the message that says `words`. Blocks for as long as it takes to look
    through the talk."""

    def __init__(self, entries: Sequence[Entry], seen: Mapping[str, Seen], words: str) -> None:
        messages = [entry for entry in entries if isinstance(entry, MessageEntry)]
        self._recalled = {passage.sha for entry in messages for passage in entry.meta.recalled}
        self._seen = seen
        self._text = "\n".join([words, *_texts(entries)])

    def has(self, key: str, hit: Hit) -> bool:
        """Whether the passage of the file `key` was recalled before, stands in the prompt, or was said, read or written
        in the talk as far as that is still there."""
        return sha_of(hit) in self._recalled or self._stands(key, hit) or self._was_said(hit)

    def _stands(self, key: str, hit: Hit) -> bool:
        return holds(self._seen.get(key, Seen()).known, hit.start_line, hit.end_line)

    def _was_said(self, hit: Hit) -> bool:
        return all(_STAMP.sub("", line.strip()) in self._text for line in hit.text.splitlines())


def _texts(entries: Sequence[Entry]) -> Iterator[str]:
    """Every text that a talk's blocks hold: words, arguments and results of tools."""
    for entry in in_context(entries):
        for block in entry.content if isinstance(entry, MessageEntry) else ():
            yield from _strings(block)


def _strings(value: Json | Block) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list():
            for item in value:
                yield from _strings(item)
        case dict():
            for item in value.values():
                yield from _strings(item)
