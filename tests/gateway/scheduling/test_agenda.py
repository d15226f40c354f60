"""What is due in a chat on one day, also on the long day and the short one."""

from __future__ import annotations

from datetime import date
from zoneinfo import ZoneInfo

import pytest

from gateway.routines.daily_summary import agenda
from gateway.scheduling.job import Job, read
from tests.gateway.conftest import BERLIN


def job(id: str, when: dict[str, str], **more: str) -> Job:
    return read({"id": id, "text": id, "when": when, **more})


def test_only_what_is_due_then_and_there() -> None:
    jobs = [
        job("late", {"at": "2026-11-22T23:59"}),
        job("midnight", {"at": "2026-11-22T00:00"}),
        job("next", {"at": "2026-11-23T00:00"}),
        job("often", {"every": "2h"}),
        job("off", {"every": "2h"}, enabled="false"),
        job("group", {"every": "1d"}, to="telegram:-5"),
        job("tokyo", {"cron": "0 9 * * *"}, timezone="Asia/Tokyo"),
    ]
    found = agenda(jobs, {"owner"}, date(2026, 11, 22), BERLIN)
    assert [(f"{due:%H:%M}", one.id) for due, one in found] == [
        ("00:00", "midnight"),
        ("00:00", "often"),
        ("01:00", "tokyo"),
        ("23:59", "late"),
    ]


@pytest.mark.parametrize(
    ("zone", "day"),
    [
        ("Europe/Berlin", date(2026, 10, 25)),
        ("Europe/Berlin", date(2027, 3, 28)),
        ("Africa/Cairo", date(2026, 4, 24)),  # midnight itself does not exist
        ("Pacific/Kiritimati", date(2026, 12, 31)),
        ("Pacific/Pago_Pago", date(2028, 2, 29)),
    ],
)
def test_every_day_has_its_evening(zone: str, day: date) -> None:
    found = agenda([job("evening", {"cron": "30 23 * * *"})], {"owner"}, day, ZoneInfo(zone))
    assert [(due.date(), f"{due:%H:%M}") for due, _ in found] == [(day, "23:30")]
