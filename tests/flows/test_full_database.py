"""The disk of PostgreSQL is full: nothing that was said is lost, and all is answered once there is room."""

from __future__ import annotations

import contextlib
import secrets

import psycopg
import pytest

from tests.disks import fill, small_disk
from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.postgres import running
from tests.fakes.telegram import FakeTelegram
from tests.flows.process import OWNER, GatewayProcess
from tests.flows.test_silent_mount import until_said

pytestmark = pytest.mark.on_sqlite  # they bring a server of their own
LONG = secrets.token_hex(1_900)
"""More than what is left of a block, and what no compression makes smaller."""


def heard(telegram: FakeTelegram, text: str) -> int:
    return sum(text in one.text for one in telegram.messages(OWNER))


async def test_its_tables_cannot_grow(telegram: FakeTelegram, model: FakeAnthropic) -> None:
    model.reply = lambda _: "Noted."
    with small_disk("32m") as disk, running() as postgres:
        url = postgres.new_database(disk)
        async with GatewayProcess(telegram, model, {"database_url": url}) as gateway:
            telegram.say("before")
            await gateway.while_alive(telegram.wait_for(lambda: heard(telegram, "Noted.") == 1))
            fill(disk / "filler")
            for number in range(8):
                telegram.say(f"{number} and {LONG}")
            await until_said(gateway, "No space left on device. Free space on the disk of PostgreSQL")
            (disk / "filler").unlink()
            await gateway.while_alive(telegram.wait_for(lambda: not telegram.pending))
            status = await gateway.until_status(lambda one: not one["inbox"]["waiting"] + one["outbox"]["waiting"])
            assert status["inbox"]["unreadable"] == 0
            said = str(list(gateway.transcripts()))
            assert [said.count(f"{number} and {LONG}") for number in range(8)] == [1] * 8


@pytest.mark.full
async def test_it_ends_because_it_cannot_log(telegram: FakeTelegram, model: FakeAnthropic) -> None:
    for text in ("One.", "Two."):
        model.answer(text)
    with small_disk("120m") as disk, running(disk=disk) as postgres:
        url = postgres.new_database()
        async with GatewayProcess(telegram, model, {"database_url": url}) as gateway:
            telegram.say("one")
            await gateway.while_alive(telegram.wait_for(lambda: heard(telegram, "One.")))
            fill(disk / "filler")
            with contextlib.suppress(psycopg.Error), psycopg.connect(postgres.url(), autocommit=True) as session:
                for _ in range(8):  # over what it keeps ready
                    session.execute("SELECT pg_logical_emit_message(true, '', 'x'), pg_switch_wal()")
            telegram.say("two")
            await until_said(gateway, "Waiting for it.")
            (disk / "filler").unlink()
            postgres.stop()
            postgres.start()
            await gateway.while_alive(telegram.wait_for(lambda: heard(telegram, "Two.")))
            assert [one.text for one in telegram.messages(OWNER)] == ["One.", "Two."]
