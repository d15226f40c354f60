"""The messages of a transcript on one day. Pure except `read`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from agent.clock import Clock
from agent.session.entries import Entry
from agent.session.export import Line, is_canned, lines
from agent.session.transcript import Transcript

_FOUND = re.compile(r"^> ", re.MULTILINE)
"""A passage from memory."""
_OUR_ID = re.compile(r"e(\d{6,12})", re.ASCII)


@dataclass(frozen=True, slots=True)
class DayMessage:
    number: int
    """Its entry's place in the transcript, repeated for each block."""
    line: Line
    is_answered: bool = False
    """The offline assistant found what was asked; its answer is no message of the day."""

    @property
    def text(self) -> str:
        """The message on one line: `08:30 Alice: …`."""
        return self.told_with("Assistant")

    def told_with(self, assistant: str) -> str:
        return f"{self.line.at:%H:%M} {self.line.who or assistant}: {' '.join(self.line.text.split())}"


@dataclass(frozen=True, slots=True)
class DayConversation:
    days: Mapping[date, Sequence[DayMessage]]
    damaged: tuple[int, ...] = ()
    """Places of unreadable lines."""

    def damage(self, after: int, until: int) -> int:
        return sum(after < place <= until for place in self.damaged)


def read(transcript: Transcript, clock: Clock) -> DayConversation:
    """The messages of people and the assistant, without tools, recalled text, notices and canned answers."""
    days: dict[date, list[DayMessage]] = {}
    number = 0
    for entry in transcript.entries:
        number = _number(entry, number)
        for line in lines([entry], clock):
            spoken = days.setdefault(line.at.date(), [])
            if not is_canned(entry):
                spoken += [DayMessage(number, line)] if line.text.strip() else []
            elif spoken and spoken[-1].line.who and _FOUND.search(line.text):
                spoken[-1] = replace(spoken[-1], is_answered=True)
    # the entry on line n of the file has the number n - 1: the header has none
    said = {day: spoken for day, spoken in days.items() if spoken}
    return DayConversation(said, tuple(found.line - 1 for found in transcript.damage if not found.torn))


def _number(entry: Entry, before: int) -> int:
    """The entry's place, never smaller than the one before, whatever was edited."""
    match = _OUR_ID.fullmatch(entry.id)
    return max(int(match[1]) if match else before + 1, before)
