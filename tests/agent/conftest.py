from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.agent.home import Home
from tests.agent.long_conversation import LoopClock


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@pytest.fixture
async def loop_clock() -> LoopClock:
    return LoopClock(asyncio.get_running_loop())
