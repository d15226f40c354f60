"""The end of a turn, from its record alone: the same after a restart."""

from __future__ import annotations

import itertools

from agent.languages.sentences import Sentence, joined
from agent.model.base import CUT, FULL, PAUSED, REFUSED
from agent.session.entries import MessageEntry, RedactionEntry
from agent.session.turn_record import STOPPED, TurnRecord, calls_of, text_of
from agent.silence import deliverable_text, is_visible
from agent.tools.foreign_text import unique
from agent.turn.tool_calls import STOPPED_CALL
from agent.values import ResultKind, TurnResult

CUT_OFF = Sentence("_(My answer got too long and stops here. Say “go on” for the rest.)_")
CUT_EMPTY = Sentence("My answer got too long before I could say anything. Please ask for something smaller.")
TOO_LONG = Sentence(
    "This conversation has become too long for the model. Send /new to start another one; my notes stay in memory."
)
TOO_SMALL = Sentence(
    "This message is too long for the model: with everything I send along it takes about {need} tokens, {answer} are "
    "kept free for the answer, and the model has room for {window}, as far as I know. A new conversation won't "
    "help. Send less at once, or change config.yaml: `model.context_window` if the model has more room, "
    "`model.max_tokens` or `session.reserve_tokens` to keep less free."
)
DECLINED = Sentence("The model declined to answer this. Please rephrase it, or send /new to change the subject.")
EMPTY = Sentence("The model gave an empty answer twice. Please try again, or rephrase it.")
TOO_MANY_STEPS = Sentence("I stopped after {limit} steps without finishing this. Say “go on” and I'll continue.")
WAS_STOPPED = Sentence("This was stopped.")
_STOPPED_HERE = "[Stopped here by the person]"


def ending(record: TurnRecord, limit: int) -> TurnResult | None:
    """The end of a turn; None while it goes on. `limit`: how many answers may call tools."""
    answers = record.answers
    if not answers or record.noticed_last:
        return None
    last = answers[-1]
    said = _said(record)
    match last.meta.stop_reason:
        case str(reason) if reason == STOPPED:
            return _end(record, ResultKind.ERROR, WAS_STOPPED)
        case str(reason) if reason == REFUSED:
            return _end(record, ResultKind.ERROR, said, DECLINED)
        case str(reason) if reason == FULL:
            return _end(record, ResultKind.REPLY if said else ResultKind.ERROR, said, TOO_LONG)
        case str(reason) if calls_of(last) or reason == PAUSED:
            if len(answers) <= limit:
                return None
            return _end(record, ResultKind.ERROR, said, Sentence(TOO_MANY_STEPS, limit=limit))
        case str(reason) if reason == CUT:
            return _end(record, ResultKind.REPLY, said, CUT_OFF) if said else _end(record, ResultKind.ERROR, CUT_EMPTY)
    if is_blank(last) and not said:
        asked_again = sum(is_blank(answer) and not calls_of(answer) for answer in answers) > 1
        return _end(record, ResultKind.ERROR, EMPTY) if asked_again else None
    if not is_blank(last) and not deliverable_text(text_of(last)) and not any(map(_replies, answers)):
        return _end(record, ResultKind.SILENCE)
    return _end(record, ResultKind.REPLY, said)


def failed(record: TurnRecord, sentence: str) -> TurnResult:
    """The end of a turn that could not go on: its text so far, and why."""
    return _end(record, ResultKind.ERROR, _said(record), sentence)


async def stop(record: TurnRecord, shown: str) -> None:
    """Closes a cancelled turn. `shown`: the part of its reply that the person saw."""
    for call in record.open_calls:
        await record.result(call, STOPPED_CALL, error=True)
    said = "\n\n".join(filter(None, (deliverable_text(text_of(answer)) for answer in record.answers)))
    since = itertools.takewhile(lambda entry: entry.id != record.entries[-1].id, reversed(record.transcript.entries))
    is_forgotten = any(isinstance(entry, RedactionEntry) for entry in since)
    rest = "" if is_forgotten else shown.removeprefix(said).strip()
    await record.stopped(f"{rest}\n\n{_STOPPED_HERE}" if rest else _STOPPED_HERE)


def is_blank(answer: MessageEntry) -> bool:
    return not is_visible(text_of(answer))


def is_paused(answer: MessageEntry) -> bool:
    return answer.meta.stop_reason == PAUSED


def needs_prompting(answer: MessageEntry) -> bool:
    """True for a paused answer that ends in text, which models without prefill refuse."""
    return is_paused(answer) and bool(answer.content) and answer.content[-1].get("type") == "text"


def _said(record: TurnRecord) -> str:
    return "\n\n".join(
        filter(is_visible, (deliverable_text(text_of(answer)) for answer in record.answers if _counts(answer)))
    )


def _replies(answer: MessageEntry) -> bool:
    """True if the answer alone would end the turn."""
    return (
        not calls_of(answer) and not is_paused(answer) and _counts(answer) and bool(deliverable_text(text_of(answer)))
    )


def _counts(answer: MessageEntry) -> bool:
    return answer.meta.stop_reason != REFUSED


def _end(record: TurnRecord, kind: ResultKind, *texts: str) -> TurnResult:
    foreign = unique(text for answer in record.answers for text in answer.meta.foreign or ())
    return TurnResult(kind, joined(texts), record.usage, foreign)
