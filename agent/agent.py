"""The facade of an agent: its turns, and everything about its sessions.

The caller decides who may speak in which session, and runs one turn of a session at a time.
"""

from __future__ import annotations

import asyncio
import dataclasses
import itertools
import logging
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import nullcontext
from datetime import date, datetime
from functools import partial
from pathlib import Path

from agent import report
from agent.clock import Clock
from agent.compaction.compact import Compacted, compact, is_one_turn, made_for
from agent.compaction.deferred import DeferredStore
from agent.compaction.flush import before_context_loss
from agent.compaction.flush_state import ContextLossReason
from agent.context.budget import ModelWindows
from agent.context.recall import Recall
from agent.context.request import OpenSession
from agent.forget import Removal, bring_back, mentions, redact
from agent.formats.secrets import NO_SECRETS, KnownSecrets
from agent.formats.sqlite import StorageUnavailable
from agent.heartbeat import heartbeat
from agent.journal.summary import Summary, SummaryRequest, UpcomingJob, summary
from agent.journal.writer import Journal
from agent.languages.codes import Language
from agent.languages.system_errors import system_says
from agent.media.store import Store
from agent.memory.consents import Consents
from agent.memory.files import FileError
from agent.memory.forget import ForgetPlan, forget, line_matcher, refresh_plan
from agent.memory.history import History
from agent.memory.redaction_lock import ReadEpoch, RedactionLock
from agent.memory.scope import Audience, Scope
from agent.model.base import Json, Model
from agent.search.engine import MemoryIndex
from agent.search.indexer import keep_indexed
from agent.search.results import Search
from agent.search.vectors.protocol import SemanticIndex
from agent.session.archive import Archive, SessionInfo
from agent.session.export import markdown
from agent.session.past_sessions import PastSessions
from agent.session.transcript import Transcript, TranscriptUnusable
from agent.session.turn_record import TurnRecord, turn_of, turns_of_said
from agent.session_lifecycle import NewSession, SessionLifecycle
from agent.sessions import SessionCache
from agent.settings import AgentSettings
from agent.skills import Skills
from agent.tools.base import ConversationConsent, Tool, ToolError, offered
from agent.turn.loop import run_turn
from agent.turn.model_call import ModelCaller
from agent.turn.outcome import ending, stop
from agent.turn.remember_guard import RememberGuard
from agent.turn.tool_calls import ToolRunner
from agent.turn.user_input import UserInput, branch, tell_outcomes
from agent.turn.window import ContextWindow
from agent.values import CHAT, Emit, ResultKind, SessionKey, TurnRequest, TurnResult

_log = logging.getLogger(__name__)

_STOP_WAITS = 0.5
"""Seconds that a stop, which has to be quick, waits for a file that another program holds."""
_END_WAITS = 5.0
"""Seconds that the end waits for such a file."""


class Agent:
    """`workspace` and `sessions` are folders; change history, search index and pictures are beside the sessions.
    `model` is closed by its owner. `search` recalls memories, by default from the index.

    Every method may raise `OSError`, and `FileError` if a workspace file cannot be written; then nothing is done.
    """

    def __init__(
        self,
        settings: AgentSettings,
        workspace: Path,
        sessions: Path,
        model: Model,
        clock: Clock,
        search: Search | None = None,
        configured: Collection[str] = (),
        meaning: SemanticIndex | None = None,
        secrets: KnownSecrets = NO_SECRETS,
    ) -> None:
        archive = Archive(sessions, settings.name)
        past = PastSessions(archive)
        self.settings = settings
        self._secrets = secrets
        self.workspace = workspace
        self.consents = Consents(sessions.parent / "consents" / f"{settings.name}.db", clock)
        self.skills = Skills(workspace, configured=configured, approved=self.consents.approved_skills)
        self.history = History(sessions.parent / "history" / f"{settings.name}.db", clock)
        self.index = MemoryIndex(sessions.parent, settings.name, settings.memory.search, past, meaning)
        self._archive = archive
        self._redaction_lock = RedactionLock()
        self._store = Store(sessions.parent)
        self._recall = Recall(clock, settings.memory.recall, search or self.index.search)
        self._model = model
        self._clock = clock
        self._windows = ModelWindows(settings, model, clock)
        self._session_cache = SessionCache(
            settings,
            archive,
            past,
            model,
            self._windows,
            self.skills,
            self.history,
            self._redaction_lock,
            self.index.search,
            clock,
        )
        deferred = DeferredStore(sessions / settings.name, workspace)
        self._lifecycle = SessionLifecycle(
            settings, self._session_cache, deferred, self.history, self._redaction_lock, clock
        )
        self.deferred = self._lifecycle.deferred
        self.flush_ahead = self._lifecycle.flush_ahead
        marks = sessions.parent / "journal" / f"{settings.name}.db"
        self.journal = Journal(
            settings, archive, marks, model, self._windows, self.history, self._redaction_lock, clock
        )

    async def run(self, *, is_alone: bool = True) -> None:
        """Does deferred work, and indexes changes, until cancelled. `is_alone` False: the work that earlier processes
        left waits for `deferred.take_up`."""
        owner = Scope(Audience.OWNER, self.workspace)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self.deferred.run(take_up=is_alone))
                group.create_task(keep_indexed(self.index, owner, self._clock))
        finally:
            try:
                async with asyncio.timeout(_END_WAITS):
                    await self._redaction_lock.all_written()
            except TimeoutError:
                _log.error("not waiting for unfinished writes: their folder is held")

    def close(self) -> None:
        self.index.close()

    async def idle(self) -> None:
        """Waits until nothing is deferred; `run` must be running."""
        await self.deferred.idle()
        await self._redaction_lock.all_written()

    async def turn(self, request: TurnRequest, emit: Emit) -> TurnResult:
        """Runs or continues a turn. Cancel it to stop it."""
        await self._lifecycle.leave_for(request)
        conversation = await self._session_cache.take_up(request.session, request.scope, request.sealed)
        transcript = conversation.transcript
        own_tools = (*conversation.tools, *request.tools)
        offers = partial(offered, own_tools)
        cache, key, scope = self._session_cache, request.session, request.scope
        builder = await cache.builder(key, scope, transcript, offers(), request.model, request.language)
        await branch(conversation, request.said, self._redaction_lock, self._clock)
        said = [message.id for message in request.said]
        record = TurnRecord(transcript, turn_of(said, transcript, request.id), self._clock, said)
        incoming = UserInput(
            conversation, record, builder.budget.window, self._recall, self._redaction_lock, self._clock
        )
        if request.approvals is not None and not record.entries:
            await tell_outcomes(record, request.approvals)
        await incoming.record_messages(request.said)
        smaller = partial(self._windows.overflowed, builder.model_name)
        window = ContextWindow(builder, record.turn, smaller, partial(self._lifecycle.compacted, builder), offers)
        ask = ModelCaller(window, request.purpose, self._store)
        calls = ToolRunner(
            own_tools,
            record,
            request.scope,
            conversation.freshness,
            conversation.written,
            request.approvals,
            self._secrets,
            partial(self._session_cache.beside, request.session, transcript.header.id),
        )

        async def run(may_join: bool, emit: Emit) -> TurnResult:
            async def arrived() -> None:
                if may_join:
                    await incoming.record_messages(await request.arrived())

            return await run_turn(record, ask, calls, arrived, self.settings.session.max_tool_rounds, emit)

        guard = self._remember_guard(request.session, conversation, record)
        end = await (guard.kept(run, emit) if request.purpose == CHAT else run(True, emit))
        if end.kind is ResultKind.REPLY:
            self.deferred.again()
            if window.failure:
                end = dataclasses.replace(end, text=f"{end.text}\n\n_({window.failure})_")
        return end

    def tools(self, key: SessionKey, scope: Scope) -> tuple[Tool, ...]:
        return self._session_cache.tools(key, scope)

    async def run_approved(self, scope: Scope, tool: Tool, arguments: Json, name: str) -> str:
        """Runs an approved call, once for each `name`. Raises `ToolError`."""
        try:
            is_local = tool.outcome is None
            async with self._redaction_lock.writing(scope) if is_local else nullcontext():
                result = await (tool.approved or tool.run)(arguments, name)
        except ToolError as error:
            raise ToolError(self._secrets(str(error)), error.foreign, error.pictures) from error
        return self._secrets(result.text)

    async def allow(self, consent: ConversationConsent) -> None:
        """Keeps the owner's consent in its conversation, if possible: the call itself is done."""
        try:
            await self._session_cache.allow(SessionKey(self.settings.name, consent.path), consent.id, consent.allows)
        except (OSError, TranscriptUnusable) as problem:
            _log.warning("the owner's yes to %s is not kept: %s", consent.allows, problem)

    async def stopped(self, session: SessionKey, turn_id: str, shown: str) -> None:
        """Closes a cancelled turn in its transcript. `shown`: the part of its reply that the person saw."""
        transcript = await asyncio.to_thread(self._session_cache.current, session)
        if transcript is None:
            return
        record = TurnRecord(transcript, turn_id, self._clock)
        if not record.entries:
            return
        if ending(record, self.settings.session.max_tool_rounds) is None:
            await stop(record, shown)
        conversation = self._session_cache.held(session)
        if conversation is None or conversation.transcript is not transcript:
            return
        try:
            async with asyncio.timeout(_STOP_WAITS):
                await self._remember_guard(session, conversation, record).write_down()
        except TimeoutError:
            _log.warning("a request to remember in %s is not written down yet", session)
        except FileError as problem:
            _log.error("a request to remember in %s is not written down: %s", session, problem)

    async def new_session(self, key: SessionKey, scope: Scope) -> NewSession:
        """Starts a new session without waiting for a model: the end of the conversation goes into today's log; flush
        and paragraph in HISTORY.md are deferred."""
        return await self._lifecycle.leave(key, scope, ContextLossReason.NEW)

    async def compact(
        self,
        key: SessionKey,
        scope: Scope,
        focus: str = "",
        model: str | None = None,
        asked: str = "",
        begins: Callable[[], Awaitable[None]] | None = None,
    ) -> Compacted:
        """Summarises the older part of the conversation; no turn may run meanwhile. `asked` names the request, which is
        done once over restarts. Raises `NotCompacted` and `ModelError`."""
        builder = await self._session_cache.current_builder(key, scope, model)
        done = made_for(builder, asked)
        if done is None:
            in_turn = is_one_turn(builder)
            if begins is not None:
                await begins()
            await before_context_loss(builder, ContextLossReason.COMMAND)
            done = await compact(builder, focus, in_turn=in_turn, asked=asked)
        await self._lifecycle.compacted(builder, done)
        return done

    async def compacted(self, key: SessionKey, scope: Scope, asked: str) -> Compacted | None:
        """The result of that request of `compact`, even if it was cancelled."""
        return made_for(await self._session_cache.current_builder(key, scope, None), asked)

    async def sessions(self, key: SessionKey | None = None) -> tuple[SessionInfo, ...]:
        """All sessions, or those of one key, latest first."""
        return await asyncio.to_thread(self._archive.sessions, key)

    async def find(self, id: str, key: SessionKey | None = None) -> SessionInfo:
        """The session with that id, or the only session whose id begins or ends so. Raises `NoSuchSession`."""
        return await asyncio.to_thread(self._archive.find, id, key)

    async def said_since(self, key: SessionKey, message: str) -> tuple[str, ...]:
        """The ids of people's messages in the current session from `message` on; empty if it is not there."""
        transcript = await asyncio.to_thread(self._session_cache.current, key)
        return tuple(itertools.dropwhile(message.__ne__, turns_of_said(transcript.entries if transcript else ())))

    async def switch(self, key: SessionKey, scope: Scope, id: str) -> SessionInfo:
        """Returns to an earlier session; the present one's flush is deferred. Raises `NoSuchSession`."""
        found = await asyncio.to_thread(self._archive.find, id, key)
        left = await asyncio.to_thread(self._session_cache.current, key)
        if left is not None and left.header.id != found.id:
            await self._lifecycle.defer(key, scope, left, ContextLossReason.SWITCH)
        await asyncio.to_thread(self._archive.make_current, key, found.id)
        if found.archived:
            await asyncio.to_thread(self._archive.put_away, key, found.id, archived=False)
        return found

    async def rename(self, key: SessionKey, id: str, title: str) -> str:
        """Gives a session a title, and returns it as it is kept."""
        return await asyncio.to_thread(self._archive.rename, key, id, title)

    async def put_away(self, key: SessionKey, id: str, *, archived: bool) -> None:
        """Archives a session, or takes it back. Raises `SessionInUse`."""
        await asyncio.to_thread(self._archive.put_away, key, id, archived=archived)

    async def export(self, key: SessionKey, id: str | None = None) -> str:
        """A session, by default the current, as Markdown. Raises `NoSuchSession`, `TranscriptUnusable`."""

        def export() -> str:
            chosen = self._archive.find(id or self._archive.current(key) or "", key)
            return markdown(Transcript.read(self._archive.path(key, chosen.id)), self._clock)

        return await asyncio.to_thread(export)

    async def prune(self, before: datetime) -> tuple[SessionInfo, ...]:
        """Deletes sessions last used before that moment, except current sessions."""
        return await asyncio.to_thread(self._archive.prune, before)

    async def context_report(self, key: SessionKey, scope: Scope, model: str | None = None) -> report.ContextReport:
        name = model or self.settings.model.name
        budget = await self._windows.budget(name)

        def look() -> report.ContextReport:
            transcript = self._session_cache.current(key) or self._session_cache.unsaved(key, scope)
            specs = self._session_cache.specs(key, scope, transcript)
            return report.context_report(transcript, specs, name, budget, self.workspace, self._clock)

        return await asyncio.to_thread(look)

    async def summary(
        self,
        key: SessionKey,
        scope: Scope,
        day: date,
        coming: Sequence[UpcomingJob],
        since: datetime | None = None,
        language: Language = Language.ENGLISH,
    ) -> Summary | None:
        """The summary of a scope's day; None if its log is empty. `since`: earlier messages to include; `language`: the
        chat's, for a log whose language is unknown. `key` is charged."""
        asked = SummaryRequest(scope, day, coming, since, language)
        return await summary(self._model, self.settings.model, str(key), asked, self._redaction_lock)

    async def heartbeat(self, key: SessionKey, scope: Scope) -> str | None:
        """The heartbeat's message; None if HEARTBEAT.md is empty. `key` is charged. Raises `ModelError`."""
        return await heartbeat(self._model, self.settings.model, str(key), scope, self._clock, self._redaction_lock)

    async def why(self, key: SessionKey) -> report.WhyReport | None:
        """The basis of the last reply."""

        def look() -> report.WhyReport | None:
            transcript = self._session_cache.current(key)
            return report.why_report(transcript, self.workspace, self._clock) if transcript else None

        return await asyncio.to_thread(look)

    def reading(self, scope: Scope) -> ReadEpoch:
        """Starts an epoch before a turn, whose end is recorded inside `ReadEpoch.writing`; if that is stale, the same
        request reports the end without the forgotten text."""
        return self._redaction_lock.reading(scope)

    async def mentions(self, is_meant: Callable[[SessionKey], bool], finding: ForgetPlan) -> int:
        transcripts = await asyncio.to_thread(self._session_cache.meant, is_meant)
        return await asyncio.to_thread(mentions, transcripts, line_matcher(finding))

    async def forget(
        self, is_meant: Callable[[SessionKey], bool], scope: Scope, session: str, shown: ForgetPlan
    ) -> Removal:
        """Replaces the shown passages by a mark, in memory and those sessions. Nothing read before is sent or written
        after."""
        async with self._redaction_lock.forgetting(scope):
            finding = await asyncio.to_thread(refresh_plan, shown, scope)
            done = await asyncio.to_thread(forget, self.history, scope, self._clock, session, finding)
            holds = line_matcher(finding)
            transcripts = await asyncio.to_thread(self._session_cache.meant, is_meant)
            fixed = await asyncio.to_thread(self._session_cache.fixed_part, scope)
            said, among = await redact(transcripts, holds, self._clock, done.change, fixed)
            await asyncio.to_thread(self._archive.untitle, is_meant, holds)
            await asyncio.to_thread(self.journal.forget, [transcript.header.id for transcript in transcripts], holds)
            unpurged = ""
            try:
                await asyncio.to_thread(self.index.purge, scope, self._clock)
            except StorageUnavailable as problem:
                _log.error("the search index still has what was forgotten: %s", unpurged := system_says(problem))
        return Removal(finding, done.change, done.files, said, among, unpurged, done.kept)

    async def bring_back(self, is_meant: Callable[[SessionKey], bool], change: str) -> None:
        """Undoes a `forget` in those sessions."""
        transcripts = await asyncio.to_thread(self._session_cache.meant, is_meant)
        await bring_back(transcripts, self._clock, change)

    async def last_activity(self, key: SessionKey) -> datetime | None:
        """When a person last wrote in the current session."""
        return await self._session_cache.last_activity(key)

    def _remember_guard(self, key: SessionKey, conversation: OpenSession, record: TurnRecord) -> RememberGuard:
        remembering = frozenset(tool.name for tool in conversation.tools if tool.remembers)
        author = self._session_cache.author(key, conversation.scope)
        return RememberGuard(record, conversation.scope, self._clock, author, self._redaction_lock, remembering)
