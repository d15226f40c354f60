"""One turn, from a recorded question to its end. Everything it does is in its arguments."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from agent.formats import untrusted
from agent.memory.redaction_lock import StaleRead
from agent.model.base import CUT, FULL, ModelError
from agent.session.turn_record import TurnRecord, calls_of
from agent.turn.model_call import ModelCaller
from agent.turn.outcome import ending, failed, is_blank, is_paused, needs_prompting
from agent.turn.tool_calls import CUT_CALL, NO_MORE_CALLS, ToolRunner
from agent.values import Emit, StepCompleted, TextReset, TurnResult

GO_ON = "Your answer was paused in the middle. Go on exactly where it stops."
SAY_SOMETHING = "Your answer was empty. Answer the person in words now, or with NO_REPLY alone."
NO_MORE_TOOLS = (
    "You have used all {limit} steps of this turn. Answer now, without tools: say what is done and what is not."
)


async def run_turn(
    record: TurnRecord,
    ask: ModelCaller,
    calls: ToolRunner,
    arrived: Callable[[], Awaitable[None]],
    limit: int,
    emit: Emit,
) -> TurnResult:
    """Runs a turn whose question is recorded, from wherever its record is.

    ask         gets the next answer
    arrived     records the messages that came meanwhile
    limit       how many answers may call tools

    Raises `TranscriptNotWritten`. Cancelled, the last finished step stays.
    """
    try:
        await calls.close_interrupted(record.open_calls)
        while (end := ending(record, limit)) is None:
            if record.answers:
                await arrived()
            if hint := _hint(record, limit):
                await record.noticed(untrusted.marked_block("notice", hint))
            answered = await ask(emit)
            answer = answered.answer
            try:
                async with answered.reading.writing():
                    entry = await record.answered(answer, answered.prefix, answered.foreign, doubted=answered.doubted)
            except StaleRead:
                await emit(TextReset())
                continue
            open_calls = record.open_calls
            if answer.stop_reason in (CUT, FULL):
                await calls.close(open_calls, CUT_CALL)
            elif len(record.answers) > limit:
                await calls.close(open_calls, NO_MORE_CALLS)
            else:
                await calls.run(open_calls, answer.invalid, answered.reading)
            await emit(StepCompleted(tuple(str(call["name"]) for call in calls_of(entry))))
    except ModelError as problem:
        end = failed(record, str(problem))
    return end


def _hint(record: TurnRecord, limit: int) -> str:
    """The notice before the next call, unless it is recorded."""
    answers, entries = record.answers, record.entries
    if not answers:
        return ""
    if entries[-1] is answers[-1]:
        if needs_prompting(answers[-1]):
            return GO_ON
        if is_blank(answers[-1]) and not calls_of(answers[-1]) and not is_paused(answers[-1]):
            return SAY_SOMETHING
    told = any(NO_MORE_TOOLS.format(limit=limit) in str(block.get("text")) for block in entries[-1].content)
    return NO_MORE_TOOLS.format(limit=limit) if len(answers) == limit and not told else ""
