"""What a command has asked back, and whether a message answers it. In memory: after a restart nothing is waiting."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from agent.memory.forget import Finding
from agent.memory.words import fold
from channels.message import Address, InboundMessage

ANSWER_WITHIN = timedelta(minutes=10)

_YES = "yes|y|yep|yeah|sure|ok|okay|do it|ja|jawohl|ja bitte|oui|sí|si|claro|はい|ええ|うん|是|是的|好|好的|可以|👍"
_NO = "no|n|nope|cancel|stop|nein|abbrechen|non|annule|cancela|いいえ|やめて|不|不要|不是|取消|别|👎"
_ANSWERS = {fold(word): said for words, said in ((_YES, True), (_NO, False)) for word in words.split("|")}


def answer_of(text: str) -> bool | None:
    """Yes or no, in the languages that people are spoken to in; None for everything else."""
    return _ANSWERS.get(fold(text).strip(" .!。！\n"))


@dataclass(frozen=True, slots=True)
class _Question:
    """`is_fresh`: nothing else was said since, so that a bare word answers it."""

    finding: Finding
    until: datetime
    is_fresh: bool = True


class Questions:
    """One question per person and chat."""

    def __init__(self) -> None:
        self._open: dict[tuple[Address, str], _Question] = {}

    def ask(self, message: InboundMessage, finding: Finding, now: datetime) -> None:
        self._open = {key: question for key, question in self._open.items() if question.until > now}
        self._open[_key(message)] = _Question(finding, now + ANSWER_WITHIN)

    def is_answered_by(self, message: InboundMessage, now: datetime) -> bool:
        """Whether a message is the bare yes or no to the question just asked; of any other, the question takes note."""
        question = self._open.get(_key(message))
        if question is None or question.until <= now or not question.is_fresh:
            return False
        if answer_of(message.text) is not None:
            return True
        self._open[_key(message)] = replace(question, is_fresh=False)
        return False

    def take(self, message: InboundMessage, now: datetime) -> Finding | None:
        """What the open question is about; it is closed with that."""
        question = self._open.pop(_key(message), None)
        return question.finding if question is not None and question.until > now else None


def _key(message: InboundMessage) -> tuple[Address, str]:
    return message.address, message.sender.id
