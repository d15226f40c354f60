# ruff: noqa: DTZ001  wall-clock times, which have no zone
"""What follows from the hour for one job."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest

from gateway.recurrence import At, Cron, Every, When
from gateway.scheduling.policy import Missed, PlannedRun, Quiet, Timing, Wait, next_run, plan

BERLIN = ZoneInfo("Europe/Berlin")
NIGHT = Quiet(time(23), time(7), BERLIN)
EIGHT = Cron("0 8 * * *")


def at(text: str) -> datetime:
    """On 21 November, in Berlin, unless a day is given."""
    return datetime.fromisoformat(text if "T" in text else f"2026-11-21T{text}").replace(tzinfo=BERLIN)


def what(
    when: When, settled: str, now: str, *, hours: float = 12, quiet: Quiet | None = None
) -> Wait | PlannedRun | Missed:
    return plan(Timing(when, BERLIN, timedelta(hours=hours), quiet), at(settled), at(now))


def test_before_its_time_it_waits() -> None:
    assert what(EIGHT, "07:00", "07:59") == Wait(at("08:00"))


def test_on_time_it_runs() -> None:
    assert what(EIGHT, "07:00", "08:00") == PlannedRun(at("08:00"), late=False)
    assert what(EIGHT, "07:00", "08:02") == PlannedRun(at("08:00"), late=False)


def test_what_was_run_is_not_run_again() -> None:
    assert what(EIGHT, "08:00", "08:00") == Wait(at("2026-11-22T08:00"))


def test_missed_while_down_runs_once_and_says_so() -> None:
    assert what(Every(timedelta(hours=2)), "00:00", "11:30") == PlannedRun(at("10:00"), late=True)
    assert what(EIGHT, "2026-11-10T09:00", "12:00") == PlannedRun(at("08:00"), late=True)


def test_missed_too_long_ago_is_let_go() -> None:
    assert what(EIGHT, "07:00", "21:00") == Missed(at("08:00"))
    assert what(EIGHT, "07:00", "08:10", hours=0) == Missed(at("08:00"))
    assert what(At(datetime(2026, 11, 1, 9)), "2026-10-01T00:00", "12:00") == Missed(at("2026-11-01T09:00"))


def test_a_clock_that_is_put_back_runs_nothing_before_its_time() -> None:
    assert what(EIGHT, "2026-11-25T08:00", "07:00") == Wait(at("08:00"))


@pytest.mark.parametrize(
    ("due", "now", "expected"),
    [
        ("0 2 * * *", "03:00", Wait(at("07:00"))),
        ("0 2 * * *", "07:00", PlannedRun(at("02:00"), late=False)),
        ("0 2 * * *", "07:05", PlannedRun(at("02:00"), late=True)),
        ("30 6 * * *", "07:01", PlannedRun(at("06:30"), late=False)),
        ("0 7 * * *", "07:00", PlannedRun(at("07:00"), late=False)),
    ],
)
def test_in_quiet_hours_it_waits_for_their_end(due: str, now: str, expected: Wait | PlannedRun) -> None:
    assert what(Cron(due), "00:00", now, quiet=NIGHT) == expected


def test_quiet_hours_within_a_day() -> None:
    noon = Quiet(time(12), time(14), BERLIN)
    assert noon.over_at(at("12:00")) == at("14:00")
    assert noon.over_at(at("14:00")) == at("14:00")
    assert NIGHT.over_at(at("23:30")) == at("2026-11-22T07:00")
    assert NIGHT.over_at(at("22:59")) == at("22:59")


def test_the_next_run_is_after_the_quiet_hours() -> None:
    timing = Timing(Cron("0 2 * * *"), BERLIN, timedelta(hours=12), NIGHT)
    assert next_run(timing, at("03:00"), at("12:00")) == at("2026-11-22T07:00")
    assert next_run(Timing(At(datetime(2026, 1, 1)), BERLIN, timedelta()), at("03:00"), at("12:00")) is None


def test_the_next_run_of_what_was_missed_is_not_now() -> None:
    day = Timing(EIGHT, BERLIN, timedelta(hours=2))
    assert next_run(day, at("07:00"), at("09:00")) == at("09:00")
    assert next_run(day, at("07:00"), at("12:00")) == at("2026-11-22T08:00")
    once = Timing(At(datetime(2026, 11, 21, 8)), BERLIN, timedelta(hours=2))
    assert next_run(once, at("07:00"), at("09:00")) == at("09:00")
    assert next_run(once, at("07:00"), at("12:00")) is None
    quiet = Timing(Cron("0 2 * * *"), BERLIN, timedelta(hours=12), NIGHT)
    assert next_run(quiet, at("00:00"), at("03:00")) == at("07:00")


def test_a_year_of_minutes_that_passed_is_no_work() -> None:
    """Ten thousand such jobs are planned at a start."""
    now = datetime(2026, 11, 21, tzinfo=UTC)
    timing = Timing(Cron("* * * * *"), BERLIN, timedelta(hours=12))
    for _ in range(20):
        assert plan(timing, now - timedelta(days=365), now) == PlannedRun(now, late=False)
