"""Makes sure that what a person asks to be remembered ends on disk (SPEC 6), whatever the model does.

A turn in which they asked and nothing was written asks the model once more; failing that, their own words go to today's
log. Its state is read from the turn's journal, so that a crash, a restart or a stop changes nothing.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import date, datetime

from agent.clock import Clock
from agent.formats import untrusted
from agent.formats.message_text import person_text
from agent.languages.days_meant import with_days
from agent.languages.remember import asks_to_remember
from agent.memory import daily_log
from agent.memory.files import FileError, clean, read_text
from agent.memory.history import Author
from agent.memory.log_writer import append_log
from agent.memory.redaction_lock import RedactionLock
from agent.memory.scope import Scope
from agent.session.entries import MessageEntry
from agent.session.turn_journal import TurnJournal, text_of
from agent.silence import deliverable_text
from agent.values import ReplyText, ResultKind, TextReset, TurnEvent, TurnResult

WRITE_IT_DOWN = (
    "The person asked you to remember something, and nothing has been written. Write it down now with memory_append, "
    "memory_save or memory_update. Your answer has been given to the person as it stands: say nothing more, answer "
    "NO_REPLY alone when done."
)
_NOTICE = untrusted.marked_block("notice", WRITE_IT_DOWN)
_NOT_WRITTEN = "_(What you asked me to remember could not be written down: {why}.)_"
BY = "remember this"


@dataclass(frozen=True, slots=True)
class RememberGuard:
    """`remembering` names the tools whose finished call is a memory write."""

    steps: TurnJournal
    scope: Scope
    clock: Clock
    author: Author
    redaction_lock: RedactionLock
    remembering: frozenset[str]

    async def kept(self, run: Callable[[bool], AsyncGenerator[TurnEvent, None]]) -> AsyncGenerator[TurnEvent, None]:
        """The events of a turn, ended once the request is fulfilled. `run` runs it from where its journal is, and is
        told whether new messages may join."""
        end: TurnResult | None = None
        if not self._asked_again:
            async with aclosing(run(True)) as events:
                async for event in events:
                    if isinstance(event, TurnResult):
                        end = event
                    else:
                        yield event
            assert end is not None
            if self.owed and end.kind is not ResultKind.ERROR:
                await self.steps.noticed(_NOTICE)
        if self._asked_again:
            given = end.text if end is not None else self._given
            async with aclosing(run(False)) as events:
                async for event in events:
                    if isinstance(event, TurnResult):
                        end = replace(event, kind=ResultKind.REPLY, text=given) if given else event
                    elif not (given and isinstance(event, ReplyText | TextReset)):
                        yield event
        assert end is not None
        yield await self._closed(end)

    @property
    def owed(self) -> tuple[tuple[str, date], ...]:
        """What people asked to be remembered and no tool has written since, with the day of the message."""
        owed: list[tuple[str, date]] = []
        for entry in self.steps.entries:
            if entry.meta.said and asks_to_remember(text := person_text(text_of(entry))):
                owed.append((text, self.clock.local(datetime.fromisoformat(entry.ts)).date()))
            elif entry.meta.tool in self.remembering and not entry.meta.error:
                owed.clear()
        return tuple(owed)

    async def write_down(self) -> None:
        """Adds the rest to today's log in the person's words, unless it is there; goes on when its caller is cancelled.
        Raises `FileError`."""
        if self.owed:
            await self.redaction_lock.write(self.scope, self._write_down)

    async def _write_down(self) -> None:
        await asyncio.to_thread(self._add, self.owed)

    def _add(self, owed: Sequence[tuple[str, date]]) -> None:
        for text, said in owed:
            now = self.clock.now()
            log = read_text(daily_log.log_path(self.scope, now.date()), self.scope.folder)
            dated = with_days(clean(text), said)
            entry = daily_log.entry(now, dated).partition(f"- {now:%H:%M} ")[2]
            if log is None or entry not in log.text:
                with self.author.writes(BY):
                    append_log(self.scope, self.clock, dated)

    async def _closed(self, end: TurnResult) -> TurnResult:
        try:
            await self.write_down()
        except FileError as problem:
            said = _NOT_WRITTEN.format(why=problem)
            kind = ResultKind.REPLY if end.kind is ResultKind.SILENCE else end.kind
            return replace(end, kind=kind, text="\n\n".join(filter(None, (end.text, said))))
        return end

    @property
    def _given(self) -> str:
        """The reply as it was when the model was asked again; its answer to that is not for the person."""
        before = list(itertools.takewhile(lambda entry: not is_asking_again(entry), self.steps.entries))
        said = (deliverable_text(text_of(entry)) for entry in before if entry.role == "assistant")
        return "\n\n".join(filter(None, said))

    @property
    def _asked_again(self) -> bool:
        return any(is_asking_again(entry) for entry in self.steps.entries)


def is_asking_again(entry: MessageEntry) -> bool:
    """True for the notice that something was not written down."""
    return entry.role == "user" and not entry.meta.said and text_of(entry) == _NOTICE
