"""Ends and begins sessions, and notes the deferred work for ended ones."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from datetime import datetime, timedelta

from agent.clock import Clock
from agent.compaction.compact import Compacted
from agent.compaction.consolidate import concerned, consolidate
from agent.compaction.deferred import DeferredStore, DeferredTask, DeferredWork
from agent.compaction.flush import before_context_loss, is_near
from agent.compaction.flush_state import ContextLossReason
from agent.context.request import RequestBuilder
from agent.memory.daily_log import log_path
from agent.memory.files import FileError, read_text
from agent.memory.history import History
from agent.memory.log_writer import append_section
from agent.memory.redaction_lock import RedactionLock
from agent.memory.scope import Scope
from agent.session.archive import SessionInfo
from agent.session.entries import MessageEntry
from agent.session.export import snapshot
from agent.session.outgoing import allowed_in
from agent.session.transcript import Transcript
from agent.session.turn_record import turns_of_said
from agent.sessions import SessionCache
from agent.settings import AgentSettings
from agent.values import SessionKey, TurnRequest

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class NewSession:
    info: SessionInfo
    unnoted: str = ""
    """A sentence on why the end of the last session is not in the log."""


class SessionLifecycle:
    """Notes work in `deferred`; `DeferredWork.run` does it."""

    def __init__(
        self,
        settings: AgentSettings,
        session_cache: SessionCache,
        deferred_store: DeferredStore,
        history: History,
        redaction_lock: RedactionLock,
        clock: Clock,
    ) -> None:
        self.deferred = DeferredWork(deferred_store, self._settle)
        self._settings = settings
        self._session_cache = session_cache
        self._history = history
        self._redaction_lock = redaction_lock
        self._clock = clock

    async def leave(self, key: SessionKey, scope: Scope, reason: ContextLossReason) -> NewSession:
        left = await asyncio.to_thread(self._session_cache.current, key)
        if left is not None:
            await self.defer(key, scope, left, reason)
        async with self._redaction_lock.writing(scope):
            return await asyncio.to_thread(self._new_session, key, scope)

    async def leave_for(self, request: TurnRequest) -> None:
        """Begins a new session for a turn that needs its own, or after the configured idle time."""
        await (self._begin_anew(request) if request.fresh else self._leave_if_idle(request))

    async def defer(self, key: SessionKey, scope: Scope, left: Transcript, reason: ContextLossReason) -> None:
        """Notes the work for a left session, if anybody wrote in it."""
        last = next((entry.id for entry in reversed(left.entries) if isinstance(entry, MessageEntry)), None)
        if last is not None:
            await self.deferred.defer(DeferredTask(key.path, left.header.id, scope, reason, last))

    async def flush_ahead(self, key: SessionKey, scope: Scope) -> None:
        """Defers the flush that the next message would set off, so that it need not wait."""
        builder = self._session_cache.last_used(key)
        if builder is None or builder.scope != scope or not is_near(builder):
            return
        try:
            await self.defer(key, scope, builder.transcript, ContextLossReason.THRESHOLD)
        except (OSError, FileError) as problem:
            _log.warning("%s: the next message may have to wait for its flush: %s", key, problem)

    async def compacted(self, builder: RequestBuilder, done: Compacted) -> None:
        """Notes the work for entries that a summary replaced."""
        task = DeferredTask(
            builder.session.path, builder.transcript.header.id, builder.scope, ContextLossReason.COMPACTION, done.entry
        )
        await self.deferred.defer(task)

    async def _leave_if_idle(self, request: TurnRequest) -> None:
        minutes = self._settings.session.idle_reset_minutes
        if minutes is None:
            return
        transcript = await asyncio.to_thread(self._session_cache.current, request.session)
        last = await self._session_cache.last_activity(request.session)
        # the time of the messages: after an outage they wait for a turn
        asked_at = min([self._clock.instant(), *(message.at for message in request.said)])
        if transcript is None or last is None or asked_at - last < timedelta(minutes=minutes):
            return
        if not _has_begun(transcript, request):
            await self.leave(request.session, request.scope, ContextLossReason.IDLE)

    async def _begin_anew(self, request: TurnRequest) -> None:
        """Begins a session without deferred work for the last one: no job becomes memory. The owner's consents for a
        job hold for its next run."""
        last = await asyncio.to_thread(self._session_cache.current, request.session)
        if last is None or not _has_begun(last, request):
            async with self._redaction_lock.writing(request.scope):
                begun = await asyncio.to_thread(self._session_cache.start, request.session, request.scope)
            for what in allowed_in(last.entries) if last is not None else ():
                await self._session_cache.allow(request.session, begun.header.id, what)

    def _new_session(self, key: SessionKey, scope: Scope) -> NewSession:
        ended = self._session_cache.current(key)
        unnoted = self._note_end(ended, scope) if ended is not None else ""
        header = self._session_cache.start(key, scope).header
        started = datetime.fromisoformat(header.started)
        return NewSession(SessionInfo(header.id, key, started, started, messages=0), unnoted)

    def _note_end(self, ended: Transcript, scope: Scope) -> str:
        """Writes a conversation's end into the log; returns why that failed."""
        try:
            log = read_text(log_path(scope, self._clock.today()), scope.folder)
            end = snapshot(ended, self._clock, log.text if log is not None else "")
            if end is not None:
                with self._history.author(scope).writes("/new"):
                    append_section(scope, self._clock, end.heading, end.body)
        except FileError as problem:
            _log.error("the end of %s is not in the log: %s", ended.header.id, problem)
            return str(problem)
        return ""

    async def _settle(self, task: DeferredTask) -> None:
        """Raises `OSError`, `RetryLater`."""
        builder = await self._session_cache.builder_of(
            SessionKey(self._settings.name, task.path), task.scope, task.session
        )
        if builder is None:
            return
        if task.reason.leaves or (task.reason is ContextLossReason.THRESHOLD and is_near(builder)):
            await before_context_loss(builder, task.reason)
        if task.reason not in (ContextLossReason.SWITCH, ContextLossReason.THRESHOLD):
            await consolidate(builder, concerned(builder.transcript.entries, task.upto), task.source)


def _has_begun(transcript: Transcript, request: TurnRequest) -> bool:
    known = turns_of_said(transcript.all_entries)
    return any(said.id in known for said in request.said)
