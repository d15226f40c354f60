"""A laptop that sleeps: the process stands still and the clock goes on. Timers know nothing of it."""

from __future__ import annotations

import os
import signal
from datetime import datetime, timedelta

import pytest

from tests.agent.journal.diary import BERLIN
from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.telegram import FakeTelegram
from tests.flows.clocked import COMMAND, set_clock
from tests.flows.process import GatewayProcess

ALICE = 11111
EVENING = datetime(2026, 11, 21, 22, tzinfo=BERLIN)
JOBS = """\
jobs:
  - {id: bins, text: The bins, when: {at: "2026-11-22T06:00"}, to: owner}
  - {id: bath, text: The bath, when: {at: "2026-11-22T07:30"}, to: owner}
"""


def texts(telegram: FakeTelegram) -> list[str]:
    return [message.text for message in telegram.messages(ALICE)]


@pytest.mark.timeout(1800)  # many processes, one after the other
async def test_what_came_due_while_it_slept_rings_when_it_wakes(telegram: FakeTelegram, model: FakeAnthropic) -> None:
    async with GatewayProcess(telegram, model, start_now=False, command=COMMAND) as gateway:
        set_clock(gateway.home, EVENING)
        gateway.workspace.mkdir(parents=True, exist_ok=True)
        (gateway.workspace / "schedule.yaml").write_text(JOBS, "utf-8")
        await gateway.start()
        telegram.say("/whoami")
        await gateway.while_alive(telegram.wait_for(lambda: len(texts(telegram)) == 1))
        assert "bins" in (await gateway.cli("schedule", "list")).out
        os.kill(gateway.pid, signal.SIGSTOP)
        set_clock(gateway.home, EVENING + timedelta(hours=9, minutes=29))
        os.kill(gateway.pid, signal.SIGCONT)
        await gateway.while_alive(telegram.wait_for(lambda: len(texts(telegram)) == 2))
        assert texts(telegram)[1] == "⏰ The bins\n\n(Sorry, I'm late: this was due today at 06:00.)"
        set_clock(gateway.home, EVENING + timedelta(hours=9, minutes=31))
        await gateway.while_alive(telegram.wait_for(lambda: len(texts(telegram)) == 3))
        assert texts(telegram)[2] == "⏰ The bath"
    assert model.requests == []
