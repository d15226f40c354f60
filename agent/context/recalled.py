"""Memories that go with a message, found beside the turn's start (SPEC 5).

What was shown in a session is not shown again: every passage put before a message stands in that message's meta, and
what the talk holds in other ways (the prompt's files, results of tools, words) is not repeated either.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent.clock import Clock
from agent.context import marked
from agent.context.budget import estimate
from agent.context.told import Told, sha_of
from agent.foreign import Foreign, in_hit, unique
from agent.memory.age import OUT_OF_DATE, age_in_words, may_be_out_of_date
from agent.memory.cue import READ_CHARS, cue_of
from agent.memory.quoting import Quotation, Quotations, without_bullet
from agent.memory.recall import Relevant, relevant
from agent.memory.scope import Scope
from agent.memory.search import Hit, Search
from agent.session.entries import Entry, Recalled, Seen
from agent.settings import RecallSettings

_log = logging.getLogger(__name__)

INTRODUCTION = "Found in your memory; it may be beside the point. It is written down already."
_FOLDER = "memory"
"""Notes, logs and history of the scope: what was meant to be remembered, not every file that there is."""
_LOOKED_AT = 200
_PASSAGE_CHARS = 1_000
_AT_ONCE = 4
_NEARLY = 0.85
"""Of the best passage's score, from which on another may take its part of all the room."""
_SMALL_ROOM = 150
_ROOM = 400
"""Tokens of passages that go with a message; beyond the first many, only what is nearly as good as the best. A longer
passage stands alone."""
_PART_FOR_READING = 0.7
"""Of the time, so that what was read until then can still be ranked."""


@dataclass(frozen=True, slots=True)
class Recollection:
    """The block to send ("" for none), what of it the message's meta keeps, and what of it is text of others."""

    block: str = ""
    passages: tuple[Recalled, ...] = ()
    foreign: tuple[Foreign, ...] = ()


class Recall:
    """Looks for memories of a scope, within the time that the settings give."""

    def __init__(self, clock: Clock, settings: RecallSettings, search: Search) -> None:
        self._clock = clock
        self._settings = settings
        self._search = search
        self._running = 0

    async def find(self, scope: Scope, message: str) -> tuple[Relevant, ...]:
        """What `message` calls for, best first; nothing where there is no time for it. A search that outlives its time
        goes on in its thread unheard, and no more than a few may do so at once."""
        if not self._settings.enabled or self._running >= _AT_ONCE:
            return ()
        seconds = self._settings.timeout_ms / 1000
        deadline = time.monotonic() + seconds * _PART_FOR_READING
        self._running += 1
        work = asyncio.get_running_loop().run_in_executor(None, self._look, scope, message[:READ_CHARS], deadline)
        work.add_done_callback(self._is_over)
        done, _ = await asyncio.wait({work}, timeout=seconds)
        if not done:
            _log.info("recall was given up after %d ms", self._settings.timeout_ms)
            return ()
        return () if work.exception() else work.result()

    def chosen(
        self,
        found: Sequence[Relevant],
        scope: Scope,
        seen: Mapping[str, Seen],
        entries: Sequence[Entry],
        words: str,
        room: int,
    ) -> Recollection:
        """Of what was found, what this session has not before it, in at most `room` tokens. `seen`: files as the
        session sees them with this message, which says `words`. Blocks."""
        if not found:
            return Recollection()
        told = Told(entries, seen, words)
        quotations = Quotations(scope)
        kept: list[tuple[Relevant, Quotation]] = []
        used = 0
        good = _NEARLY * max(one.hit.score for one in found)
        for one in found:
            if told.has((scope.folder / one.hit.path).relative_to(scope.workspace).as_posix(), one.hit):
                continue
            if one.hit.score < good and one.hit.is_context:
                continue
            quotation = quotations.quote(one.hit, _PASSAGE_CHARS)
            size = estimate(self._shown(one.hit, quotation))
            most = room if not kept else _ROOM if one.hit.score >= good else _SMALL_ROOM
            if used + size <= min(room, most):
                kept.append((one, quotation))
                used += size
            if len(kept) == self._settings.max_results:
                break
        return self._recollection(kept, scope) if kept else Recollection()

    def _recollection(self, kept: Sequence[tuple[Relevant, Quotation]], scope: Scope) -> Recollection:
        today = self._clock.today()
        parts = [INTRODUCTION, *(self._shown(one.hit, quotation) for one, quotation in kept)]
        if any(may_be_out_of_date(one.hit.date, today) for one, _ in kept):
            parts.append(OUT_OF_DATE)
        passages = tuple(
            Recalled(
                quotation.source.path,
                quotation.source.lines,
                one.hit.date,
                round(one.share, 2),
                sha_of(one.hit),
                {name: round(value, 2) for name, value in one.hit.parts.items()},
                quotation.source.is_part,
            )
            for one, quotation in kept
        )
        found = unique(found for one, _ in kept for found in in_hit(one.hit, scope))
        return Recollection(marked.block("recalled", "\n\n".join(parts)), passages, found)

    def _shown(self, hit: Hit, quotation: Quotation) -> str:
        first, last = quotation.source.lines
        lines = f"{first}" if first == last else f"{first}-{last}"
        age = age_in_words(hit.date, self._clock.today())
        return f"{marked.label(hit.path, 300)}:{lines} ({age})\n{marked.harmless(without_bullet(quotation.text))}"

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
