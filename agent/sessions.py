"""The sessions of an agent in memory."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TypeVar
from weakref import WeakValueDictionary

from agent import tools
from agent.clock import Clock, utc_stamp
from agent.context.budget import ModelWindows
from agent.context.file_changes import FileWatch
from agent.context.prompt import FixedPart, fixed_part
from agent.context.request import OpenSession, RequestBuilder
from agent.forget import take_out_owners
from agent.languages.codes import Language
from agent.memory.history import Author, History
from agent.memory.redaction_lock import RedactionLock
from agent.memory.scope import Audience, Scope
from agent.model.base import Model, ToolSpec
from agent.search.results import Search
from agent.session.archive import Archive, new_id
from agent.session.entries import Header, MessageEntry
from agent.session.outgoing import allowed_in, allowed_mark
from agent.session.past_sessions import PastSessions
from agent.session.transcript import Transcript, TranscriptUnusable
from agent.settings import AgentSettings
from agent.skills import Skills
from agent.tools.base import Tool
from agent.values import TASKS, SessionKey

_log = logging.getLogger(__name__)

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

_KEPT_OPEN = 128
"""Sessions held in memory between turns."""
_NOTHING: Mapping[str, str] = {}


class SessionCache:
    """Holds sessions as `OpenSession` for turns, and `RequestBuilder` for requests; both share a transcript while its
    file is unchanged. Methods may raise `OSError`."""

    def __init__(
        self,
        settings: AgentSettings,
        archive: Archive,
        past: PastSessions,
        model: Model,
        windows: ModelWindows,
        skills: Skills,
        history: History,
        redaction_lock: RedactionLock,
        search: Search,
        clock: Clock,
    ) -> None:
        self._settings = settings
        self._archive = archive
        self._past = past
        self._model = model
        self._windows = windows
        self._skills = skills
        self._history = history
        self._redaction_lock = redaction_lock
        self._search = search
        self._clock = clock
        self._open: OrderedDict[SessionKey, OpenSession] = OrderedDict()
        self._builders: OrderedDict[Path, RequestBuilder] = OrderedDict()
        self._transcripts: WeakValueDictionary[Path, Transcript] = WeakValueDictionary()
        self._flushing: WeakValueDictionary[Path, asyncio.Lock] = WeakValueDictionary()
        self._reading = threading.Lock()

    async def take_up(self, key: SessionKey, scope: Scope, sealed: Mapping[str, str] = _NOTHING) -> OpenSession:
        """The current session, or a new one."""
        transcript = await asyncio.to_thread(self.current, key)
        if transcript is None:
            async with self._redaction_lock.writing(scope):
                transcript = await asyncio.to_thread(self.start, key, scope)
        known = self._open.get(key)
        if known is None or known.transcript is not transcript or known.scope != scope or known.sealed != sealed:
            await self._take_out_owners(transcript, scope)
            written: set[Path] = set()
            freshness = FileWatch(scope, self._clock, self._settings.memory, self._skills, transcript.header.id)
            known = OpenSession(transcript, scope, self._tools(key, scope, written, sealed), freshness, written, sealed)
        _keep(self._open, key, known)
        return known

    def held(self, key: SessionKey) -> OpenSession | None:
        return self._open.get(key)

    def last_used(self, key: SessionKey) -> RequestBuilder | None:
        """The builder of the session's last turn, if it is in memory."""
        known = self._open.get(key)
        return self._builders.get(known.transcript.path) if known is not None else None

    def current(self, key: SessionKey) -> Transcript | None:
        """The current transcript, from memory while its file is unchanged. Blocks."""
        id = self._archive.current(key)
        if id is None:
            return None
        path = self._archive.path(key, id)
        try:
            return self._read(path)
        except TranscriptUnusable as problem:
            _log.error("%s is left as it is, and a new session begins: %s", path, problem)
            return None

    def start(self, key: SessionKey, scope: Scope) -> Transcript:
        """Blocks."""
        header = self.unsaved(key, scope).header
        path = self._archive.path(key, header.id)
        with self._reading:
            self._transcripts[path] = transcript = Transcript.create(path, header)
        self._archive.make_current(key, header.id)
        return transcript

    def unsaved(self, key: SessionKey, scope: Scope) -> Transcript:
        """A new session that is not on disk. Blocks."""
        now = self._clock.now()
        fixed = self.fixed_part(scope)
        header = Header(new_id(now), key.path, key.agent, utc_stamp(now), fixed.system, fixed.files)
        return Transcript(self._archive.path(key, header.id), header, (), (), lines=1, size=0)

    def meant(self, is_meant: Callable[[SessionKey], bool]) -> list[Transcript]:
        """Blocks."""
        found: list[Transcript] = []
        for info in self._archive.sessions():
            if is_meant(info.key):
                path = self._archive.path(info.key, info.id)
                with suppress(OSError, TranscriptUnusable):  # gone, or no transcript: `doctor` tells
                    found.append(self._read(path))
        return found

    def beside(self, key: SessionKey, id: str) -> tuple[Transcript, ...]:
        """The transcripts that share a conversation's record of text that left the machine: that of the session it
        works for, else those of its tasks. Blocks."""
        works_for, is_task, _ = key.path.rpartition(f"/{TASKS}/")
        if is_task:
            asking = self.current(SessionKey(key.agent, works_for))
            return (asking,) if asking is not None else ()
        found = []
        for task, name in self._archive.tasks_since(key, id):
            with suppress(OSError, TranscriptUnusable):  # pruned meanwhile, or no transcript: `doctor` tells
                found.append(self._read(self._archive.path(task, name)))
        return tuple(found)

    async def allow(self, key: SessionKey, id: str, what: str) -> None:
        """Keeps the owner's consent in a conversation. Raises `TranscriptUnusable`."""
        transcript = await asyncio.to_thread(self._read, self._archive.path(key, id))
        if what not in allowed_in(transcript.entries):
            await transcript.append(allowed_mark(transcript.new_id(), utc_stamp(self._clock.now()), what))

    def _read(self, path: Path) -> Transcript:
        """The transcript of a path, from memory while its file is unchanged. Raises `OSError`, `TranscriptUnusable`."""
        with self._reading:
            known = self._transcripts.get(path)
            if known is None or not known.is_as_on_disk():
                self._transcripts[path] = known = Transcript.read(path)
            return known

    async def last_activity(self, key: SessionKey) -> datetime | None:
        """When a person last wrote."""
        transcript = await asyncio.to_thread(self.current, key)
        for entry in reversed(transcript.entries if transcript else ()):
            if isinstance(entry, MessageEntry) and entry.meta.said:
                return self._clock.local(datetime.fromisoformat(entry.ts))
        return None

    async def builder(
        self,
        key: SessionKey,
        scope: Scope,
        transcript: Transcript,
        specs: tuple[ToolSpec, ...],
        model: str | None,
        language: Language = Language.ENGLISH,
    ) -> RequestBuilder:
        """The session's builder, kept for deferred work. `model`: by default the agent's."""
        name = model or self._settings.model.name
        budget = await self._windows.budget(name)
        author = self._history.author(scope)
        builder = RequestBuilder(
            key,
            scope,
            transcript,
            specs,
            self._model,
            name,
            self._settings,
            budget,
            self._clock,
            author,
            self._search,
            partial(self.fixed_part, scope),
            partial(self._redaction_lock.reading, scope),
            self._flushing.setdefault(transcript.path, asyncio.Lock()),
            language,
        )
        _keep(self._builders, transcript.path, builder)
        return builder

    async def current_builder(self, key: SessionKey, scope: Scope, model: str | None) -> RequestBuilder:
        """The builder of the current session or a new one, with the tools of its last request."""
        transcript = (await self.take_up(key, scope)).transcript
        return await self.builder(key, scope, transcript, self.specs(key, scope, transcript), model)

    async def builder_of(self, key: SessionKey, scope: Scope, id: str) -> RequestBuilder | None:
        """The builder of any session as last sent; None if its transcript is gone or unusable."""
        path = self._archive.path(key, id)
        known = self._builders.get(path)
        try:
            transcript = await asyncio.to_thread(self._read, path)
        except (FileNotFoundError, TranscriptUnusable):
            return None
        await self._take_out_owners(transcript, scope)
        model = known.model_name if known is not None else None
        return await self.builder(key, scope, transcript, self.specs(key, scope, transcript), model)

    async def _take_out_owners(self, transcript: Transcript, scope: Scope) -> None:
        if scope.audience is not Audience.OWNER:
            await take_out_owners(transcript, self._clock, partial(self.fixed_part, scope))

    def specs(self, key: SessionKey, scope: Scope, transcript: Transcript) -> tuple[ToolSpec, ...]:
        """The tools that the last request offered; before the first, the default tools."""
        known = self._builders.get(transcript.path)
        return known.specs if known is not None else tuple(tool.spec for tool in self.tools(key, scope))

    def tools(self, key: SessionKey, scope: Scope) -> tuple[Tool, ...]:
        """The default tools, which have read nothing."""
        return self._tools(key, scope, set())

    def author(self, key: SessionKey, scope: Scope) -> Author:
        """The author of changes that `/undo` finds."""
        return self._history.author(scope, str(key))

    def fixed_part(self, scope: Scope) -> FixedPart:
        """The present fixed part. Blocks."""
        return fixed_part(scope, self._clock.today(), self._settings.memory, self._skills.usable(scope))

    def _tools(
        self, key: SessionKey, scope: Scope, written: set[Path], sealed: Mapping[str, str] = _NOTHING
    ) -> tuple[Tool, ...]:
        return tools.build(
            scope,
            self._clock,
            self._settings.memory,
            self._search,
            self._settings.files_tools,
            wrote=written.add,
            skills=self._skills,
            author=self.author(key, scope),
            past=self._past,
            sealed=sealed,
        )


def _keep(held: OrderedDict[K, V], key: K, value: V) -> None:
    held[key] = value
    held.move_to_end(key)
    while len(held) > _KEPT_OPEN:
        held.popitem(last=False)
