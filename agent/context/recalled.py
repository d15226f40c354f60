"""Memories that go with a message, found beside the turn's start (SPEC 5).

What was shown in a session is not shown again: every passage put before a message stands in that message's meta, and
what the talk holds in other ways (the prompt's files, results of tools, words) is not repeated either.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from agent.clock import Clock
from agent.context import marked
from agent.context.budget import estimate
from agent.memory.age import OUT_OF_DATE, age_in_words, may_be_out_of_date
from agent.memory.recall import Relevant, informative, relevant
from agent.memory.scope import Scope
from agent.memory.search import Found, Hit, search
from agent.model.base import Block, Json
from agent.session.entries import Entry, MessageEntry, Recalled, Seen
from agent.session.replay import in_context
from agent.settings import RecallSettings

_log = logging.getLogger(__name__)

INTRODUCTION = "Found in your memory for this message; it may be beside the point. It is written down already."
_FOLDER = "memory"
_LOOKED_AT = 200
_PASSAGE_CHARS = 1_000
_AT_ONCE = 4
_PART_FOR_READING = 0.7
_STAMP = re.compile(r"\A(?:[-*+]|\d+[.)])[ \t]+(?:\d\d:\d\d[ \t]+)?")


class Search(Protocol):
    """Blocks; ends soon after `deadline` (of `time.monotonic`) with what it has."""

    def __call__(
        self, scope: Scope, clock: Clock, queries: Sequence[str], *, most: int, below: str, deadline: float
    ) -> Found: ...


@dataclass(frozen=True, slots=True)
class Recollection:
    """The block to send ("" for none), and what of it the message's meta keeps."""

    block: str = ""
    passages: tuple[Recalled, ...] = ()


class Recall:
    """Looks for memories of a scope, within the time that the settings give."""

    def __init__(self, clock: Clock, settings: RecallSettings, search: Search = search) -> None:
        self._clock = clock
        self._settings = settings
        self._search = search
        self._running = 0

    async def find(self, scope: Scope, message: str) -> tuple[Relevant, ...]:
        """What `message` calls for, best first; nothing where there is no time for it. A search that outlives its time
        goes on in its thread unheard, and no more than a few may do so at once."""
        words = informative(message) if self._settings.enabled else ()
        if not words or self._running >= _AT_ONCE:
            return ()
        seconds = self._settings.timeout_ms / 1000
        deadline = time.monotonic() + seconds * _PART_FOR_READING
        self._running += 1
        work = asyncio.get_running_loop().run_in_executor(None, self._look, scope, words, deadline)
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
        session sees them with this message, which says `words`."""
        if not found:
            return Recollection()
        told = _Told(entries, words)
        today = self._clock.today()
        lines: list[str] = []
        passages: list[Recalled] = []
        for one in found:
            key = (scope.folder / one.hit.path).relative_to(scope.workspace).as_posix()
            text = one.hit.text[:_PASSAGE_CHARS] + (" […]" if len(one.hit.text) > _PASSAGE_CHARS else "")
            shown = f"{_where(one.hit)} ({age_in_words(one.hit.date, today)})\n{marked.harmless(text)}"
            if _stands(one.hit, seen.get(key)) or told.has(key, one.hit) or estimate(shown) > room:
                continue
            room -= estimate(shown)
            lines.append(shown)
            passages.append(_kept(key, one))
            if len(passages) == self._settings.max_results:
                break
        if not passages:
            return Recollection()
        old = any(
            may_be_out_of_date(one.hit.date, today) for one in found if _sha(one.hit) in {p.sha for p in passages}
        )
        text = "\n\n".join([INTRODUCTION, *lines, *([OUT_OF_DATE] if old else [])])
        return Recollection(marked.block("recalled", text), tuple(passages))

    def _look(self, scope: Scope, words: Sequence[str], deadline: float) -> tuple[Relevant, ...]:
        found = self._search(scope, self._clock, [" ".join(words)], most=_LOOKED_AT, below=_FOLDER, deadline=deadline)
        return tuple(relevant(words, found.hits))

    def _is_over(self, work: asyncio.Future[tuple[Relevant, ...]]) -> None:
        self._running -= 1
        if not work.cancelled() and (error := work.exception()) is not None:
            _log.error("recall failed", exc_info=error)


class _Told:
    """What a session has before it already."""

    def __init__(self, entries: Sequence[Entry], words: str) -> None:
        self._recalled = {
            one.sha for entry in entries if isinstance(entry, MessageEntry) for one in entry.meta.recalled
        }
        self._text = "\n".join([words, *_texts(in_context(entries))])

    def has(self, key: str, hit: Hit) -> bool:
        if _sha(hit) in self._recalled:
            return True
        return all(_STAMP.sub("", line.strip()) in self._text for line in hit.text.splitlines())


def _texts(entries: Iterable[Entry]) -> Iterable[str]:
    """Every text that a talk's blocks hold: words, arguments and results of tools."""
    for entry in entries:
        for block in entry.content if isinstance(entry, MessageEntry) else ():
            yield from _strings(block)


def _strings(value: Json | Block) -> Iterable[str]:
    match value:
        case str():
            yield value
        case list():
            for item in value:
                yield from _strings(item)
        case dict():
            for item in value.values():
                yield from _strings(item)


def _stands(hit: Hit, seen: Seen | None) -> bool:
    return seen is not None and seen.lines[0] <= hit.start_line and hit.end_line <= seen.lines[1]


def _kept(key: str, one: Relevant) -> Recalled:
    hit = one.hit
    return Recalled(key, (hit.start_line, hit.end_line), hit.date, round(one.share, 2), _sha(hit))


def _sha(hit: Hit) -> str:
    """Names a passage by its text, so that it is the same one after lines were put above it."""
    return hashlib.sha256(" ".join(hit.text.split()).encode("utf-8", "replace")).hexdigest()[:16]


def _where(hit: Hit) -> str:
    lines = f"{hit.start_line}" if hit.start_line == hit.end_line else f"{hit.start_line}-{hit.end_line}"
    return f"{marked.label(hit.path, 300)}:{lines}"
