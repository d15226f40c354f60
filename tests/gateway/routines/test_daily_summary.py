"""Which day a summary tells, and for whose ears a session is."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path

import pytest

from agent.settings import GroupLogs
from agent.values import SessionKey
from channels.scripted import ScriptedChannel
from gateway.policy.access import Access
from gateway.policy.sessions import AgentHome, SessionPolicy
from gateway.routines.daily_summary import summarized_days
from gateway.scheduling.builtins import DueTime
from gateway.store.database import Database
from tests.gateway.conftest import BERLIN, Daybook, Moment, moved
from tests.gateway.scheduling.test_requests import ask


@pytest.mark.parametrize(
    ("due", "days", "by_hand"),
    [
        ("2026-11-21T21:00", [21], [21]),
        ("2026-11-21T12:00", [21], [21]),
        ("2026-11-21T11:59", [20, 21], [21, 20]),
        ("2026-11-21T08:30", [20, 21], [21, 20]),
        ("2026-11-22T00:00", [21, 22], [22, 21]),
    ],
)
def test_which_day_is_told(due: str, days: list[int], by_hand: list[int]) -> None:
    moment = datetime.fromisoformat(due).replace(tzinfo=BERLIN)
    assert [day.day for day in summarized_days(DueTime(moment))] == days
    assert [day.day for day in summarized_days(DueTime(moment, by_hand=True))] == by_hand


def test_on_new_years_morning_the_old_year_is_told() -> None:
    assert summarized_days(DueTime(datetime(2027, 1, 1, 7, tzinfo=BERLIN)))[0] == date(2026, 12, 31)


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
    sessions = SessionPolicy(access, {"main": AgentHome(tmp_path, GroupLogs.OWN)}, "main")
    found = sessions.scope_of(SessionKey("main", path))
    assert (found.name if found else None) == scope
    assert sessions.scope_of(SessionKey("other", path)) is None


@pytest.mark.usefixtures("offline")
async def test_a_group_that_gets_another_id_keeps_its_hour_and_what_is_due(daybook: Daybook) -> None:
    daybook.settings["channels"] = {"telegram": {"groups": {"-1": {"mention": "optional"}}}}
    async with daybook.running():
        assert "I'll sum up the day here at 22:00" in await ask(daybook, "/daily 22:00", chat="-1", group=True)
        await ask(daybook, "/remind tomorrow 10:00 the cake", chat="-1", group=True)
        daybook.model.then("Noted.")
        await ask(daybook, "We plan a picnic", chat="-1", group=True)
        daybook.chat.push(moved(ScriptedChannel("telegram"), "-1", "-1001"))
        await ask(daybook, "/daily now", chat="-1001", group=True)
        told = (await daybook.chat.wait_heard(2, chat="-1001"))[1]
        assert "picnic" in told and "⏰ 10:00 the cake" in told
        assert "comes here at 22:00" in await ask(daybook, "/daily", chat="-1001", group=True)
        assert "no more daily summaries here" in await ask(daybook, "/daily off", chat="-1001", group=True)
        jobs = await ask(daybook, "/jobs")
        assert "daily-summary-telegram" not in jobs and "daily-summary" in jobs
