"""How often a member may call, whatever the clock does."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.router import SenderRate

NOW = datetime(2026, 10, 25, 0, 59, 50, tzinfo=UTC)  # ten seconds before Berlin's clocks go back


def test_a_minute_later_a_member_may_call_again() -> None:
    rate = SenderRate()
    assert [rate.allows("g", "bob", NOW, 2) for _ in range(3)] == [True, True, False]
    assert rate.allows("g", "eve", NOW, 2)
    assert not rate.allows("g", "bob", NOW + timedelta(seconds=59), 2)
    assert rate.allows("g", "bob", NOW + timedelta(seconds=60), 2)


def test_what_comes_late_counts_when_it_was_sent() -> None:
    """Forty in two minutes, read at one moment after an outage: as if each had been read as it was sent."""
    rate = SenderRate()
    sent = [NOW + timedelta(seconds=3 * number) for number in range(40)]
    assert all(rate.allows("g", "bob", at, 20) for at in sent)
    assert not rate.allows("g", "bob", sent[-1], 20)


@given(st.lists(st.integers(0, 600), max_size=80), st.integers(1, 5))
def test_no_minute_has_more_than_its_limit(seconds: list[int], most: int) -> None:
    rate = SenderRate()
    allowed = [at for at in sorted(seconds) if rate.allows("g", "bob", NOW + timedelta(seconds=at), most)]
    for at in allowed:
        assert sum(at <= call < at + 60 for call in allowed) <= most
    for at in set(seconds) - set(allowed):
        assert sum(at - 60 < call <= at for call in allowed) == most


@pytest.mark.parametrize("back", [timedelta(seconds=2), timedelta(hours=1), timedelta(days=7)])
def test_a_clock_that_is_put_back_silences_nobody(back: timedelta) -> None:
    rate = SenderRate()
    assert rate.allows("g", "bob", NOW, 1) and rate.should_tell("g", "bob", NOW)
    assert rate.allows("g", "bob", NOW - back, 1) and rate.should_tell("g", "bob", NOW - back)
