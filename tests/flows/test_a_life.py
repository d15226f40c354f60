"""Some weeks of a life, or some days of it with `make test`: what was told is still known at their end, by nobody who
was not told, and every message has its one answer, whatever goes wrong. `benchmarks/life.py` tells a whole year."""

from __future__ import annotations

import os

import pytest

from tests import strength
from tests.flows.life import life

DAYS = 18 if strength.is_full else 5


@pytest.mark.timeout(1800)  # half a minute on a quiet machine
@pytest.mark.full
async def test_in_the_end_all_is_known_that_was_told_and_by_nobody_else() -> None:
    async with life(int(os.environ.get("LIFE_SEED", "1"))) as lived:
        tally = await lived.live(DAYS)
        assert not tally.failures, tally
        assert tally.found == tally.planted > 4 * DAYS
        assert tally.kills and tally.flushes
        if strength.is_full:
            assert tally.kills >= 3 and tally.forgotten and tally.troubles >= 10
            assert tally.compactions >= 4 and tally.flushes >= 6 and lived.persona.asked["asked again"] >= 4
