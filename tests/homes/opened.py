"""A recorded home, opened by the code as it is now, between the fakes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.telegram import FakeTelegram
from tests.flows.clocked import COMMAND
from tests.flows.process import GatewayProcess
from tests.homes import recording
from tests.recorded.story import ALICE, BOB, CAROL, SETTINGS, Story, reply

LATER_UPDATES, LATER_MESSAGES = 800_000_001, 1_000
"""The platform has not begun to count again."""


@asynccontextmanager
async def opened_at(name: str, moment: str) -> AsyncIterator[Story]:
    """`name` of a home, opened at that moment."""
    async with FakeTelegram(first_update_id=LATER_UPDATES) as telegram, FakeAnthropic() as model:
        model.reply = reply
        async with GatewayProcess(telegram, model, SETTINGS, start_now=False, command=COMMAND) as gateway:
            recording.restore(name, gateway)
            story = Story(telegram, model, gateway)
            story.at(moment)
            for chat, person in ((ALICE, "Alice"), (BOB, "Bob"), (CAROL, "Carol")):
                telegram.add_chat(chat, name=person)
            await gateway.start()
            yield story
