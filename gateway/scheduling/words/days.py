"""Reads days: near ones, dates, and days of a month. Pure."""

from __future__ import annotations

from gateway.scheduling.words.cursor import NEAR, Found
from gateway.scheduling.words.said import Date, Near, PartOfDay, Repeat, Said, Span, Unit
from gateway.scheduling.words.weekdays import WeekdayReader


class DayReader(WeekdayReader):
    def _day(self, at: int, said: Said) -> Found | None:
        found = self._named_day(at, said)
        if found and self._has(found.end, "until_after") and len(found.said.days) == 1:
            return Found(found.end + 1, Said(until=found.said.days[0]))
        return found

    def _named_day(self, at: int, said: Said) -> Found | None:
        if said.days and self._part(at, said):  # Monday "Morgen"
            return None
        days = self._near(at)
        if days is not None and not (said.repeat and self._part(at, said)):
            end = at + 1
            if self._has(end, "week_later") and self._unit(end) is None:
                days, end = days + 7, end + 1
            elif self._has(end, "in") and (length := self._span(end + 1)) and length[0] == Span(days=length[0].days):
                days, end = days + length[0].days, length[1]
            return Found(end, Said(days=(Near(days),)), any(self._sure(at, sign) for sign in NEAR))
        if self._has(at, "tonight"):
            return Found(at + 1, Said(days=(Near(0),), parts=(PartOfDay.EVENING,)))
        if month_day := self._by_name(at):
            return Found(at + 1, Said(days=(month_day,)))
        nth_at = at
        nth_at = self._past(nth_at, "the_day", "on", "filler")
        if said.repeat and (found := self._nth_bare(nth_at)):
            return found
        return self._nth_of_month(nth_at) or self._weekdays(at) or self._date(at)

    def _by_name(self, at: int) -> Date | None:
        token = self._token(at)
        for name in token.means if token is not None else ():
            kind, _, value = name.partition(":")
            if kind == "date":
                month, day = value.split("-")
                return Date(int(day), int(month))
            if kind == "mday" and value:
                return Date(int(value))
        return None

    def _date(self, at: int) -> Found | None:
        token = self._token(at)
        if token is None:
            return None
        if token.day is not None:
            year, month, day = token.day
            if "slashed" in token.means:
                return self._slashed(at, year, month, day)
            return Found(at + 1, Said(days=(Date(day, month, year),)))
        return self._dated(at) or self._day_of_month(at)

    def _slashed(self, at: int, year: int | None, first: int, second: int) -> Found:
        order = "month" if second > 12 >= first else "day" if first > 12 >= second else self._words.slashed
        if order == "ask":
            return Found(
                at + 1, Said(is_unclear=first != second, days=() if first != second else (Date(first, second, year),))
            )
        day, month = (first, second) if order == "day" else (second, first)
        return Found(at + 1, Said(days=(Date(day, month, year),)))

    def _dated(self, at: int) -> Found | None:
        """`3 December 2026`, `Dec 24th`, `12月3日`."""
        if (month := self._month(at)) is not None:
            day_at = at + 1
            while self._has(day_at, "filler", "the_day") and self._number(day_at) is None:
                day_at += 1
            day = self._whole(day_at, 1, 31)
            if day is None or self._words.has_han_numbers:
                return None
            end = self._past_ordinal(day_at)
            if self._is_hour(end) and not self._has(day_at + 1, "ordinal_end"):
                return None
            return self._with_year(end, day, month)
        start, years_on = at, None
        if (year := self._whole(at, 1900, 9999)) is not None and self._has(at + 1, Unit.YEAR):
            at += 2
        elif self._has(at, "next_year"):
            at, years_on = at + 1, 1
            at += self._has(at, "filler", "of")
        number = self._whole(at, 1, 31)
        if number is None:
            return None
        if self._has(at + 1, "month_sign") and (day := self._whole(at + 2, 1, 31)) is not None:
            if number > 12:
                return Found(at + 3, Said(is_unclear=True))
            end = at + 3 + self._has(at + 3, "mday")
            return Found(end, Said(days=(Date(day, number, year, years_on=years_on),)))
        if at != start:
            return None
        month_at = self._past_ordinal(at)
        while self._has(month_at, "of", "filler") and self._month(month_at) is None:
            month_at += 1
        month = self._month(month_at)
        return self._with_year(month_at + 1, number, month) if month is not None else None

    def _with_year(self, at: int, day: int, month: int) -> Found:
        year_at = at
        year_at = self._past(year_at, "and", "of", "filler")
        year = self._whole(year_at, 1900, 9999)
        return Found(year_at + 1 if year else at, Said(days=(Date(day, month, year),)))

    def _past_ordinal(self, at: int) -> int:
        return at + 1 + (self._has(at + 1, "ordinal_end") or self._is_mark(at + 1, "."))

    def _day_of_month(self, at: int) -> Found | None:
        """`on the 3rd`, `am 3.`, `le 3`, `3号`, with `of the month`."""
        months_on = None
        start = at
        if self._has(at, "next", "this") and self._has(at + 1, "month_unit", Unit.MONTH):
            months_on = int(self._has(at, "next"))
            at += 2
        elif self._has(at, "next_month", "this_month"):
            months_on = int(self._has(at, "next_month"))
            at += 1
        while at > start and self._has(at, "on", "filler", "of", "trailing"):
            at += 1
        day_at = at
        is_named = self._has(at, "the_day") or self._has(at - 1, "every")
        day_at = self._past(day_at, "the_day")
        if is_named and (found := self._dated(day_at)):
            return found
        day = self._whole(day_at, 1, 31)
        if day is None:
            return None
        is_ordinal = self._is_day_number(day_at)
        if not is_ordinal and not is_named:
            return None
        end = self._past_ordinal(day_at) + (self._has(day_at + 1, "mday"))
        if not is_ordinal and (self._is_hour(day_at + 1) or self._unit(day_at + 1) is not None):
            return None
        of, is_every = self._of_month(end)
        if of is not None and self._has(of, "next_after"):
            months_on, of = 1, of + 1
        if of is None and months_on is None:
            after = end
            after = self._past(after, "of", "filler", "the_day")
            if self._has(after, "next", "this") and self._has(after + 1, Unit.MONTH):
                months_on, of = int(self._has(after, "next")), after + 2
            elif self._has(after, Unit.MONTH) and self._has(after + 1, "next_after"):
                months_on, of = 1, after + 2
            elif self._has(after, "next_month", "this_month"):
                months_on, of = int(self._has(after, "next_month")), after + 1
        is_sure = (
            is_named
            or at > start
            or self._has(day_at + 1, "mday", "ordinal_end")
            or self._has(at - 1, "on", "filler", "every")
        )
        if not is_sure and of is None and self._has(day_at, "ordinal"):
            return None  # a fourth of something
        if of is None and start and self._counts_a_thing(day_at):
            return Found(end, Said(is_unclear=True))
        repeat = Repeat(1, Unit.MONTH) if is_every else None
        is_sure = is_sure or of is not None
        return Found(of or end, Said(days=(Date(day, months_on=months_on),), repeat=repeat), is_sure)

    def _counts_a_thing(self, at: int) -> bool:
        """`call the first customer`: a number in words before another word may count things."""
        token, after = self._token(at), self._token(at + 1)
        is_word = token is not None and not token.is_digits and self._has(at, "ordinal")
        is_followed = after is not None and after.is_plain and after.text.isalpha()
        return is_word and is_followed and not self._words.has_han_numbers
