"""An agent: its sessions, and one turn of one of them.

A turn is: take up the session, journal what was said, then the loop. Who may speak, in which session, and that a
session has one turn at a time, is the caller's business.
"""

from __future__ import annotations

import asyncio
import dataclasses
import logging
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import ParamSpec, TypeVar

from agent import report, tools
from agent.asking import Asking
from agent.behind import Behind
from agent.calls import STOPPED_CALL, Calls
from agent.clock import Clock, utc_stamp
from agent.context import marked
from agent.context.budget import IMAGE_TOKENS, Budget
from agent.context.freshness import Freshness, seen_by
from agent.context.prompt import FixedPart, fixed_part
from agent.context.recalled import Recall, Search
from agent.context.turn_header import rendered
from agent.ending import ending
from agent.forgetting import bring_back, mentions, redact
from agent.heartbeat import heartbeat
from agent.journal.summary import Coming, Summary, summary
from agent.journal.writer import Journal
from agent.loop import run_turn
from agent.media.store import Store
from agent.memory.daily import log_path
from agent.memory.embedding.encoder import NoEmbedding
from agent.memory.files import FileError, append_section, read_text
from agent.memory.forget import Finding, speaks_of
from agent.memory.history import Author, History, HistoryUnavailable
from agent.memory.index.embedding import Meaning
from agent.memory.index.engine import MemoryIndex
from agent.memory.index.store import NotStored as IndexNotStored
from agent.memory.scope import Audience, Scope
from agent.model.base import Model, ToolSpec
from agent.promise import Promise
from agent.room import Room
from agent.session.archive import Archive, SessionInfo, new_id
from agent.session.compact import Compacted, compact, is_one_turn, made_for
from agent.session.consolidate import concerned, consolidate
from agent.session.entries import Header, MessageEntry, Recalled, Seen
from agent.session.flush import Loss, before_context_loss
from agent.session.owed import Debts, Owed
from agent.session.past_talks import PastTalks
from agent.session.pictures import MOST_SHOWN, picture_block
from agent.session.reading import markdown, snapshot
from agent.session.steps import Steps, text_of
from agent.session.transcript import Transcript, Unusable
from agent.settings import AgentSettings
from agent.silence import spoken
from agent.skills import Skills
from agent.talk import Talk
from agent.tools.base import Tool
from agent.turn import CHAT, End, EndKind, Said, SessionKey, TurnEvent, TurnRequest
from agent.windows import Windows

_log = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")

_KEPT_OPEN = 128
"""Sessions held in memory between turns."""
_SMALL = 10_000
"""Characters that are worked through in less than a millisecond."""
_ENTRY_CHARS = 500
_EMBED_FOR = 0.5
_EMBED_AGAIN = 2.0
"""Seconds between two looks for texts that are not embedded."""
_STOP_WAITS = 0.5
"""Seconds that a stop, which must be felt at once, waits for a file that another program holds."""
_STOPPED_HERE = "[Stopped here by the person]"
_NOTHING: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class _Conversation:
    """A session in memory. `written` collects what its tools write."""

    transcript: Transcript
    scope: Scope
    tools: tuple[Tool, ...]
    freshness: Freshness
    written: set[Path]
    sealed: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _News:
    """Blocks that go with a message, and what its meta keeps of them."""

    blocks: tuple[str, ...] = ()
    files: Mapping[str, Seen] = field(default_factory=dict)
    recalled: tuple[Recalled, ...] = ()


@dataclass(frozen=True, slots=True)
class Begun:
    """A new talk. `unnoted`: why the end of the one before could not be noted in the log, a sentence, else empty."""

    info: SessionInfo
    unnoted: str = ""


class Agent:
    """`workspace` and `sessions` are folders of this agent's home; `model` may be shared and is closed by its owner.
    The change history, the search index and the pictures of its talks stand beside the sessions; `close` lets go of the
    index. `configured` as in `Skills`.

    Every method may raise `OSError` (`NotJournaled` is one) where the disk does not do its part, and
    `agent.memory.files.FileError` where a workspace file cannot be written; what was asked for is then not done.
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
        meaning: Meaning | None = None,
    ) -> None:
        self.settings = settings
        self.workspace = workspace
        self.skills = Skills(workspace, configured=configured)
        self.history = History(sessions.parent / "history" / f"{settings.name}.db", clock)
        self._archive = Archive(sessions, settings.name)
        self._store = Store(sessions.parent)
        self._embeds = meaning is not None
        self._past = PastTalks(self._archive)
        self.index = MemoryIndex(sessions.parent, settings.name, settings.memory.search, self._past, meaning)
        self._recall = Recall(clock, settings.memory.recall, search or self.index.search)
        self._model = model
        self._clock = clock
        self._open: OrderedDict[SessionKey, _Conversation] = OrderedDict()
        self._talks: OrderedDict[Path, Talk] = OrderedDict()
        self._windows = Windows(settings, model, clock)
        marks = sessions.parent / "journal" / f"{settings.name}.db"
        self.journal = Journal(settings, self._archive, marks, model, self._windows, self.history, clock)
        self._behind = Behind(Debts(sessions / settings.name, workspace), self._settle)

    async def run(self) -> None:
        """Do what is owed to talks that were left or shortened, behind the answers, and index what changed while
        nobody was here, until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._behind.run())
            group.create_task(self._index())

    async def _index(self) -> None:
        """In small steps, so that it can be cancelled; then what searches find changed is embedded behind them."""
        owner = Scope(Audience.OWNER, self.workspace)
        stale = 1
        while stale:
            stale = (await asyncio.to_thread(self.index.refresh, owner, self._clock, time.monotonic() + 1)).stale
        while self._embeds:
            pause = 0.0 if await self._embed() else _EMBED_AGAIN
            await asyncio.sleep(pause)

    async def _embed(self) -> bool:
        """Some of what is not yet; whether there may be more."""
        try:
            return await asyncio.to_thread(self.index.embed, _EMBED_FOR)
        except (NoEmbedding, IndexNotStored) as problem:
            _log.info("nothing is embedded now: %s", problem)
            return False

    def close(self) -> None:
        self.index.close()

    async def idle(self) -> None:
        """Wait until nothing is owed; `run` must be running."""
        await self._behind.idle()

    async def turn(self, request: TurnRequest) -> AsyncGenerator[TurnEvent, None]:
        """Run a turn, or go on with one that was interrupted; ends with one `End`. Close the iterator to stop it."""
        await (self._begin_anew(request) if request.fresh else self._leave_if_idle(request))
        conversation = await self._take_up(request.session, request.scope, request.sealed)
        transcript = conversation.transcript
        own_tools = (*conversation.tools, *request.tools)
        specs = tuple(tool.spec for tool in own_tools)
        talk = await self._talk(request.session, request.scope, transcript, specs, request.model)
        room = talk.budget
        steps = Steps(transcript, _turn_of(transcript, request), self._clock, [said.id for said in request.said])
        await self._journal(request.said, conversation, steps, room)
        shelter = Room(talk, steps.turn, partial(self._smaller, talk.model_name), partial(self._compacted, talk))

        async def arrived() -> tuple[str, ...]:
            said = await request.arrived()
            await self._journal(said, conversation, steps, room)
            return tuple(one.id for one in said)

        ask = Asking(shelter, request.purpose, self._store)
        calls = Calls(own_tools, steps, conversation.freshness, conversation.written)

        def run(may_join: bool) -> AsyncGenerator[TurnEvent, None]:
            limit = self.settings.session.max_tool_rounds
            return run_turn(steps, ask, calls, arrived if may_join else _nobody, limit)

        promise = self._promise(request.session, conversation, steps)
        events = promise.kept(run) if request.purpose == CHAT else run(True)
        async with aclosing(events):
            async for event in events:
                if isinstance(event, End) and event.kind is EndKind.REPLY and shelter.failure:
                    event = dataclasses.replace(event, text=f"{event.text}\n\n_({shelter.failure})_")
                if isinstance(event, End) and event.kind is EndKind.REPLY:
                    self._behind.again()
                yield event

    async def stopped(self, session: SessionKey, turn_id: str, shown: str) -> None:
        """Close a turn in the journal after it was cancelled. `shown`: what the person saw of its answer. Nothing
        happens where the turn had ended, or had not begun."""
        transcript = await asyncio.to_thread(self._current, session)
        if transcript is None:
            return
        steps = Steps(transcript, turn_id, self._clock, ())
        if not steps.entries:
            return
        if ending(steps, self.settings.session.max_tool_rounds) is None:
            await self._stop(steps, shown)
        conversation = self._open.get(session)
        if conversation is None or conversation.transcript is not transcript:
            return
        try:
            async with asyncio.timeout(_STOP_WAITS):
                await self._promise(session, conversation, steps).write_down()
        except (FileError, TimeoutError) as problem:
            _log.error("what was to be remembered in %s is not written down yet: %s", session, problem)

    async def _stop(self, steps: Steps, shown: str) -> None:
        for call in steps.open_calls:
            await steps.result(call, STOPPED_CALL, error=True)
        said = "\n\n".join(filter(None, (spoken(text_of(answer)) for answer in steps.answers)))
        rest = shown.removeprefix(said).strip()
        await steps.stopped(f"{rest}\n\n{_STOPPED_HERE}" if rest else _STOPPED_HERE)

    async def new_session(self, key: SessionKey, scope: Scope) -> Begun:
        """End the session and start a new one, without waiting for a model: the end of the talk goes to today's log of
        the scope; its flush and its paragraph in HISTORY.md follow behind (`run`)."""
        return await self._leave(key, scope, Loss.NEW)

    async def compact(
        self,
        key: SessionKey,
        scope: Scope,
        focus: str = "",
        model: str | None = None,
        asked: str = "",
        begins: Callable[[], Awaitable[None]] | None = None,
    ) -> Compacted:
        """Replace the older part of the talk by a summary, now. No turn of the session may run meanwhile. `asked` names
        the request, which is done once over restarts; `begins` is called where there is something to do. Raises
        `NotCompacted` (the talk is then as it was) and `ModelError`."""
        talk = await self._taken_up_talk(key, scope, model)
        done = made_for(talk, asked)
        if done is None:
            in_turn = is_one_turn(talk)
            if begins is not None:
                await begins()
            await before_context_loss(talk, Loss.COMMAND)
            done = await compact(talk, focus, in_turn=in_turn, asked=asked)
        await self._compacted(talk, done)
        return done

    async def compacted(self, key: SessionKey, scope: Scope, asked: str) -> Compacted | None:
        """What `compact` has made of that request, although it was cancelled; None where the talk is as it was."""
        return made_for(await self._taken_up_talk(key, scope, None), asked)

    async def _taken_up_talk(self, key: SessionKey, scope: Scope, model: str | None) -> Talk:
        conversation = await self._take_up(key, scope)
        known = self._talks.get(conversation.transcript.path)
        specs = known.specs if known else tuple(tool.spec for tool in conversation.tools)
        return await self._talk(key, scope, conversation.transcript, specs, model)

    async def sessions(self, key: SessionKey | None = None) -> tuple[SessionInfo, ...]:
        """All sessions, or those of one key, the one used last first."""
        return await asyncio.to_thread(self._archive.sessions, key)

    async def find(self, id: str, key: SessionKey | None = None) -> SessionInfo:
        """The session of that id, or of which it is the only one to begin or end so. Raises `NoSuchSession`."""
        return await asyncio.to_thread(self._archive.find, id, key)

    async def switch(self, key: SessionKey, scope: Scope, id: str) -> SessionInfo:
        """Go back to an earlier session of this key; the one that is left is flushed behind. Raises `NoSuchSession`."""
        found = await asyncio.to_thread(self._archive.find, id, key)
        left = await asyncio.to_thread(self._current, key)
        if left is not None and left.header.id != found.id:
            await self._owe(key, scope, left, Loss.SWITCH)
        await asyncio.to_thread(self._archive.make_current, key, found.id)
        return found

    async def export(self, key: SessionKey, id: str | None = None) -> str:
        """A session as Markdown, by default the current one. Raises `NoSuchSession`, `Unusable`."""

        def export() -> str:
            chosen = self._archive.find(id or self._archive.current(key) or "", key)
            return markdown(Transcript.read(self._archive.path(key, chosen.id)), self._clock)

        return await asyncio.to_thread(export)

    async def prune(self, before: datetime) -> tuple[SessionInfo, ...]:
        """Delete the sessions last used before that moment, but never a current one. Returns what is gone."""
        return await asyncio.to_thread(self._archive.prune, before)

    async def context_report(self, key: SessionKey, scope: Scope, model: str | None = None) -> report.ContextReport:
        """How full the window is and with what; before the first message, as it would begin."""
        name = model or self.settings.model.name
        room = await self._windows.budget(name)

        def look() -> report.ContextReport:
            transcript = self._current(key) or self._unsaved(key, scope)
            known = self._talks.get(transcript.path)
            specs = known.specs if known is not None else [tool.spec for tool in self._tools(key, scope, set())]
            return report.context_report(transcript, specs, name, room, self.workspace, self._clock)

        return await asyncio.to_thread(look)

    async def summary(self, key: SessionKey, scope: Scope, day: date, coming: Sequence[Coming]) -> Summary | None:
        """A day of a scope in a few sentences, from its log; None where there is nothing to say. `key` is charged."""
        return await summary(self._model, self.settings.model, str(key), scope, day, coming)

    async def heartbeat(self, key: SessionKey, scope: Scope) -> str | None:
        """What HEARTBEAT.md's list calls for now; None where it is empty. `key` is charged. Raises `ModelError`."""
        return await heartbeat(self._model, self.settings.model, str(key), scope, self._clock)

    async def why(self, key: SessionKey) -> report.WhyReport | None:
        """What the last reply of the session had before it; None where there is none."""

        def look() -> report.WhyReport | None:
            transcript = self._current(key)
            return report.why_report(transcript, self.workspace, self._clock) if transcript else None

        return await asyncio.to_thread(look)

    async def mentions(self, is_meant: Callable[[SessionKey], bool], finding: Finding) -> int:
        """How many messages of those sessions speak of what is to be forgotten."""
        talks = await asyncio.to_thread(self._transcripts, is_meant)
        return await asyncio.to_thread(mentions, talks, speaks_of(finding))

    async def redact(
        self, is_meant: Callable[[SessionKey], bool], scope: Scope, finding: Finding, change: str
    ) -> tuple[int, int]:
        """Have what was forgotten with that change of memory read as a mark in those sessions, in what is shown,
        searched and sent. Gives how many messages of how many talks."""
        talks = await asyncio.to_thread(self._transcripts, is_meant)
        fixed = await asyncio.to_thread(self._fixed_part, scope)
        return await redact(talks, speaks_of(finding), self._clock, change, fixed)

    async def bring_back(self, is_meant: Callable[[SessionKey], bool], change: str) -> None:
        """Undo `redact`."""
        talks = await asyncio.to_thread(self._transcripts, is_meant)
        await bring_back(talks, self._clock, change)

    def _transcripts(self, is_meant: Callable[[SessionKey], bool]) -> list[Transcript]:
        """Of all sessions that are meant; those in memory as they are held there. Blocks."""
        held = {talk.transcript.path: talk.transcript for talk in self._talks.values()}
        held |= {one.transcript.path: one.transcript for one in self._open.values()}
        found: list[Transcript] = []
        for info in self._archive.sessions():
            if is_meant(info.key):
                path = self._archive.path(info.key, info.id)
                with suppress(OSError, Unusable):  # gone, or no transcript: `doctor` tells
                    found.append(held.get(path) or Transcript.read(path))
        return found

    async def last_activity(self, key: SessionKey) -> datetime | None:
        """When a person last said something in the current session."""
        transcript = await asyncio.to_thread(self._current, key)
        for entry in reversed(transcript.entries if transcript else ()):
            if isinstance(entry, MessageEntry) and entry.meta.said:
                return self._clock.local(datetime.fromisoformat(entry.ts))
        return None

    async def _journal(self, said: Sequence[Said], conversation: _Conversation, steps: Steps, room: Budget) -> None:
        """Write what was said, unless it is written, with what changed on disk before the last of it."""
        transcript = conversation.transcript
        known = {id for entry in transcript.entries if isinstance(entry, MessageEntry) for id in entry.meta.said}
        fresh = [one for one in said if one.id not in known]
        for one in fresh:
            news = await self._news(one, conversation, room) if one is fresh[-1] else _News()
            one = _within(one, room.window // 4)
            text = await _off_the_loop(_size(one), rendered, one, self._clock, room.window // 4, news.blocks)
            shown = [
                picture_block(marked.label(picture.name), picture.path, picture.original) for picture in one.pictures
            ]
            await steps.said([text], [one.id], one.sender, news.files, news.recalled, shown)

    async def _news(self, said: Said, conversation: _Conversation, room: Budget) -> _News:
        """What goes with the newest message: what changed on disk, and what it calls up in memory."""
        transcript = conversation.transcript
        seen = seen_by(transcript.header, transcript.entries)
        changes, found = await asyncio.gather(
            asyncio.to_thread(conversation.freshness.changes, seen), self._recall.find(conversation.scope, said.text)
        )
        recollection = await _off_the_loop(
            len(found) and len(transcript.entries) * _ENTRY_CHARS,
            self._recall.chosen,
            found,
            conversation.scope,
            seen | dict(changes.files),
            transcript.entries,
            said.text,
            room.window // 16,
        )
        blocks = (*changes.blocks, recollection.block) if recollection.block else changes.blocks
        return _News(blocks, changes.files, recollection.passages)

    def _promise(self, key: SessionKey, conversation: _Conversation, steps: Steps) -> Promise:
        remembering = frozenset(tool.name for tool in conversation.tools if tool.remembers)
        return Promise(steps, conversation.scope, self._clock, self._author(key, conversation.scope), remembering)

    def _author(self, key: SessionKey, scope: Scope) -> Author:
        """Who signs what is changed in a session, so that its `/undo` finds it."""
        return self.history.author(scope, str(key))

    async def _take_up(self, key: SessionKey, scope: Scope, sealed: Mapping[str, str] = _NOTHING) -> _Conversation:
        transcript = await asyncio.to_thread(self._current_or_new, key, scope)
        known = self._open.get(key)
        if known is None or known.transcript is not transcript or known.scope != scope or known.sealed != sealed:
            written: set[Path] = set()
            freshness = Freshness(scope, self._clock, self.settings.memory, self.skills, transcript.header.id)
            own_tools = self._tools(key, scope, written, sealed)
            known = _Conversation(transcript, scope, own_tools, freshness, written, sealed)
            self._open[key] = known
        self._open.move_to_end(key)
        while len(self._open) > _KEPT_OPEN:
            self._open.popitem(last=False)
        return known

    def _current(self, key: SessionKey) -> Transcript | None:
        """The current transcript: from memory while it is what the file says. Blocks."""
        id = self._archive.current(key)
        if id is None:
            return None
        path = self._archive.path(key, id)
        open = self._open.get(key)
        recent = self._talks.get(path)
        for known in (one.transcript for one in (open, recent) if one is not None):
            if known.path == path and path.stat().st_size == known.size:
                return known
        try:
            return Transcript.read(path)
        except Unusable as problem:
            _log.error("%s is left as it is, and the talk goes on in a new session: %s", path, problem)
            return None

    def _fixed_part(self, scope: Scope) -> FixedPart:
        """As it reads now. Blocks."""
        return fixed_part(scope, self._clock.today(), self.settings.memory, self.skills.usable())

    async def _talk(
        self, key: SessionKey, scope: Scope, transcript: Transcript, specs: tuple[ToolSpec, ...], model: str | None
    ) -> Talk:
        """The talk as its requests are made of, kept for what is done behind them."""
        name = model or self.settings.model.name
        room = await self._windows.budget(name)
        author = self.history.author(scope)
        read = partial(self._fixed_part, scope)
        talk = Talk(key, scope, transcript, specs, self._model, name, self.settings, room, self._clock, author, read)
        self._talks[transcript.path] = talk
        self._talks.move_to_end(transcript.path)
        while len(self._talks) > _KEPT_OPEN:
            self._talks.popitem(last=False)
        return talk

    async def _smaller(self, model: str, tokens: int) -> Budget:
        self._windows.overflowed(model, tokens)
        return await self._windows.budget(model)

    async def _compacted(self, talk: Talk, done: Compacted) -> None:
        owed = Owed(talk.session.path, talk.transcript.header.id, talk.scope, Loss.COMPACTION, done.entry)
        await self._behind.owe(owed)

    async def _owe(self, key: SessionKey, scope: Scope, left: Transcript, reason: Loss) -> None:
        last = next((entry.id for entry in reversed(left.entries) if isinstance(entry, MessageEntry)), None)
        if last is not None:
            await self._behind.owe(Owed(key.path, left.header.id, scope, reason, last))

    async def _leave_if_idle(self, request: TurnRequest) -> None:
        """Begin anew where the session has been quiet for longer than configured; not for a turn that had begun."""
        minutes = self.settings.session.idle_reset_minutes
        if minutes is None:
            return
        transcript = await asyncio.to_thread(self._current, request.session)
        last = await self.last_activity(request.session)
        if transcript is None or last is None or self._clock.instant() - last < timedelta(minutes=minutes):
            return
        if not _has_begun(transcript, request):
            await self._leave(request.session, request.scope, Loss.IDLE)

    async def _begin_anew(self, request: TurnRequest) -> None:
        """A transcript of its own for a turn that had not begun. What is left owes nothing: no job becomes memory."""
        transcript = await asyncio.to_thread(self._current, request.session)
        if transcript is None or not _has_begun(transcript, request):
            await asyncio.to_thread(self._start, request.session, request.scope)

    async def _leave(self, key: SessionKey, scope: Scope, reason: Loss) -> Begun:
        left = await asyncio.to_thread(self._current, key)
        if left is not None:
            await self._owe(key, scope, left, reason)
        return await asyncio.to_thread(self._new_session, key, scope)

    async def _settle(self, owed: Owed) -> None:
        """What a talk leaves behind. Raises `OSError` and `Unsettled`: it is then still owed."""
        key = SessionKey(self.settings.name, owed.path)
        path = self._archive.path(key, owed.session)
        known = self._talks.get(path)
        try:
            transcript = known.transcript if known is not None else await asyncio.to_thread(Transcript.read, path)
        except (FileNotFoundError, Unusable):
            return
        specs = known.specs if known is not None else tuple(tool.spec for tool in self._tools(key, owed.scope, set()))
        talk = await self._talk(key, owed.scope, transcript, specs, known.model_name if known is not None else None)
        if owed.reason.leaves:
            await before_context_loss(talk, owed.reason)
        if owed.reason is not Loss.SWITCH:
            await consolidate(talk, concerned(transcript.entries, owed.upto), owed.source)

    def _current_or_new(self, key: SessionKey, scope: Scope) -> Transcript:
        return self._current(key) or self._start(key, scope)

    def _start(self, key: SessionKey, scope: Scope) -> Transcript:
        header = self._unsaved(key, scope).header
        transcript = Transcript.create(self._archive.path(key, header.id), header)
        self._archive.make_current(key, header.id)
        return transcript

    def _unsaved(self, key: SessionKey, scope: Scope) -> Transcript:
        """A session that is not on disk."""
        now = self._clock.now()
        fixed = self._fixed_part(scope)
        header = Header(new_id(now), key.path, key.agent, utc_stamp(now), fixed.system, fixed.files)
        return Transcript(self._archive.path(key, header.id), header, (), (), lines=1, size=0)

    def _new_session(self, key: SessionKey, scope: Scope) -> Begun:
        ended = self._current(key)
        unnoted = self._note_end(ended, scope) if ended is not None else ""
        header = self._start(key, scope).header
        started = datetime.fromisoformat(header.started)
        return Begun(SessionInfo(header.id, key, started, started, messages=0), unnoted)

    def _note_end(self, ended: Transcript, scope: Scope) -> str:
        """Write the end of a talk into the log; why that could not be done, else "". Whatever the log is, a new talk
        can begin: the old one stays on disk."""
        talk = snapshot(ended, self._clock)
        if talk is None:
            return ""
        try:
            log = read_text(log_path(scope, self._clock.today()), scope.folder)
            if log is None or talk.body not in log.text:
                with self.history.author(scope).writes("/new"):
                    append_section(scope, self._clock, talk.heading, talk.body)
        except (FileError, HistoryUnavailable) as problem:
            _log.error("the end of %s is not in the log: %s", ended.header.id, problem)
            return str(problem)
        return ""

    def _tools(
        self, key: SessionKey, scope: Scope, written: set[Path], sealed: Mapping[str, str] = _NOTHING
    ) -> tuple[Tool, ...]:
        memory, files, author = self.settings.memory, self.settings.files_tools, self._author(key, scope)
        return tools.build(
            scope,
            self._clock,
            memory,
            files,
            wrote=written.add,
            skills=self.skills,
            author=author,
            search=self.index.search,
            talks=self._past,
            sealed=sealed,
        )


async def _off_the_loop(size: int, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Work on so many characters: in a thread where it takes longer than the way there and back."""
    return work(*args, **kwargs) if size < _SMALL else await asyncio.to_thread(work, *args, **kwargs)


def _size(said: Said) -> int:
    """Characters."""
    return len(said.text) + sum(len(document.text) for document in said.documents)


def _within(said: Said, room: int) -> Said:
    """With no more pictures than `room` tokens hold."""
    most = min(MOST_SHOWN, room // IMAGE_TOKENS)
    left = said.pictures[most:]
    if not left:
        return said
    notes = (f"{picture.name} is not shown, for want of room; it is kept at {picture.original}" for picture in left)
    return dataclasses.replace(said, pictures=said.pictures[:most], enclosed=(*said.enclosed, *notes))


async def _nobody() -> tuple[str, ...]:
    """Nobody has said anything since."""
    return ()


def _has_begun(transcript: Transcript, request: TurnRequest) -> bool:
    known = {id for e in transcript.entries if isinstance(e, MessageEntry) for id in e.meta.said}
    return any(said.id in known for said in request.said)


def _turn_of(transcript: Transcript, request: TurnRequest) -> str:
    """The turn that a request is about: where all that it says had joined another turn, that one is taken up."""
    turns = {id: e.meta.turn for e in transcript.entries if isinstance(e, MessageEntry) for id in e.meta.said}
    known = [turns.get(said.id) for said in request.said]
    return known[0] if known and known[0] and len(set(known)) == 1 else request.id
