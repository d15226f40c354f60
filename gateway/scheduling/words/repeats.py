"""Reads how often something comes again. Pure."""

from __future__ import annotations

from gateway.scheduling.words.cursor import Found
from gateway.scheduling.words.days import DayReader
from gateway.scheduling.words.said import Nth, Repeat, Said, Unit
from gateway.scheduling.words.spans import repeat_of

SETS = {"weekdays": "1-5", "weekends": "6,0"}
_ADVERBS = {
    "hourly": Unit.HOUR,
    "daily": Unit.DAY,
    "weekly": Unit.WEEK,
    "monthly": Unit.MONTH,
    "yearly": Unit.YEAR,
}


class RepeatReader(DayReader):
    def _repeated(self, at: int, said: Said) -> Found | None:
        del said
        for sign, unit in _ADVERBS.items():
            if self._has(at, sign):
                return Found(at + 1 + self._has(at + 1, "each_after"), Said(repeat=Repeat(1, unit)))
        for sign, field in SETS.items():
            if self._sure(at, sign):
                return Found(at + 1, Said(weekdays=field, repeat=Repeat()))
        if self._whole(at, 2, 24) is not None and self._has(at + 1, "times_a_day"):
            return Found(at + 2, Said(repeat=Repeat(1, Unit.DAY)))
        if self._has(at, "one_in_two"):
            return Found(at + 1, Said(repeat=Repeat(2)))
        return self._every(at) if self._has(at, "every") else None

    def _every(self, at: int) -> Found | None:
        after = at + 1
        while self._has(after, "filler") and self._number(after) is None:
            after += 1
        if self._has(after, "every"):  # "immer dienstags"
            return Found(after, Said(repeat=Repeat()))
        if nth := self._nth(self._past(after, "on", "the_day")):
            return self._every_nth(nth, after)
        for sign, field in SETS.items():
            if self._has(after, sign):
                return Found(after + 1, Said(weekdays=field, repeat=Repeat()))
        if (
            self._has(after, "other")
            and (found := self._span(after + 1))
            and (every := repeat_of(found[0]))
            and every.number > 1
        ):
            return Found(found[1], Said(repeat=every))
        if self._has(after, "the_day") and self._whole(after + 1, 1, 31) is not None and self._unit(after + 2) is None:
            return Found(after, Said(repeat=Repeat()))
        number = 2 if self._has(after, "other") else self._whole(after, 1, 9999)
        if (
            number is not None
            and self._weekday(after + 1) is None
            and (
                self._is_day_number(after)
                or self._month(after + 1)
                or self._of_month(after + 1)[0]
                or self._has(after + 1, "month_sign")
            )
        ):
            return Found(after, Said(repeat=Repeat()))
        if number is not None:
            after += 1
        if (
            number is None
            and self._has(after, "half")
            and (found := self._span(after))
            and (every := repeat_of(found[0]))
        ):
            return Found(found[1], Said(repeat=every))
        if found := self._span(at + 1):
            repeat = repeat_of(found[0])
            end = found[1] + self._has(found[1], "each_after")
            return Found(end, Said(repeat=repeat) if repeat else Said(is_unclear=True))
        after += self._has(after, "counter")
        if unit := self._unit(after):
            half = after + 1 + self._has(after + 1, "and")
            if unit is Unit.HOUR and half > after + 1 and self._has(half, "half") and number is None:
                return Found(half + 1, Said(repeat=Repeat(90, Unit.MINUTE)))
            return Found(after + 1 + self._has(after + 1, "each_after"), Said(repeat=Repeat(number or 1, unit)))
        if self._weekday(after) is not None:
            return Found(after, Said(repeat=Repeat(number or 1)))
        if number is not None:
            return Found(after, Said(is_unclear=True))
        every_one = Said(repeat=Repeat())
        is_time = self._named_day(after, Said()) or self._part(after, every_one) or self._clock(after, Said())
        return Found(after, every_one) if is_time else None

    def _every_nth(self, nth: Found, at: int) -> Found | None:
        (day,) = nth.said.days
        assert isinstance(day, Nth)
        is_of_month = nth.said.repeat is not None
        if day.weekday is None or is_of_month or day.number in (1, -1):
            return Found(nth.end, Said(days=(day,), repeat=Repeat(1, Unit.MONTH)))
        if day.number == 2:  # every second Tuesday
            return Found(nth.end - 1, Said(repeat=Repeat(2)))
        return Found(nth.end, Said(is_unclear=True))
