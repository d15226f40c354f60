"""Reminders and jobs: a list, a week, and one of them with its last results."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date, timedelta

from channels.web.views.view import ActionFailed, Call, JsonValue, Values, View

_CALENDAR = re.compile(r"(\d{1,2}) (\d{1,2}) \* \* (\*|[0-7](?:[,-][0-7])*)")
_INTERVAL = re.compile(r"(\d+)([mhdw])")
_EVERY_DAY = (1, 2, 3, 4, 5, 6, 7)
_OWN = "built-in"
_LISTED = 300
"""Jobs; so many next ones are enough to look at."""
_RESULTS = 20
"""Shown of one job."""


async def _read(call: Call, query: Mapping[str, str]) -> Values:
    jobs = [
        {**row, "rhythm": rhythm(row["when"]), "title": _title(row["id"], row["text"])}
        for row in await call("schedule.list", {})
    ]
    week = _week(await call("schedule.week", {"from": query.get("from", "")}), jobs)
    values: dict[str, object] = {
        "week": week,
        "jobs": jobs,
        "shown": query.get("show", ""),
        "opened": None,
        "results": [],
    }
    if id := query.get("job"):
        values["opened"] = next((job for job in jobs if job["id"] == id), None)
        values["results"] = await _results(call, id)
        values["shown"] = "job"
    mine = sorted((job for job in jobs if job["kind"] != _OWN), key=_by_time)
    values["mine"], values["more"] = mine[:_LISTED], len(mine[_LISTED:])
    values["own"] = [job for job in jobs if job["kind"] == _OWN]
    return values


async def _results(call: Call, id: str) -> JsonValue:
    try:
        return await call("schedule.history", {"id": id, "n": _RESULTS})
    except ActionFailed:
        return []  # it has left the list, and never ran


def _by_time(job: Mapping[str, JsonValue]) -> tuple[bool, str, str]:
    return job["next_run"] is None, job["next_run"] or "", job["id"]


def rhythm(when: Mapping[str, str]) -> Mapping[str, object]:
    """When a job comes, in the parts that its form shows: `once`, on `days` of the week at a `time`, at an `interval`,
    or by a `rule` for cron. Monday is 1."""
    if at := when.get("at"):
        return {"kind": "once", "at": at}
    if every := when.get("every"):
        match = _INTERVAL.fullmatch(every)
        return {"kind": "interval", "number": int(match[1]), "unit": match[2]} if match else {"kind": "other"}
    rule = when.get("cron", "")
    if (match := _CALENDAR.fullmatch(rule)) and (days := _days(match[3])):
        return {"kind": "days", "time": f"{int(match[2]):02}:{int(match[1]):02}", "days": days}
    return {"kind": "rule", "rule": rule}


def _days(field: str) -> Sequence[int]:
    """Days of the week of a cron rule, in order; empty for ranges that are reversed or chained."""
    if field == "*":
        return _EVERY_DAY
    found: set[int] = set()
    for part in field.split(","):
        first, _, last = part.partition("-")
        start, end = int(first), int(last or first)
        if start > end or "-" in last:
            return ()
        found |= {day or 7 for day in range(start, end + 1)}
    return sorted(found)


def _title(id: str, text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "") or id


def _week(week: JsonValue, jobs: Sequence[Mapping[str, JsonValue]]) -> Mapping[str, JsonValue]:
    listed = {job["id"] for job in jobs}
    days = [
        {
            **day,
            "entries": [
                {**entry, "title": _title(entry["id"], entry["text"]), "is_listed": entry["id"] in listed}
                for entry in day["entries"]
            ],
        }
        for day in week["days"]
    ]
    first, length = date.fromisoformat(week["from"]), timedelta(days=len(days))
    return {**week, "days": days, "before": (first - length).isoformat(), "after": (first + length).isoformat()}


VIEW = View("jobs", "Reminders", _read, has_script=True)
