"""Runs an answer's tool calls. Every call has a result (invariant 4)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NoReturn

from agent.context.file_changes import FileWatch, seen_by
from agent.formats.secrets import NO_SECRETS, KnownSecrets
from agent.formats.untrusted import clean
from agent.memory.provenance import provenance_of_writes
from agent.memory.redaction_lock import ReadEpoch, StaleRead
from agent.memory.scope import Scope
from agent.model.base import Block, Json
from agent.session.entries import SeenFile
from agent.session.outgoing import Conversation, Judgement, judged
from agent.session.taint import Taint, needs_yes, taint
from agent.session.transcript import Transcript
from agent.session.turn_record import TurnRecord
from agent.tools.base import Effect, EffectRequest, OwnerConsent, Tool, ToolError, ToolResult

_log = logging.getLogger(__name__)

MAX_RESULT_CHARS = 50_000
_AT_ONCE = 8

INTERRUPTED = (
    "Interrupted by a restart of the assistant: this call may or may not have taken effect. Check before you repeat it."
)
CUT_CALL = "Not run: the answer reached its length limit, so that this call may be cut. Make it shorter, or in parts."
NO_MORE_CALLS = "Not run: this turn has used up its steps."
FORGOTTEN_CALL = (
    "No result: something was forgotten meanwhile (/forget), and this call may be about it; it may or may not have "
    "taken effect. Look at the conversation as it reads now, and call again only if that is still wanted."
)
NOBODY_TO_ASK = "Not done: this needs the owner's yes, and there is nobody who could be asked."
STOPPED_CALL = "Stopped by the person: this call may or may not have taken effect."


class ToolRunner:
    """Files that tools write are added to `written`; `approvals` asks the owner if text of others may be the reason of
    an effect. `secrets` are in no result. `beside` reads the transcripts that share the conversation's account of what
    has left, and blocks."""

    def __init__(
        self,
        tools: Sequence[Tool],
        record: TurnRecord,
        scope: Scope,
        freshness: FileWatch,
        written: set[Path],
        approvals: OwnerConsent | None = None,
        secrets: KnownSecrets = NO_SECRETS,
        beside: Callable[[], tuple[Transcript, ...]] = tuple,
    ) -> None:
        self._secrets = secrets
        self._beside = beside
        self._tools = {tool.name: tool for tool in tools}
        self._record = record
        self._scope = scope
        self._freshness = freshness
        self._written = written
        self._approvals = approvals

    async def run(self, calls: Sequence[Block], invalid: Mapping[str, str], reading: ReadEpoch) -> None:
        """Runs calls, reading ones side by side, and records each result. What was forgotten since `reading` is neither
        written nor looked up."""
        for batch in self._batches(calls):
            if len(batch) == 1:
                await self._run(batch[0], invalid, reading)
                continue
            try:
                async with asyncio.TaskGroup() as group:
                    for call in batch:
                        group.create_task(self._run(call, invalid, reading))
            except BaseExceptionGroup as several:  # a record that cannot be written: the others would say the same
                raise several.exceptions[0] from several

    async def close_interrupted(self, calls: Iterable[Block]) -> None:
        """Records a result for each call that a crash interrupted."""
        for call in calls:
            tool = self._tools.get(str(call["name"]))
            waits = await self._approvals.fate(self._name(call)) if self._approvals is not None else ""
            known = ToolResult(waits or INTERRUPTED)
            if not waits and tool is not None and tool.outcome is not None:
                known = await tool.outcome(str(call["id"]))
            await self._record_result(call, known, error=True)

    async def close(self, calls: Iterable[Block], why: str) -> None:
        for call in calls:
            await self._record.result(call, why, error=True)

    def _batches(self, calls: Sequence[Block]) -> Iterator[list[Block]]:
        batch: list[Block] = []
        for call in calls:
            tool = self._tools.get(str(call["name"]))
            alone = tool is None or not tool.reads_only
            if batch and (alone or len(batch) == _AT_ONCE):
                yield batch
                batch = []
            batch.append(call)
            if alone:
                yield batch
                batch = []
        if batch:
            yield batch

    async def _run(self, call: Block, invalid: Mapping[str, str], reading: ReadEpoch) -> None:
        tool = self._tools.get(str(call["name"]))
        try:
            if tool is not None and tool.writes_files:
                async with reading.writing():
                    await (await self._done(tool, call, invalid))()
            else:
                reading.check()
                record_result = await self._done(tool, call, invalid)
                async with reading.writing():
                    await record_result()
        except StaleRead:
            await self._record.result(call, FORGOTTEN_CALL, error=True)

    async def _done(self, tool: Tool | None, call: Block, invalid: Mapping[str, str]) -> Callable[[], Awaitable[None]]:
        """Runs a call; returns what records its result."""
        writes = tool is not None and not tool.reads_only
        changed = await asyncio.to_thread(self._freshness.unseen, self._seen()) if writes else frozenset[str]()
        try:
            done, error = await self._result(tool, call, invalid), False
        except ToolError as problem:
            text = str(problem) or "It did not work."
            done, error = ToolResult(text, foreign=problem.foreign, pictures=problem.pictures), True
        files = await self._seen_now(changed) if self._written else {}
        return partial(self._record_result, call, done, error=error, files=files)

    async def _record_result(
        self, call: Block, done: ToolResult, *, error: bool, files: Mapping[str, SeenFile] | None = None
    ) -> None:
        foreign = (
            replace(text, source=self._secrets(text.source), line=self._secrets(text.line)) for text in done.foreign
        )
        await self._record.result(
            call,
            _capped(self._secrets(clean(done.text))) or "(no output)",
            error=error,
            files=files,
            quoted=done.quoted,
            foreign=tuple(foreign),
            pictures=done.pictures,
        )

    async def _result(self, tool: Tool | None, call: Block, invalid: Mapping[str, str]) -> ToolResult:
        if (garbage := invalid.get(str(call["id"]))) is not None:
            raise ToolError(f"The input was not valid JSON: {garbage[:200]}")
        if tool is None:
            raise ToolError(f"There is no tool {str(call['name'])[:100]!r}. There are: {', '.join(self._offered())}.")
        try:
            arguments, id = call.get("input"), str(call["id"])
            if tool.reads_only and tool.effect is None:
                return await tool.run(arguments, id)
            found = taint(self._record.transcript, self._scope, self._record.turn, self._record.first)
            effect = await tool.effect(arguments) if tool.effect is not None else None
            if effect is not None:
                judgement = await self._judged(tool, call, effect, found)
                if judgement.asks:
                    await self._ask(tool, call, arguments, judgement)
            with provenance_of_writes(found.provenance(self._scope)):
                return await tool.run(arguments, id)
        except ToolError:
            raise
        except Exception as bug:
            _log.exception("the tool %s failed unexpectedly", tool.name)
            raise ToolError(f"The tool {tool.name} broke ({type(bug).__name__}). Try another way, and say so.") from bug

    def _offered(self) -> list[str]:
        return [name for name, tool in self._tools.items() if tool.is_offered()]

    async def _judged(self, tool: Tool, call: Block, effect: Effect, found: Taint) -> Judgement:
        if (outgoing := effect.outgoing) is None:
            return Judgement(effect, found.causes(effect), needs_yes(effect, found))
        record, offered = self._record, [candidate for candidate in self._tools.values() if candidate.is_offered()]

        def judge() -> Judgement:
            seen = Conversation(
                record.transcript, self._scope, record.turn, record.first, str(call["id"]), self._beside()
            )
            return judged(effect, outgoing, tool, call.get("input"), found, seen, offered)

        return await asyncio.to_thread(judge)

    async def _ask(self, tool: Tool, call: Block, arguments: Json, judgement: Judgement) -> NoReturn:
        """Asks the owner. Always raises `ToolError`: nothing was done."""
        if self._approvals is None:
            raise ToolError(NOBODY_TO_ASK)
        wanted = EffectRequest(
            tool.name, self._name(call), arguments, judgement.effect, judgement.causes, judgement.consent
        )
        raise ToolError(await self._approvals.ask(wanted))

    def _name(self, call: Block) -> str:
        """A call's unique name, the same over restarts."""
        return f"{self._record.transcript.header.id}:{self._record.turn}:{call['id']}"

    async def _seen_now(self, changed: frozenset[str]) -> dict[str, SeenFile]:
        """What this call wrote counts as seen, unless somebody else changed it too."""
        written = tuple(self._written)
        self._written.clear()
        now = await asyncio.to_thread(self._freshness.written, written, self._seen())
        return {key: seen for key, seen in now.items() if key not in changed}

    def _seen(self) -> dict[str, SeenFile]:
        return seen_by(self._record.transcript.header, self._record.transcript.entries)


def _capped(text: str) -> str:
    if len(text) <= MAX_RESULT_CHARS:
        return text
    return f"{text[:MAX_RESULT_CHARS]}\n[Cut here: the first {MAX_RESULT_CHARS:,} of {len(text):,} characters]"
