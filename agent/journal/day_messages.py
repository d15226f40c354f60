"""What was said in a talk on one day, read from its transcript. Pure but for `read`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from agent.clock import Clock
from agent.session.entries import Entry
from agent.session.export import Line, is_canned, lines
from agent.session.transcript import Transcript

_OUR_ID = re.compile(r"e(\d{6,12})", re.ASCII)


@dataclass(frozen=True, slots=True)
class DayMessage:
    """Something said. `number` is its entry's place in the transcript; a message of several blocks has it several
    times."""

    number: int
    line: Line

    @property
    def text(self) -> str:
        """On one line: `08:30 Alice: …`."""
        return self.told_with("Assistant")

    def told_with(self, assistant: str) -> str:
        """The same, with another name for the assistant."""
        return f"{self.line.at:%H:%M} {self.line.who or assistant}: {' '.join(self.line.text.split())}"


@dataclass(frozen=True, slots=True)
class DayConversation:
    """What a transcript holds of its days. `damaged`: places of lines that cannot be read."""

    days: Mapping[date, Sequence[DayMessage]]
    damaged: tuple[int, ...] = ()

    def damage(self, after: int, until: int) -> int:
        """How many lines are lost between two places."""
        return sum(after < place <= until for place in self.damaged)


def read(transcript: Transcript, clock: Clock) -> DayConversation:
    """Only what people and the assistant said to each other: no tools, no recalled text, no words of ours, and not what
    the offline assistant says to a note."""
    days: dict[date, list[DayMessage]] = {}
    number = 0
    for entry in transcript.entries:
        number = _number(entry, number)
        if is_canned(entry):
            continue
        for line in lines([entry], clock):
            if line.text.strip():
                days.setdefault(line.at.date(), []).append(DayMessage(number, line))
    # the entry on line n of the file has the number n - 1: the header has none
    return DayConversation(days, tuple(found.line - 1 for found in transcript.damage if not found.torn))


def _number(entry: Entry, before: int) -> int:
    """Never smaller than what stands before it, so that a place is a place whatever was edited."""
    match = _OUR_ID.fullmatch(entry.id)
    return max(int(match[1]) if match else before + 1, before)
