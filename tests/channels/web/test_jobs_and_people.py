"""The views of jobs and people, filled with what no gateway should say, and every rhythm a job can have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from channels.web.views.jobs import rhythm
from channels.web.views.view import ActionFailed
from tests.channels.web.browser import Browser
from tests.channels.web.conftest import House
from tests.channels.web.test_views import XSS

AT = "2026-11-23T15:00:00+01:00"


def job(**fields: object) -> dict[str, object]:
    known = {"id": "tea", "kind": "message", "when": {"at": "2026-11-23T15:00"}, "to": "owner", "enabled": True}
    last = {"next_run": AT, "last_run": None, "last_result": None, "last_error": "", "text": "Tea"}
    return {**known, **last, "timezone": "Europe/Berlin", **fields}


def week(*entries: Mapping[str, object]) -> dict[str, object]:
    days = [{"day": "2026-11-23", "entries": list(entries)}, {"day": "2026-11-24", "entries": []}]
    return {"timezone": "Europe/Berlin", "today": "2026-11-23", "from": "2026-11-23", "days": days}


async def shown(owner: Browser, path: str) -> str:
    async with owner.get(f"/view{path}") as answered:
        html = str(await answered.text())
        assert answered.status == 200, html
    return html


def is_harmless(html: str) -> bool:
    return not any(part in html for part in ("<script", "<img", 'onerror="', "'\"{{")) and "49" not in html


@pytest.mark.parametrize("path", ["/jobs", "/jobs?show=week", "/jobs?job=tea"])
async def test_no_field_of_a_job_is_markup(owner: Browser, house: House, path: str) -> None:
    entry = {"id": XSS, "at": AT, "kind": XSS, "text": XSS, "state": XSS, "often": True}
    evil = {"kind": XSS, "to": XSS, "last_result": XSS, "last_run": XSS, "last_error": XSS, "text": XSS}
    run = {"due": XSS, "timezone": XSS, "result": XSS, "late": True, "error": XSS, "to": XSS, "attempts": 1}
    house.operations |= {
        "schedule.list": [job(**evil, timezone=XSS, when={"cron": XSS}), job(id=XSS, when={"every": XSS}, **evil)],
        "schedule.week": week(entry, {**entry, "id": "tea"}),
        "schedule.history": [{**run, "started": XSS, "ended": XSS, "id": XSS}],
    }
    html = await shown(owner, path)
    assert is_harmless(html) and "&lt;script&gt;" in html


async def test_no_field_of_people_is_markup(owner: Browser, house: House) -> None:
    account = {"id": XSS, "name": XSS, "approved": True}
    approval = {"id": XSS, "what": XSS, "content": XSS, "private": XSS, "because": XSS, "chat": XSS, "until": XSS}
    approval |= {"lasting": XSS}
    person = {"id": XSS, "name": XSS, "role": XSS, "accounts": [account], "spent_usd": 0.1, "limit_usd": 2.0}
    group = {"id": XSS, "title": XSS, "server": True, "mention": XSS, "per_minute": 3, "allow": [XSS]}
    request = {"code": XSS, "channel": XSS, "user_id": XSS, "name": XSS, "expires": XSS, "state": "waiting"}
    house.operations |= {
        "people.list": {"people": [person], "groups": [{**group, "spent_usd": 0.0, "limit_usd": None}]},
        "pair.list": [request],
        "approvals.list": [approval],
    }
    html = await shown(owner, "/people")
    assert is_harmless(html) and html.count("&lt;script&gt;") > 15


async def test_views_say_something_where_there_is_nothing(owner: Browser, house: House) -> None:
    house.operations |= {
        "schedule.list": [],
        "schedule.week": week(),
        "schedule.history": ActionFailed("There is no job tea."),
        "people.list": {"people": [], "groups": []},
        "pair.list": [],
        "approvals.list": [],
    }
    assert "Nothing is planned." in await shown(owner, "/jobs")
    assert "Nothing" in await shown(owner, "/jobs?show=week")
    assert "That reminder is not set any more" in await shown(owner, "/jobs?job=tea")
    html = await shown(owner, "/people")
    assert "Nobody is asking." in html and "begin with yourself" in html and "Waiting for your yes" not in html


async def test_of_ten_thousand_jobs_the_next_ones_are_listed(owner: Browser, house: House) -> None:
    jobs = [job(id=f"tea-{number}", next_run=f"2026-11-23T15:00:00.{number:05}") for number in reversed(range(10_000))]
    house.operations |= {"schedule.list": jobs, "schedule.week": week()}
    html = await shown(owner, "/jobs")
    assert html.count('<li class="job') == 300 and "and 9700 more" in html
    assert 'data-id="tea-0"' in html and 'data-id="tea-299"' in html


@pytest.mark.parametrize(
    ("when", "parts"),
    [
        ({"at": "2026-11-23T15:00"}, {"kind": "once", "at": "2026-11-23T15:00"}),
        ({"every": "90m"}, {"kind": "interval", "number": 90, "unit": "m"}),
        ({"every": "90s", "from": "2026-11-23T15:00"}, {"kind": "other"}),
        ({"cron": "5 8 * * *"}, {"kind": "days", "time": "08:05", "days": (1, 2, 3, 4, 5, 6, 7)}),
        ({"cron": "0 8 * * 1-5"}, {"kind": "days", "time": "08:00", "days": [1, 2, 3, 4, 5]}),
        ({"cron": "30 19 * * 0,4,1"}, {"kind": "days", "time": "19:30", "days": [1, 4, 7]}),
        ({"cron": "0 8 * * 5-7"}, {"kind": "days", "time": "08:00", "days": [5, 6, 7]}),
        ({"cron": "0 8 * * 6-1"}, {"kind": "rule", "rule": "0 8 * * 6-1"}),
        ({"cron": "0 8 1 * *"}, {"kind": "rule", "rule": "0 8 1 * *"}),
        ({"cron": "*/5 * * * *"}, {"kind": "rule", "rule": "*/5 * * * *"}),
    ],
)
def test_a_rhythm_comes_in_the_parts_of_its_form(when: Mapping[str, str], parts: Mapping[str, Any]) -> None:
    assert rhythm(when) == parts
