"""Jobs that are changed, reminders in words, and the week, as the page asks for them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from gateway.rpc.protocol import OperationError
from tests.gateway.conftest import OWNER, Daybook, Running

SCHEDULE = """# mine
jobs:
  - id: tea   # the green one
    text: Tea
    when: {at: "2026-11-21T09:00"}
  # on weekdays
  - id: vitamins
    kind: message
    text: Vitamins
    when: {cron: "0 8 * * 1-5"}
    enabled: false
"""


def write(daybook: Daybook, text: str = SCHEDULE) -> None:
    daybook.workspace.mkdir(parents=True, exist_ok=True)
    new = daybook.workspace / "schedule.new"
    new.write_text(text, "utf-8")
    new.replace(daybook.workspace / "schedule.yaml")  # a gateway that looks meanwhile finds it whole


def written(daybook: Daybook) -> str:
    return (daybook.workspace / "schedule.yaml").read_text("utf-8")


async def ask(gateway: Running, operation: str, **parameters: Any) -> Any:
    return await gateway.ask(operation, **parameters)


async def job(gateway: Running, id: str) -> Any:
    return next(one for one in await ask(gateway, "schedule.list") if one["id"] == id)


async def test_a_job_is_changed_in_its_place_and_rings_at_its_new_time(daybook: Daybook) -> None:
    write(daybook)
    async with daybook.running() as gateway:
        changed = await ask(gateway, "schedule.edit", id="tea", text="Green tea", at="2026-11-21T09:30")
        assert (changed["text"], changed["next_run"]) == ("Green tea", "2026-11-21T09:30:00+01:00")
        assert changed["message"] == "Changed tea. Next: today at 09:30."
        text = written(daybook)
        assert text.startswith("# mine\njobs:\n  - id: tea\n") and text.endswith(SCHEDULE.partition("  # on")[2])
        daybook.moment.pass_(timedelta(hours=1))
        assert (await daybook.chat.wait_heard(1, chat=OWNER))[0] == "⏰ Green tea"


async def test_a_paused_job_stays_paused_and_keeps_its_time_where_only_the_text_changes(daybook: Daybook) -> None:
    write(daybook)
    async with daybook.running() as gateway:
        changed = await ask(gateway, "schedule.edit", id="vitamins", text="Vitamin D")
        assert (changed["text"], changed["when"], changed["enabled"]) == ("Vitamin D", {"cron": "0 8 * * 1-5"}, False)
        await ask(gateway, "schedule.edit", id="vitamins", when="every day at 7")
        found = await job(gateway, "vitamins")
        assert (found["when"], found["enabled"]) == ({"cron": "0 7 * * *"}, False)
        assert (await ask(gateway, "schedule.resume", id="vitamins"))["next_run"] == "2026-11-22T07:00:00+01:00"


async def test_a_change_of_what_was_changed_meanwhile_is_refused(daybook: Daybook) -> None:
    write(daybook)
    async with daybook.running() as gateway:
        seen = {name: (await job(gateway, "tea"))[name] for name in ("text", "when")}
        await ask(gateway, "schedule.edit", id="tea", text="Black tea", seen=seen)
        with pytest.raises(OperationError, match="tea was changed meanwhile"):
            await ask(gateway, "schedule.edit", id="tea", text="Coffee", seen=seen)
        assert (await job(gateway, "tea"))["text"] == "Black tea"


async def test_a_hand_edit_that_was_not_read_yet_is_kept(daybook: Daybook) -> None:
    write(daybook)
    async with daybook.running() as gateway:
        await ask(gateway, "schedule.list")
        write(daybook, SCHEDULE.replace("text: Tea", "text: My own words"))
        with pytest.raises(OperationError, match="changed"):
            await ask(
                gateway,
                "schedule.edit",
                id="tea",
                text="Coffee",
                seen={"text": "Tea", "when": {"at": "2026-11-21T09:00"}},
            )
        assert "My own words" in written(daybook)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"id": "nothing"}, "There is no job nothing"),
        ({"id": "journal", "text": "x"}, "one of my own jobs"),
        ({"id": "tea", "at": "2026-11-21T08:00"}, "already past"),
        ({"id": "tea", "cron": "what"}, "is not a cron expression"),
        ({"id": "tea", "when": "at some time"}, "I don't understand"),
        ({"id": "tea", "every": "1d", "cron": "0 8 * * *"}, "must be one of"),
        ({"id": "tea", "text": "x" * 20_001}, "20,000 are allowed"),
        ({}, "id is missing"),
    ],
)
async def test_what_cannot_be_changed_says_why(daybook: Daybook, change: dict[str, str], why: str) -> None:
    write(daybook)
    async with daybook.running() as gateway:
        with pytest.raises(OperationError, match=why):
            await ask(gateway, "schedule.edit", **change)
    assert written(daybook) == SCHEDULE


async def test_a_reminder_in_words(daybook: Daybook) -> None:
    async with daybook.running() as gateway:
        one = await ask(gateway, "schedule.remind", text="tomorrow at 15:00 call mum")
        assert (one["text"], one["next_run"]) == ("call mum", "2026-11-22T15:00:00+01:00")
        other = await ask(gateway, "schedule.remind", text="water the plants every Monday at 9")
        assert (other["text"], other["when"]) == ("water the plants", {"cron": "0 9 * * 1"})
        for text, why in (
            ("call mum", "understand when that is"),
            ("tomorrow 15:00", "What should I remind you of"),
            ("today 7:00 tea", "already past"),
            ("2027-02-30 10:00 tea", "does not exist"),
        ):
            with pytest.raises(OperationError, match=why):
                await ask(gateway, "schedule.remind", text=text)
        assert {one["id"] for one in await ask(gateway, "schedule.list")} >= {"call-mum", "water-the-plants"}


async def test_the_week_has_what_ran_and_what_is_to_come(daybook: Daybook) -> None:
    write(daybook)
    async with daybook.running() as gateway:
        await ask(gateway, "schedule.resume", id="vitamins")
        await ask(gateway, "schedule.add", text="Look out", every="30m", id="often")
        daybook.moment.pass_(timedelta(minutes=40))
        await daybook.chat.wait_heard(2, chat=OWNER)
        week = await ask(gateway, "schedule.week")
        assert (week["timezone"], week["today"], week["from"]) == ("Europe/Berlin", "2026-11-21", "2026-11-21")
        assert [day["day"] for day in week["days"]] == [f"2026-11-{number}" for number in range(21, 28)]
        days = [[(one["id"], one["at"][11:16], one["often"]) for one in day["entries"]] for day in week["days"]]
        assert ("tea", "09:00", False) in days[0] and ("often", "09:30", True) in days[0]
        ran = {one["id"]: one["state"] for one in week["days"][0]["entries"] if one["state"]}
        assert set(ran) == {"tea", "often"}
        assert [("vitamins", "08:00", False) in day for day in days] == [False, False, True, True, True, True, True]
        assert [sum(one[0] == "often" for one in day) for day in days[1:]] == [1] * 6
        later = await ask(gateway, "schedule.week", **{"from": "2027-01-04"})
        assert ("vitamins", "2027-01-04T08:00:00+01:00") in [
            (one["id"], one["at"]) for one in later["days"][0]["entries"]
        ]
        for wrong in ("yesterday", "1999-01-01", "2026-02-30"):
            with pytest.raises(OperationError):
                await ask(gateway, "schedule.week", **{"from": wrong})


async def test_a_paused_job_is_not_in_the_week_and_the_clocks_may_change_in_it(daybook: Daybook) -> None:
    daybook.moment.now = datetime(2026, 10, 24, 8, tzinfo=UTC)
    write(daybook, SCHEDULE.replace("2026-11-21", "2026-10-25").replace("1-5", "*").replace("enabled: false", ""))
    async with daybook.running() as gateway:
        week = await ask(gateway, "schedule.week")
        at = [one["at"] for day in week["days"] for one in day["entries"] if one["id"] == "vitamins"]
        assert at == [f"2026-10-{day}T08:00:00+01:00" for day in range(25, 31)]
        await ask(gateway, "schedule.pause", id="vitamins")
        week = await ask(gateway, "schedule.week")
        assert not [one for day in week["days"] for one in day["entries"] if one["id"] == "vitamins"]
