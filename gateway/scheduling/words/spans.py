"""Reads lengths of time, and times that are such a length from now. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from gateway.scheduling.words.cursor import MOST_FILLERS, Found, TokenReader
from gateway.scheduling.words.said import Near, Repeat, Said, Span, Unit, Weekday, Which

_SPANS = {f"span:{minutes}": minutes for minutes in (15, 30, 45, 90, 20160)}
FILLERS = frozenset(("at", "on", "filler", "and", "of", "the_day", "twice", "about"))


class SpanReader(TokenReader):
    def lengths(self) -> Iterator[tuple[Span, int, int]]:
        """Each length of time, with the places of its first token and of the token after it."""
        at = 0
        while at < len(self._tokens):
            found = self._span(at)
            if found is not None:
                yield found[0], at, found[1]
            at = found[1] if found is not None else at + 1

    def _span(self, at: int) -> tuple[Span, int] | None:
        """`two hours and 30 minutes`, `half an hour`, `an hour and a half`."""
        total: Span | None = None
        end = at
        while found := self._length(end):
            length, end = found
            if (
                length.minutes
                and not length.minutes % 60
                and self._is_minute(end)
                and not self._has(end, "ordinal")
                and self._unit(end + 1) is None
            ):  # 1h15
                length, end = length + Span(minutes=self._whole(end, 0, 59) or 0), end + 1
            total = length if total is None else total + length
            joined = end + 1 if self._has(end, "and") else end
            if self._length(joined) is None or (total.days and self._is_mark(end, ",")):
                break
            end = joined
        return (total, end) if total is not None else None

    def _length(self, at: int) -> tuple[Span, int] | None:
        for sign, minutes in _SPANS.items():
            if self._has(at, sign):
                return (Span(days=14) if sign == "span:20160" else Span(minutes=minutes)), at + 1
        if self._has(at, "half"):
            unit_at = at + 2 if self._has(at + 1, "a") else at + 1
            unit = self._unit(unit_at)
            return (_span(0.5, unit), unit_at + 1) if unit else None
        number = self._number(at)
        after = at + 1
        if number is None:
            if not self._has(at, "a"):
                return None
            number = 1.0
        half = after + 1 if self._has(after, "and") else after
        half += self._has(half, "a")
        if self._has(half, "half") and (unit := self._unit(half + 1)):  # two and a half hours
            return _span(number + 0.5, unit), half + 2
        after += self._has(after, "counter")
        unit = self._unit(after)
        if unit is None:
            return None
        after += 1
        half = after + 1 if self._has(after, "and") else after
        half += self._has(half, "a")
        if self._has(half, "half") and self._unit(half + 1) is None:  # an hour and a half
            return _span(number + 0.5, unit), half + 1
        if unit is Unit.HOUR and half > after and self._has(half, "quarter") and self._unit(half + 1) is None:
            return _span(number + 0.25, unit), half + 1  # an hour and a quarter
        return _span(number, unit), after

    def _is_span(self, at: int) -> bool:
        return self._number(at) is not None and self._span(at) is not None

    def _past_fillers(self, at: int) -> int:
        for end in range(at, at + MOST_FILLERS):
            is_filler = self._has(end, *FILLERS, "trailing") and not self._reads_clock_after_at(end)
            if not is_filler or (self._has(end, "in") and self._span(end + 1)):
                return end
        return at + MOST_FILLERS

    def _before(self, at: int, said: Said) -> Found | None:
        if self._has(at, "before") and said.clocks and (found := self._span(at + 1)):
            return Found(found[1], Said(before=found[0]))
        found = self._span(at)
        if found and self._has(found[1], "before"):
            return Found(found[1] + 1, Said(before=found[0]))
        return None

    def _from_now(self, at: int, said: Said) -> Found | None:
        del said
        if self._has(at, "in") and (found := self._span(self._past(at + 1, "about"))):
            return Found(found[1] + self._has(found[1], "from_now"), Said(span=found[0]))
        found = self._span(at)
        if found is None:
            return None
        span, end = found
        if span.days and not (span.minutes or span.months):
            near_at = end + self._has(end, "starting", "after", "on")
            if (days := self._near(near_at)) is not None:  # "two weeks from today"
                return Found(near_at + 1, Said(days=(Near(days + span.days),)))
        if self._has(end, "from_now"):
            return Found(end + 1, Said(span=span))
        if self._has(end, "each_after"):
            repeat = repeat_of(span)
            return Found(end + 1, Said(repeat=repeat, is_unclear=repeat is None))
        if (
            span == Span(days=7)
            and self._has(end, "starting", "after", "on")
            and (day := self._weekday(end + 1)) is not None
        ):
            return Found(end + 2, Said(days=(Weekday(day, Which.WEEK_LATER),)))
        return None


def _span(number: float, unit: Unit) -> Span:
    match unit:
        case Unit.YEAR:
            return Span(months=round(12 * number))
        case Unit.MONTH:
            return Span(months=int(number), days=0 if number == int(number) else 15)
        case Unit.WEEK if number == int(number):
            return Span(days=int(7 * number))
        case Unit.DAY if number == int(number):
            return Span(days=int(number))
        case Unit.WEEK | Unit.DAY:
            return Span(minutes=number * (7 if unit is Unit.WEEK else 1) * 24 * 60)
        case Unit.HOUR:
            return Span(minutes=number * 60)
        case _:
            return Span(minutes=number)


def repeat_of(span: Span) -> Repeat | None:
    """A repetition after each such length; None where it is no whole number of a unit."""
    if span.minutes and not (span.days or span.months):
        whole = int(span.minutes)
        if whole != span.minutes or not whole:
            return None
        return Repeat(whole // 60, Unit.HOUR) if whole % 60 == 0 else Repeat(whole, Unit.MINUTE)
    if span.days and not (span.minutes or span.months):
        return Repeat(span.days // 7, Unit.WEEK) if span.days % 7 == 0 else Repeat(span.days, Unit.DAY)
    if span.months and not (span.minutes or span.days):
        return Repeat(span.months // 12, Unit.YEAR) if span.months % 12 == 0 else Repeat(span.months, Unit.MONTH)
    return None
