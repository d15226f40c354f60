"""Makes sure that what a person asks to be remembered is on disk at the end.

If nothing was written, the model is asked once more; then the person's words go to today's log. Its state is read from
the turn's record, over crash and stop.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime

from agent.clock import Clock
from agent.formats import untrusted
from agent.formats.untrusted import person_text
from agent.languages.days_meant import with_days
from agent.languages.remember import asks_to_remember
from agent.memory import daily_log
from agent.memory.files import FileError, clean, read_text
from agent.memory.history import Author
from agent.memory.log_writer import append_log
from agent.memory.redaction_lock import RedactionLock
from agent.memory.scope import Scope
from agent.session.entries import MessageEntry
from agent.session.turn_record import TurnRecord, text_of
from agent.silence import deliverable_text
from agent.values import Emit, ReplyText, ResultKind, TextReset, TurnEvent, TurnResult

WRITE_IT_DOWN = (
    "The person asked you to remember something, and nothing has been written. Write it down now with memory_append, "
    "memory_save or memory_update. Your answer has been given to the person as it stands: say nothing more, answer "
    "NO_REPLY alone when done."
)
_NOTICE = untrusted.marked_block("notice", WRITE_IT_DOWN)
_NOT_WRITTEN = "_(I couldn't save what you asked me to remember: {why}.)_"
BY = "remember this"


@dataclass(frozen=True, slots=True)
class RememberGuard:
    record: TurnRecord
    scope: Scope
    clock: Clock
    author: Author
    redaction_lock: RedactionLock
    remembering: frozenset[str]
    """Names of the tools whose finished call is a memory write."""

    async def kept(self, run: Callable[[bool, Emit], Awaitable[TurnResult]], emit: Emit) -> TurnResult:
        """Runs a turn until the request is fulfilled. `run`'s first argument says whether new messages may join."""
        end: TurnResult | None = None
        if not self._asked_again:
            end = await run(True, emit)
            if self.unwritten and end.kind is not ResultKind.ERROR:
                await self.record.noticed(_NOTICE)
        if end is None or self._asked_again:
            given = end.text if end is not None else self._given

            async def emit_steps(event: TurnEvent) -> None:
                if not (given and isinstance(event, ReplyText | TextReset)):
                    await emit(event)

            end = await run(False, emit_steps)
            end = replace(end, kind=ResultKind.REPLY, text=given) if given else end
        return await self._closed(end)

    @property
    def unwritten(self) -> tuple[tuple[str, date], ...]:
        """The requests that no tool has written down, each with its message's day."""
        unwritten: list[tuple[str, date]] = []
        for entry in self.record.entries:
            if entry.meta.said and asks_to_remember(text := person_text(text_of(entry))):
                unwritten.append((text, self.clock.local(datetime.fromisoformat(entry.ts)).date()))
            elif entry.meta.tool in self.remembering and not entry.meta.error:
                unwritten.clear()
        return tuple(unwritten)

    async def write_down(self) -> None:
        """Adds the unwritten requests to today's log, even if cancelled. Raises `FileError`."""
        if self.unwritten:
            await self.redaction_lock.write(self.scope, lambda: asyncio.to_thread(self._add, self.unwritten))

    def _add(self, unwritten: Sequence[tuple[str, date]]) -> None:
        for text, said in unwritten:
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
        before = list(itertools.takewhile(lambda entry: not is_asking_again(entry), self.record.entries))
        said = (deliverable_text(text_of(entry)) for entry in before if entry.role == "assistant")
        return "\n\n".join(filter(None, said))

    @property
    def _asked_again(self) -> bool:
        return any(is_asking_again(entry) for entry in self.record.entries)


def is_asking_again(entry: MessageEntry) -> bool:
    return entry.role == "user" and not entry.meta.said and text_of(entry) == _NOTICE
