"""How many jobs of kind prompt others may hold, and how often these run: each run costs the owner a turn."""

from __future__ import annotations

from datetime import timedelta

import pytest

from agent.model.base import Json
from agent.model.scripted import Call
from gateway.recurrence import cron, runs_within
from tests.gateway.conftest import ALICE, OWNER, Daybook
from tests.gateway.conftest import GROUP as CHAT
from tests.gateway.scheduling.test_requests import ask, result

NEWS: dict[str, Json] = {"kind": "prompt", "text": "News"}


async def book(daybook: Daybook, chat: str, sender: str, *, group: bool, **when: str) -> str:
    """What the model is told when it books a prompt there."""
    number = len(daybook.model.requests)
    daybook.model.then(Call("schedule_add", {**NEWS, "text": f"News {number}", "when": when}), "Done.")
    await ask(daybook, "again, please", chat=chat, sender=sender, group=group)
    return result(daybook.model.requests[-1])


@pytest.mark.parametrize(("chat", "sender", "group"), [(CHAT, OWNER, True), (CHAT, ALICE, True), (ALICE, ALICE, False)])
async def test_others_hold_five_prompts_a_chat_a_quarter_of_an_hour_apart(
    daybook: Daybook, chat: str, sender: str, group: bool
) -> None:
    daybook.settings["channels"] = {"telegram": {"allow": [ALICE], "groups": {CHAT: {"mention": "optional"}}}}
    async with daybook.running():
        for when in ({"every": "14m"}, {"cron": "* * * * *"}, {"cron": "0,14 8 * * *"}):
            booked = await book(daybook, chat, sender, group=group, **when)
            assert "at least 15 minutes apart" in booked
        for number in range(5):
            assert "Added" in await book(daybook, chat, sender, group=group, every=f"{15 + number}m")
        assert "already has 5 jobs in which I think" in await book(daybook, chat, sender, group=group, every="1h")
        assert "already has 5 jobs" in await book(daybook, chat, sender, group=group, at="2026-12-01T10:00")
        reminder = await ask(daybook, "/remind every 5m tea", chat=chat, sender=sender, group=group)
        assert "tea" in await ask(daybook, "/jobs", chat=chat, sender=sender, group=group), reminder
        assert "Added" in await book(daybook, OWNER, OWNER, group=False, every="1m")


@pytest.mark.parametrize(
    ("expression", "dense"),
    [
        ("* * * * *", True),
        ("*/15 * * * *", False),
        ("*/14 * * * *", True),
        ("0 8 * * 1-5", False),
        ("0,14 8 1 1 *", True),
        ("0,15,30,45 * * * *", False),
        ("55 23 * * *", False),
        ("50,5 23,0 * * *", False),
        ("52,5 23,0 * * *", True),
        ("0 0 29 2 *", False),
    ],
)
def test_how_near_the_runs_of_an_expression_come(expression: str, dense: bool) -> None:
    assert runs_within(cron(expression), timedelta(minutes=15)) is dense


async def test_runs_of_jobs_in_a_group_count_under_its_per_minute(daybook: Daybook) -> None:
    """What is over it waits for the next minute; nothing is dropped, and nobody is told off."""
    daybook.settings["channels"] = {"telegram": {"groups": {CHAT: {"per_minute": 1}}}}
    rows = "".join(
        f"  - {{id: news-{n}, kind: prompt, text: News {n}, when: {{at: '2026-11-21T09:00'}}, to: 'telegram:{CHAT}'}}\n"
        for n in range(2)
    )
    daybook.model.then("One.", "Two.")
    async with daybook.running() as gateway:
        daybook.workspace.joinpath("schedule.yaml").write_text(f"jobs:\n{rows}")
        await gateway.ticks()
        daybook.moment.pass_(timedelta(minutes=30))
        assert await daybook.chat.wait_heard(1, chat=CHAT) == ["One."]
        for _ in range(3):
            await gateway.ticks()
        assert daybook.chat.heard(CHAT) == ["One."] and len(daybook.model.requests) == 1
        daybook.moment.pass_(timedelta(minutes=1))
        assert await daybook.chat.wait_heard(2, chat=CHAT) == ["One.", "Two."]
