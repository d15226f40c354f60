"""The harness itself: what the flows rely on."""

from __future__ import annotations

import pytest

from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.telegram import FakeTelegram
from tests.flows.process import OWNER, GatewayDied, GatewayProcess


async def test_a_gateway_answers_is_killed_and_answers_again_on_the_same_home(
    telegram: FakeTelegram, model: FakeAnthropic, gateway: GatewayProcess
) -> None:
    def heard(text: str) -> bool:
        return any(text in message.text for message in telegram.messages(OWNER))

    telegram.say("hello")
    await telegram.wait_for(lambda: heard("hello"))

    await gateway.kill()
    assert not gateway.is_running and not telegram.polling
    await gateway.start()

    telegram.say("again")
    await telegram.wait_for(lambda: heard("again"))
    assert gateway.starts == 2
    assert (gateway.workspace / "MEMORY.md").is_file()
    assert [line["content"] for line in gateway.transcripts() if line.get("role") == "user"]


async def test_a_gateway_that_is_asked_to_end_exits_with_0(gateway: GatewayProcess) -> None:
    assert await gateway.terminate() == 0


async def test_a_running_gateway_tells_its_status(gateway: GatewayProcess) -> None:
    ran = await gateway.cli("status", "--json")
    assert ran.code == 0, ran.err
    assert ran.json()["channels"]["telegram"]["state"] == "ok"


async def test_a_gateway_that_does_not_start_says_why(telegram: FakeTelegram, model: FakeAnthropic) -> None:
    process = GatewayProcess(telegram, model, {"model": {"max_tokens": -1}})
    with pytest.raises(GatewayDied, match=r"exit code 2") as caught:
        async with process:
            pass
    assert not process.home.exists()
    assert "max_tokens" in str(caught.value)
