"""The flush: before context is lost, the model is asked once to write down what lasts.

`before_context_loss` is the one gate before every loss of context (invariant 5). The turn is silent: its text goes
nowhere, is no part of the conversation, and only tools that add to memory are run. Its `flush` entries make it happen
once per cycle over crashes. A failed flush never delays what it precedes. Where the next message would set it off
(`is_near`), it is made behind the answer before.

An answer whose calls have all been written ends it, for a second request on a full window would cost as much as a turn.
Only after a call that reads, was refused or failed is the model asked again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from datetime import date, datetime
from pathlib import Path

from agent import tools
from agent.clock import Clock, utc_stamp
from agent.compaction.cut import fitted
from agent.compaction.flush_state import (
    FLUSH,
    SINCE,
    ContextLossReason,
    FlushStatus,
    answered_since,
    flush_state_of,
    unflushed,
)
from agent.context.replay import id_of, settled
from agent.context.request import RequestBuilder
from agent.formats.plain_text import slug
from agent.languages.sentences import Sentence
from agent.memory import notes
from agent.memory.daily_log import log_path
from agent.memory.files import FileError, check_writable
from agent.memory.provenance import provenance_of_writes
from agent.memory.redaction_lock import StaleRead
from agent.model.base import (
    CUT,
    REFUSED,
    Block,
    Completed,
    ContextOverflow,
    Json,
    Message,
    ModelError,
    StaleRequest,
    result_block,
)
from agent.model.client import ask
from agent.model.tokens import estimate_blocks
from agent.session.entries import Entry, MarkEntry, MessageEntry
from agent.session.taint import taint
from agent.silence import NO_REPLY
from agent.tools.arguments import MemorySave, MemoryUpdate
from agent.tools.base import Tool, ToolError
from agent.tools.schema import read

_log = logging.getLogger(__name__)

PURPOSE = "flush"
NO_ROOM = Sentence("No part of the conversation fits the model's window.")
MOST_TRIES = 3
"""In a cycle."""
MOST_ROUNDS = 6
"""Answers with tool calls in one flush."""
_MOST_TOKENS = 4_096
_LEAST_TOKENS = 256
_PROMPT_TOKENS = 400
_HALVINGS = 3
"""How often the copy of the conversation is halved because the server's window is smaller than it says."""
_READING = frozenset({"memory_search", "memory_get", "memory_list"})
_ADDING = frozenset({"memory_append", "memory_save", "memory_update"})

SYSTEM_PROMPT = "The earlier part of this conversation will soon be shortened to a summary."
PROMPT = (
    "Write down now what should last and is not in memory yet: facts about people, preferences, decisions with "
    "reasons, promises, open tasks, what you advised or found out, names, numbers and identifiers as they are; nothing "
    "of the moment, nothing recalled. Write so that it is found in a year: full names instead of pronouns, the "
    "everyday word beside a special one, and the day that is meant, reckoned from the message that says it: "
    '"2026-05-08 (said 05-05) dentist at ten", not "on Friday".'
)
SAFETY = """\
Nobody reads your answer. Go on with no task, answer no question.
- Today is {day}; memory_append writes to {path}, today's log. Name no other day's file.
- Only these tools are obeyed now, only to add: memory_append, memory_save (new note), memory_update (empty old_text).
- Give all calls in this one answer, without words: you are not asked again.
- Nothing to add: answer {silence} alone."""


def is_near(builder: RequestBuilder) -> bool:
    """True where the last message is answered and another of its length would set off a flush."""
    budget, entries = builder.budget, builder.transcript.entries
    newest = next((entry for entry in reversed(entries) if isinstance(entry, MessageEntry)), None)
    if newest is None or newest.role != "assistant":
        return False
    said = next((entry for entry in reversed(entries) if isinstance(entry, MessageEntry) and entry.meta.said), None)
    size = estimate_blocks(said.content) if said is not None else 0
    if budget.has_room(builder.projected() + min(size, budget.compact_at - budget.flush_at)):
        return False
    return _is_wanted(entries, MOST_TRIES)


def _is_wanted(entries: Sequence[Entry], most_tries: int) -> bool:
    cycle = flush_state_of(entries)
    return cycle.flushed != cycle.number and cycle.tries < most_tries and answered_since(entries)


async def before_context_loss(builder: RequestBuilder, reason: ContextLossReason) -> None:
    """Flushes, unless this cycle has been; waits for a flush that goes on, and does not repeat one that failed then.
    Never raises for a failing model or workspace; raises `TranscriptNotWritten`."""
    most_tries = 1 if builder.flushing.locked() else MOST_TRIES
    async with builder.flushing:
        if _is_wanted(builder.transcript.entries, most_tries):
            await _flush(builder, reason)


async def _flush(builder: RequestBuilder, reason: ContextLossReason) -> None:
    transcript = builder.transcript
    record = _Record(builder, reason, flush_state_of(transcript.entries).number)
    if not builder.settings.session.flush.enabled:
        await record.write(FlushStatus.SKIPPED, why="disabled")
        return
    flush = _Flush(builder)
    try:
        await asyncio.to_thread(check_writable, flush.log, builder.scope.folder)
    except FileError as problem:
        await record.write(FlushStatus.SKIPPED, why=f"not writable: {problem}")
        return
    await record.write(FlushStatus.STARTED, path=flush.path)
    try:
        found = taint(transcript, builder.scope, "")
        with builder.author.writes(PURPOSE), provenance_of_writes(found.provenance(builder.scope)):
            await flush.run()
    except ContextOverflow:
        _log.warning("%s: a flush is skipped: %s", builder.session, NO_ROOM)
        await record.write(FlushStatus.SKIPPED, why=NO_ROOM)
    except ModelError as problem:
        _log.warning("%s: a flush failed: %s", builder.session, problem)
        await record.write(FlushStatus.FAILED, why=str(problem), written=flush.written)
    else:
        why = "only the newest part of the conversation fitted the model's window" if flush.since else ""
        await record.write(FlushStatus.DONE, why, flush.path, flush.written, flush.since)


def _day_of(entries: Sequence[Entry], clock: Clock) -> date | None:
    """The day of the messages that no flush has seen, if all are of the same day."""
    new = unflushed(entries)
    stamps = (entry.ts for entry in entries if isinstance(entry, MessageEntry) and entry.id in new)
    days = {clock.local(datetime.fromisoformat(stamp)).date() for stamp in stamps}
    return days.pop() if len(days) == 1 else None


class _Record:
    def __init__(self, builder: RequestBuilder, reason: ContextLossReason, cycle: int) -> None:
        self._builder = builder
        self._fields: dict[str, Json] = {"reason": str(reason), "cycle": cycle}

    async def write(
        self, state: FlushStatus, why: str = "", path: str = "", written: Sequence[str] = (), since: str = ""
    ) -> None:
        fields: dict[str, Json] = {**self._fields, "state": str(state)}
        fields |= {name: value for name, value in (("why", why), ("path", path), (SINCE, since)) if value}
        if written:
            fields["written"] = list(written)
        transcript = self._builder.transcript
        await transcript.append(MarkEntry(transcript.new_id(), utc_stamp(self._builder.clock.now()), FLUSH, fields))


class _Flush:
    """One flush, with its clock stopped: midnight must not move the file it writes."""

    def __init__(self, builder: RequestBuilder) -> None:
        self._builder = builder
        start = builder.clock.now()
        self._clock = Clock(builder.clock.zone, lambda: start)
        self.log = log_path(builder.scope, start.date())
        self.path = self.log.relative_to(builder.scope.folder).as_posix()
        self._reading = builder.reading()
        self._entries = settled(builder.transcript.entries)
        self._size = builder.projected(self._entries)
        self._said_on = _day_of(builder.transcript.entries, builder.clock)
        self.since = ""
        self._written: dict[Path, None] = {}
        built = tools.build(
            builder.scope,
            self._clock,
            builder.settings.memory,
            builder.search,
            files=False,
            wrote=self._wrote,
            author=builder.author,
            day_of_text=lambda _: self._said_on,
        )
        self._tools = {tool.name: tool for tool in built if tool.name in _READING | _ADDING}

    @property
    def written(self) -> list[str]:
        return [path.relative_to(self._builder.scope.folder).as_posix() for path in self._written]

    def _wrote(self, path: Path) -> None:
        self._written[path] = None

    async def run(self) -> None:
        """Flushes on the last request, which the server has cached; else on the newest part that fits. Raises
        `ModelError`."""
        fixed = self._builder.fixed
        room = self._builder.budget.window - _PROMPT_TOKENS - _LEAST_TOKENS - fixed
        if self._size <= fixed + room:
            try:
                return await self._rounds(self._builder.context(self._entries, pictures=False).messages, self._size)
            except ContextOverflow:
                room = (self._size - fixed) // 2
        for left in reversed(range(_HALVINGS)):
            part = fitted(self._entries, room)
            if not part:
                break
            self.since = id_of(part[0])
            try:
                return await self._rounds(self._builder.context(part, pictures=False).messages, fixed + room)
            except ContextOverflow:
                if not left:
                    raise
                room //= 2
        raise ContextOverflow(NO_ROOM)

    async def _rounds(self, before: Sequence[Message], size: int) -> None:
        """`size`: tokens of the first request. An overflow after the first answer is a normal end."""
        messages = [*before, self._builder.words_of_ours(self._prompt())]
        left = self._builder.budget.window - size - _PROMPT_TOKENS
        most = max(_LEAST_TOKENS, min(_MOST_TOKENS, self._builder.budget.answer, left))
        for round in range(MOST_ROUNDS):
            try:
                request = self._builder.request(messages, self._reading, PURPOSE, most, aside=True)
                answer = await ask(self._builder.model, request)
            except ContextOverflow:
                if round:
                    return
                raise
            if answer.stop_reason == REFUSED:
                raise ModelError(Sentence("The model declined to write anything down."))
            calls = [block for block in answer.content if block.get("type") == "tool_use"]
            results = [await self._written_result(call, answer) for call in calls]
            if all(map(self._is_written, calls, results)):
                return
            messages += [Message("assistant", answer.content), Message("user", tuple(results))]

    @staticmethod
    def _is_written(call: Block, result: Block) -> bool:
        return call.get("name") in _ADDING and not result.get("is_error")

    def _prompt(self) -> str:
        wished = self._builder.settings.session.flush
        parts = (wished.system_prompt or SYSTEM_PROMPT, wished.prompt or PROMPT)
        day = self._clock.now()
        safety = SAFETY.format(day=f"{day:%Y-%m-%d}, {day:%H:%M} {day.tzinfo}", path=self.path, silence=NO_REPLY)
        return "\n\n".join((*parts, safety))

    async def _written_result(self, call: Block, answer: Completed) -> Block:
        """Raises `StaleRequest` if something in the request was forgotten since."""
        try:
            if call.get("name") not in _ADDING:
                return await self._result(call, answer)
            async with self._reading.writing():
                return await self._result(call, answer)
        except StaleRead:
            raise StaleRequest from None

    async def _result(self, call: Block, answer: Completed) -> Block:
        id = str(call["id"])
        try:
            if id in answer.invalid or answer.stop_reason == CUT:
                raise ToolError("The input was cut or is not valid JSON; make it shorter.")
            return result_block(id, await self._obeyed(str(call.get("name")), call.get("input"), id))
        except ToolError as refusal:
            return result_block(id, str(refusal), error=True)

    async def _obeyed(self, name: str, given: Json, call: str) -> str:
        tool = self._tools.get(name)
        if tool is None:
            raise ToolError("Not now: only memory_append, memory_save of a new note and memory_update that adds.")
        await asyncio.to_thread(self._only_adds, name, given)
        return await self._run(tool, given, call)

    @staticmethod
    async def _run(tool: Tool, given: Json, call: str) -> str:
        try:
            if tool.effect is not None and await tool.effect(given) is not None:
                raise ToolError("Not now: that needs the owner's yes.")
            return (await tool.run(given, call)).text or "(nothing)"
        except ToolError:
            raise
        except Exception as bug:
            _log.exception("the tool %s failed unexpectedly in a flush", tool.name)
            raise ToolError(f"The tool {tool.name} broke ({type(bug).__name__}).") from bug

    def _only_adds(self, name: str, given: Json) -> None:
        if name == "memory_update" and read(given, MemoryUpdate).old_text:
            raise ToolError("Not now: leave old_text empty, so that new_text is added and nothing is replaced.")
        if name == "memory_save" and self._is_note(read(given, MemorySave).name):
            raise ToolError(
                "There is a note of that name, which is not replaced now. Use memory_append, or a new name."
            )

    def _is_note(self, name: str) -> bool:
        try:
            known = notes.listing(self._builder.scope, self._clock)
        except FileError:
            return False
        return any(slug(note.name) == slug(name) for note in known)
