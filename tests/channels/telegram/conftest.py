from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.channels.telegram.desk import Desk
from tests.fakes.telegram import FakeTelegram


@pytest.fixture
async def desk() -> AsyncIterator[Desk]:
    async with FakeTelegram() as telegram:
        desk = Desk(telegram)
        telegram.add_chat(11111)
        yield desk
        await desk.channel.aclose()
