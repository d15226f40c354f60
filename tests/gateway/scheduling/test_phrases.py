"""The plain ways of saying when. It is Saturday, 21 November 2026, 08:30 in Berlin."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.recurrence import InvalidWhen, fields, next_after
from gateway.scheduling.phrases import read

ZONE = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 11, 21, 8, 30, tzinfo=ZONE)


@pytest.mark.parametrize(
    ("said", "when", "rest"),
    [
        ("in 20 minutes stretch", "2026-11-21T08:50+01:00", "stretch"),
        ("in 20 Minuten: dehnen", "2026-11-21T08:50+01:00", "dehnen"),
        ("in an hour call Ann", "2026-11-21T09:30+01:00", "call Ann"),
        ("in einer halben Stunde Tee", "2026-11-21T09:00+01:00", "Tee"),
        ("in 1h30m tea", "2026-11-21T10:00+01:00", "tea"),
        ("in 2 days tea", "2026-11-23T08:30", "tea"),
        ("in 3 days at 10:00 tea", "2026-11-24T10:00", "tea"),
        ("in einer Woche um 9 Uhr Tee", "2026-11-28T09:00", "Tee"),
        ("in 20 min. tea", "2026-11-21T08:50+01:00", "tea"),
        ("in 2 hours and 30 minutes tea", "2026-11-21T11:00+01:00", "tea"),
        ("29.2. 10:00 leap", "2028-02-29T10:00", "leap"),
        ("In 3 Wochen Zahnarzt", "2026-12-12T08:30", "Zahnarzt"),
        ("at 15:00 call", "2026-11-21T15:00", "call"),
        ("um 15 Uhr anrufen", "2026-11-21T15:00", "anrufen"),
        ("3pm to call", "2026-11-21T15:00", "call"),
        ("8:00 run", "2026-11-22T08:00", "run"),
        ("tomorrow 15:00 milk", "2026-11-22T15:00", "milk"),
        ("tomorrow at 3pm to buy milk", "2026-11-22T15:00", "buy milk"),
        ("morgen um 8 Uhr: Brot", "2026-11-22T08:00", "Brot"),
        ("übermorgen 9:30 Brot", "2026-11-23T09:30", "Brot"),
        ("2026-12-24 18:00 gifts", "2026-12-24T18:00", "gifts"),
        ("24.12. um 18 Uhr Geschenke", "2026-12-24T18:00", "Geschenke"),
        ("20.11. 18:00 Geschenke", "2027-11-20T18:00", "Geschenke"),
        ("on friday at 9:30 report", "2026-11-27T09:30", "report"),
        ("Samstag um 9 Uhr Markt", "2026-11-21T09:00", "Markt"),
        ("saturday 08:00 market", "2026-11-28T08:00", "market"),
        ("heute abend um 8 Uhr Film", "2026-11-21T20:00", "Film"),
        ("every day 08:00 pills", "0 8 * * *", "pills"),
        ("täglich um 8 Uhr Pillen", "0 8 * * *", "Pillen"),
        ("every weekday at 8 the weather", "0 8 * * 1-5", "the weather"),
        ("jeden Montag um 9 Uhr Müll", "0 9 * * 1", "Müll"),
        ("every monday and sunday 9:30 gym", "30 9 * * 1,0", "gym"),
        ("alle 2 Stunden trinken", "2h", "trinken"),
        ("every hour stand up", "1h", "stand up"),
        ("tomorrow 15:00 and bring 2 eggs", "2026-11-22T15:00", "and bring 2 eggs"),
        ("tomorrow 15:00 Monday's report", "2026-11-22T15:00", "Monday's report"),
        ("tomorrow 15:00 from Ann: the keys", "2026-11-22T15:00", "from Ann: the keys"),
        ("in 20 minutes on the boat: sails", "2026-11-21T08:50+01:00", "on the boat: sails"),
    ],
)
def test_understood(said: str, when: str, rest: str) -> None:
    found = read(said, NOW)
    assert found is not None
    assert (next(iter(fields(found.when).values())), found.rest) == (when, rest)


@pytest.mark.parametrize(
    "said",
    [
        "tomorrow call Ann",
        "at 3 call",
        "next full moon plant",
        "in 5 people",
        "monday",
        "every month pay",
        "5 apples",
        "in May",
        "in 2 days and 3 hours tea",
        "every 2 hours and 30 minutes tea",
        "every day at 8am and 8pm pills",
        "every day at 8:00, 20:00 pills",
        "every monday at 9 and thursday at 10 gym",
        "every day at 8 except sunday pills",
        "every 2 weeks on monday 9:00 bins",
        "every 2 weeks monday 9:00 bins",
        "every week at 9:00 bins",
        "every 2 hours from 9 to 17 water",
        "every 2 hours between 9 and 17 water",
        "every hour until 18:00 water",
        "alle 2 Stunden von 9 bis 17 Uhr trinken",
        "in a week on monday call",
        "in 3 days at noon lunch",
        "tomorrow at 8 in the evening call Ann",
        "morgen um 8 Uhr abends anrufen",
        "tomorrow 15:00 UTC call",
        "",
    ],
)
def test_left_to_the_model(said: str) -> None:
    assert read(said, NOW) is None


@pytest.mark.parametrize(
    ("said", "first"),
    [
        ("every 2 days at 9:00 water", "2026-11-21T09:00"),
        ("alle 3 Tage um 8 Uhr gießen", "2026-11-22T08:00"),
        ("every 1 day 7:00 run", "2026-11-22T07:00"),
    ],
)
def test_every_few_days_begins_with_the_next_such_time(said: str, first: str) -> None:
    found = read(said, NOW)
    assert found is not None
    due = next_after(found.when, ZONE, NOW)
    assert due is not None and due.astimezone(ZONE).strftime("%Y-%m-%dT%H:%M") == first


@pytest.mark.parametrize("night", ["2027-03-28T01:30+01:00", "2026-10-25T01:55+02:00", "2026-10-25T02:55+02:00"])
@pytest.mark.parametrize(
    ("said", "minutes"),
    [
        ("in 10m tea", 10),
        ("in half an hour tea", 30),
        ("in an hour tea", 60),
        ("in 1h30m tea", 90),
        ("in 1 hour and 10 minutes tea", 70),
        ("in 120 minutes tea", 120),
    ],
)
def test_hours_and_minutes_are_as_long_in_the_nights_on_which_the_clocks_change(
    said: str, minutes: int, night: str
) -> None:
    now = datetime.fromisoformat(night).astimezone(ZONE)
    found = read(said, now)
    assert found is not None
    due = next_after(found.when, ZONE, now)
    assert due is not None and due - now.astimezone(UTC) == timedelta(minutes=minutes)


@pytest.mark.parametrize(
    "said", ["2026-02-30 10:00 x", "tomorrow 25:00 x", "31.2. 10:00 x", "at 13pm x", "in 0 minutes x"]
)
def test_what_cannot_be_is_refused(said: str) -> None:
    with pytest.raises(InvalidWhen):
        read(said, NOW)


@given(st.text(max_size=60), st.sampled_from(["", "in 2 hours ", "tomorrow ", "every ", "at 9", "2026-11-2", "9."]))
def test_no_words_break_it(text: str, beginning: str) -> None:
    try:
        read(beginning + text, NOW)
    except InvalidWhen as error:
        assert str(error)
