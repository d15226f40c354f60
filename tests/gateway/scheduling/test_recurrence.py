"""When, as people write it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway import recurrence
from gateway.recurrence import InvalidWhen, fields, parse
from gateway.recurrence_in_words import in_words


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ({}, "must be one of"),
        ({"at": "2026-11-22T15:00", "every": "2h"}, "must be one of"),
        ({"on": "monday"}, "no key 'on'"),
        ({"at": "tomorrow"}, "is not a moment"),
        ({"at": "2026-02-30T10:00"}, "does not exist"),
        ({"at": "2026-11-22"}, "is not a moment"),
        ({"at": "2026-11-22T24:30"}, "does not exist"),
        ({"every": "0m"}, "out of range"),
        ({"every": "10s"}, "out of range"),
        ({"every": "often"}, "is not an interval"),
        ({"every": "999999w"}, "out of range"),
        ({"cron": "0 8 * *"}, "is not a cron expression"),
        ({"cron": "* 0 8 * * *"}, "is not a cron expression"),
        ({"cron": "@daily"}, "is not a cron expression"),
        ({"cron": "61 8 * * *"}, "bad minute"),
        ({"cron": "0 0 31 2 *"}, "bad day-of-month"),
        ({"cron": "0 8 * * 1-5", "from": "2026-11-22T15:00"}, "must be one of"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(written: dict[str, str], why: str) -> None:
    with pytest.raises(InvalidWhen, match=why):
        parse(written)


@given(st.text(max_size=80), st.sampled_from(["at", "every", "cron"]))
def test_no_text_breaks_it(text: str, key: str) -> None:
    try:
        found = parse({key: text})
    except InvalidWhen as error:
        assert len(str(error)) < 400
    else:
        assert parse(fields(found)) == found


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ({"every": "2h"}, "every 2 hours"),
        ({"every": "1h30m"}, "every 90 minutes"),
        ({"cron": "0 8 * * 1-5"}, "every weekday at 08:00"),
        ({"cron": "5 21 * * *"}, "every day at 21:05"),
        ({"cron": "0 9 * * 0,6"}, "every Sunday and Saturday at 09:00"),
        ({"every": "1d"}, "every day"),
        ({"cron": "0 9 * * 1-3,6"}, "every Monday, Tuesday, Wednesday and Saturday at 09:00"),
        ({"cron": "*/5 * * * *"}, "every 5 minutes"),
        ({"cron": "0 * * * *"}, "every hour"),
        ({"cron": "30 8,20 * * *"}, "every day at 08:30 and 20:30"),
        ({"cron": "45 20 * * *; 15 8 * * *"}, "every day at 08:15 and 20:45"),
        ({"cron": "15 8 * * 1 ;45 20 * * 2"}, "by the calendar rule `15 8 * * 1; 45 20 * * 2`"),
        ({"cron": "0 8 1 * *"}, "on day 1 of every month at 08:00"),
        ({"cron": "0 8 L * *"}, "on the last day of every month at 08:00"),
        ({"cron": "0 8 * * 2#2"}, "on the second Tuesday of every month at 08:00"),
        ({"cron": "0 8 * * 5L"}, "on the last Friday of every month at 08:00"),
        ({"cron": "0 8 24 12 *"}, "every year on 24 December at 08:00"),
        ({"cron": "0 8 1-7 */2 1"}, "by the calendar rule `0 8 1-7 */2 1`"),
        ({"cron": "0 8 * * *", "until": "2026-12-24"}, "every day at 08:00 until Thu 24 Dec 2026"),
        ({"at": "2026-11-22 9:05"}, "once, Sun 22 Nov 2026 at 09:05"),
    ],
)
def test_it_reads_as_people_say_it(written: dict[str, str], words: str) -> None:
    assert in_words(parse(written)) == words


def test_several_rules_come_each_in_its_turn() -> None:
    twice, zone = parse({"cron": "15 8 * * *; 45 20 * * *", "until": "2026-11-22"}), ZoneInfo("Europe/Berlin")
    due, found = datetime(2026, 11, 21, 8, 15, tzinfo=zone).astimezone(UTC), []
    while (later := recurrence.next_after(twice, zone, due)) is not None:
        due = later
        found.append(f"{later.astimezone(zone):%d %H:%M}")
    assert found == ["21 20:45", "22 08:15", "22 20:45"]
    assert recurrence.fields(twice) == {"cron": "15 8 * * *; 45 20 * * *", "until": "2026-11-22"}
    assert recurrence.runs_within(parse({"cron": "0 8 * * *; 5 8 * * *"}), timedelta(minutes=10))
    assert not recurrence.runs_within(twice, timedelta(hours=2))


@pytest.mark.parametrize("rule", ["15 8 * * *;", "15 8 * * *; 45 20", "0 8 * * *; 0 0 31 2 *", ";"])
def test_every_one_of_several_rules_is_checked(rule: str) -> None:
    with pytest.raises(recurrence.InvalidWhen):
        parse({"cron": rule})


def test_an_offset_is_kept_as_a_moment() -> None:
    assert recurrence.moment("2026-11-22T15:00+01:00") == recurrence.moment("2026-11-22T14:00Z")
