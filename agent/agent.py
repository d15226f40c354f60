"""The facade of an agent: turns of its sessions, and everything else that is asked of them.

The caller decides who may speak and in which session, and that a session has one turn at a time.
"""

from __future__ import annotations

import asyncio
import dataclasses
import itertools
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Sequence
from contextlib import aclosing
from datetime import date, datetime
from functools import partial
from pathlib import Path

from agent import report
from agent.clock import Clock
from agent.compaction.compact import Compacted, compact, is_one_turn, made_for
from agent.compaction.deferred_store import DeferredStore
from agent.compaction.flush import before_context_loss
from agent.compaction.flush_state import ContextLossReason
from agent.context.model_windows import ModelWindows
from agent.context.open_session import OpenSession
from agent.context.recall import Recall
from agent.forget import Removal, bring_back, mentions, redact
from agent.formats import untrusted
from agent.heartbeat import heartbeat
from agent.journal.summary import Summary, SummaryRequest, UpcomingJob, summary
from agent.journal.writer import Journal
from agent.media.store import Store
from agent.memory.files import FileError
from agent.memory.forget import ForgetPlan, forget, line_matcher, refresh_plan
from agent.memory.history import History
from agent.memory.redaction_lock import RedactionLock
from agent.memory.scope import Audience, Scope
from agent.model.base import Model
from agent.search.database import NotStored
from agent.search.engine import MemoryIndex
from agent.search.indexer import keep_indexed
from agent.search.results import Search
from agent.search.vectors.protocol import SemanticIndex
from agent.session.archive import Archive, SessionInfo
from agent.session.entries import RedactionEntry
from agent.session.export import markdown
from agent.session.past_sessions import PastSessions
from agent.session.transcript import Transcript
from agent.session.turn_journal import TurnJournal, content_of, text_of, turns_of_said
from agent.session_lifecycle import NewSession, SessionLifecycle
from agent.sessions import SessionCache
from agent.settings import AgentSettings
from agent.silence import deliverable_text
from agent.skills import Skills
from agent.tools.base import Arguments, OwnerConsent, Tool
from agent.turn.loop import run_turn
from agent.turn.model_call import ModelCaller
from agent.turn.outcome import ending
from agent.turn.remember_guard import RememberGuard
from agent.turn.tool_calls import STOPPED_CALL, ToolRunner
from agent.turn.user_input import UserInput
from agent.turn.window import ContextWindow
from agent.values import CHAT, ResultKind, SessionKey, TurnEvent, TurnRequest, TurnResult

_log = logging.getLogger(__name__)

_STOP_WAITS = 0.5
"""Seconds that a stop, which must be felt at once, waits for a file that another program holds."""
_END_WAITS = 5.0
"""Seconds that the end waits for such a file."""
_LOOKED_BACK = 200
"""Entries in which a notice is looked for that a crash has left untold of."""
_STOPPED_HERE = "[Stopped here by the person]"


class Agent:
    """`workspace` and `sessions` are folders of this agent's home; `model` may be shared and is closed by its owner.
    The change history, the search index and pictures are kept beside the sessions. `search` recalls memories, by
    default from the index. `configured` as in `Skills`.

    Every method may raise `OSError` (`TranscriptNotWritten` is one) where the disk fails, and
    `agent.memory.files.FileError` where a workspace file cannot be written; nothing is done then.
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
    ) -> None:
        archive = Archive(sessions, settings.name)
        past = PastSessions(archive)
        self.settings = settings
        self.workspace = workspace
        self.skills = Skills(workspace, configured=configured)
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
        deferred_store = DeferredStore(sessions / settings.name, workspace)
        self._lifecycle = SessionLifecycle(
            settings, self._session_cache, deferred_store, self.history, self._redaction_lock, clock
        )
        marks = sessions.parent / "journal" / f"{settings.name}.db"
        self.journal = Journal(
            settings, archive, marks, model, self._windows, self.history, self._redaction_lock, clock
        )

    async def run(self) -> None:
        """Does deferred work of sessions, and indexes what changed meanwhile, until cancelled."""
        owner = Scope(Audience.OWNER, self.workspace)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._lifecycle.behind.run())
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
        await self._lifecycle.behind.idle()
        await self._redaction_lock.all_written()

    async def turn(self, request: TurnRequest) -> AsyncGenerator[TurnEvent, None]:
        """Runs a turn, or continues an interrupted one; ends with one `TurnResult`. Close the iterator to stop it."""
        await self._lifecycle.leave_for(request)
        conversation = await self._session_cache.take_up(request.session, request.scope, request.sealed)
        transcript = conversation.transcript
        own_tools = (*conversation.tools, *request.tools)
        specs = tuple(tool.spec for tool in own_tools)
        builder = await self._session_cache.builder(request.session, request.scope, transcript, specs, request.model)
        steps = TurnJournal(transcript, _turn_of(transcript, request), self._clock, [said.id for said in request.said])
        incoming = UserInput(
            conversation, steps, builder.budget.window, self._recall, self._redaction_lock, self._clock
        )
        if request.approvals is not None and not steps.entries:
            await _tell_outcomes(steps, request.approvals)
        await incoming.journal(request.said)
        smaller = partial(self._windows.overflowed, builder.model_name)
        shelter = ContextWindow(builder, steps.turn, smaller, partial(self._lifecycle.compacted, builder))

        async def arrived() -> None:
            await incoming.journal(await request.arrived())

        ask = ModelCaller(shelter, request.purpose, self._store)
        calls = ToolRunner(
            own_tools, steps, request.scope, conversation.freshness, conversation.written, request.approvals
        )

        def run(may_join: bool) -> AsyncGenerator[TurnEvent, None]:
            limit = self.settings.session.max_tool_rounds
            return run_turn(steps, ask, calls, arrived if may_join else _nobody, limit)

        promise = self._promise(request.session, conversation, steps)
        events = promise.kept(run) if request.purpose == CHAT else run(True)
        async with aclosing(events):
            async for event in events:
                if isinstance(event, TurnResult) and event.kind is ResultKind.REPLY and shelter.failure:
                    event = dataclasses.replace(event, text=f"{event.text}\n\n_({shelter.failure})_")
                if isinstance(event, TurnResult) and event.kind is ResultKind.REPLY:
                    self._lifecycle.behind.again()
                yield event

    def tools(self, key: SessionKey, scope: Scope) -> tuple[Tool, ...]:
        """The agent's own tools for that session, which have read nothing yet."""
        return self._session_cache.tools(key, scope)

    async def run_approved(self, scope: Scope, tool: Tool, arguments: Arguments, name: str) -> str:
        """Runs a call that the owner approved; the same `name` has its effect once. Raises `ToolError`."""
        if tool.once is not None:
            return (await tool.once.run(arguments, name)).text
        async with self._redaction_lock.writing(scope):
            return (await (tool.approved or tool.run)(arguments)).text

    async def stopped(self, session: SessionKey, turn_id: str, shown: str) -> None:
        """Closes a cancelled turn in the journal. `shown`: what the person saw of its reply. Does nothing for a turn
        that had ended, or had not begun."""
        transcript = await asyncio.to_thread(self._session_cache.current, session)
        if transcript is None:
            return
        steps = TurnJournal(transcript, turn_id, self._clock)
        if not steps.entries:
            return
        if ending(steps, self.settings.session.max_tool_rounds) is None:
            await self._stop(steps, shown)
        conversation = self._session_cache.held(session)
        if conversation is None or conversation.transcript is not transcript:
            return
        try:
            async with asyncio.timeout(_STOP_WAITS):
                await self._promise(session, conversation, steps).write_down()
        except TimeoutError:
            _log.warning("a request to remember in %s is not written down yet", session)
        except FileError as problem:
            _log.error("a request to remember in %s is not written down: %s", session, problem)

    async def _stop(self, steps: TurnJournal, shown: str) -> None:
        for call in steps.open_calls:
            await steps.result(call, STOPPED_CALL, error=True)
        said = "\n\n".join(filter(None, (deliverable_text(text_of(answer)) for answer in steps.answers)))
        rest = "" if _forgotten_since(steps) else shown.removeprefix(said).strip()
        await steps.stopped(f"{rest}\n\n{_STOPPED_HERE}" if rest else _STOPPED_HERE)

    async def new_session(self, key: SessionKey, scope: Scope) -> NewSession:
        """Ends the session and starts a new one, without waiting for a model: the end of the conversation goes into
        today's log; its flush and its paragraph in HISTORY.md are deferred (`run`)."""
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
        """Replaces the older part of the conversation by a summary, now. No turn of the session may run meanwhile.
        `asked` names the request, which is done once over restarts; `begins` is called where there is something to do.
        Raises `NotCompacted` (nothing has changed) and `ModelError`."""
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
        """The result of that request of `compact`, even if it was cancelled; None where there is none."""
        return made_for(await self._session_cache.current_builder(key, scope, None), asked)

    async def sessions(self, key: SessionKey | None = None) -> tuple[SessionInfo, ...]:
        """All sessions, or those of one key, the latest first."""
        return await asyncio.to_thread(self._archive.sessions, key)

    async def find(self, id: str, key: SessionKey | None = None) -> SessionInfo:
        """The session of that id, or the only one whose id begins or ends so. Raises `NoSuchSession`."""
        return await asyncio.to_thread(self._archive.find, id, key)

    async def switch(self, key: SessionKey, scope: Scope, id: str) -> SessionInfo:
        """Returns to an earlier session of this key; the flush of the present one is deferred. Raises
        `NoSuchSession`."""
        found = await asyncio.to_thread(self._archive.find, id, key)
        left = await asyncio.to_thread(self._session_cache.current, key)
        if left is not None and left.header.id != found.id:
            await self._lifecycle.owe(key, scope, left, ContextLossReason.SWITCH)
        await asyncio.to_thread(self._archive.make_current, key, found.id)
        return found

    async def export(self, key: SessionKey, id: str | None = None) -> str:
        """A session as Markdown, by default the current one. Raises `NoSuchSession`, `TranscriptUnusable`."""

        def export() -> str:
            chosen = self._archive.find(id or self._archive.current(key) or "", key)
            return markdown(Transcript.read(self._archive.path(key, chosen.id)), self._clock)

        return await asyncio.to_thread(export)

    async def prune(self, before: datetime) -> tuple[SessionInfo, ...]:
        """Deletes sessions last used before that moment, except current ones, and returns them."""
        return await asyncio.to_thread(self._archive.prune, before)

    async def context_report(self, key: SessionKey, scope: Scope, model: str | None = None) -> report.ContextReport:
        """How full the window is and with what; before the first message, as it would begin."""
        name = model or self.settings.model.name
        budget = await self._windows.budget(name)

        def look() -> report.ContextReport:
            transcript = self._session_cache.current(key) or self._session_cache.unsaved(key, scope)
            specs = self._session_cache.specs(key, scope, transcript)
            return report.context_report(transcript, specs, name, budget, self.workspace, self._clock)

        return await asyncio.to_thread(look)

    async def summary(
        self, key: SessionKey, scope: Scope, day: date, coming: Sequence[UpcomingJob], since: datetime | None = None
    ) -> Summary | None:
        """The summary of a scope's day, from its log; None where it is empty. `since`: earlier messages from then on
        are included. `key` is charged."""
        asked = SummaryRequest(scope, day, coming, since)
        return await summary(self._model, self.settings.model, str(key), asked, self._redaction_lock)

    async def heartbeat(self, key: SessionKey, scope: Scope) -> str | None:
        """The heartbeat's message; None where HEARTBEAT.md is empty. `key` is charged. Raises `ModelError`."""
        return await heartbeat(self._model, self.settings.model, str(key), scope, self._clock, self._redaction_lock)

    async def why(self, key: SessionKey) -> report.WhyReport | None:
        """What the last reply of the session was based on; None where there is no reply."""

        def look() -> report.WhyReport | None:
            transcript = self._session_cache.current(key)
            return report.why_report(transcript, self.workspace, self._clock) if transcript else None

        return await asyncio.to_thread(look)

    async def mentions(self, is_meant: Callable[[SessionKey], bool], finding: ForgetPlan) -> int:
        """The number of messages of those sessions that mention what is to be forgotten."""
        talks = await asyncio.to_thread(self._session_cache.meant, is_meant)
        return await asyncio.to_thread(mentions, talks, line_matcher(finding))

    async def forget(
        self, is_meant: Callable[[SessionKey], bool], scope: Scope, session: str, shown: ForgetPlan
    ) -> Removal:
        """Forgets what was shown, and what was written of it since, in the scope's memory and those sessions: a mark
        replaces it. After that, nothing read before is sent or written."""
        async with self._redaction_lock.forgetting(scope):
            finding = await asyncio.to_thread(refresh_plan, shown, scope)
            done = await asyncio.to_thread(forget, self.history, scope, self._clock, session, finding)
            holds = line_matcher(finding)
            talks = await asyncio.to_thread(self._session_cache.meant, is_meant)
            fixed = await asyncio.to_thread(self._session_cache.fixed_part, scope)
            said, among = await redact(talks, holds, self._clock, done.change, fixed)
            await asyncio.to_thread(self.journal.forget, [builder.header.id for builder in talks], holds)
            unpurged = await self._unpurged(scope)
        return Removal(finding, done.change, done.files, said, among, unpurged, done.kept)

    async def _unpurged(self, scope: Scope) -> str:
        """Purges the index; returns why that failed, else ""."""
        try:
            await asyncio.to_thread(self.index.purge, scope, self._clock)
        except NotStored as problem:
            _log.error("the search index still has what was forgotten: %s", problem.strerror)
            return str(problem.strerror)
        return ""

    async def bring_back(self, is_meant: Callable[[SessionKey], bool], change: str) -> None:
        """Undoes what a `forget` did to those sessions."""
        talks = await asyncio.to_thread(self._session_cache.meant, is_meant)
        await bring_back(talks, self._clock, change)

    async def last_activity(self, key: SessionKey) -> datetime | None:
        """When a person last wrote in the current session."""
        return await self._session_cache.last_activity(key)

    def _promise(self, key: SessionKey, conversation: OpenSession, steps: TurnJournal) -> RememberGuard:
        remembering = frozenset(tool.name for tool in conversation.tools if tool.remembers)
        author = self._session_cache.author(key, conversation.scope)
        return RememberGuard(steps, conversation.scope, self._clock, author, self._redaction_lock, remembering)


async def _tell_outcomes(steps: TurnJournal, approvals: OwnerConsent) -> None:
    """Tells the session the outcomes of its approvals, once over restarts."""
    known = {str(block.get("text")) for one in steps.transcript.entries[-_LOOKED_BACK:] for block in content_of(one)}
    outcomes = await approvals.outcomes()
    for id, text in outcomes.items():
        notice = untrusted.marked_block("notice", text, approval=id)
        if notice not in known:
            await steps.noticed(notice)
    if outcomes:
        await approvals.told(tuple(outcomes))


async def _nobody() -> None: ...


def _forgotten_since(steps: TurnJournal) -> bool:
    """True where something in the transcript was forgotten while the turn ran: what was read may still contain it."""
    since = itertools.takewhile(lambda entry: entry.id != steps.entries[-1].id, reversed(steps.transcript.entries))
    return any(isinstance(entry, RedactionEntry) for entry in since)


def _turn_of(transcript: Transcript, request: TurnRequest) -> str:
    """The turn of a request: where all its messages had joined another turn, that one."""
    turns = turns_of_said(transcript.entries)
    known = [turns.get(said.id) for said in request.said]
    return known[0] if known and known[0] and len(set(known)) == 1 else request.id
