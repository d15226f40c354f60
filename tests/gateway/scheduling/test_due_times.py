# ruff: noqa: DTZ001  wall-clock times, which have no zone
"""Due times over every zone's calendar."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.recurrence import At, Cron, Every, exists, is_twice, last_until, next_after, resolved

ZONES = (
    "Europe/Berlin",
    "America/New_York",
    "America/St_Johns",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",  # by half an hour
    "Pacific/Kiritimati",  # UTC+14
    "Pacific/Pago_Pago",  # UTC-11
    "Africa/Cairo",  # at midnight
    "America/Santiago",
    "UTC",
)
zones = st.sampled_from(ZONES).map(ZoneInfo)
moments = st.datetimes(datetime(2024, 1, 1), datetime(2028, 12, 31)).map(lambda naive: naive.replace(tzinfo=UTC))
minutes = st.integers(0, 59)
hours = st.integers(0, 23)
crons = st.one_of(
    st.builds("{} {} * * *".format, minutes, hours),
    st.builds("{} {} * * {}".format, minutes, hours, st.sampled_from(["1-5", "0", "7", "6,0", "MON"])),
    st.builds("{} {} {} * *".format, minutes, hours, st.integers(1, 31)),
    st.builds("*/{} * * * *".format, st.integers(1, 59)),
    st.builds("{} */{} * * *".format, minutes, st.integers(1, 23)),
).map(Cron)
everies = st.one_of(
    st.builds(lambda number: Every(timedelta(minutes=number)), st.integers(1, 3000)),
    st.builds(
        lambda number, start: Every(timedelta(days=number), start),
        st.integers(1, 40),
        st.datetimes(datetime(2024, 1, 1), datetime(2026, 1, 1)),
    ),
)
ats = st.datetimes(datetime(2024, 1, 1), datetime(2028, 12, 31)).map(At)
whens = st.one_of(crons, everies, ats)


@given(whens, zones, moments)
def test_the_next_due_time_is_later_and_nothing_lies_between(
    when: Cron | Every | At, zone: ZoneInfo, after: datetime
) -> None:
    due = next_after(when, zone, after)
    if due is None:
        assert isinstance(when, At)
        return
    assert due > after
    assert due.tzinfo is UTC
    middle = after + (due - after) / 2
    assert next_after(when, zone, middle) == due
    assert next_after(when, zone, due - timedelta(microseconds=1)) == due


@given(whens, zones, moments, st.timedeltas(timedelta(0), timedelta(days=40)))
def test_the_last_due_time_is_the_one_before_the_next(
    when: Cron | Every | At, zone: ZoneInfo, after: datetime, span: timedelta
) -> None:
    until = after + span
    last, then = last_until(when, zone, after, until)
    first = next_after(when, zone, after)
    assert then == next_after(when, zone, until)
    assert (last is None) == (first is None or first > until)
    if last is not None:
        assert after < last <= until
        following = next_after(when, zone, last)
        assert following is None or following > until


@given(minutes, hours, zones, st.dates(datetime(2024, 1, 2).date(), datetime(2028, 12, 30).date()))
def test_a_daily_job_is_due_once_each_day_at_its_time_or_the_next_valid_minute(
    minute: int, hour: int, zone: ZoneInfo, day: object
) -> None:
    wall = datetime.combine(day, time(hour, minute))  # type: ignore[arg-type]
    before = resolved(wall, zone) - timedelta(seconds=1)
    due = next_after(Cron(f"{minute} {hour} * * *"), zone, before)
    assert due == resolved(wall, zone)
    local = due.astimezone(zone).replace(tzinfo=None)
    assert local == wall if exists(wall, zone) else local > wall
    again = next_after(Cron(f"{minute} {hour} * * *"), zone, due)
    assert again is not None
    assert again.astimezone(zone).date() > wall.date()


@given(everies, zones, moments)
def test_an_interval_neither_drifts_nor_loses_its_time_of_day(every: Every, zone: ZoneInfo, after: datetime) -> None:
    first = next_after(every, zone, after)
    assert first is not None
    second = next_after(every, zone, first)
    assert second is not None
    if every.interval % timedelta(days=1):
        assert second - first == every.interval
    else:
        walls = [due.astimezone(zone).replace(tzinfo=None) for due in (first, second)]
        start = every.start.replace(tzinfo=None, second=0, microsecond=0) if every.start else datetime(2000, 1, 1)
        for wall in walls:
            meant = datetime.combine(wall.date(), start.time())
            assert wall.replace(second=0, microsecond=0) == meant or not exists(meant, zone)


def due_in(expression: str, zone: str, after: str) -> str:
    due = next_after(Cron(expression), ZoneInfo(zone), datetime.fromisoformat(after))
    assert due is not None
    return due.astimezone(ZoneInfo(zone)).isoformat(timespec="minutes")


@pytest.mark.parametrize(
    ("expression", "zone", "after", "due"),
    [
        ("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00+01:00", "2026-03-29T03:00+02:00"),  # 23 hours: no 02:30
        ("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00+02:00", "2026-10-25T02:30+02:00"),  # 25 hours: the first
        ("30 2 * * *", "Europe/Berlin", "2026-10-25T02:30+02:00", "2026-10-26T02:30+01:00"),  # and not the second
        ("30 2 * * *", "Europe/Berlin", "2026-10-25T02:15+01:00", "2026-10-26T02:30+01:00"),
        ("0 0 * * *", "Africa/Cairo", "2026-04-23T12:00+02:00", "2026-04-24T01:00+03:00"),  # midnight is skipped
        ("0 9 29 2 *", "Europe/Berlin", "2026-01-01T00:00+01:00", "2028-02-29T09:00+01:00"),
        ("0 9 31 * *", "Europe/Berlin", "2026-01-31T10:00+01:00", "2026-03-31T09:00+02:00"),
        ("59 23 31 12 *", "Pacific/Kiritimati", "2026-06-01T00:00+14:00", "2026-12-31T23:59+14:00"),
        ("0 0 1 1 *", "Pacific/Pago_Pago", "2026-06-01T00:00-11:00", "2027-01-01T00:00-11:00"),
        ("0 9 * * 0", "Europe/Berlin", "2026-11-21T12:00+01:00", "2026-11-22T09:00+01:00"),  # 0 is Sunday
        ("0 9 * * 7", "Europe/Berlin", "2026-11-21T12:00+01:00", "2026-11-22T09:00+01:00"),  # and so is 7
        ("0 9 13 * 5", "Europe/Berlin", "2026-11-21T12:00+01:00", "2026-11-27T09:00+01:00"),  # 13th or Friday
    ],
)
def test_the_calendar(expression: str, zone: str, after: str, due: str) -> None:
    assert due_in(expression, zone, after) == due


def test_what_exists_never_or_twice() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    assert not exists(datetime(2026, 3, 29, 2, 30), berlin)
    assert is_twice(datetime(2026, 10, 25, 2, 30), berlin)
    assert not is_twice(datetime(2026, 3, 29, 2, 30), berlin)
    assert not is_twice(datetime(2026, 10, 25, 3, 0), berlin)
    assert resolved(datetime(2026, 3, 29, 2, 30), berlin) == datetime(2026, 3, 29, 1, 0, tzinfo=UTC)


def test_the_end_of_the_calendar_is_no_error() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    assert next_after(Every(timedelta(days=3000)), berlin, datetime(9999, 12, 1, tzinfo=UTC)) is None
    assert next_after(Cron("0 0 1 1 *"), berlin, datetime(9999, 12, 30, tzinfo=UTC)) is None
