"""The messages of a transcript on one day. Pure except `read`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from agent.clock import Clock
from agent.session.export import Line, spoken
from agent.session.transcript import Transcript

_OUR_ID = re.compile(r"e(\d{6,12})", re.ASCII)


@dataclass(frozen=True, slots=True)
class DayMessage:
    number: int
    """Its entry's place in the transcript, repeated for each block."""
    line: Line

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
    numbers: list[int] = []
    number = 0
    for entry in transcript.entries:
        match = _OUR_ID.fullmatch(entry.id)
        number = max(int(match[1]) if match else number + 1, number)  # never smaller, whatever was edited
        numbers.append(number)
    for at, line in spoken(transcript.entries, clock):
        if line.text.strip():
            days.setdefault(line.at.date(), []).append(DayMessage(numbers[at], line))
    # the entry on line n of the file has the number n - 1: the header has none
    return DayConversation(days, tuple(found.line - 1 for found in transcript.damage if not found.torn))
