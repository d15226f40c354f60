"""Times as people say them: what they look like, and that they always mean the moment that was given."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.spoken_time import from_now, span, spoken, spoken_day

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 11, 22, 8, 30, tzinfo=BERLIN)
MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400, "month": 2_629_800, "year": 31_557_600}
ZONES = st.sampled_from(["Europe/Berlin", "America/New_York", "Pacific/Apia", "Australia/Lord_Howe", "UTC"])
CHANGES = [
    datetime(2026, 10, 25, 0, 30, tzinfo=UTC),  # Berlin: the first 02:30
    datetime(2026, 10, 25, 1, 30, tzinfo=UTC),  # and the second
    datetime(2027, 3, 28, 1, 0, tzinfo=UTC),  # Berlin: 03:00, after 01:59
    datetime(2026, 11, 1, 6, 30, tzinfo=UTC),  # New York: the second 01:30
    datetime(2026, 12, 31, 22, 59, tzinfo=UTC),  # Berlin: the last minute of the year
    datetime(2026, 12, 31, 23, 0, tzinfo=UTC),  # and the first of the next
    datetime(2028, 2, 29, 12, 0, tzinfo=UTC),
]
MOMENTS = st.one_of(
    st.integers(631_152_000, 3_786_912_000).map(lambda seconds: datetime.fromtimestamp(seconds, UTC)),
    st.builds(
        lambda moment, seconds: moment + timedelta(seconds=seconds),
        st.sampled_from(CHANGES),
        st.integers(-200_000, 200_000),
    ),
)


@pytest.mark.parametrize(
    ("moment", "said"),
    [
        ("2026-11-22T15:00", "today at 15:00"),
        ("2026-11-22T00:00", "today at 00:00"),
        ("2026-11-23T15:00", "tomorrow (Mon 23 Nov) at 15:00"),
        ("2026-11-21T23:59", "yesterday at 23:59"),
        ("2026-11-24T00:00", "Tue 24 Nov at 00:00"),
        ("2026-12-04T09:00", "Fri 4 Dec at 09:00"),
        ("2026-01-02T09:00", "Fri 2 Jan at 09:00"),
        ("2027-01-01T00:05", "Fri 1 Jan 2027 at 00:05"),
        ("2025-12-31T12:00", "Wed 31 Dec 2025 at 12:00"),
    ],
)
def test_a_moment_reads_as_people_say_it(moment: str, said: str) -> None:
    assert spoken(datetime.fromisoformat(moment).replace(tzinfo=BERLIN), NOW, BERLIN) == said


def test_over_the_end_of_the_year_tomorrow_says_its_year() -> None:
    assert spoken_day(date(2027, 1, 1), date(2026, 12, 31)) == "tomorrow (Fri 1 Jan 2027)"
    assert spoken_day(date(2026, 12, 31), date(2027, 1, 1)) == "yesterday"


@given(MOMENTS, MOMENTS, ZONES)
def test_a_moment_can_be_found_again_from_what_was_said(moment: datetime, now: datetime, zone_name: str) -> None:
    zone = ZoneInfo(zone_name)
    day, _, clock = spoken(moment, now, zone).rpartition(" at ")
    here, today = moment.astimezone(zone), now.astimezone(zone).date()
    assert clock == f"{here.hour:02}:{here.minute:02}"
    assert _day(day, today) == here.date()


def _day(said: str, today: date) -> date:
    if said in ("today", "yesterday"):
        return today - timedelta(days=said == "yesterday")
    number, month, year = re.search(r"(\d+) ([A-Z][a-z]{2})(?: (\d{4}))?", said).groups()  # type: ignore[union-attr]
    found = date(int(year or today.year), MONTHS.index(month) + 1, int(number))
    assert said.startswith("tomorrow") == (found - today == timedelta(days=1))
    assert f"{found:%a}" in said
    return found


@pytest.mark.parametrize(
    ("length", "said"),
    [
        (timedelta(), "0 seconds"),
        (timedelta(seconds=1), "1 second"),
        (timedelta(seconds=90), "90 seconds"),
        (timedelta(minutes=20), "20 minutes"),
        (timedelta(minutes=59, seconds=59), "1 hour"),
        (timedelta(minutes=90), "90 minutes"),
        (timedelta(hours=2), "2 hours"),
        (timedelta(hours=24), "1 day"),
        (timedelta(days=1.4), "34 hours"),
        (timedelta(days=3, hours=2), "3 days"),
        (timedelta(days=45), "45 days"),
        (timedelta(days=365), "1 year"),
        (timedelta(hours=-2), "2 hours"),
    ],
)
def test_a_span_reads_as_people_say_it(length: timedelta, said: str) -> None:
    assert span(length) == said


@given(st.timedeltas(timedelta(days=-20_000), timedelta(days=20_000)))
def test_a_span_is_a_whole_number_near_the_truth(length: timedelta) -> None:
    match = re.fullmatch(r"(\d+) ([a-z]+?)(s?)", span(length))
    assert match is not None
    number, size = int(match[1]), SECONDS[match[2]]
    assert bool(match[3]) == (number != 1)
    assert abs(number * size - abs(length.total_seconds())) <= max(1, number * size / 6)


def test_a_distance_says_its_direction() -> None:
    assert from_now(timedelta(minutes=20)) == "in 20 minutes"
    assert from_now(timedelta(hours=-2)) == "2 hours ago"
    assert from_now(timedelta(milliseconds=3)) == "now"
