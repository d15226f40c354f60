"""Files that are moved or deleted under the running process: it notices, says so, loses nothing, and goes on."""

from __future__ import annotations

import contextlib
import sqlite3

import pytest

from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.telegram import FakeTelegram
from tests.flows.process import OWNER, GatewayProcess

pytestmark = pytest.mark.on_sqlite


def heard(telegram: FakeTelegram, text: str) -> bool:
    return any(text in message.text for message in telegram.messages(OWNER))


async def test_the_database_is_moved_away_and_back(telegram: FakeTelegram, model: FakeAnthropic) -> None:
    model.reply = lambda _: "Noted."
    async with GatewayProcess(telegram, model) as gateway:
        telegram.say("before")
        await gateway.while_alive(telegram.wait_for(lambda: heard(telegram, "Noted.")))
        file = gateway.home / "state" / "daybook.db"
        file.rename(file.with_name("away.db"))
        telegram.say("while it is away")
        await gateway.while_alive(
            telegram.wait_for(lambda: heard(telegram, "I can't read or write state/daybook.db: there is no such file"))
        )
        assert not file.exists() and telegram.pending  # nothing was acknowledged
        status = await gateway.until_status(lambda one: bool(one["troubles"]))
        assert "daybook.db was moved or deleted under the running Daybook" in status["troubles"][0]
        doctor = await gateway.cli("doctor")
        assert doctor.code == 1 and "the running Daybook misses something" in doctor.out
        file.with_name("away.db").rename(file)
        await gateway.while_alive(telegram.wait_for(lambda: not telegram.pending))
        await gateway.until_status(lambda one: not one["troubles"] and not one["inbox"]["waiting"])
        with contextlib.closing(sqlite3.connect(file)) as named:
            assert "while it is away" in str(named.execute("SELECT * FROM inbox").fetchall())


async def test_the_database_is_deleted_and_daybook_restarted(telegram: FakeTelegram, model: FakeAnthropic) -> None:
    model.reply = lambda _: "Noted."
    async with GatewayProcess(telegram, model) as gateway:
        telegram.say("before")
        await gateway.while_alive(telegram.wait_for(lambda: heard(telegram, "Noted.")))
        for file in (gateway.home / "state").glob("daybook.db*"):
            file.unlink()
        telegram.say("after")
        await gateway.while_alive(telegram.wait_for(lambda: heard(telegram, "state/daybook.db")))
        assert telegram.pending
        before = len(telegram.messages(OWNER))
        await gateway.restart()
        await gateway.while_alive(telegram.wait_for(lambda: len(telegram.messages(OWNER)) > before))
        assert "after" in str(list(gateway.transcripts()))


async def test_the_log_of_the_database_is_deleted(telegram: FakeTelegram, model: FakeAnthropic) -> None:
    """What was in it is in the database, and a process that is killed has lost nothing."""
    model.reply = lambda _: "Noted."
    async with GatewayProcess(telegram, model) as gateway:
        for ending in ("-wal", "-shm"):
            telegram.say(f"before {ending}")
            await gateway.while_alive(telegram.wait_for(lambda: not telegram.pending))
            await gateway.until_status(lambda one: not one["inbox"]["waiting"] + one["outbox"]["waiting"])
            (gateway.home / "state" / f"daybook.db{ending}").unlink()
            telegram.say(f"after {ending}")
            await gateway.while_alive(telegram.wait_for(lambda: not telegram.pending))
            await gateway.until_status(lambda one: not one["inbox"]["waiting"] + one["outbox"]["waiting"])
        await gateway.kill()
        with contextlib.closing(sqlite3.connect(gateway.home / "state" / "daybook.db")) as named:
            kept = str(named.execute("SELECT * FROM inbox").fetchall())
        assert all(f"{when} {ending}" in kept for when in ("before", "after") for ending in ("-wal", "-shm"))


async def test_the_workspace_is_moved_away_and_back(telegram: FakeTelegram, model: FakeAnthropic) -> None:
    model.reply = lambda _: "Noted."
    async with GatewayProcess(telegram, model) as gateway:
        telegram.say("before")
        await gateway.while_alive(telegram.wait_for(lambda: heard(telegram, "Noted.")))
        away = gateway.workspace.with_name("away")
        gateway.workspace.rename(away)
        telegram.say("while it is away")
        await gateway.while_alive(
            telegram.wait_for(lambda: heard(telegram, "I can't read or write home/workspace: there is no such file"))
        )
        status = await gateway.until_status(lambda one: bool(one["troubles"]))
        assert "workspace is gone" in status["troubles"][0]
        assert (await gateway.cli("doctor")).code == 1
        assert not gateway.workspace.exists()
        requests = len(model.requests)
        away.rename(gateway.workspace)
        await gateway.while_alive(telegram.wait_for(lambda: len(model.requests) > requests))
        await gateway.until_status(lambda one: not one["troubles"] and not one["inbox"]["waiting"])
        (gateway.workspace / "people").write_text("a file")
        status = await gateway.until_status(lambda one: bool(one["troubles"]))
        assert "people should be a folder, but it is a file" in status["troubles"][0]
        doctor = await gateway.cli("doctor")
        assert doctor.code == 1 and "people should be a folder, but it is a file" in doctor.out
