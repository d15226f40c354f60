"""What people other than the owner may cost, (SPEC 2, `limits`)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agent.model.base import Json
from gateway.server import Gateway
from tests.flows.story import BOB, GROUP, story

SPENT = "Today's budget for this chat is used up"


async def test_a_group_that_cost_what_it_may_is_answered_offline_and_told_once_a_day(tmp_path: Path) -> None:
    limits = {"group_daily_usd": 0.000001}
    async with story(tmp_path, limits=limits) as told:
        told.moment = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
        async with told.running():
            told.model.answer("The first is free.")
            told.call("hello", user=BOB, name="Bob")
            await told.hears("The first is free.", GROUP)
            asked = len(told.asked)
            told.call("and again", user=BOB, name="Bob")
            await told.hears(SPENT, GROUP)
            told.call("the owner's words in a group are the group's")
            await told.telegram.wait_for(lambda: len(told.heard(GROUP)) == 3)
            assert SPENT not in told.heard(GROUP)[-1]
            told.call("/status", user=BOB, name="Bob")
            await told.telegram.wait_for(lambda: len(told.heard(GROUP)) == 4)
            assert len(told.asked) == asked, "no model was called for the group"

            told.model.answer("Hello Bob.")
            told.say("hello", chat=BOB, name="Bob")
            await told.hears("Hello Bob.", chat=BOB)
            told.model.answer("Hello owner.")
            told.say("hello")
            await told.hears("Hello owner.")

            told.moment += timedelta(days=1)
            told.model.answer("A new day.")
            told.call("hello", user=BOB, name="Bob")
            await told.hears("A new day.", GROUP)


async def test_each_person_has_a_limit_of_their_own_that_a_restart_keeps(tmp_path: Path) -> None:
    async with story(tmp_path, limits={"person_daily_usd": 0.000001}) as told:
        async with told.running():
            told.model.answer("Hello Bob.")
            told.say("hello", chat=BOB, name="Bob")
            await told.hears("Hello Bob.", chat=BOB)
        async with told.running():
            told.say("hello again", chat=BOB, name="Bob")
            await told.hears(SPENT, chat=BOB)
            told.model.answer("Hello all.")
            told.call("hello", user=BOB, name="Bob")
            await told.hears("Hello all.", GROUP)


@pytest.mark.full
async def test_jobs_of_a_chat_that_cost_what_it_may_are_silent(tmp_path: Path) -> None:
    async with story(tmp_path, limits={"group_daily_usd": 0.000001}) as told:
        told.moment = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
        job = f"{{id: news, kind: prompt, text: News, when: {{every: 30m}}, to: 'telegram:{GROUP}'}}"
        told.write("schedule.yaml", f"jobs:\n  - {job}\n")
        async with told.running() as gateway:
            told.model.answer("The first is free.")
            told.call("hello", user=BOB, name="Bob")
            await told.hears("The first is free.", GROUP)
            asked = len(told.asked)
            told.moment += timedelta(minutes=30)

            while await ran(gateway) in (None, "waiting", "running", "delivering"):
                await told.idle()
            assert await ran(gateway) == "silent" and len(told.asked) == asked
            assert told.heard(GROUP) == ["The first is free."]


async def ran(gateway: Gateway) -> Json:
    """What became of the job's last run."""
    rows = await gateway.operations["schedule.list"]({})
    assert isinstance(rows, list)
    found: Json = next(row["last_result"] for row in rows if isinstance(row, dict) and row["id"] == "news")
    return found
