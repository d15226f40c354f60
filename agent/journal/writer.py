"""Writes the journal: each session's part of a day becomes a section of that day's log, once.

A section ends with a mark of its session and entries; later messages get their own section. Long conversations are
summarised in pieces, each kept at once. Without a model an extract is written, and the proper section later.
"""

from __future__ import annotations

import asyncio
import enum
import hashlib
import logging
import re
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

from agent.clock import Clock
from agent.context.budget import ModelWindows
from agent.journal import open_items, section_request
from agent.journal.day_messages import DayConversation, DayMessage
from agent.journal.day_messages import read as read_day
from agent.journal.fallback import extract, language_of, worth_a_line
from agent.journal.progress import JournalProgress, JournalSection, PendingSection, in_log
from agent.journal.section_request import SectionText
from agent.languages.registry import LANGUAGES
from agent.memory.daily_log import JOURNAL_TITLE, heading_line, log_path
from agent.memory.files import FileError, clean, read_text
from agent.memory.history import History
from agent.memory.log_writer import append_day
from agent.memory.redaction_lock import ReadEpoch, RedactionLock, StaleRead
from agent.memory.scope import Scope, ScopeBusy
from agent.model.base import ContextOverflow, InvalidRequest, Model, ModelError, StaleRequest
from agent.model.client import ask
from agent.model.offline.model import NAME as OFFLINE
from agent.model.tokens import estimate
from agent.session.archive import Archive, SessionInfo
from agent.session.export import as_said, noted_in
from agent.session.transcript import Transcript, TranscriptUnusable
from agent.settings import AgentSettings
from agent.values import SessionKey

_log = logging.getLogger(__name__)

MOST_TOKENS_A_DAY = 100_000
"""Tokens of a conversation and day that a model reads; the rest becomes an extract."""
_LONGEST_ABSENCE = timedelta(days=35)
"""After a machine was off for so long, its last days are still written."""
_PIECE_TOKENS = 24_000
_LEAST_PIECE = 1_000
_FIXED_TOKENS = 2_500
"""Instructions, tool and open list."""

_NUMBER_OF_CHAT = re.compile(r"-{1,2}\d+")
"""A platform's number, which tells readers nothing."""

ScopeOf = Callable[[SessionKey], Scope | None]
Begins = Callable[[SessionKey], AbstractAsyncContextManager[None]]


class NoModel(Exception):
    """No model can be reached."""


@dataclass(frozen=True, slots=True)
class JournalReport:
    told: int = 0
    extracts: int = 0
    problems: tuple[str, ...] = ()
    """Sentences on sections that could not be written."""


class _Done(enum.Enum):
    TOLD = enum.auto()
    EXTRACT = enum.auto()
    UNREACHABLE = enum.auto()  # an extract of it stands in the log already
    NOTHING = enum.auto()


@dataclass(frozen=True, slots=True)
class _Work:
    """A session's part of a day that the log lacks, after the entry `after`."""

    info: SessionInfo
    scope: Scope
    day: date
    spoken: Sequence[DayMessage]
    fresh: Sequence[DayMessage]
    """Those that are not even in an extract."""
    after: int
    spent: int
    """Tokens read for this day."""
    talked: DayConversation
    reading: ReadEpoch
    """The epoch in which this was read."""


class Journal:
    """Writes one part at a time. `marks`: the file of `JournalProgress`."""

    def __init__(
        self,
        settings: AgentSettings,
        archive: Archive,
        marks: Path,
        model: Model,
        windows: ModelWindows,
        history: History,
        redaction_lock: RedactionLock,
        clock: Clock,
    ) -> None:
        self._settings = settings
        self._archive = archive
        self._marks = JournalProgress(marks)
        self._model = model
        self._windows = windows
        self._history = history
        self._redaction_lock = redaction_lock
        self._clock = clock
        self._one_at_a_time = asyncio.Lock()

    async def write(
        self, scope_of: ScopeOf, since: date, until: date, begins: Begins = lambda _: nullcontext()
    ) -> JournalReport:
        """Completes the logs of those days for every session with a scope, and of earlier days from where it was left.
        `begins` is entered for each part of a session, and may raise `ScopeBusy`: then its scope is left out. Raises
        `OSError`."""
        told = extracts = 0
        problems: list[str] = []
        reachable = True
        busy: set[Scope] = set()
        for info, scope, begin in await asyncio.to_thread(self._sessions_to_write, scope_of, since):
            reading = self._redaction_lock.reading(scope)
            for listed in await asyncio.to_thread(self._lacking, info, scope, reading, begin, until):
                if scope in busy:
                    break
                try:
                    async with begins(info.key), self._one_at_a_time:
                        done = await self._entered(listed, reachable)
                except FileError as problem:
                    _log.error("the journal of %s is not written: %s", listed.day, problem)
                    problems.append(str(problem))
                except ScopeBusy as problem:
                    _log.warning("the journal of %s is not written: %s", info.key, problem)
                    problems.append(str(problem))
                    busy.add(scope)
                else:
                    told, extracts = told + (done is _Done.TOLD), extracts + (done is _Done.EXTRACT)
                    reachable = reachable and done not in (_Done.EXTRACT, _Done.UNREACHABLE)
        return JournalReport(told, extracts, tuple(dict.fromkeys(problems)))

    async def _entered(self, listed: _Work, reachable: bool) -> _Done:
        """Writes a session's part of a day; reads it again if something was forgotten meanwhile. Raises `FileError`."""
        while True:
            reading = self._redaction_lock.reading(listed.scope)
            day = listed.day
            lacking = await asyncio.to_thread(self._lacking, listed.info, listed.scope, reading, day, day)
            if not lacking:
                return _Done.NOTHING
            work = lacking[0]
            try:
                if reachable and await self._told(work):
                    return _Done.TOLD
                reachable = False
                if not work.fresh:
                    return _Done.UNREACHABLE
                async with reading.writing():
                    await asyncio.to_thread(self._enter_extract, work)
                return _Done.EXTRACT
            except StaleRead:
                _log.info("%s: something was forgotten while a day was summarised; it is read again", listed.info.key)

    def forget(self, sessions: Collection[str], holds: Callable[[str], bool]) -> None:
        """Drops pending sections with forgotten text. Blocks; raises `OSError`."""
        self._marks.forget(sessions, holds)

    # missing sections ------------------------------------------------------------------------------------------

    def _sessions_to_write(self, scope_of: ScopeOf, since: date) -> list[tuple[SessionInfo, Scope, date]]:
        """The sessions with the day to begin at, oldest first."""
        reached = self._marks.reached()
        earliest = since - _LONGEST_ABSENCE if reached else since  # messages from before the first journal stay out
        found: list[tuple[SessionInfo, Scope, date]] = []
        for info in reversed(self._archive.sessions()):
            begin = max(earliest, min(since, reached.get(info.id, earliest)))
            if self._clock.local(info.last).date() >= begin and (scope := scope_of(info.key)) is not None:
                found.append((info, scope, begin))
        return found

    def _lacking(self, info: SessionInfo, scope: Scope, reading: ReadEpoch, since: date, until: date) -> list[_Work]:
        try:
            talked = read_day(Transcript.read(self._archive.path(info.key, info.id)), self._clock)
        except (FileNotFoundError, TranscriptUnusable) as problem:
            _log.warning("the journal skips a session: %s", problem)
            return []
        days = ((day, spoken) for day, spoken in sorted(talked.days.items()) if since <= day <= until)
        found = (self._work(info, scope, reading, day, spoken, talked) for day, spoken in days)
        return [work for work in found if work is not None]

    def _work(
        self,
        info: SessionInfo,
        scope: Scope,
        reading: ReadEpoch,
        day: date,
        spoken: Sequence[DayMessage],
        talked: DayConversation,
    ) -> _Work | None:
        sections = self._sections(info.id, scope, day)
        proper = max((section.last for section in sections if not section.is_extract), default=-1)
        anyhow = max((section.last for section in sections), default=-1)
        lacking = [message for message in spoken if message.number > proper]
        if not lacking:
            return None
        fresh = [message for message in spoken if message.number > anyhow]
        return _Work(
            info, scope, day, lacking, fresh, proper, sum(section.tokens for section in sections), talked, reading
        )

    def _sections(self, session: str, scope: Scope, day: date) -> Sequence[JournalSection]:
        marked = self._marks.sections(session, day)
        known = {(section.first, section.last, section.is_extract) for section in marked}
        unmarked = [
            section
            for section in in_log(self._log(scope, day), session)
            if (section.first, section.last, section.is_extract) not in known
        ]
        if unmarked:
            self._marks.written(session, day, unmarked)
        return [*marked, *unmarked]

    @staticmethod
    def _log(scope: Scope, day: date) -> str:
        try:
            file = read_text(log_path(scope, day), scope.folder)
        except FileError as problem:
            _log.warning("a log cannot be read: %s", problem)
            return ""
        return file.text if file is not None else ""

    # by a model ------------------------------------------------------------------------------------------------

    async def _told(self, work: _Work) -> bool:
        """Writes a model's summary; False if none can be reached. Raises `FileError`, `StaleRead`."""
        kept = await asyncio.to_thread(self._marks.pieces, work.info.id, work.day, work.after)
        pieces, left = _still_good(kept, work.spoken)
        room = MOST_TOKENS_A_DAY - work.spent - sum(earlier.tokens for earlier in pieces)
        budget = (await self._windows.budget(self._settings.model.name)).window
        size = min(_PIECE_TOKENS, max(_LEAST_PIECE, budget - _FIXED_TOKENS - section_request.MOST_TOKENS))
        while left:
            part = _fitting(left, min(size, room))
            if not part:
                break
            try:
                piece = await self._piece(
                    work, part, [promise for earlier in pieces for promise in earlier.told.promises]
                )
            except ContextOverflow:
                if len(part) == 1 or size <= _LEAST_PIECE:
                    piece = _by_extract(part)
                else:
                    size = max(_LEAST_PIECE, size // 2)
                    continue
            except NoModel:
                return False
            async with work.reading.writing():
                await asyncio.to_thread(self._marks.keep, work.info.id, work.day, piece)
            pieces.append(piece)
            room -= piece.tokens
            left = left[len(part) :]
        async with work.reading.writing():
            await asyncio.to_thread(self._enter, work, pieces, left)
        return True

    async def _piece(
        self, work: _Work, part: Sequence[DayMessage], before: Sequence[open_items.OpenItem]
    ) -> PendingSection:
        """Summarises a piece; one that the model declines becomes an extract. `before`: items of earlier pieces. Raises
        `NoModel`, `ContextOverflow`, `StaleRead`."""
        known = {item.id: item for item in (*await asyncio.to_thread(_open, work.scope), *before)}
        session, open_ = str(work.info.key), [*known.values()]
        request = section_request.request(self._settings.model, session, work.day, part, open_, work.reading)
        try:
            answer = await ask(self._model, request)
        except ContextOverflow:
            raise
        except StaleRequest:
            raise StaleRead from None
        except InvalidRequest as problem:
            _log.warning("%s: a part of the journal is an extract: %s", work.info.key, problem)
            return _by_extract(part)
        except ModelError as problem:
            _log.warning("%s: the journal has no model: %s", work.info.key, problem)
            raise NoModel from problem
        if answer.model == OFFLINE:
            raise NoModel
        told = section_request.read(answer, work.day, part)
        if not told.bullets:
            return _by_extract(part, _size(part))
        sources = tuple(dict.fromkeys(name for message in part for name in message.line.sources))
        return PendingSection(part[0].number, part[-1].number, _size(part), _name(part), told.made_from(sources))

    # into the log ----------------------------------------------------------------------------------------------

    def _enter(self, work: _Work, pieces: Sequence[PendingSection], left: Sequence[DayMessage]) -> None:
        """Writes open items, which a repetition does not double, then the section. Raises `FileError`."""
        bullets = [bullet for piece in pieces for bullet in piece.told.bullets]
        if left:
            remark = LANGUAGES[language_of(work.spoken)].journal.from_here.format(number=f"{MOST_TOKENS_A_DAY:,}")
            bullets += [f"- {left[0].line.at:%H:%M} {remark}", *extract(left)]
        with self._history.author(work.scope).writes(section_request.PURPOSE):
            open_items.keep(work.scope, self._clock, [promise for piece in pieces for promise in piece.told.promises])
            open_items.close(work.scope, self._clock, [id for piece in pieces for id in piece.told.closed])
        replaces = len(work.fresh) < len(work.spoken)
        section = JournalSection(
            work.spoken[0].number, work.spoken[-1].number, tokens=sum(piece.tokens for piece in pieces)
        )
        self._append(work, work.spoken, section, bullets, "in place of the extract above" if replaces else "")

    def _enter_extract(self, work: _Work) -> None:
        """Writes an extract without the lines that were noted as they were said."""
        section = JournalSection(work.fresh[0].number, work.fresh[-1].number, is_extract=True)
        noted = noted_in(self._log(work.scope, work.day))
        fresh = [message for message in worth_a_line(work.fresh) if as_said(message.line.text) not in noted]
        if fresh:
            self._append(work, work.fresh, section, extract(fresh), "extract")
        else:
            self._marks.written(work.info.id, work.day, [section])

    def _append(
        self, work: _Work, spoken: Sequence[DayMessage], section: JournalSection, bullets: Sequence[str], remark: str
    ) -> None:
        damaged = work.talked.damage(spoken[0].number - 1, spoken[-1].number)
        if damaged:
            bullets = [*bullets, f"- {LANGUAGES[language_of(spoken)].journal.gap_of(damaged)}"]
        span = f"{spoken[0].line.at:%H:%M}-{spoken[-1].line.at:%H:%M}"
        title = f"{JOURNAL_TITLE.removeprefix('## ')}{_NUMBER_OF_CHAT.sub('', work.info.key.path)} · {span}"
        title += f" ({remark})" if remark else ""
        mark = section.comment(work.info.id)
        harmless = [clean(bullet).replace("<!--", "<!‐‐") for bullet in bullets]
        body = "\n".join([*harmless, "", mark])
        with self._history.author(work.scope).writes(section_request.PURPOSE):
            append_day(work.scope, work.day, heading_line(title) + body + "\n")
        self._marks.written(work.info.id, work.day, [section])


def _by_extract(part: Sequence[DayMessage], tokens: int = 0) -> PendingSection:
    return PendingSection(part[0].number, part[-1].number, tokens, _name(part), SectionText(tuple(extract(part))))


def _still_good(
    kept: Sequence[PendingSection], spoken: Sequence[DayMessage]
) -> tuple[list[PendingSection], Sequence[DayMessage]]:
    """The first pieces that still match, and the messages left."""
    pieces: list[PendingSection] = []
    left = spoken
    for piece in kept:
        part = [message for message in left if message.number <= piece.last]
        if not part or part[0].number != piece.first or _name(part) != piece.source:
            break
        pieces.append(piece)
        left = left[len(part) :]
    return pieces, left


def _name(part: Sequence[DayMessage]) -> str:
    return hashlib.sha256("\n".join(message.text for message in part).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _fitting(spoken: Sequence[DayMessage], room: int) -> Sequence[DayMessage]:
    """The first messages that fit, with whole entries; at least one entry, unless there is hardly room."""
    at = size = 0
    while at < len(spoken):
        end = at + 1
        while end < len(spoken) and spoken[end].number == spoken[at].number:
            end += 1
        size += _size(spoken[at:end])
        if size > room and (at or room < _LEAST_PIECE):
            break
        at = end
    return spoken[:at]


def _size(spoken: Sequence[DayMessage]) -> int:
    return sum(estimate(message.text) + 1 for message in spoken)


def _open(scope: Scope) -> Sequence[open_items.OpenItem]:
    try:
        return open_items.still_open(scope)
    except FileError as problem:
        _log.warning("the open list cannot be read: %s", problem)
        return ()
