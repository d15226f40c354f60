"""The load test carries what people write, and says what more of them need."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks import load_report, on_paper
from benchmarks.load import QUICK, measured
from tests.fakes.postgres import PostgresServer


@pytest.mark.full
async def test_two_gateways_carry_a_few_people_and_the_rest_is_computed(postgres: PostgresServer) -> None:
    whole = await measured(replace(QUICK, setups=(("PostgreSQL", 2),), sessions=8, turns=4), 1, postgres)
    assert whole["broken"] == []
    (one,) = whole["loads"]
    assert one["moderate"]["messages"] > 0 and one["messages"] > one["moderate"]["messages"]
    assert one["moderate"]["requests"] >= one["moderate"]["messages"]
    assert "| PostgreSQL, 2 |" in load_report.told(whole)
    assert "| people who write on a day | 10 | 1,000,000 |" in on_paper.told(whole, (10, 1_000_000))


def test_on_paper_what_ends_a_home_first_says_how_many_there_are() -> None:
    """1,000 messages a person and day, a tenth in the busiest hour, are one each 36 seconds."""
    assumed = on_paper.Assumed(messages_a_day=1000.0, bot_a_second=30.0, most_busy=0.5)
    each = on_paper.Cost("", 50.0, 5.0, 10.0, 20.0, 6.0, 1.2, 4096.0, 2048.0, 0.0, 0.0, 128.0, 1.0)
    few, many = (on_paper.need(people, each, assumed, on_paper.TOKENS) for people in (540, 5400))
    assert (few.homes, few.gateways, few.peak) == (1, 2, 15.0)
    assert (many.homes, many.gateways, many.postgres_cores) == (10, 20, 3.0)
    assert many.limit == "Telegram's limit for a bot, at 540 people"
    slow = on_paper.need(5400, replace(each, intake_ms=100.0), assumed, on_paper.TOKENS)
    assert (slow.homes, slow.limit) == (30, "the leader, which takes in everything, at 180 people")
