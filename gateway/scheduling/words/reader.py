"""Reads the parts of a time out of the words of a text, in any order. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from agent.languages.time_words import TimeWords
from gateway.scheduling.words.cursor import MOST_FILLERS, Found
from gateway.scheduling.words.repeats import SETS, RepeatReader
from gateway.scheduling.words.said import Said, Unit
from gateway.scheduling.words.spans import FILLERS
from gateway.scheduling.words.tokens import Token

_MOST_PARTS = 12
"""The most parts that a time has: a text with more counts things."""
_UNCLEAR = frozenset(("except", "between", "starting", "gone"))


@dataclass(frozen=True, slots=True)
class TimeMention:
    """Tokens from `start` to before `end` that say a time and nothing else."""

    start: int
    end: int
    said: Said


class TimeReader(RepeatReader):
    def __init__(self, tokens: Sequence[Token], words: TimeWords) -> None:
        super().__init__(tokens, words)
        self._readers: tuple[Callable[[int, Said], Found | None], ...] = (
            self._until,
            self._unclear,
            self._before,
            self._from_now,
            self._repeated,
            self._day,
            self._clock,
            self._part,
            self._zone,
            self._dangling,
        )

    def runs(self) -> Iterator[TimeMention]:
        at = 0
        while at < len(self._tokens):
            run = self._run(at)
            if run is None:
                at += 1
            else:
                yield run
                at = run.end

    def _run(self, start: int) -> TimeMention | None:
        said, end, at, is_sure, is_timed, parts = Said(), start, start, False, False, 0
        is_and = False
        """Since the last hour."""
        while parts < _MOST_PARTS and (found := self._first(at, said)):
            if found.said.days and is_timed and said.repeat:  # every Monday at 9 and Thursday at 10
                said += Said(is_unclear=True)
            is_and = is_and or any(self._has(index, "and") for index in range(end, at))
            if found.said.clocks:
                if said.clocks and not is_and:  # from 8:15 to 20:45, at 8:15 about the train of 20:45
                    said += Said(is_unclear=True)
                is_and = False
            is_timed = is_timed or bool(said.days and found.said.clocks)
            said, end, is_sure, parts = said + found.said, found.end, is_sure or found.is_sure, parts + 1
            at = self._past_fillers(end)
        if not parts:
            return None
        for _ in range(MOST_FILLERS):
            is_one = said.repeat is not None and self._number(start - 1) == 1
            start -= bool(start) and (self._has(start - 1, *FILLERS - {"and"}, "a") or is_one)
        said += Said(is_unclear=bool(said) and (self._goes_on(end, 1) or self._goes_on(start - 1, -1)))
        if parts == _MOST_PARTS:
            return TimeMention(start, end, Said(is_unclear=True))
        is_all = start == 0 and end == len(self._tokens)
        if not (is_sure or is_all or (said.days and said.parts)):
            return None
        end = self._past(end, "trailing")
        return TimeMention(start, end, said)

    def _goes_on(self, at: int, step: int) -> bool:
        """Whether the words beside it say more of the time, which is not understood: `or 9`, `/ Wed`, `for two
        hours`."""
        is_or = False
        for _ in range(MOST_FILLERS):
            is_or = is_or or self._has(at, "or")
            if self._has(at, "or", *FILLERS) or any(self._is_mark(at, mark) for mark in "/()"):
                at += step
        if step > 0 and self._has(at, "quarter", "half", "three_quarters"):
            return True
        if self._weekday(at) is not None or (step > 0 and self._is_span(at) and not self._words.has_han_numbers):
            return True
        if is_or and (self._number(at) is not None or self._first(at, Said()) is not None):
            return True
        after = self._token(at + step)
        if self._number(at) is not None and (after is None or (step > 0 and bool(after.means | after.weak))):
            return True
        is_zone = any(self._has(index, "zone") for index in (at, at + 1, at + 2)) and not self._words.has_han_numbers
        return step > 0 and (is_zone or self._has(at, "zone_before", "zone")) and self._unit(at) is None

    def _first(self, at: int, said: Said) -> Found | None:
        token = self._token(at)
        if token is None or token.is_plain:
            return None
        return next((found for reader in self._readers if (found := reader(at, said))), None)

    def _until(self, at: int, said: Said) -> Found | None:
        del said
        if not self._has(at, "until"):
            return None
        day_at = at + 1
        while self._has(day_at, "on", "filler") and not self._reads_clock_after_at(day_at):
            day_at += 1
        found = self._named_day(day_at, Said())
        if found and len(found.said.days) == 1 and not found.said.parts:
            return Found(found.end + self._has(found.end, "until_after"), Said(until=found.said.days[0]))
        clock = self._clock(day_at, Said())
        return Found(clock.end, Said(is_unclear=True)) if clock else None

    def _unclear(self, at: int, said: Said) -> Found | None:
        """A part of a time that is not understood: `except Sunday`, `from 9 to 17`."""
        if self._sure(at, "gone", "vague"):
            return Found(at + 1, Said(is_unclear=True))
        if not self._has(at, *_UNCLEAR):
            return None
        after = at + 1
        after = self._past(after, "on", "filler")
        is_time = self._weekday(after) is not None or self._clock(after, said) or self._day(after, said)
        if is_time or (said and self._number(after) is not None):
            return Found(after + 1, Said(is_unclear=True))
        return None

    def _dangling(self, at: int, said: Said) -> Found | None:
        """A part of a day that is not understood: `next year`, `this month`."""
        del said
        is_named = self._has(at, "next", "this", "last") and self._unit(at + 1) in (Unit.WEEK, Unit.MONTH, Unit.YEAR)
        if is_named or self._has(at, "next_month", "next_year", *SETS):
            return Found(at + 1 + is_named, Said(is_unclear=True))
        return None
