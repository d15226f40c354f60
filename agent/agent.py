"""An agent: its sessions, and one turn of one of them.

A turn is: take up the session, journal what was said, then the loop. Who may speak, in which session, and that a
session has one turn at a time, is the caller's business.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import ParamSpec, TypeVar

from agent import report, tools
from agent.calls import STOPPED_CALL, Calls
from agent.clock import Clock, utc_stamp
from agent.context.budget import Budget, budget, estimate, estimate_tools, projected
from agent.context.freshness import Freshness, seen_by
from agent.context.prompt import fixed_part
from agent.context.recalled import Recall, Search
from agent.context.repair import repair
from agent.context.turn_header import rendered
from agent.ending import TOO_LONG, ending
from agent.loop import run_turn
from agent.memory.daily import log_path
from agent.memory.files import FileError, append_section, read_text
from agent.memory.history import Author, History
from agent.memory.scope import Scope
from agent.memory.search import search
from agent.model.base import ContextOverflow, Model, ModelRequest, ToolSpec
from agent.promise import Promise
from agent.session.archive import Archive, SessionInfo, new_id
from agent.session.entries import Header, MessageEntry, Recalled, Seen
from agent.session.reading import markdown, snapshot
from agent.session.replay import context
from agent.session.steps import Steps, text_of
from agent.session.transcript import Transcript, Unusable
from agent.settings import AgentSettings
from agent.silence import spoken
from agent.skills import Skills
from agent.tools.base import Tool
from agent.turn import CHAT, Said, SessionKey, TurnEvent, TurnRequest

_log = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")

_KEPT_OPEN = 128
"""Sessions held in memory between turns."""
_ASK_WINDOW_AGAIN = timedelta(minutes=10)
_SMALL = 10_000
"""Characters that are worked through in less than a millisecond."""
_ENTRY_CHARS = 500
_STOP_WAITS = 0.5
"""Seconds that a stop, which must be felt at once, waits for a file that another program holds."""
_STOPPED_HERE = "[Stopped here by the person]"


@dataclass(frozen=True, slots=True)
class _Conversation:
    """A session in memory. `written` collects what its tools write."""

    transcript: Transcript
    scope: Scope
    tools: tuple[Tool, ...]
    freshness: Freshness
    written: set[Path]


@dataclass(frozen=True, slots=True)
class _News:
    """Blocks that go with a message, and what its meta keeps of them."""

    blocks: tuple[str, ...] = ()
    files: Mapping[str, Seen] = field(default_factory=dict)
    recalled: tuple[Recalled, ...] = ()


class Agent:
    """`workspace` and `sessions` are folders of this agent's home; `model` may be shared and is closed by its owner.
    The change history stands beside the sessions.

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
        search: Search = search,
    ) -> None:
        self.settings = settings
        self.workspace = workspace
        self.skills = Skills(workspace)
        self.history = History(sessions.parent / "history" / f"{settings.name}.db", clock)
        self._recall = Recall(clock, settings.memory.recall, search)
        self._archive = Archive(sessions, settings.name)
        self._model = model
        self._clock = clock
        self._open: OrderedDict[SessionKey, _Conversation] = OrderedDict()
        self._windows: dict[str, tuple[int | None, datetime]] = {}

    async def turn(self, request: TurnRequest) -> AsyncGenerator[TurnEvent, None]:
        """Run a turn, or go on with one that was interrupted; ends with one `End`. Close the iterator to stop it."""
        conversation = await self._take_up(request.session, request.scope)
        transcript = conversation.transcript
        model = request.model or self.settings.model.name
        room = await self._budget(model)
        steps = Steps(transcript, _turn_of(transcript, request), self._clock, [said.id for said in request.said])
        await self._journal(request.said, conversation, steps, room)
        own_tools = (*conversation.tools, *request.tools)

        async def arrived() -> tuple[str, ...]:
            said = request.arrived()
            await self._journal(said, conversation, steps, room)
            return tuple(one.id for one in said)

        asking = _Asking(self.settings, request, model, transcript, tuple(tool.spec for tool in own_tools), room)
        calls = Calls(own_tools, steps, conversation.freshness, conversation.written)

        def run(may_join: bool) -> AsyncGenerator[TurnEvent, None]:
            limit = self.settings.session.max_tool_rounds
            return run_turn(steps, self._model, asking, calls, arrived if may_join else _nobody, limit)

        promise = self._promise(request.session, conversation, steps)
        events = promise.kept(run) if request.purpose == CHAT else run(True)
        async with aclosing(events):
            async for event in events:
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

    async def new_session(self, key: SessionKey, scope: Scope) -> SessionInfo:
        """End the session and start a new one, without a model: the end of the talk goes to today's log of the
        scope."""
        return await asyncio.to_thread(self._new_session, key, scope)

    async def sessions(self, key: SessionKey | None = None) -> tuple[SessionInfo, ...]:
        """All sessions, or those of one key, the one used last first."""
        return await asyncio.to_thread(self._archive.sessions, key)

    async def find(self, id: str, key: SessionKey | None = None) -> SessionInfo:
        """The session of that id, or of which it is the only one to begin or end so. Raises `NoSuchSession`."""
        return await asyncio.to_thread(self._archive.find, id, key)

    async def switch(self, key: SessionKey, id: str) -> SessionInfo:
        """Go back to an earlier session of this key. Raises `NoSuchSession`."""

        def switch() -> SessionInfo:
            found = self._archive.find(id, key)
            self._archive.make_current(key, found.id)
            return found

        return await asyncio.to_thread(switch)

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
        room = await self._budget(name)

        def look() -> report.ContextReport:
            transcript = self._current(key) or self._unsaved(key, scope)
            specs = [tool.spec for tool in self._tools(key, scope, set())]
            return report.context_report(transcript, specs, name, room, self.workspace, self._clock)

        return await asyncio.to_thread(look)

    async def why(self, key: SessionKey) -> report.WhyReport | None:
        """What the last reply of the session had before it; None where there is none."""

        def look() -> report.WhyReport | None:
            transcript = self._current(key)
            return report.why_report(transcript, self.workspace, self._clock) if transcript else None

        return await asyncio.to_thread(look)

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
            text = await _off_the_loop(len(one.text), rendered, one, self._clock, room.window // 4, news.blocks)
            await steps.said([text], [one.id], one.sender, news.files, news.recalled)

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

    async def _take_up(self, key: SessionKey, scope: Scope) -> _Conversation:
        transcript = await asyncio.to_thread(self._current_or_new, key, scope)
        known = self._open.get(key)
        if known is None or known.transcript is not transcript or known.scope != scope:
            written: set[Path] = set()
            freshness = Freshness(scope, self._clock, self.settings.memory, self.skills)
            known = _Conversation(transcript, scope, self._tools(key, scope, written), freshness, written)
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
        known = self._open.get(key)
        if known is not None and known.transcript.path == path and path.stat().st_size == known.transcript.size:
            return known.transcript
        try:
            return Transcript.read(path)
        except Unusable as problem:
            _log.error("%s is left as it is, and the talk goes on in a new session: %s", path, problem)
            return None

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
        fixed = fixed_part(scope, now.date(), self.settings.memory, self.skills.usable())
        header = Header(new_id(now), key.path, key.agent, utc_stamp(now), fixed.system, fixed.files)
        return Transcript(self._archive.path(key, header.id), header, (), (), lines=1, size=0)

    def _new_session(self, key: SessionKey, scope: Scope) -> SessionInfo:
        ended = self._current(key)
        talk = snapshot(ended, self._clock) if ended is not None else None
        if talk is not None:
            log = read_text(log_path(scope, self._clock.today()), scope.folder)
            if log is None or talk.body not in log.text:
                with self.history.author(scope).writes("/new"):
                    append_section(scope, self._clock, talk.heading, talk.body)
        header = self._start(key, scope).header
        started = datetime.fromisoformat(header.started)
        return SessionInfo(header.id, key, started, started, messages=0)

    def _tools(self, key: SessionKey, scope: Scope, written: set[Path]) -> tuple[Tool, ...]:
        memory, files, author = self.settings.memory, self.settings.files_tools, self._author(key, scope)
        return tools.build(scope, self._clock, memory, files, wrote=written.add, skills=self.skills, author=author)

    async def _budget(self, model: str) -> Budget:
        window = self.settings.model.context_window or await self._window(model)
        session = self.settings.session
        return budget(
            window, session.reserve_tokens, session.flush_soft_threshold_tokens, self.settings.model.max_tokens
        )

    async def _window(self, model: str) -> int | None:
        """As the server says; one that did not say is asked again only after a while."""
        window, ask_again = self._windows.get(model, (None, None))
        if window is None and (ask_again is None or self._clock.now() >= ask_again):
            window = await self._model.context_window(model)
            self._windows[model] = (window, self._clock.now() + _ASK_WINDOW_AGAIN)
        return window


class _Asking:
    """Makes the next request of a turn. System and tools are the same bytes every time (invariant 9)."""

    def __init__(
        self,
        settings: AgentSettings,
        turn: TurnRequest,
        model: str,
        transcript: Transcript,
        specs: tuple[ToolSpec, ...],
        room: Budget,
    ) -> None:
        self._settings = settings.model
        self._turn = turn
        self._model = model
        self._transcript = transcript
        self._specs = specs
        self._room = room
        system = transcript.header.system
        basis = [model, *system, *([spec.name, spec.description, spec.schema] for spec in specs)]
        self._basis = hashlib.sha256(json.dumps(basis).encode()).hexdigest()
        self._fixed = sum(estimate(block) for block in system) + estimate_tools(specs)

    def __call__(self) -> tuple[ModelRequest, str]:
        """The request, and the name of all that it sends. Raises `ContextOverflow` where it leaves no room to
        answer."""
        if not self._room.fits(projected(self._transcript.entries, self._fixed)):
            raise ContextOverflow(TOO_LONG)
        now = context(self._transcript.entries, self._basis)
        request = ModelRequest(
            model=self._model,
            system=self._transcript.header.system,
            messages=repair(now.messages),
            tools=self._specs,
            max_tokens=self._room.answer,
            purpose=self._turn.purpose,
            session=str(self._turn.session),
            effort=self._settings.effort,
            cache=self._settings.cache,
        )
        return request, now.prefix


async def _off_the_loop(size: int, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Work on so many characters: in a thread where it takes longer than the way there and back."""
    return work(*args, **kwargs) if size < _SMALL else await asyncio.to_thread(work, *args, **kwargs)


async def _nobody() -> tuple[str, ...]:
    """Nobody has said anything since."""
    return ()


def _turn_of(transcript: Transcript, request: TurnRequest) -> str:
    """The turn that a request is about: where all that it says had joined another turn, that one is taken up."""
    turns = {id: e.meta.turn for e in transcript.entries if isinstance(e, MessageEntry) for id in e.meta.said}
    known = [turns.get(said.id) for said in request.said]
    return known[0] if known and known[0] and len(set(known)) == 1 else request.id
