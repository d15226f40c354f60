"""Reminders and jobs by command, by tool and by neighbours: who may ask for what, and what they are told."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from agent.model.base import Json, ModelRequest
from agent.model.scripted import Call
from gateway.rpc.protocol import OperationError
from tests.gateway.conftest import ALICE, GROUP, OWNER, Daybook


async def ask(daybook: Daybook, command: str, *, chat: str = OWNER, sender: str = OWNER, group: bool = False) -> str:
    count = len(daybook.chat.heard(chat)) + 1
    daybook.chat.say(command, chat=chat, sender=sender, group=group, sent_at=daybook.moment.now)
    return (await daybook.chat.wait_heard(count, chat=chat))[count - 1]


def result(request: ModelRequest) -> str:
    return str(request.messages[-1].content)


async def test_a_reminder_by_command_rings_and_is_gone(daybook: Daybook) -> None:
    async with daybook.running():
        said = await ask(daybook, "/remind in 20 minutes drink tea")
        assert said == "I'll remind you here today at 08:50."
        assert "- drink tea: today at 08:50 (`drink-tea`)\n" in await ask(daybook, "/jobs")
        daybook.moment.pass_(timedelta(minutes=20))
        assert (await daybook.chat.wait_heard(3, chat=OWNER))[2] == "⏰ drink tea"
    assert daybook.model.requests == []


async def test_what_is_asked_for_at_once_is_added_one_after_the_other(daybook: Daybook) -> None:
    async with daybook.running() as gateway:
        wishes = [gateway.ask("schedule.add", text="Tea", at=f"2026-11-22T{hour:02}:00") for hour in (9, 9, 10, 11)]
        ids = [added["id"] for added in await asyncio.gather(*wishes) if isinstance(added, dict)]
        assert sorted(map(str, ids)) == ["tea", "tea", "tea-2", "tea-3"]


async def test_what_is_past_or_nothing_is_refused(daybook: Daybook) -> None:
    async with daybook.running():
        assert "That is already past (today at 08:00): it is 08:30 now." in await ask(daybook, "/remind today 8:00 tea")
        assert "What should I remind you of?" in await ask(daybook, "/remind tomorrow 15:00")
        assert "Say the day and the hour" in await ask(daybook, "/remind")
        assert "does not exist" in await ask(daybook, "/remind 2027-02-29 10:00 tea")


async def test_the_night_on_which_the_clocks_change(daybook: Daybook) -> None:
    async with daybook.running():
        gap = await ask(daybook, "/remind 2027-03-28 02:30 look")
        assert "Sun 28 Mar 2027 at 03:00." in gap and "There is no 02:30 that night" in gap
        twice = await ask(daybook, "/remind 2027-10-31 02:30 look again")
        assert "comes twice that night" in twice and "I took the first (UTC+02)." in twice


async def test_what_recurs_from_the_hour_that_comes_twice_waits_its_whole_interval(daybook: Daybook) -> None:
    daybook.moment.now = datetime(2026, 10, 25, 1, 30, tzinfo=UTC)  # 02:30 for the second time
    async with daybook.running():
        assert "Next: today at 04:00." in await ask(daybook, "/remind every 90 minutes water")


async def test_what_is_not_understood_is_the_models_to_read(daybook: Daybook) -> None:
    daybook.model.then(
        Call("schedule_add", {"kind": "message", "text": "Plant", "when": {"at": "2026-11-24T09:00"}}), "On Tuesday."
    )
    async with daybook.running():
        assert await ask(daybook, "/remind next full moon plant") == "On Tuesday."
    added = result(daybook.model.requests[-1])
    assert "Added plant: once, Tue 24 Nov 2026 at 09:00, in this chat. Next: Tue 24 Nov at 09:00, " in added
    assert "2026-11-24 Tue 09:00 Europe/Berlin (in 3 days)." in added


@pytest.mark.usefixtures("offline")
async def test_without_a_model_what_is_not_understood_says_how_and_is_no_note(daybook: Daybook) -> None:
    async with daybook.running():
        said = await ask(daybook, "/remind next full moon plant")
    assert said.startswith("I don't understand when that is") and "tomorrow at 15:00 call Ann" in said
    assert not daybook.model.requests


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"when": {"at": "2026-11-21T08:00"}}, "is already past"),
        ({"when": {"at": "soon"}}, "is not a moment"),
        ({"when": {"cron": "0 0 30 2 *"}}, "is not a cron expression ("),
        ({"when": {"every": "2h", "cron": "* * * * *"}}, "must be one of"),
        ({"when": {"every": "2h"}, "timezone": "Mars/Base"}, "IANA zone"),
        ({"when": {"every": "2h"}, "to": "somewhere"}, "is not a chat address"),
        ({"when": {"every": "2h"}, "to": "telegram:404404"}, "I don't know the chat telegram:404404"),
        ({"when": {"every": "2h"}, "to": "telegram:-100404"}, "I don't know the chat telegram:-100404"),
        ({"when": {"every": "2h"}, "to": "discord:404404"}, "I don't know the chat discord:404404"),
        ({"when": {"every": "2h"}, "to": "nowhere:1:2"}, "there is no channel 'nowhere'"),
        ({"when": {"every": "2h"}, "text": " \n"}, "is empty"),
        ({"when": {"at": "2027-02-29T08:00"}}, "does not exist"),
        ({"when": {}}, "must be one of"),
    ],
)
async def test_the_tool_tells_the_model_what_is_wrong(daybook: Daybook, arguments: dict[str, Json], why: str) -> None:
    daybook.model.then(Call("schedule_add", {"kind": "message", "text": "Tea", **arguments}), "Hm.")
    async with daybook.running():
        await ask(daybook, "tea please")
    assert why in result(daybook.model.requests[-1])


async def test_nobody_schedules_for_or_sees_what_is_anothers(daybook: Daybook) -> None:
    daybook.group()
    daybook.settings["channels"] = {"telegram": {"allow": [ALICE], "groups": {GROUP: {"mention": "optional"}}}}
    async with daybook.running() as gateway:
        await ask(daybook, "/remind tomorrow 9:00 the secret")
        for chat, sender, group in ((ALICE, ALICE, False), (GROUP, OWNER, True)):
            assert "secret" not in await ask(daybook, "/jobs", chat=chat, sender=sender, group=group)
            for verb in ("run", "pause", "delete"):
                said = await ask(daybook, f"/jobs {verb} the-secret", chat=chat, sender=sender, group=group)
                assert said == "There is no job the-secret."
            elsewhere = {"kind": "prompt", "text": "Tell me", "when": {"every": "1h"}, "to": f"telegram:{OWNER}"}
            daybook.model.then(Call("schedule_add", elsewhere), "No.")
            await ask(daybook, "spy", chat=chat, sender=sender, group=group)
            assert "only send to this chat" in result(daybook.model.requests[-1])
            await ask(daybook, f"/remind tomorrow 10:00 of {sender} {chat}", chat=chat, sender=sender, group=group)
        found = await gateway.ask("schedule.list")
        assert isinstance(found, list)
        own = sorted(row["to"] for row in found if row["kind"] == "message")
        assert own == sorted(f"telegram:{chat}" for chat in (OWNER, GROUP, ALICE))
        assert "secret" in await ask(daybook, "/jobs")


async def test_jobs_are_paused_resumed_run_and_deleted(daybook: Daybook) -> None:
    async with daybook.running():
        await ask(daybook, "/remind every day 09:00 pills")
        assert await ask(daybook, "/jobs pause pills") == "Paused: pills. `/jobs resume pills` starts it again."
        assert "- pills: every day at 09:00, but paused (`pills`)\n" in await ask(daybook, "/jobs")
        assert "Next: today at 09:00." in await ask(daybook, "/jobs resume pills")
        assert "I'm on it now: pills" in await ask(daybook, "/jobs run pills")
        await daybook.chat.wait_until(lambda: "⏰ pills" in daybook.chat.heard(OWNER))
        assert "Deleted: pills" in await ask(daybook, "/jobs delete pills")
        assert "cannot" not in await ask(daybook, "/jobs")
        assert "you can pause it, but not delete it" in await ask(daybook, "/jobs delete journal")
        assert "`/jobs pause NAME`" in await ask(daybook, "/jobs dance pills")


async def test_neighbours_ask_by_operation(daybook: Daybook) -> None:
    async with daybook.running() as gateway:
        added = await gateway.ask("schedule.add", text="Stand up", when="every weekday at 10", id="up")
        assert isinstance(added, dict) and added["when"] == {"cron": "0 10 * * 1-5"}
        assert added["next_run"] == "2026-11-23T10:00:00+01:00"
        jobs = await gateway.status("jobs")
        own = ["daily-summary", "journal"]
        assert isinstance(jobs, list) and [job["id"] for job in jobs] == [*own, "up"]
        same = await gateway.ask("schedule.add", text="Stand up", when="every weekday at 10")
        other = await gateway.ask("schedule.add", text="Stand up", when="every weekday at 10", id="other")
        assert isinstance(same, dict) and same["id"] == "up" and isinstance(other, dict) and other["id"] == "other"
        await gateway.ask("schedule.remove", id="other")
        with pytest.raises(OperationError, match="no job x"):
            await gateway.ask("schedule.remove", id="x")
        with pytest.raises(OperationError, match="already"):
            await gateway.ask("schedule.add", text="Other", every="2h", id="up")
        with pytest.raises(OperationError, match="I don't understand"):
            await gateway.ask("schedule.add", text="Other", when="some day")
        await gateway.ask("schedule.remove", id="up")
    assert "id: up" not in (daybook.workspace / "schedule.yaml").read_text("utf-8")
