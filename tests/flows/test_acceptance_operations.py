"""The real process as its operator meets it: faults of the platform and the disk, ends, secrets."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable

import pytest

from gateway.home import Home
from tests.disks import fill, small_disk
from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.telegram import FakeTelegram
from tests.flows.process import OWNER, GatewayProcess


def heard(telegram: FakeTelegram, chat: int = OWNER) -> list[str]:
    return [message.text for message in telegram.messages(chat)]


async def hears(telegram: FakeTelegram, gateway: GatewayProcess, part: str, timeout: float = 120.0) -> None:
    await gateway.while_alive(telegram.wait_for(lambda: any(part in text for text in heard(telegram)), timeout))


# -- the platform


FAULTS: dict[str, Callable[[FakeTelegram], object]] = {
    "500": lambda telegram: telegram.fail("getUpdates", status=500),
    "404": lambda telegram: telegram.fail("getUpdates", status=404, description="Not Found"),
    "a proxy's page": lambda telegram: telegram.junk("getUpdates"),
    "a reset": lambda telegram: telegram.abort("getUpdates"),
}


@pytest.mark.timeout(1800)  # many processes, one after the other
async def test_faults_of_polling_are_survived_and_seen_and_told_without_the_token(
    telegram: FakeTelegram, model: FakeAnthropic, gateway: GatewayProcess
) -> None:
    for number, fault in enumerate(FAULTS.values()):
        fault(telegram)
        telegram.say(f"message {number}.")
        await hears(telegram, gateway, f"message {number}.")
    await gateway.until_status(lambda status: status["channels"]["telegram"]["state"] == "ok")
    telegram.fail("getUpdates", status=502, times=None)
    telegram.say("one more")
    broken = await gateway.until_status(lambda status: status["channels"]["telegram"]["state"] == "degraded")
    assert broken["channels"]["telegram"]["last_error"]
    assert telegram.token not in str(broken) + gateway.log


async def test_a_wrong_token_takes_down_that_channel_only(telegram: FakeTelegram, model: FakeAnthropic) -> None:
    wrong = "110201543:AAWrongWrongWrongWrongWrongWrongWro"
    async with GatewayProcess(
        telegram, model, {"channels": {"telegram": {"token": wrong}}}, start_now=False
    ) as gateway:
        await gateway.start(wait=False)
        await gateway.while_alive(telegram.wait_for(lambda: any(call.status in (401, 404) for call in telegram.calls)))
        seen = await gateway.until_status(lambda status: status["channels"]["telegram"]["state"] == "down")
        assert "@BotFather" in seen["channels"]["telegram"]["last_error"]
        model.answer("Still here in the terminal.")
        ran = await gateway.cli("chat", "-m", "hello")
        assert (ran.code, ran.out.strip()) == (0, "Still here in the terminal.")
        assert wrong not in gateway.log and gateway.log.count("BotFather") == 1
        assert await gateway.terminate() == 0


@pytest.mark.on_sqlite  # on PostgreSQL it waits for its turn: test_several_gateways.py
@pytest.mark.timeout(1800)  # many processes, one after the other
async def test_a_second_gateway_on_the_home_or_the_token_says_why(
    telegram: FakeTelegram, model: FakeAnthropic, gateway: GatewayProcess
) -> None:
    second = await gateway.cli("gateway")
    assert second.code == 1 and str(gateway.pid) in second.err and "Traceback" not in second.err

    async with GatewayProcess(telegram, model, start_now=False) as other:
        other.environ["XDG_STATE_HOME"] = gateway.environ["XDG_STATE_HOME"]
        await other.start(wait=False)
        seen = await other.until_status(lambda status: status["channels"]["telegram"]["state"] == "down")
        assert str(gateway.pid) in seen["channels"]["telegram"]["last_error"]
        assert telegram.token not in other.log + str(seen)
        model.answer("The terminal works.")
        assert (await other.cli("chat", "-m", "hello")).out.strip() == "The terminal works."
        os.kill(other.pid, signal.SIGTERM)
        assert await other.ended() == 0
    telegram.say("and the first?")
    await hears(telegram, gateway, "and the first?")


@pytest.mark.on_sqlite  # on PostgreSQL it waits for its turn: test_several_gateways.py
async def test_a_gateway_waits_for_a_command_that_is_using_its_home(
    telegram: FakeTelegram, model: FakeAnthropic
) -> None:
    async with GatewayProcess(telegram, model, start_now=False) as gateway:
        with Home(gateway.home).hold():
            await gateway.start(wait=False)
            async with asyncio.timeout(120):
                while f"Waiting for another Daybook (process {os.getpid()})" not in await asyncio.to_thread(
                    lambda: gateway.log
                ):
                    pass
        await gateway.while_alive(telegram.wait_for(lambda: telegram.polling))


# -- the end


async def test_told_to_end_under_load_it_exits_0_and_answers_all_later(
    telegram: FakeTelegram, model: FakeAnthropic, gateway: GatewayProcess
) -> None:
    model.delta_delay = 0.05
    for number in range(12):
        telegram.say(f"question {number}.")
    stuck = model.hold(after=1)
    await model.held(stuck)
    assert await gateway.terminate() == 0
    stuck.release()
    model.delta_delay = 0.0
    await gateway.start()
    telegram.say("question 12.")
    await hears(telegram, gateway, "question 12.")
    texts = heard(telegram)
    assert [sum(f"question {number}." in text for text in texts) for number in range(13)] == [1] * 13


@pytest.mark.timeout(1800)  # many processes, one after the other
async def test_no_secret_is_anywhere_it_does_not_belong(telegram: FakeTelegram, model: FakeAnthropic) -> None:
    settings = {"log": {"level": "debug"}, "channels": {"telegram": {"token": "${TELEGRAM_BOT_TOKEN}"}}}
    async with GatewayProcess(telegram, model, settings, start_now=False) as gateway:
        (gateway.home / ".env").write_text(f"TELEGRAM_BOT_TOKEN={telegram.token}\n")
        await gateway.start()
        telegram.fail("getUpdates", status=500)
        telegram.abort("sendMessage")
        model.fail(500, message=f"internal: your key {model.api_key} broke me")
        model.fail(400, message=f"invalid: header x-api-key {model.api_key}")
        telegram.say("hello")
        await hears(telegram, gateway, "refused")
        shown = await gateway.cli("config", "show")
        doctor = await gateway.cli("doctor", "--json")
        status = await gateway.cli("status", "--json")
        assert await gateway.terminate() == 0

        assert shown.code == 0 and "***" in shown.out
        said = [gateway.log, str(heard(telegram)), str(list(gateway.transcripts()))]
        said += [one.out + one.err for one in (shown, doctor, status)]
        said += [request.text for request in model.requests]
        files = [file for file in (gateway.home / "state").rglob("*") if file.is_file()]
        said += [file.read_bytes().decode("latin-1") for file in files]
        for secret in (telegram.token, telegram.token.partition(":")[2], model.api_key):
            assert not [text[:200] for text in said if secret in text]


async def test_files_of_the_home_are_for_their_owner_only(gateway: GatewayProcess) -> None:
    for path in gateway.home.rglob("*"):
        if not path.is_symlink():
            assert path.stat().st_mode & 0o077 == 0, path


# -- the disk


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs the right to mount a tmpfs")
async def test_on_a_full_disk_the_message_is_kept_its_sender_told_and_answered_later(
    telegram: FakeTelegram, model: FakeAnthropic
) -> None:
    gateway = GatewayProcess(telegram, model, start_now=False)
    gateway.home.mkdir(exist_ok=True)
    with small_disk("8m", gateway.home):
        gateway.write_config({})
        async with gateway:
            await gateway.start()
            telegram.say("before.")
            await hears(telegram, gateway, "before.")
            fill(gateway.home / "filler")
            telegram.say("while it is full." + " and longer" * 350)  # than what is left of a block
            await hears(telegram, gateway, "disk")
            (gateway.home / "filler").unlink()
            await hears(telegram, gateway, "while it is full.")
            texts = heard(telegram)
            assert sum("while it is full." in text for text in texts) == 1
            assert sum("disk" in text for text in texts) <= 2
            assert await gateway.terminate() == 0
