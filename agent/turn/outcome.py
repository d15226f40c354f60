"""The end of a turn, computed from its journal alone: after a restart it is the same."""

from __future__ import annotations

from agent.model.base import CUT, FULL, PAUSED, REFUSED
from agent.session.entries import MessageEntry
from agent.session.turn_journal import STOPPED, TurnJournal, calls_of, text_of
from agent.silence import deliverable_text, is_visible
from agent.values import ResultKind, TurnResult

CUT_OFF = "_(My answer reached its length limit and stops here. Say “go on” for the rest.)_"
CUT_EMPTY = "My answer reached its length limit before it said anything. Please ask for something smaller."
TOO_LONG = (
    "This conversation no longer fits the model's window. Send /new to start another; what was noted stays in memory."
)
TOO_SMALL = (
    "The model has no room for this one message: with all that I send along it takes about {need:,} tokens, {answer:,} "
    "are kept for the answer, and its window has {window:,}, as far as I know. A new conversation would not help. "
    "Send less at once, or change config.yaml: `model.context_window` where the window is another, `model.max_tokens` "
    "or `session.reserve_tokens` to keep less free."
)
DECLINED = "The model declined to answer this. Please put it in other words, or send /new to leave this topic behind."
EMPTY = "The model gave an empty answer twice. Please try again, or put it in other words."
TOO_MANY_STEPS = "I stopped after {limit} steps without finishing this. Say “go on” to let me continue."
WAS_STOPPED = "This was stopped."


def ending(steps: TurnJournal, limit: int) -> TurnResult | None:
    """The turn's end, or None while it goes on. `limit`: how many answers may call tools."""
    answers = steps.answers
    if not answers or steps.noticed_last:
        return None
    last = answers[-1]
    said = _said(steps)
    match last.meta.stop_reason:
        case str(reason) if reason == STOPPED:
            return _end(steps, ResultKind.ERROR, WAS_STOPPED)
        case str(reason) if reason == REFUSED:
            return _end(steps, ResultKind.ERROR, said, DECLINED)
        case str(reason) if reason == FULL:
            return _end(steps, ResultKind.REPLY if said else ResultKind.ERROR, said, TOO_LONG)
        case str(reason) if calls_of(last) or reason == PAUSED:
            if len(answers) <= limit:
                return None
            return _end(steps, ResultKind.ERROR, said, TOO_MANY_STEPS.format(limit=limit))
        case str(reason) if reason == CUT:
            return _end(steps, ResultKind.REPLY, said, CUT_OFF) if said else _end(steps, ResultKind.ERROR, CUT_EMPTY)
    if is_blank(last) and not said:
        asked_again = sum(is_blank(answer) and not calls_of(answer) for answer in answers) > 1
        return _end(steps, ResultKind.ERROR, EMPTY) if asked_again else None
    if not is_blank(last) and not deliverable_text(text_of(last)) and not any(map(_replies, answers)):
        return _end(steps, ResultKind.SILENCE)
    return _end(steps, ResultKind.REPLY, said)


def failed(steps: TurnJournal, sentence: str) -> TurnResult:
    """The end of a turn that could not go on: its text so far, and why it stops."""
    return _end(steps, ResultKind.ERROR, _said(steps), sentence)


def is_blank(answer: MessageEntry) -> bool:
    return not is_visible(text_of(answer))


def is_paused(answer: MessageEntry) -> bool:
    return answer.meta.stop_reason == PAUSED


def needs_prompting(answer: MessageEntry) -> bool:
    """True where a paused answer must be prompted: models without prefill refuse one that ends in text, while one that
    ends in a call of the server's own tools is sent back as it is."""
    return is_paused(answer) and bool(answer.content) and answer.content[-1].get("type") == "text"


def _said(steps: TurnJournal) -> str:
    """The text of the turn's answers."""
    return "\n\n".join(
        filter(is_visible, (deliverable_text(text_of(answer)) for answer in steps.answers if _counts(answer)))
    )


def _replies(answer: MessageEntry) -> bool:
    """True where the answer alone would have ended the turn with a reply, as one does after which more was asked."""
    return (
        not calls_of(answer) and not is_paused(answer) and _counts(answer) and bool(deliverable_text(text_of(answer)))
    )


def _counts(answer: MessageEntry) -> bool:
    return answer.meta.stop_reason != REFUSED


def _end(steps: TurnJournal, kind: ResultKind, *texts: str) -> TurnResult:
    return TurnResult(kind, "\n\n".join(filter(None, texts)), steps.usage)
