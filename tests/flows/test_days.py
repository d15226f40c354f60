"""Days of every kind: at the edges of the calendar and of the map, over jumps of the clock, in groups, without
money for a model; and what was promised, by whomever, closed in whichever way."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from tests.fakes.anthropic_answers import Answer, JsonObject
from tests.flows.diarist import Diarist
from tests.flows.story import ALICE, BOB, GROUP, Story
from tests.flows.test_daily import DAY, a_day, at, awake, ran, says

TOMORROW = "2026-11-22"


def in_zone(told: Story, moment: str, zone: str) -> None:
    told.moment = datetime.fromisoformat(moment).replace(tzinfo=ZoneInfo(zone))


def days_told(told: Story, chat: int = ALICE) -> list[str]:
    return [text for text in told.heard(chat) if "A full day" in text]


class Obliging(Diarist):
    """Promises something itself, when it is asked."""

    def __call__(self, body: JsonObject) -> Answer | str:
        said = super().__call__(body)
        asked = str(body["messages"][-1]["content"])
        return "I'll look for a plumber by 2026-11-23" if said == "Fine." and "Find a plumber" in asked else said


async def test_what_either_side_promised_is_kept_and_what_is_ticked_by_hand_is_closed(tmp_path: Path) -> None:
    async with a_day(tmp_path) as (told, _):
        told.model.reply = Obliging()
        async with awake(told):
            await says(told, f"{DAY} 09:00", "Find a plumber")
            await says(told, f"{DAY} 09:05", "I'll send the invoice by 2026-11-27")
            at(told, f"{DAY} 21:00")
            first = (await told.hears("A full day")).text
            assert "☐ Assistant: look for a plumber (on Monday 23 November)" in first
            assert "☐ Alice: send the invoice (on Friday 27 November)" in first
            by_hand = re.sub(r"- \[ \] (.*plumber.*)", r"* [x] \1", told.read("memory/open.md"))
            told.write("memory/open.md", f"{by_hand}\nMine:\n* [ ] 2026-11-23 call the bank")
            await says(told, f"{TOMORROW} 09:00", "I'll paint the fence by 2026-11-25")
            at(told, f"{TOMORROW} 21:00")
            second = (await told.hears("☐ call the bank (on Monday 23 November)")).text
            assert "plumber" not in second and "☐ Alice: paint the fence (on Wednesday 25 November)" in second
            await says(told, f"{TOMORROW} 21:05", "/done call bank")
            assert told.heard()[-1].startswith("Done: ") and "call the bank" in told.heard()[-1]
        listed = told.read("memory/open.md")
        assert "\nMine:\n* [x] 2026-11-23 call the bank (done 2026-11-22)\n" in listed
        assert listed.count("plumber") == 1


async def test_a_group_s_promises_are_its_own(tmp_path: Path) -> None:
    schedule = {"daily_summary": {"to": ["owner", f"telegram:{GROUP}"]}}
    async with a_day(tmp_path, schedule=schedule) as (told, _):
        async with awake(told):
            await says(told, f"{DAY} 09:00", "I'll buy the ring by 2026-11-30")
            await says(told, f"{DAY} 10:00", "I'll bake the cake by 2026-11-22", GROUP)
            at(told, f"{DAY} 21:00")
            mine, ours = await told.hears("☐"), await told.hears("☐", GROUP)
            assert "ring" in mine.text and "cake" not in mine.text
            assert "cake" in ours.text and "ring" not in ours.text
            await says(told, f"{DAY} 21:05", "/done cake")
            assert "is not in the list" in told.heard()[-1]
            told.telegram.press(ours.id, ours.buttons[0][0]["callback_data"], chat=GROUP, user=ALICE)
            await told.hears("Done:", GROUP)
            await told.idle()
            await says(told, f"{DAY} 21:10", "/done", GROUP)
            assert told.heard(GROUP)[-1] == "There are no open promises here."
        assert "- [x]" in told.read(f"groups/telegram-{GROUP}/memory/open.md")
        assert "cake" not in told.read("memory/open.md") and "- [x]" not in told.read("memory/open.md")


@pytest.mark.parametrize(
    ("zone", "day", "tomorrow"),
    [
        ("Pacific/Kiritimati", "2026-12-31", "2027-01-01"),  # UTC+14, and the year's end
        ("Pacific/Pago_Pago", "2028-02-29", "2028-03-01"),  # UTC-11, and the leap day
        ("Europe/Berlin", "2026-10-25", "2026-10-26"),  # 25 hours
        ("America/New_York", "2027-03-14", "2027-03-15"),  # 23 hours
        ("Africa/Cairo", "2026-04-23", "2026-04-24"),  # the midnight that follows does not exist
    ],
)
async def test_a_day_is_the_user_s_wherever_that_is(tmp_path: Path, zone: str, day: str, tomorrow: str) -> None:
    """What is said from its first minutes to its last stands in its log, and the summary tells it and what is due on
    the day behind it."""
    async with a_day(tmp_path, timezone=zone) as (told, diarist):
        job = f"  - {{id: call, text: Call Ann, when: {{at: '{tomorrow}T10:00'}}, to: owner}}\n"
        told.write("schedule.yaml", f"jobs:\n{job}")
        in_zone(told, f"{day} 00:01", zone)
        async with awake(told) as gateway:
            for clock, words in (("00:01", "Begun"), ("12:00", "I'll rest by 2029-01-01"), ("23:59", "Ended")):
                if clock == "23:59":
                    in_zone(told, f"{day} 21:00", zone)
                    assert "⏰ 10:00 Call Ann" in (await told.hears("A full day")).text
                in_zone(told, f"{day} {clock}", zone)
                count = len(told.heard())
                told.say(words)
                await told.telegram.wait_for(lambda count=count: len(told.heard()) > count)
                await told.idle()
            in_zone(told, f"{tomorrow} 01:05", zone)
            assert await ran(gateway, "journal", 2) == "done"  # the first had nothing to tell of the day before
        log = told.read(f"memory/{day}.md")
        assert [log.count(f"said {words}") for words in ("Begun", "I'll rest", "Ended")] == [1, 1, 1]
        assert [file.name for file in (told.workspace / "memory").glob("2*.md")] == [f"{day}.md"]
        assert f"The day is {day}." in diarist.summaries[0] and len(days_told(told)) == 1


async def test_over_jumps_of_the_clock_a_day_is_told_once(tmp_path: Path) -> None:
    """Six hours back after the summary, and a week ahead and back again."""
    async with a_day(tmp_path) as (told, diarist):
        async with awake(told) as gateway:
            await says(told, f"{DAY} 09:00", "News")
            at(told, f"{DAY} 21:00")
            await ran(gateway, "daily-summary")
            for moment in (f"{DAY} 15:00", f"{DAY} 21:00", "2026-11-28 21:30"):
                at(told, moment)
                await gateway.operations["schedule.list"]({})
            assert await ran(gateway, "daily-summary", 2) == "silent"
            at(told, f"{DAY} 21:30")
            await says(told, f"{TOMORROW} 09:00", "More news")
            at(told, f"{TOMORROW} 21:00")
            await told.hears("More news")
            await told.idle()
        assert len(days_told(told)) == 2 and len(diarist.summaries) == 2


async def test_one_person_who_is_two_targets_is_told_once_a_chat(tmp_path: Path) -> None:
    schedule = {"daily_summary": {"to": ["owner", f"telegram:{ALICE}"]}}
    async with a_day(tmp_path, schedule=schedule) as (told, diarist):
        async with awake(told) as gateway:
            await says(told, f"{DAY} 09:00", "News")
            at(told, f"{DAY} 21:00")
            assert await ran(gateway, "daily-summary") == "done"
            await told.idle()
        assert len(days_told(told)) == len(diarist.summaries) == 1


async def test_a_target_that_is_gone_is_told_once_and_the_others_have_their_day(tmp_path: Path) -> None:
    schedule = {"daily_summary": {"to": ["owner", "telegram:-100999"]}}
    async with a_day(tmp_path, schedule=schedule) as (told, _):
        async with awake(told) as gateway:
            for runs, day in enumerate((DAY, TOMORROW), start=1):
                await says(told, f"{day} 09:00", f"News of {day}")
                at(told, f"{day} 21:00")
                await told.hears(f"said News of {day}")
                assert await ran(gateway, "daily-summary", runs) == "done"
            await told.idle()
        assert len(days_told(told)) == 2
        assert (
            len([text for text in told.heard() if "can't send the daily summary to" in text and "-100999" in text]) == 1
        )


async def test_off_is_off_after_a_restart_too(tmp_path: Path) -> None:
    async with a_day(tmp_path) as (told, diarist):
        async with awake(told):
            await says(told, f"{DAY} 09:00", "News")
            await says(told, f"{DAY} 09:01", "/daily off")
        async with awake(told):
            at(told, f"{DAY} 21:00")
            await says(told, f"{DAY} 21:01", "/daily")
            assert told.heard()[-1].startswith("There's no daily summary here.")
            await says(told, f"{DAY} 21:02", "/daily 21:30")
            at(told, f"{DAY} 21:30")
            await told.hears("A full day")
        assert len(diarist.summaries) == 1


async def test_by_hand_it_goes_to_those_with_an_hour_of_their_own_too_but_not_to_those_who_want_none(
    tmp_path: Path,
) -> None:
    async with a_day(tmp_path) as (told, _):
        async with awake(told) as gateway:
            await says(told, f"{DAY} 12:00", "News")
            await says(told, f"{DAY} 12:01", "/daily 8:30")
            await says(told, f"{DAY} 12:02", "Bob's news", BOB, "Bob")
            await says(told, f"{DAY} 12:03", "/daily off", BOB, "Bob")
            await gateway.operations["schedule.run"]({"id": "daily-summary"})
            await told.hears("A full day")
            assert await ran(gateway, "daily-summary") == "done"
            await told.idle()
        assert len(days_told(told)) == 1 and days_told(told, BOB) == []


async def test_in_quiet_hours_the_day_waits_for_the_morning_and_is_not_late(tmp_path: Path) -> None:
    async with a_day(tmp_path, schedule={"quiet_hours": "20:00-07:00"}) as (told, diarist):
        async with awake(told) as gateway:
            await says(told, f"{DAY} 09:00", "News")
            at(told, f"{DAY} 21:00")
            await gateway.operations["schedule.list"]({})
            await says(told, f"{DAY} 22:00", "Late news")
            assert days_told(told) == []
            at(told, f"{TOMORROW} 07:00")
            summary = await told.hears("A full day")
        assert f"The day is {DAY}." in diarist.summaries[0]
        assert "Late news" in summary.text and "I'm late" not in summary.text


async def test_a_slow_summary_delays_no_reminder(tmp_path: Path) -> None:
    async with a_day(tmp_path) as (told, _):
        tea = f"  - {{id: tea, text: Tea, when: {{at: '{DAY}T21:05'}}, to: owner}}\n"
        told.write("schedule.yaml", f"jobs:\n{tea}")
        async with awake(told) as gateway:
            await says(told, f"{DAY} 09:00", "News")
            held = told.model.hold(after=0)
            at(told, f"{DAY} 21:00")
            await told.model.held(held)
            at(told, f"{DAY} 21:05")
            await told.hears("Tea")
            assert days_told(told) == []
            held.release()
            await told.hears("A full day")
            assert await ran(gateway, "daily-summary") == "done"


async def test_without_money_for_a_model_the_day_is_told_from_its_extract(tmp_path: Path) -> None:
    async with a_day(tmp_path) as (told, diarist):
        model = {"api_key": told.model.api_key, "base_url": told.model.base_url, "daily_budget_usd": 0.000001}
        told.configure(model=model)
        async with awake(told) as gateway:
            await says(told, f"{DAY} 09:00", "We take the blue tiles")
            at(told, f"{DAY} 21:00")
            await told.hears("09:00 Alice: We take the blue tiles")
            assert diarist.journals == diarist.summaries == []
            at(told, f"{TOMORROW} 00:05")
            assert await ran(gateway, "journal") == "done"
        assert len(diarist.journals) == 1 and "Alice said We take" in told.log(1).read_text("utf-8")


async def test_a_heartbeat_is_no_talk_and_wakes_nobody(tmp_path: Path) -> None:
    """What it says starts no turn, not its own next beat, and is no day's talk."""
    async with a_day(tmp_path, schedule={"heartbeat": {"every": "30m"}}) as (told, _):
        told.model.reply = diarist = Diarist("The oven is still on. I'll look again by 2026-11-21")
        told.write("HEARTBEAT.md", "- The oven\n")
        async with awake(told) as gateway:
            await says(told, f"{DAY} 08:40", "/whoami")
            at(told, f"{DAY} 09:00")
            assert await ran(gateway, "heartbeat") == "done"
            await told.hears("The oven is still on.")
            for minute in range(1, 29, 7):
                at(told, f"{DAY} 09:{minute:02}")
                await gateway.operations["schedule.list"]({})
                await told.idle()
            assert len(told.asked) == len(diarist.heartbeats) == 1
            await says(told, f"{DAY} 09:29", "/daily now")
            await told.hears("It was quiet here")
        assert not told.log().exists() and not (told.workspace / "memory/open.md").exists()


async def test_without_being_asked_for_there_is_no_heartbeat(tmp_path: Path) -> None:
    async with a_day(tmp_path) as (told, diarist):
        told.write("HEARTBEAT.md", "- The oven\n")
        async with awake(told) as gateway:
            for hour in range(9, 24):
                at(told, f"{DAY} {hour:02}:30")
                await gateway.operations["schedule.list"]({})
            await ran(gateway, "daily-summary")
        assert diarist.heartbeats == [] and told.asked == []


async def test_after_three_weeks_away_the_last_evening_is_in_its_log(tmp_path: Path) -> None:
    async with a_day(tmp_path) as (told, _):
        async with awake(told) as gateway:
            await says(told, f"{DAY} 09:00", "News")
            at(told, f"{DAY} 21:00")
            await ran(gateway, "daily-summary")
            await says(told, f"{DAY} 22:00", "The key is under the mat")
        assert told.moment is not None
        told.moment += timedelta(days=21)
        async with awake(told) as gateway:
            await says(told, "2026-12-12 23:00", "Back again")
            at(told, "2026-12-13 00:05")
            assert await ran(gateway, "journal", 2) == "done"
        assert told.read(f"memory/{DAY}.md").count("said The key is under the mat") == 1
        assert "said Back again" in told.read("memory/2026-12-12.md")


async def test_who_wants_no_journal_has_none(tmp_path: Path) -> None:
    """The day is then told from what the log has without it."""
    async with a_day(tmp_path, memory={"journal": False}) as (told, diarist):
        async with awake(told) as gateway:
            await says(told, f"{DAY} 09:00", "News")
            await says(told, f"{DAY} 09:01", "/remember the bike is in the cellar")
            at(told, f"{DAY} 21:00")
            assert "the bike is in the cellar" in (await told.hears("A full day")).text
            at(told, f"{TOMORROW} 00:05")
            await gateway.operations["schedule.run"]({"id": "journal"})
            await ran(gateway, "journal")
        assert diarist.journals == [] and "News" not in told.log(1).read_text("utf-8")


async def test_topics_of_a_group_share_its_log_and_each_has_its_section(tmp_path: Path) -> None:
    async with a_day(tmp_path) as (told, _):
        async with awake(told) as gateway:
            for thread, words in ((7, "The tent is green"), (8, "The stove is red")):
                at(told, f"{DAY} 09:0{thread}")
                told.call(words, thread=thread)
                await told.hears("Fine.", GROUP, thread)
                await told.idle()
            at(told, f"{TOMORROW} 00:05")
            assert await ran(gateway, "journal") == "done"
        log = told.log(1, f"groups/telegram-{GROUP}/memory").read_text("utf-8")
        assert log.count("said") == log.count("## Journal · group/") == 2 and "tent" in log and "stove" in log
        assert not told.log(1).exists()
