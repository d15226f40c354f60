from __future__ import annotations

import asyncio

import pytest

from tests.agent.long_talk import LoopClock


@pytest.fixture
async def loop_clock() -> LoopClock:
    return LoopClock(asyncio.get_running_loop())
