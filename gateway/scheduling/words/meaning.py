"""Tells which moment, or which repetition, a person means by what they said. Pure."""

from __future__ import annotations

from calendar import isleap, monthrange
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from itertools import count, islice
from zoneinfo import ZoneInfo

from agent.languages.sentences import Sentence
from agent.languages.time_words import TimeWords
from gateway.recurrence import BETWEEN, At, Cron, Every, InvalidWhen, When, exists, interval
from gateway.scheduling.words.hour_of_day import Unclear, default, is_either, of_clock
from gateway.scheduling.words.said import Date, Day, Near, Nth, PartOfDay, Repeat, Said, Span, Unit, Weekday, Which

_UNITS = {Unit.MINUTE: "m", Unit.HOUR: "h"}


@dataclass(frozen=True, slots=True)
class HourMissing(Exception):
    """An hour was not said. `day` None: the hour of a repetition."""

    day: date | None


@dataclass(frozen=True, slots=True)
class Timed:
    """What was meant. `zone`: of a repetition, where it is not the person's."""

    when: When
    zone: str = ""


def meant(said: Said, now: datetime, words: TimeWords) -> Timed:
    """The moment or repetition that was meant, with `now` on the person's clock. Raises `Unclear`, `HourMissing`, and
    `InvalidWhen` for a time that does not exist."""
    if said.is_unclear or (said.repeat is None and (said.until is not None or said.weekdays)):
        raise Unclear
    moments = _Moments(now, words, ZoneInfo(said.zone) if said.zone else None)
    try:
        return moments.repeated(said) if said.repeat is not None else Timed(At(moments.once(said)))
    except OverflowError as error:  # the end of the calendar
        raise InvalidWhen("That is not between a minute and ten years from now") from error


class _Moments:
    def __init__(self, now: datetime, words: TimeWords, elsewhere: ZoneInfo | None) -> None:
        """`elsewhere`: the zone of the hours; the days are those of the person."""
        self._elsewhere = elsewhere
        self._now = now
        assert isinstance(now.tzinfo, ZoneInfo)
        self._zone = now.tzinfo
        self._wall = now.replace(tzinfo=None, second=0, microsecond=0)
        self._today = self._wall.date()
        self._next_weekday = words.next_weekday
        self._bare_hour = words.bare_hour

    # Once

    def once(self, said: Said) -> datetime:
        said = self._one_day(said)
        if len(said.clocks) > 1 or len(said.days) > 1:
            raise Unclear
        found = self._once(said)
        if said.before is not None:
            if not (said.clocks or said.parts):
                raise Unclear
            if said.before.months:
                raise Unclear
            found -= timedelta(days=said.before.days, minutes=said.before.minutes)
        return found

    def _one_day(self, said: Said) -> Said:
        """`Friday, 11 December` is one day, if it is a Friday."""
        weekdays = [day for day in said.days if isinstance(day, Weekday) and day.which in (Which.COMING, Which.THIS)]
        others = [day for day in said.days if day not in weekdays]
        if len(weekdays) != 1 or len(others) != 1 or isinstance(others[0], Weekday | Nth):
            return said
        if next(self._days(others[0])).weekday() != weekdays[0].number:
            raise Unclear
        return replace(said, days=tuple(others))

    def _once(self, said: Said) -> datetime:
        if said.span is not None:
            return self._after(said)
        if not said.days:
            return self._next(said)
        (day,) = said.days
        if PartOfDay.MIDNIGHT in said.parts:  # midnight before the day, or after it?
            if day != Near(0):
                raise Unclear
            day = Near(1)
        hours = self._hours(said)
        if not hours:
            days = [
                candidate
                for candidate in islice(self._days(day), 2)
                if not (isinstance(day, Weekday) and candidate == self._today)
            ]
            raise HourMissing(days[0]) if days else Unclear
        for candidate in self._days(day):
            possible = [self._on(candidate, minutes) for minutes in hours]
            ahead = [moment for moment in possible if moment > self._wall]
            if ahead:
                return ahead[0]
            if isinstance(day, Near) or (isinstance(day, Weekday) and day.which is not Which.COMING):
                return possible[0]  # past, which whoever adds it says
        raise Unclear

    def _after(self, said: Said) -> datetime:
        span = said.span
        assert span is not None
        if said.days and (said.days != (Near(0),) or span.minutes):
            raise Unclear
        if span.minutes and (said.clocks or said.parts):
            raise Unclear
        if not (said.clocks or said.parts):
            later = _on_calendar(self._wall.date(), span)
            if span.minutes and not (span.days or span.months):
                return _exactly(self._now, timedelta(minutes=span.minutes))
            return datetime.combine(later, self._now.time().replace(microsecond=0)) + timedelta(minutes=span.minutes)
        hours = self._hours(said)
        day = _on_calendar(self._today, span)
        if not hours:
            raise HourMissing(day)
        return self._on(day, hours[0])

    def _next(self, said: Said) -> datetime:
        """The next time that a clock shows what was said."""
        if not (said.clocks or said.parts):
            raise Unclear
        hours = self._hours(said)
        if not hours or len({minutes % (24 * 60) for minutes in hours}) > 1:
            raise Unclear
        if said.clocks and not said.parts and self._bare_hour == "ask" and is_either(said.clocks[0]):
            raise Unclear
        today, tomorrow = (self._on(self._today + timedelta(days=days), hours[0] % (24 * 60)) for days in (0, 1))
        return today if today > self._wall and exists(today, self._zone) else tomorrow

    def _hours(self, said: Said) -> list[int]:
        """Minutes of the day, first the likeliest; then, for today, the minutes to take when the first are over."""
        if len(said.clocks) > 1:
            raise Unclear
        if not said.clocks:
            return [default(said.parts)] if said.parts and default(said.parts) >= 0 else []
        (clock,) = said.clocks
        is_today = bool(said.days) and said.days[0] == Near(0)
        return of_clock(clock, said.parts, is_today=is_today)

    def _on(self, day: date, minutes: float) -> datetime:
        found = datetime.combine(day, time()) + timedelta(minutes=minutes)
        if self._elsewhere is None:
            return found
        return found.replace(tzinfo=self._elsewhere).astimezone(self._zone).replace(tzinfo=None)

    # Days

    def _days(self, day: Day) -> Iterator[date]:
        """The dates that may be meant, in their order."""
        match day:
            case Near(days):
                yield self._today + timedelta(days=days)
            case Weekday():
                yield from self._weekdays(day)
            case Date():
                yield from self._dates(day)
            case Nth(number, weekday, months_on):
                for month in self._months(months_on):
                    found = _nth(month, number, weekday)
                    if found is not None and found >= self._today:
                        yield found

    def _weekdays(self, day: Weekday) -> Iterator[date]:
        ahead = (day.number - self._today.weekday()) % 7
        monday = self._today - timedelta(days=self._today.weekday())
        of_next_week = monday + timedelta(days=7 + day.number)
        match day.which:
            case Which.NEXT_WEEK:
                yield of_next_week
            case Which.NEXT if self._next_weekday == "week":
                yield of_next_week
            case Which.NEXT:
                nearest = self._today + timedelta(days=ahead or 7)
                if nearest != of_next_week and self._next_weekday == "ask":
                    raise Unclear
                yield nearest
            case Which.AFTER_NEXT_WEEK:
                yield of_next_week + timedelta(days=7)
            case Which.THIS_WEEK:
                this = monday + timedelta(days=day.number)
                if this < self._today:
                    raise Unclear
                yield this
            case Which.WEEK_LATER:
                yield self._today + timedelta(days=(ahead or 7) + 7)
            case _:
                yield self._today + timedelta(days=ahead)
                yield self._today + timedelta(days=ahead or 7)

    def _dates(self, day: Date) -> Iterator[date]:
        if day.year is not None or day.years_on is not None:
            yield _date(day.year or self._today.year + (day.years_on or 0), day.month or 1, day.day)
        elif day.month is not None:
            _checked(day.month, day.day)
            for year in range(self._today.year, self._today.year + 9):
                if (day.month, day.day) == (2, 29) and not isleap(year):
                    continue
                if (found := date(year, day.month, day.day)) >= self._today:
                    yield found
        else:
            for month in self._months(day.months_on):
                if day.day <= monthrange(month.year, month.month)[1]:
                    if (found := month.replace(day=day.day)) >= self._today:
                        yield found
                elif day.months_on is not None:
                    raise InvalidWhen(Sentence("{month} has no day {day}", month=f"{month:%Y-%m}", day=day.day))

    def _months(self, on: int | None) -> Iterator[date]:
        for number in count() if on is None else (on,):
            month = self._today.month - 1 + number
            yield date(self._today.year + month // 12, month % 12 + 1, 1)
            if number > 24:
                return

    # Again and again

    def repeated(self, said: Said) -> Timed:
        repeat = said.repeat
        assert repeat is not None
        if said.span is not None or said.before is not None:
            raise Unclear
        until = self._until(said)
        if repeat.unit in _UNITS:
            if said.days or said.clocks or said.parts or said.weekdays or said.zone:
                raise Unclear
            return Timed(Every(interval(f"{repeat.number}{_UNITS[repeat.unit]}"), until=until))
        field, step = self._field(said, repeat)
        clocks = self._clocks(said)
        if not clocks:
            raise HourMissing(None)
        if step is None:
            if len(clocks) > 1 and any(clock.is_joined for clock in said.clocks):
                raise Unclear
            hours: dict[int, list[str]] = {}
            for minutes in dict.fromkeys(clocks):
                hours.setdefault(minutes % 60, []).append(str(minutes // 60))
            each = (f"{minute} {','.join(found)} {field}" for minute, found in hours.items())
            return Timed(Cron(BETWEEN.join(each), until), said.zone)
        if len(clocks) > 1 or said.zone:
            raise Unclear
        first = next(moment for day in self._first_days(said) if (moment := self._on(day, clocks[0])) > self._wall)
        return Timed(Every(step, first - step, until))

    def _first_days(self, said: Said) -> Iterator[date]:
        if said.days:
            (day,) = said.days
            yield from self._days(day)
        for number in count():
            yield self._today + timedelta(days=number)

    def _field(self, said: Said, repeat: Repeat) -> tuple[str, timedelta | None]:
        """Day of month, month and day of week of a cron expression; else the time between two runs."""
        if said.weekdays:
            if said.days or repeat.number != 1 or repeat.unit not in (None, Unit.WEEK):
                raise Unclear
            return f"* * {said.weekdays}", None
        if not said.days:
            if repeat.unit is Unit.DAY or (repeat.unit is None and repeat.number == 1 and said.parts):
                return ("* * *", None) if repeat.number == 1 else ("", timedelta(days=repeat.number))
            raise Unclear
        if all(isinstance(day, Weekday) and day.which is Which.COMING for day in said.days):
            if repeat.unit not in (None, Unit.WEEK):
                raise Unclear
            if repeat.number == 1:
                numbers = dict.fromkeys(str((day.number + 1) % 7) for day in said.days if isinstance(day, Weekday))
                return f"* * {','.join(numbers)}", None
            if len(said.days) == 1:
                return "", timedelta(days=7 * repeat.number)
            raise Unclear
        if len(said.days) != 1 or repeat.number != 1:
            raise Unclear
        match said.days[0]:
            case Nth(-1, None, None) if repeat.unit in (None, Unit.MONTH):
                return "L * *", None
            case Nth(1, None, None) if repeat.unit in (None, Unit.MONTH):
                return "1 * *", None
            case Nth(number, int(weekday), None) if repeat.unit in (None, Unit.MONTH):
                name = (weekday + 1) % 7
                return (f"* * {name}L" if number == -1 else f"* * {name}#{number}"), None
            case Date(day, None, None, None, None) if repeat.unit in (None, Unit.MONTH):
                return f"{day} * *", None
            case Date(day, int(month), None, None, None) if repeat.unit in (None, Unit.YEAR):
                _checked(month, day)
                return f"{day} {month} *", None
        raise Unclear

    def _clocks(self, said: Said) -> list[int]:
        if not said.clocks:
            return [default(said.parts)] if said.parts and default(said.parts) >= 0 else []
        each = [said.parts] * len(said.clocks)
        if len(said.clocks) > 1 and said.parts:
            if len(said.parts) != len(said.clocks):
                raise Unclear
            each = [(part,) for part in said.parts]  # "at 8 in the morning and 9 in the evening"
        found = []
        for clock, parts in zip(said.clocks, each, strict=True):
            minutes = of_clock(clock, parts, is_today=False)[0]
            if not 0 <= minutes < 24 * 60:
                raise Unclear
            found.append(minutes)
        return found

    def _until(self, said: Said) -> date | None:
        if said.until is None:
            return None
        last = next((day for day in self._days(said.until) if day >= self._today), None)
        if last is None:
            raise Unclear
        return last


def _exactly(now: datetime, length: timedelta) -> datetime:
    """`now` and the length, also where the clocks change between."""
    if not timedelta() < length <= timedelta(days=3660):
        raise InvalidWhen(Sentence("That is not between a minute and ten years from now"))
    return (now.astimezone(UTC) + length).astimezone(now.tzinfo).replace(microsecond=0)


def _on_calendar(day: date, span: Span) -> date:
    if span.months > 1200 or span.days > 36_600 or not (span.months or span.days or span.minutes):
        raise InvalidWhen(Sentence("That is not between a minute and ten years from now"))
    month = day.month - 1 + span.months
    year, number = day.year + month // 12, month % 12 + 1
    return date(year, number, min(day.day, monthrange(year, number)[1])) + timedelta(days=span.days)


def _nth(month: date, number: int, weekday: int | None) -> date | None:
    last = month.replace(day=monthrange(month.year, month.month)[1])
    if weekday is None:
        return month if number == 1 else last
    if number == -1:
        return last - timedelta(days=(last.weekday() - weekday) % 7)
    found = month + timedelta(days=(weekday - month.weekday()) % 7 + 7 * (number - 1))
    return found if found.month == month.month else None


def _checked(month: int, day: int) -> None:
    """Raises `InvalidWhen` for a day that no year has."""
    if not (1 <= month <= 12 and 1 <= day <= monthrange(2024, month)[1]):
        raise InvalidWhen(Sentence("{day} does not exist", day=f"{day}.{month}."))


def _date(year: int, month: int, day: int) -> date:
    try:
        return date(year, month, day)
    except ValueError as error:
        raise InvalidWhen(Sentence("{day} does not exist", day=f"{year}-{month:02}-{day:02}")) from error
