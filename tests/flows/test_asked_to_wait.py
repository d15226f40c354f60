"""The model's server asks to wait (429, 529): over a restart too, and `status` says until when."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from agent.model.client import LONGEST_WAIT, SERVER_JITTER
from gateway.server import Timeouts
from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.telegram import FakeTelegram
from tests.flows.process import GatewayProcess
from tests.flows.story import ALICE, ZONE, Story, story

EIGHT = datetime(2026, 11, 21, 7, 0, tzinfo=UTC)
MODEL = "claude-sonnet-5-5"
ASKED = 40


async def waits(told: Story) -> Any:
    assert told.gateway is not None
    status: Any = await told.gateway.operations["status"]({})
    return status["model_waits"]


async def waiting(told: Story, times: int) -> float:
    """How long it waits the nth time."""
    await told.telegram.wait_for(lambda: len(told.waits) == times)
    return told.waits[-1]


@pytest.mark.parametrize("status", [429, 529])
async def test_a_restart_goes_on_waiting_until_the_same_moment(tmp_path: Path, status: int) -> None:
    async with story(tmp_path) as told:
        told.moment, told.timeouts = EIGHT, Timeouts(turn=0.0)
        told.configure(model=server(told))
        told.model.fail(status, retry_after=ASKED)
        told.waits_pass.clear()
        async with told.running():
            told.say("hello")
            first = await waiting(told, 1)
            assert ASKED <= first <= ASKED * (1 + SERVER_JITTER)
            (wait,) = await waits(told)
            end = datetime.fromisoformat(wait["until"])
            assert wait["model"] == MODEL and abs((end - EIGHT).total_seconds() - first) < 0.01
            told.say("/status")
            shown = (await told.hears("Model:")).text
            assert f"{MODEL}, waiting until {end.astimezone(ZoneInfo(ZONE)):%H:%M:%S}, as its server asks" in shown
        told.moment += timedelta(seconds=15)
        async with told.running():
            assert abs(await waiting(told, 2) - (first - 15)) < 0.01
            assert len(told.asked) == 1 and (await waits(told))[0]["until"] == wait["until"]
            told.waits_pass.set()
            await told.hears("hello")
            await told.idle()
            assert len(told.asked) == 2 and not await waits(told)


@pytest.mark.parametrize("jump", [timedelta(days=-400), timedelta(days=400)])
async def test_where_the_clock_is_changed_nobody_waits_long(tmp_path: Path, jump: timedelta) -> None:
    async with story(tmp_path) as told:
        told.moment, told.timeouts = EIGHT, Timeouts(turn=0.0)
        told.configure(model=server(told))
        told.model.fail(429, retry_after=ASKED)
        told.waits_pass.clear()
        async with told.running():
            told.say("hello")
            await waiting(told, 1)
        told.moment += jump
        told.waits_pass.set()
        async with told.running():
            await told.hears("hello")
            await told.idle()
            assert not await waits(told)
        assert told.waits[1:] == ([LONGEST_WAIT] if jump < timedelta(0) else [])


@pytest.mark.full
async def test_killed_while_it_waits_the_next_process_asks_no_sooner_and_the_command_line_says_when(
    telegram: FakeTelegram, model: FakeAnthropic
) -> None:
    async with GatewayProcess(telegram, model, {"model": {"name": MODEL}}) as gateway:
        model.fail(429, retry_after=ASKED)
        telegram.say("hello", chat=ALICE)
        status = await gateway.until_status(lambda status: status["model_waits"])
        until = datetime.fromisoformat(status["model_waits"][0]["until"])
        await gateway.kill()
        said = await gateway.cli("status")  # of what is stored
        if datetime.now(UTC) < until:
            assert f"for {MODEL} until " in said.out and "as its server asks" in said.out
        await gateway.start()
        await gateway.while_alive(telegram.wait_for(lambda: telegram.messages(ALICE)))
        refused, asked = model.requests
        assert asked.at - refused.at >= ASKED


def server(told: Story) -> dict[str, object]:
    return {"api_key": told.model.api_key, "base_url": told.model.base_url, "name": MODEL}
