"""Memories for a message, searched while the turn starts; none is repeated in a session."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from agent.clock import Clock
from agent.context.file_changes import holds
from agent.context.recall_gate import READ_CHARS, Relevant, cue_of, relevant
from agent.context.replay import in_context
from agent.formats import untrusted
from agent.memory.age import OUT_OF_DATE, age_in_words, may_be_out_of_date
from agent.memory.scope import Scope
from agent.model.base import Block, Json
from agent.model.tokens import estimate
from agent.search.result_text import Quotation, Quotations, without_bullet
from agent.search.results import Hit, Search
from agent.session.entries import Entry, MessageEntry, RecalledPassage, SeenFile
from agent.settings import RecallSettings
from agent.tools.foreign_text import ForeignText, in_hit, unique

_STAMP = re.compile(r"\A(?:[-*+]|\d+[.)])[ \t]+(?:\d\d:\d\d[ \t]+)?")
"""What a log puts before the words that it was given."""


def sha_of(hit: Hit) -> str:
    """A passage's name by its text, whatever its lines."""
    return hashlib.sha256(" ".join(hit.text.split()).encode("utf-8", "replace")).hexdigest()[:16]


class AlreadyInContext:
    """Tells which memories the model has before it already. `seen`: files as the session sees them with the message
    `words`. Blocks."""

    def __init__(self, entries: Sequence[Entry], seen: Mapping[str, SeenFile], words: str) -> None:
        messages = [entry for entry in entries if isinstance(entry, MessageEntry)]
        self._recalled = {passage.sha for entry in messages for passage in entry.meta.recalled}
        self._seen = seen
        blocks = (block for entry in in_context(entries) if isinstance(entry, MessageEntry) for block in entry.content)
        self._text = "\n".join([words, *(text for block in blocks for text in _strings(block))])

    def has(self, key: str, hit: Hit) -> bool:
        return (
            sha_of(hit) in self._recalled
            or holds(self._seen.get(key, SeenFile()).known, hit.start_line, hit.end_line)
            or all(_STAMP.sub("", line.strip()) in self._text for line in hit.text.splitlines())
        )


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


_log = logging.getLogger(__name__)

INTRODUCTION = "Found in your memory; it may be beside the point. It is written down already."
_FOLDER = "memory"
"""Notes, logs and history of the scope: what was meant to be remembered, not every file that there is."""
_LOOKED_AT = 200
_PASSAGE_CHARS = 1_000
_AT_ONCE = 4
_NEARLY = 0.85
"""Share of the best passage's score from which on another passage may take its part of all the room."""
_SMALL_ROOM = 150
_ROOM = 400
"""Tokens of passages that go with a message; beyond the first many, only what is nearly as good as the best. A longer
passage stands alone."""
_PART_FOR_READING = 0.7
"""Share of the time, so that the passages read until then can still be ranked."""


@dataclass(frozen=True, slots=True)
class RecalledMemories:
    """The block to send, its record for the message's meta, its foreign text."""

    block: str = ""
    passages: tuple[RecalledPassage, ...] = ()
    foreign: tuple[ForeignText, ...] = ()


class Recall:
    def __init__(self, clock: Clock, settings: RecallSettings, search: Search) -> None:
        self._clock = clock
        self._settings = settings
        self._search = search
        self._running = 0

    async def find(self, scope: Scope, message: str) -> tuple[Relevant, ...]:
        """The memories for `message`, best first; none if time runs out: a late search goes on in its thread."""
        if not self._settings.enabled or self._running >= _AT_ONCE:
            return ()
        seconds = self._settings.timeout_ms / 1000
        deadline = time.monotonic() + seconds * _PART_FOR_READING
        self._running += 1
        work = asyncio.get_running_loop().run_in_executor(None, self._look, scope, message[:READ_CHARS], deadline)
        work.add_done_callback(self._is_over)
        done, _ = await asyncio.wait({work}, timeout=seconds)
        if not done:
            _log.info("recall timed out after %d ms", self._settings.timeout_ms)
            return ()
        return () if work.exception() else work.result()

    def chosen(
        self,
        found: Sequence[Relevant],
        scope: Scope,
        seen: Mapping[str, SeenFile],
        entries: Sequence[Entry],
        words: str,
        room: int,
    ) -> RecalledMemories:
        """The found memories that are new here, in at most `room` tokens. Blocks."""
        if not found:
            return RecalledMemories()
        told = AlreadyInContext(entries, seen, words)
        quotations = Quotations(scope)
        kept: list[tuple[Relevant, Quotation]] = []
        used = 0
        good = _NEARLY * max(memory.hit.score for memory in found)
        for memory in found:
            if told.has((scope.folder / memory.hit.path).relative_to(scope.workspace).as_posix(), memory.hit):
                continue
            if memory.hit.score < good and memory.hit.is_context:
                continue
            quotation = quotations.quote(memory.hit, _PASSAGE_CHARS)
            size = estimate(self._shown(memory.hit, quotation))
            most = room if not kept else _ROOM if memory.hit.score >= good else _SMALL_ROOM
            if used + size <= min(room, most):
                kept.append((memory, quotation))
                used += size
            if len(kept) == self._settings.max_results:
                break
        return self._recollection(kept, scope) if kept else RecalledMemories()

    def _recollection(self, kept: Sequence[tuple[Relevant, Quotation]], scope: Scope) -> RecalledMemories:
        today = self._clock.today()
        parts = [INTRODUCTION, *(self._shown(memory.hit, quotation) for memory, quotation in kept)]
        if any(may_be_out_of_date(memory.hit.date, today) for memory, _ in kept):
            parts.append(OUT_OF_DATE)
        passages = tuple(
            RecalledPassage(
                quotation.source.path,
                quotation.source.lines,
                memory.hit.date,
                round(memory.share, 2),
                sha_of(memory.hit),
                {name: round(value, 2) for name, value in memory.hit.parts.items()},
                quotation.source.is_part,
            )
            for memory, quotation in kept
        )
        foreign = unique(text for memory, _ in kept for text in in_hit(memory.hit, scope))
        return RecalledMemories(untrusted.marked_block("recalled", "\n\n".join(parts)), passages, foreign)

    def _shown(self, hit: Hit, quotation: Quotation) -> str:
        first, last = quotation.source.lines
        lines = f"{first}" if first == last else f"{first}-{last}"
        age = age_in_words(hit.date, self._clock.today())
        return f"{untrusted.label(hit.path, 300)}:{lines} ({age})\n{untrusted.escape(without_bullet(quotation.text))}"

    def _look(self, scope: Scope, message: str, deadline: float) -> tuple[Relevant, ...]:
        cue = cue_of(message, self._clock.today())
        if not cue.words and not cue.is_of_days:
            return ()
        found = self._search(scope, self._clock, [message], most=_LOOKED_AT, below=_FOLDER, deadline=deadline)
        return tuple(relevant(cue, found.hits))

    def _is_over(self, work: asyncio.Future[tuple[Relevant, ...]]) -> None:
        self._running -= 1
        if not work.cancelled() and (error := work.exception()) is not None:
            _log.error("recall failed", exc_info=error)
