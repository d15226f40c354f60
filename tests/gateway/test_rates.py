"""How often a member may call, whatever the clock does."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from gateway.router import SenderRate

NOW = datetime(2026, 10, 25, 0, 59, 50, tzinfo=UTC)  # ten seconds before Berlin's clocks go back


def test_a_minute_later_a_member_may_call_again() -> None:
    rate = SenderRate()
    assert [rate.allows("g", "bob", NOW, 2) for _ in range(3)] == [True, True, False]
    assert rate.allows("g", "eve", NOW, 2)
    assert not rate.allows("g", "bob", NOW + timedelta(seconds=59), 2)
    assert rate.allows("g", "bob", NOW + timedelta(seconds=60), 2)


@pytest.mark.parametrize("back", [timedelta(seconds=1), timedelta(hours=1), timedelta(days=7)])
def test_a_clock_that_is_put_back_silences_nobody(back: timedelta) -> None:
    rate = SenderRate()
    assert rate.allows("g", "bob", NOW, 1) and rate.should_tell("g", "bob", NOW)
    assert rate.allows("g", "bob", NOW - back, 1) and rate.should_tell("g", "bob", NOW - back)
