"""Which day a summary tells, and for whose ears a session is."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path

import pytest

from agent.memory.scope import GroupLogs
from agent.turn import SessionKey
from gateway.access import Access
from gateway.daily import told_day
from gateway.sessions import AgentHome, Sessions
from gateway.store.database import Database
from tests.gateway.conftest import BERLIN, Moment


@pytest.mark.parametrize(
    ("due", "day"),
    [
        ("2026-11-21T21:00", date(2026, 11, 21)),
        ("2026-11-21T12:00", date(2026, 11, 21)),
        ("2026-11-21T08:30", date(2026, 11, 20)),
        ("2026-11-22T00:00", date(2026, 11, 21)),
        ("2027-01-01T07:00", date(2026, 12, 31)),
    ],
)
def test_in_the_morning_the_day_before_is_told(due: str, day: date) -> None:
    assert told_day(datetime.fromisoformat(due).replace(tzinfo=BERLIN)) == day


@pytest.mark.parametrize(
    ("path", "scope"),
    [
        ("owner", "owner"),
        ("owner/work", "owner"),
        ("owner/jobs", "owner"),
        ("person/alice", "person:alice"),
        ("group/telegram--100", "group:telegram--100"),
        ("group/telegram--100/7", "group:telegram--100"),
        ("owner/jobs/weather", None),
        ("person/alice/jobs/weather", None),
        ("group/telegram--100/7/jobs/weather", None),
        ("person/..", None),
        ("person", None),
        ("stray", None),
    ],
)
async def test_for_whose_ears(path: str, scope: str | None, tmp_path: Path, database: Database, moment: Moment) -> None:
    access = Access(database, moment.clock, {}, frozenset(), {})
    sessions = Sessions(access, {"main": AgentHome(tmp_path, GroupLogs.OWN)}, "main")
    found = sessions.scope_of(SessionKey("main", path))
    assert (found.name if found else None) == scope
    assert sessions.scope_of(SessionKey("other", path)) is None
