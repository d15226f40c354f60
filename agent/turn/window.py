"""Keeps a conversation within its model's window.

In the order of cost: shorten old tool results, flush, compact.
"""

from __future__ import annotations

import asyncio
import dataclasses
import logging
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

from agent.clock import utc_stamp
from agent.compaction.compact import Compacted, NotCompacted, NothingToCompact, compact, failure_of, uncompacted_entry
from agent.compaction.cut import tight
from agent.compaction.flush import before_context_loss
from agent.compaction.flush_state import ContextLossReason, ends_a_flush
from agent.context.budget import Budget
from agent.context.replay import in_context
from agent.context.request import RequestBuilder
from agent.languages.sentences import Sentence
from agent.model.base import ContextOverflow, ModelError, ToolSpec
from agent.session.entries import MessageEntry
from agent.session.prune import KEPT_TURNS, LONGEST, older_than, prune_entry
from agent.turn.outcome import TOO_LONG, TOO_SMALL
from agent.values import Emit, TextReset

_log = logging.getLogger(__name__)

NOTE = Sentence("One moment, I'm shortening the earlier part of our conversation.")
_LONG_WAIT = 10.0
"""Seconds from which on a person is told why nothing happens."""
_MOST_RETRIES = 3
_CACHE_LASTS = {"5m": timedelta(minutes=5), "1h": timedelta(hours=1), "off": timedelta(0)}


class ContextWindow:
    """Makes room before a call and after an overflow.

    smaller     notes that the server refused so many tokens, and the window that it named
    compacted   notes a compaction, for deferred work
    offers      the tools of the next request
    failure     why a compaction of this turn failed, for the person
    """

    def __init__(
        self,
        builder: RequestBuilder,
        turn: str,
        smaller: Callable[[int, int | None], Awaitable[Budget]],
        compacted: Callable[[Compacted], Awaitable[None]],
        offers: Callable[[], tuple[ToolSpec, ...]] | None = None,
    ) -> None:
        self._builder = builder
        self._smaller = smaller
        self._compacted = compacted
        self._offers = offers
        self._retries = _MOST_RETRIES
        self._turn = turn
        self.failure = failure_of(builder.transcript.entries, turn)

    @property
    def builder(self) -> RequestBuilder:
        if self._offers is not None and (specs := self._offers()) != self._builder.specs:
            self._builder = dataclasses.replace(self._builder, specs=specs)
        return self._builder

    async def before_call(self, emit: Emit) -> None:
        """Makes room, with a note for the person if that takes long. Raises `ContextOverflow`."""
        if self._has_room and not self._is_cache_cold():
            return
        await _noted(self._before_call(), emit)

    async def after_overflow(self, emit: Emit, window: int | None = None) -> None:
        """Makes the next request smaller (`window`: its size in tokens by the server). Raises `ContextOverflow`."""
        await _noted(self._after_overflow(window), emit)

    async def _before_call(self) -> None:
        if self._is_cache_cold():
            await self._prune(older_than(self._builder.transcript.entries, KEPT_TURNS), LONGEST)
        if self._has_room:
            return
        if self._builder.projected() >= self._builder.budget.flush_at:
            await before_context_loss(self._builder, ContextLossReason.THRESHOLD)
        if self._builder.is_crowded:
            await self._make_room()
        if not self._builder.budget.fits(self._builder.projected()):
            await self._prune("", self._tight)
        if not self._builder.budget.fits(self._builder.projected()):
            raise ContextOverflow(self._no_room())

    @property
    def _has_room(self) -> bool:
        return self._builder.budget.has_room(self._builder.projected())

    async def _make_room(self) -> None:
        older = older_than(self._builder.transcript.entries, KEPT_TURNS)
        if older and await self._prune(older, LONGEST, to_at_most=self._builder.budget.flush_at):
            return
        await before_context_loss(self._builder, ContextLossReason.COMPACTION)
        await self._compact()
        if self._builder.is_crowded and not await self._prune(
            self._newest_answer, LONGEST, to_at_most=self._builder.budget.flush_at
        ):
            await self._compact(in_turn=True)

    async def _after_overflow(self, window: int | None) -> None:
        if not self._retries:
            raise ContextOverflow(self._no_room())
        self._retries -= 1
        before, stated = self._builder.projected(), self._builder.budget.window
        self._builder = dataclasses.replace(self._builder, budget=await self._smaller(before, window))
        if window is not None and self._builder.budget.window < stated and self._has_room:
            return  # a shorter answer is room enough
        first = self._retries == _MOST_RETRIES - 1
        if first and await self._prune(
            older_than(self._builder.transcript.entries, 1), LONGEST, to_at_most=before * 3 // 4
        ):
            return
        await before_context_loss(self._builder, ContextLossReason.OVERFLOW)
        if await self._compact(overflowed=True) or await self._compact(overflowed=True, in_turn=True):
            return
        if await self._prune("", self._tight):
            return
        # The window is far smaller than anybody said: better to keep one turn than to lose the conversation.
        if await self._compact(overflowed=True, sparse=True):
            return
        raise ContextOverflow(self._no_room())

    def _no_room(self) -> str:
        """A new session does not help if this turn alone is too large."""
        shown = in_context(self._builder.transcript.entries)
        if any(not isinstance(entry, MessageEntry) or entry.meta.turn != self._turn for entry in shown):
            return TOO_LONG
        budget = self._builder.budget
        need = self._builder.projected()
        return Sentence(TOO_SMALL, need=f"{need:,}", window=f"{budget.window:,}", answer=f"{budget.answer:,}")

    @property
    def _tight(self) -> int:
        return tight(self._builder.budget.window)

    @property
    def _newest_answer(self) -> str | None:
        entries = reversed(self._builder.transcript.entries)
        return next((e.id for e in entries if isinstance(e, MessageEntry) and e.role == "assistant"), None)

    async def _compact(self, *, overflowed: bool = False, in_turn: bool = False, sparse: bool = False) -> bool:
        """False if that failed, which is not tried again in this turn."""
        if self.failure:
            return False
        try:
            done = await compact(self._builder, overflowed=overflowed, in_turn=in_turn, sparse=sparse)
        except NothingToCompact:
            return False
        except (NotCompacted, ModelError) as problem:
            _log.warning("%s: not compacted: %s", self._builder.session, problem)
            await self._note_failure(str(problem))
            return False
        await self._compacted(done)
        return True

    async def _note_failure(self, why: str) -> None:
        transcript = self._builder.transcript
        now = utc_stamp(self._builder.clock.now())
        await transcript.append(uncompacted_entry(transcript.new_id(), now, self._turn, why))
        self.failure = why

    async def _prune(self, before: str | None, limit: int, to_at_most: int | None = None) -> bool:
        """Shortens results before an entry (empty: all); False if that is not enough."""
        if before is None:
            return False
        builder = self._builder
        entries = builder.transcript.entries
        mark = prune_entry(builder.transcript.new_id(), utc_stamp(builder.clock.now()), before, limit)
        now, then = [e.id for e in in_context(entries)], [e.id for e in in_context([*entries, mark])]
        if now == then or (to_at_most is not None and builder.projected([*entries, mark]) > to_at_most):
            return False
        await builder.transcript.append(mark)
        return True

    def _is_cache_cold(self) -> bool:
        for entry in reversed(self._builder.transcript.entries):
            if ends_a_flush(entry) or (isinstance(entry, MessageEntry) and entry.role == "assistant"):
                age = self._builder.clock.instant() - datetime.fromisoformat(entry.ts)
                return age > _CACHE_LASTS.get(self._builder.settings.model.cache, timedelta(0))
        return False


async def _noted(work: Awaitable[None], emit: Emit) -> None:
    task = asyncio.ensure_future(work)
    try:
        done, _ = await asyncio.wait({task}, timeout=_LONG_WAIT)
        if not done:
            await emit(TextReset(NOTE))
            await asyncio.wait({task})
        task.result()
    finally:
        task.cancel()
        await asyncio.wait({task})
