"""What day it is."""

from __future__ import annotations

import ast
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from agent.clock import Clock

ROOT = Path(__file__).parents[2]
MOMENTS = st.datetimes(min_value=datetime(2000, 1, 1), max_value=datetime(2100, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001


@given(moment=MOMENTS, hours=st.integers(-12, 14))
def test_invariant_12_today_is_the_day_on_the_users_wall(moment: datetime, hours: int) -> None:
    zone = ZoneInfo(f"Etc/GMT{-hours:+d}")  # POSIX turns the sign round
    assert Clock(zone, lambda: moment).today() == moment.astimezone(timezone(timedelta(hours=hours))).date()


def test_invariant_12_no_code_asks_for_a_naive_time_or_its_own_today() -> None:
    found = []
    for package in ("agent", "channels", "gateway"):
        for file in (ROOT / package).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                    name = node.func.attr
                    naive = name in ("utcnow", "utcfromtimestamp", "now") and not (node.args or node.keywords)
                    own_today = (
                        name == "today" and isinstance(node.func.value, ast.Name) and node.func.value.id == "date"
                    )
                    clock = isinstance(node.func.value, ast.Attribute | ast.Name) and "clock" in ast.unparse(node.func)
                    if (naive and not clock and file.name != "clock.py") or own_today:
                        found.append(f"{file.relative_to(ROOT)}:{node.lineno}: {ast.unparse(node)}")
    assert found == []
