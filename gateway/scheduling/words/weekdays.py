"""Reads weekdays, alone and of a week or month. Pure."""

from __future__ import annotations

from gateway.scheduling.words.cursor import WEEKDAYS, Found
from gateway.scheduling.words.hours import HourReader
from gateway.scheduling.words.said import Day, Nth, Repeat, Said, Span, Unit, Weekday, Which


class WeekdayReader(HourReader):
    def _weekdays(self, at: int) -> Found | None:
        which, after = self._which(at)
        if which in (Which.NEXT_WEEK, Which.AFTER_NEXT_WEEK, Which.THIS_WEEK) and self._weekday(after) is None:
            return Found(after, Said(is_unclear=True))
        if which is Which.NEXT and self._has(after, Unit.WEEK):
            day_at = after + 1
            day_at = self._past(day_at, "on", "filler", "of", "at")
            number = self._weekday(day_at)
            said = Said(is_unclear=True) if number is None else Said(days=(Weekday(number, Which.NEXT_WEEK),))
            return Found(day_at + (number is not None), said)
        number = self._weekday(after)
        if number is None:
            return Found(after + 1, Said(days=(Nth(-1, None),))) if self._sure(after, "month_end") else None
        is_sure = self._sure(after, WEEKDAYS[number]) or after > at or self._has(at - 1, "on", "the_day", "every")
        after += 1 + (self._is_mark(after + 1, ".") and not self._sure(after, WEEKDAYS[number]))
        if which is Which.COMING:
            which, after = self._which_after(after)
        if which is not Which.COMING:
            return Found(after, Said(days=(Weekday(number, which),)), is_sure)
        through = after + (self._has(after, "filler") and self._has(after + 1, "through", "to", "until"))
        if self._has(through, "through", "to", "until"):
            last_at = through + 1
            last_at = self._past(last_at, "on", "filler", "the_day")
            if (last := self._weekday(last_at)) is not None and last > number:
                field = f"{number + 1}-{last + 1}" if last < 6 else f"{number + 1}-6,0"
                return Found(last_at + 1, Said(weekdays=field, repeat=Repeat()))
        days: list[Day] = [Weekday(number)]
        while True:
            other = after
            other = self._past(other, "and", "filler", "on", "the_day")
            more = self._weekday(other)
            if more is None and self._words.numbered_weekdays and not self._is_counted(other):
                more = (self._whole(other, 1, 6) or 0) - 1
            if other == after or more is None or more < 0:
                return Found(after, Said(days=tuple(days)), is_sure)
            days.append(Weekday(more))
            after = other + 1

    def _is_counted(self, at: int) -> bool:
        return self._unit(at + 1) is not None or self._has(at + 1, "oclock", "mday", "month_sign", "counter")

    def _which(self, at: int) -> tuple[Which, int]:
        for which, sign in ((Which.AFTER_NEXT_WEEK, "week_after_next"), (Which.THIS_WEEK, "this_week")):
            if self._has(at, sign):
                after = at + 1
                after = self._past(after, "on", "filler", "of", "trailing", "and", "the_day")
                return which, after
        if self._has(at, "next"):
            return Which.NEXT, at + 1
        if self._has(at, "this"):
            return Which.THIS, at + 1
        if self._has(at, "next_week"):
            after = at + 1
            after = self._past(after, "on", "filler", "of", "trailing", "and", "the_day")
            return Which.NEXT_WEEK, after
        return Which.COMING, at

    def _which_after(self, at: int) -> tuple[Which, int]:
        of = at
        of = self._past(of, "of", "filler")
        if self._has(of, "next") and self._has(of + 1, Unit.WEEK):
            return Which.NEXT_WEEK, of + 2
        if self._has(of, "next_week"):
            return Which.NEXT_WEEK, of + 1
        if self._has(of, "week_after_next"):
            return Which.AFTER_NEXT_WEEK, of + 1
        if self._has(of, Unit.WEEK) and self._has(of + 1, "next_after"):
            return Which.NEXT_WEEK, of + 2
        if self._has(at, "next_after"):
            return Which.NEXT, at + 1
        if self._has(at, "week_later"):
            return Which.WEEK_LATER, at + 1
        if self._has(at, "in") and (found := self._span(at + 1)) and found[0] == Span(days=7):
            return Which.WEEK_LATER, found[1]
        return Which.COMING, at

    def _nth(self, at: int) -> Found | None:
        """`first Monday`, `last day of the month`: with a repetition if it says `of every month`."""
        number = -1 if self._has(at, "last") else 1 if self._has(at, "first") else None
        if number is None and (self._has(at, "ordinal") or self._is_day_number(at)):
            number = self._whole(at, 1, 5)
            at += not self._has(at, "ordinal")
        weekday = self._weekday(at + 1)
        end = at + 2
        if number is None or (weekday is None and not self._has(at + 1, Unit.DAY)):
            number, weekday = -1 if self._has(at + 1, "last_after") else number, self._weekday(at)
            if number != -1 or weekday is None:
                return None
        of, is_every = self._of_month(end)
        if weekday is None and of is None:
            return None
        if weekday is None and number not in (1, -1):
            return None
        return Found(
            of or end, Said(days=(Nth(number, weekday),), repeat=Repeat(1, Unit.MONTH) if is_every or of else None)
        )

    def _nth_of_month(self, at: int) -> Found | None:
        found = self._nth(at)
        if found is not None:
            is_every = self._of_month(found.end)[1] or any(
                self._has(index, "every", "monthly") for index in range(at, found.end)
            )
            return Found(found.end, Said(days=found.said.days, repeat=found.said.repeat if is_every else None))
        if (self._has(at, "every") and self._has(at + 1, Unit.MONTH)) or self._has(at, "monthly"):
            day_at = at + (1 if self._has(at, "monthly") else 2)
            day_at = self._past(day_at, "on", "filler", "of", "the_day", "trailing")
            if found := self._nth(day_at) or self._nth_bare(day_at):
                return Found(found.end, Said(days=found.said.days, repeat=Repeat(1, Unit.MONTH)))
        return None

    def _nth_bare(self, at: int) -> Found | None:
        if self._has(at, "last") and self._has(at + 1, Unit.DAY):
            return Found(at + 2, Said(days=(Nth(-1, None),)))
        return None

    def _of_month(self, at: int) -> tuple[int | None, bool]:
        """The end of `of the month`, `of every month`, and whether it says every."""
        after = self._past(at, "of", "filler", "on", "the_day", "this")
        is_every = self._has(after, "every")
        after += is_every
        if self._has(after, Unit.MONTH) and after > at:
            return after + 1, is_every
        return None, False
