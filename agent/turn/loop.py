"""One turn, from a journaled question to its end. Reads top to bottom; everything it does is in its arguments."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing

from agent.formats import untrusted
from agent.memory.redaction_lock import StaleRead
from agent.model.base import CUT, FULL, ModelError
from agent.session.turn_journal import TurnJournal, calls_of
from agent.turn.model_call import ModelAnswer, ModelCaller
from agent.turn.outcome import ending, failed, is_blank, is_paused, needs_prompting
from agent.turn.tool_calls import CUT_CALL, NO_MORE_CALLS, ToolRunner
from agent.values import StepCompleted, TextReset, TurnEvent

GO_ON = "Your answer was paused in the middle. Go on exactly where it stops."
SAY_SOMETHING = "Your answer was empty. Answer the person in words now, or with NO_REPLY alone."
NO_MORE_TOOLS = (
    "You have used all {limit} steps of this turn. Answer now, without tools: say what is done and what is not."
)


async def run_turn(
    steps: TurnJournal,
    ask: ModelCaller,
    calls: ToolRunner,
    arrived: Callable[[], Awaitable[None]],
    limit: int,
) -> AsyncGenerator[TurnEvent, None]:
    """Runs a turn whose question is in the journal, from wherever the journal is. Ends with one `TurnResult`.

    ask         streams the next answer
    arrived     journals the messages that came meanwhile
    limit       how many answers may call tools

    Raises `TranscriptNotWritten`. Cancelled or closed, it leaves the journal at the last finished step.
    """
    try:
        await calls.close_interrupted(steps.open_calls)
        while (end := ending(steps, limit)) is None:
            if steps.answers:
                await arrived()
            if hint := _hint(steps, limit):
                await steps.noticed(untrusted.marked_block("notice", hint))
            answered: ModelAnswer | None = None
            async with aclosing(ask()) as events:
                async for event in events:
                    if isinstance(event, ModelAnswer):
                        answered = event
                    else:
                        yield event
            assert answered is not None
            answer = answered.answer
            try:
                async with answered.reading.writing():
                    entry = await steps.answered(answer, answered.prefix, answered.foreign, doubted=answered.doubted)
            except StaleRead:
                yield TextReset()
                continue
            open_calls = steps.open_calls
            if answer.stop_reason in (CUT, FULL):
                await calls.close(open_calls, CUT_CALL)
            elif len(steps.answers) > limit:
                await calls.close(open_calls, NO_MORE_CALLS)
            else:
                await calls.run(open_calls, answer.invalid, answered.reading)
            yield StepCompleted(tuple(str(call["name"]) for call in calls_of(entry)))
    except ModelError as problem:
        end = failed(steps, str(problem))
    yield end


def _hint(steps: TurnJournal, limit: int) -> str:
    """What the model must be told before the next call, unless it was told."""
    answers, entries = steps.answers, steps.entries
    if not answers:
        return ""
    if entries[-1] is answers[-1]:
        if needs_prompting(answers[-1]):
            return GO_ON
        if is_blank(answers[-1]) and not calls_of(answers[-1]) and not is_paused(answers[-1]):
            return SAY_SOMETHING
    told = any(NO_MORE_TOOLS.format(limit=limit) in str(block.get("text")) for block in entries[-1].content)
    return NO_MORE_TOOLS.format(limit=limit) if len(answers) == limit and not told else ""
