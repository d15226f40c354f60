"""The end of a day: the journal, the summary, what was promised, and the heartbeat."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from channels.terminal import Shown
from gateway.server import Gateway, Timeouts
from tests.flows.diarist import Diarist
from tests.flows.story import ALICE, BOB, GROUP, ZONE, Story, story

DAY = "2026-11-21"


def at(told: Story, moment: str) -> None:
    """It is that time in Berlin now: `2026-11-21 08:30`."""
    told.moment = datetime.fromisoformat(moment).replace(tzinfo=ZoneInfo(ZONE))


class Window:
    """A terminal that somebody looks at."""

    async def show(self, shown: Shown) -> None:
        pass


@asynccontextmanager
async def a_day(folder: Path, **config: Any) -> AsyncIterator[tuple[Story, Diarist]]:
    async with story(folder, **config) as told:
        diarist = told.model.reply = Diarist()
        told.model.beside = lambda _: None
        told.timeouts = Timeouts(tick=0.02)
        at(told, f"{DAY} 08:30")
        yield told, diarist


@asynccontextmanager
async def awake(told: Story) -> AsyncIterator[Gateway]:
    """Running, and it knows from when on its jobs are due."""
    async with told.running() as gateway:
        await gateway.operations["schedule.list"]({})
        yield gateway


async def says(told: Story, moment: str, words: str, chat: int = ALICE, name: str = "Alice") -> None:
    """One message, and its answer."""
    at(told, moment)
    count = len(told.heard(chat))
    if chat == GROUP:
        told.call(words, name=name)
    else:
        told.say(words, chat=chat, name=name)
    await told.telegram.wait_for(lambda: len(told.heard(chat)) > count)
    await told.idle()


async def ran(gateway: Gateway, job: str, runs: int = 1) -> str:
    """What the newest run of a job came to, once there were so many."""
    while True:
        history: Any = await gateway.operations["schedule.history"]({"id": job})
        over = [one for one in history if one["result"] not in ("waiting", "running")]
        if len(over) >= runs:
            return str(over[0]["result"])
        await asyncio.sleep(0)


async def test_a_day_is_told_at_its_end_and_its_log_has_it(tmp_path: Path) -> None:
    async with a_day(tmp_path) as (told, diarist):
        job = "  - {id: dentist, text: The dentist, when: {at: '2026-11-22T10:00'}, to: owner}\n"
        told.write("schedule.yaml", f"jobs:\n{job}")
        async with awake(told) as gateway:
            await says(told, f"{DAY} 09:00", "I'll send the invoice by 2026-11-27")
            await says(told, f"{DAY} 12:00", "We take the blue tiles")
            at(told, f"{DAY} 21:00")
            summary = await told.hears("A full day")
            assert await ran(gateway, "daily-summary") == "done"
        log = told.read(f"memory/{DAY}.md")
        assert log.startswith(f"# {DAY}\n")
        assert "## Journal · owner · 09:00-12:00\n\n- 09:00 Alice said I'll send the invoice by 2026-11-27\n" in log
        assert told.read("memory/open.md") == f"# Open\n\n- [ ] 2026-11-27 Alice: send the invoice (said {DAY})\n"
        assert (
            "☐ Alice: send the invoice (on Friday 27 November)" in summary.text
            and "⏰ 10:00 The dentist" in summary.text
        )
        assert "We take the blue tiles" in diarist.summaries[0]
        assert len(diarist.journals) == len(diarist.summaries) == 1
        told.no_request_was_refused()


async def test_what_was_said_after_the_summary_is_added_at_night(tmp_path: Path) -> None:
    async with a_day(tmp_path) as (told, diarist):
        async with awake(told) as gateway:
            await says(told, f"{DAY} 09:00", "One")
            at(told, f"{DAY} 21:00")
            await told.hears("A full day")
            await says(told, f"{DAY} 23:30", "Two")
            at(told, "2026-11-22 00:05")
            assert await ran(gateway, "journal") == "done"
            at(told, "2026-11-23 00:05")
            assert await ran(gateway, "journal", 2) == "silent"
        log = told.read(f"memory/{DAY}.md")
        assert log.count("Alice said One") == log.count("Alice said Two") == 1
        assert "Journal · owner · 23:30-23:30" in log
        assert len(diarist.journals) == 2 and "One" not in diarist.journals[1]
        assert not told.log(0).exists()


async def test_a_talk_is_not_shown_its_own_day_again_but_what_others_said(tmp_path: Path) -> None:
    async with a_day(tmp_path) as (told, _):
        async with awake(told) as gateway:
            await says(told, f"{DAY} 09:00", "We take the blue tiles")
            at(told, f"{DAY} 09:30")
            with gateway.terminal.attach("work", Window()):
                await gateway.terminal.say("The cake is lemon", "work")
                await told.idle()
            at(told, f"{DAY} 21:00")
            await told.hears("A full day")
            await says(told, f"{DAY} 21:10", "And tomorrow?")
        newest = str(told.asked[-1].body["messages"][-1])
        assert "Alice said We take" in told.read(f"memory/{DAY}.md")
        assert "lemon" in newest and "blue tiles" not in newest


async def test_a_promise_is_shown_until_somebody_closes_it(tmp_path: Path) -> None:
    async with a_day(tmp_path) as (told, _):
        async with awake(told):
            await says(told, f"{DAY} 09:00", "I'll call the plumber by 2026-11-24")
            await says(told, f"{DAY} 09:01", "I'll paint the fence by 2026-11-25")
            at(told, f"{DAY} 21:00")
            summary = await told.hears("A full day")
            button = summary.buttons[0][0]
            told.telegram.press(summary.id, button["callback_data"])
            assert "call the plumber" in (await told.hears("Done:")).text
            await says(told, "2026-11-22 10:00", "paint the fence is done")
            at(told, "2026-11-22 21:00")
            second = await told.hears("paint the fence is done")
            assert "☐" not in second.text
            await says(told, "2026-11-22 21:10", "/done")
            assert told.heard()[-1] == "There are no open promises here."
        listed = told.read("memory/open.md")
        assert listed.count("- [x]") == 2 and listed.count("(done 2026-11-2") == 2


async def test_without_a_model_an_extract_is_told_and_the_proper_section_follows(tmp_path: Path) -> None:
    async with a_day(tmp_path, model={"timeout_s": 5}) as (told, diarist):
        told.configure(model={"api_key": told.model.api_key, "base_url": told.model.base_url})
        async with awake(told) as gateway:
            await says(told, f"{DAY} 09:00", "We decided for the blue tiles, 24 m2")
            told.model.fail(529, times=200)
            at(told, f"{DAY} 21:00")
            heard = await told.hears("blue tiles")
            assert "09:00 Alice: We decided for the blue tiles, 24 m2" in heard.text
            told.model._faults.clear()
            before = told.log().read_bytes()
            at(told, "2026-11-22 00:05")
            assert await ran(gateway, "journal") == "done"
        log = told.log(1).read_bytes()
        assert log.startswith(before)
        assert b"(extract)" in before
        assert b"(in place of the extract above)\n\n- 09:00 Alice said We decided" in log
        assert len(diarist.journals) == 1


async def test_nothing_is_sent_on_an_empty_day_unless_asked(tmp_path: Path) -> None:
    async with a_day(tmp_path) as (told, diarist):
        async with awake(told) as gateway:
            at(told, f"{DAY} 21:00")
            assert await ran(gateway, "daily-summary") == "silent"
            assert told.heard() == []
            await says(told, f"{DAY} 21:05", "/daily now")
            await told.hears("It was quiet here")
        assert diarist.summaries == [] and diarist.journals == []


async def test_what_was_said_after_a_summary_is_told_by_the_next(tmp_path: Path) -> None:
    """Once, and beside that day's own; nothing that was told already."""
    async with a_day(tmp_path) as (told, diarist), awake(told) as gateway:
        await says(told, f"{DAY} 09:00", "We take the blue tiles")
        at(told, f"{DAY} 21:00")
        await told.hears("blue tiles")
        await says(told, f"{DAY} 23:10", "The cat is back")
        at(told, "2026-11-22 00:05")
        assert await ran(gateway, "journal") == "done"
        await says(told, "2026-11-22 10:00", "Nothing much today")
        at(told, "2026-11-22 21:00")
        second = (await told.hears("Nothing much")).text
        assert "The cat is back" in second and "blue tiles" not in second
        await says(told, "2026-11-23 10:00", "Rain")
        at(told, "2026-11-23 21:00")
        third = (await told.hears("Rain")).text
        assert "cat" not in third and "Nothing much" not in third
        assert "Said before, since the last summary" in diarist.summaries[1]
        assert not any("Said before, since the last summary" in diarist.summaries[at] for at in (0, 2))


async def test_what_a_late_summary_told_of_the_evening_is_not_told_again(tmp_path: Path) -> None:
    async with a_day(tmp_path) as (told, diarist):
        async with awake(told):
            await says(told, f"{DAY} 09:00", "We take the blue tiles")
            await says(told, f"{DAY} 20:50", "One more thing")
        at(told, "2026-11-22 07:00")
        async with awake(told):
            assert "One more thing" in (await told.hears("A full day")).text
            await says(told, "2026-11-22 10:00", "Nothing much today")
            at(told, "2026-11-22 21:00")
            await told.hears("Nothing much")
        assert not any("Said before, since the last summary" in shown for shown in diarist.summaries)


async def test_a_first_summary_in_the_morning_tells_one_day(tmp_path: Path) -> None:
    async with (
        a_day(tmp_path, schedule={"daily_summary": {"enabled": False}}) as (told, diarist),
        awake(told) as gateway,
    ):
        await says(told, f"{DAY} 09:00", "We take the blue tiles")
        await says(told, "2026-11-22 00:10", "Cannot sleep")
        assert await ran(gateway, "journal") == "done"
        await says(told, "2026-11-22 09:00", "/daily 8:30")
        at(told, "2026-11-23 08:30")
        assert "Cannot sleep" in (await told.hears("A full day")).text
        assert "blue tiles" not in diarist.summaries[0]


async def test_without_a_model_the_evening_before_stands_above_the_day(tmp_path: Path) -> None:
    async with a_day(tmp_path, model={"provider": "offline"}) as (told, _), awake(told) as gateway:
        at(told, f"{DAY} 21:00")
        assert await ran(gateway, "daily-summary") == "silent"
        await says(told, f"{DAY} 23:10", "The cat is back")
        at(told, "2026-11-22 00:05")
        assert await ran(gateway, "journal") == "done"
        await says(told, "2026-11-22 10:00", "The tiles are blue")
        at(told, "2026-11-22 21:00")
        told_of = (await told.hears("On Sunday 22 November\n")).text
        assert told_of.index("Saturday 21") < told_of.index("The cat is back") < told_of.index("Sunday 22")


async def test_asked_for_in_the_morning_it_tells_what_was_said_since_midnight(tmp_path: Path) -> None:
    """And the day before, where nothing was."""
    async with a_day(tmp_path, schedule={"daily_summary": {"time": "08:00"}}) as (told, _), awake(told) as gateway:
        await says(told, f"{DAY} 09:00", "Yesterday's news")
        at(told, "2026-11-22 00:20")
        assert await ran(gateway, "journal") == "done"
        await gateway.operations["schedule.run"]({"id": "daily-summary"})
        assert "Yesterday's news" in (await told.hears("A full day")).text
        await says(told, "2026-11-22 00:30", "Cannot sleep")
        await gateway.operations["schedule.run"]({"id": "daily-summary"})
        newest = (await told.hears("Cannot sleep")).text
        assert "A full day" in newest and "Yesterday's news" not in newest


async def test_run_by_name_again_it_is_told_only_where_something_is_new(tmp_path: Path) -> None:
    """Once per target and day; the summary at its own time too, where nothing was said since."""
    async with a_day(tmp_path) as (told, _), awake(told) as gateway:

        async def run(runs: int) -> str:
            at(told, f"{DAY} 20:{runs:02}")
            await gateway.operations["schedule.run"]({"id": "daily-summary"})
            return await ran(gateway, "daily-summary", runs)

        await says(told, f"{DAY} 09:00", "I'll call the plumber by 2026-11-24")
        assert [await run(1), await run(2)] == ["done", "silent"]
        await says(told, f"{DAY} 20:30", "/done plumber")
        assert await run(3) == "done"
        at(told, f"{DAY} 21:00")
        assert await ran(gateway, "daily-summary", 4) == "silent"
        await says(told, f"{DAY} 21:10", "More news")
        assert await run(5) == "done"
        await told.hears("More news")
        first, second, third = (text for text in told.heard() if "A full day" in text)
        assert "☐" in first and "☐" not in second and "More news" in third


async def test_asked_for_after_midnight_the_day_that_has_ended_is_told_under_its_date(tmp_path: Path) -> None:
    async with a_day(tmp_path, schedule={"daily_summary": {"enabled": False}}) as (told, _), awake(told):
        await says(told, f"{DAY} 23:50", "We take the blue tiles")
        await says(told, "2026-11-22 00:03", "/daily now")
        assert "blue tiles" in (summary := await told.hears("A full day")).text
        assert summary.text.startswith("On Saturday 21 November\n")
        await says(told, "2026-11-22 12:03", "/daily now")
        await told.hears("It was quiet here today")


async def test_a_morning_summary_tells_the_new_day_where_the_day_before_was_empty(tmp_path: Path) -> None:
    async with a_day(tmp_path, schedule={"daily_summary": {"time": "08:30"}}) as (told, _), awake(told) as gateway:
        await says(told, "2026-11-22 07:00", "Good morning")
        at(told, "2026-11-22 08:30")
        assert "Good morning" in (await told.hears("A full day")).text
        assert await ran(gateway, "daily-summary") == "done"


async def test_a_group_is_told_its_own_day_only_where_it_is_a_target(tmp_path: Path) -> None:
    schedule = {"daily_summary": {"to": ["owner", f"telegram:{GROUP}"]}}
    async with a_day(tmp_path, schedule=schedule) as (told, diarist):
        async with awake(told):
            await says(told, f"{DAY} 09:00", "The safe's number is 739")
            await says(told, f"{DAY} 10:00", "Who brings the cake?", GROUP)
            await says(told, f"{DAY} 11:00", "Bob's secret", BOB, "Bob")
            at(told, f"{DAY} 21:00")
            mine = await told.hears("A full day")
            ours = await told.hears("A full day", GROUP)
        assert "739" in mine.text and "cake" not in mine.text and "secret" not in mine.text
        assert "cake" in ours.text and "739" not in ours.text
        assert told.heard(BOB) == ["Fine."]
        assert "cake" in told.log(folder=f"groups/telegram-{GROUP}/memory").read_text("utf-8")
        for shown in (*diarist.journals, *diarist.summaries):
            assert sum(word in shown for word in ("739", "cake", "secret")) == 1


async def test_a_chat_chooses_its_own_hour(tmp_path: Path) -> None:
    """At half past eight the day before is told; the usual hour is then not the owner's any more, nor in a list."""
    async with a_day(tmp_path) as (told, _):
        async with awake(told) as gateway:
            await says(told, f"{DAY} 09:00", "Yesterday's news")
            await says(told, f"{DAY} 09:01", "/daily")
            assert "21:00" in told.heard()[-1]
            await says(told, f"{DAY} 09:02", "/daily 8:30")
            assert "the previous day here at 08:30" in told.heard()[-1]
            await says(told, f"{DAY} 09:03", "/daily", BOB, "Bob")
            assert "no daily summary" in told.heard(BOB)[-1]
            morning = "2026-11-22T08:30:00+01:00"
            assert await _next(gateway, "daily-summary") == morning
            assert await _next(gateway, f"daily-summary-telegram-{ALICE}") == morning
            status: Any = await gateway.operations["status"]({})
            assert [job["id"] for job in status["jobs"]] == ["journal", f"daily-summary-telegram-{ALICE}"]
            await says(told, f"{DAY} 09:04", "/jobs")
            assert "I sum up the day: at the times its chats chose, next tomorrow at 08:30" in told.heard()[-1]
            at(told, f"{DAY} 21:00")
        async with awake(told) as gateway:
            assert await _next(gateway, "daily-summary") == morning
            at(told, "2026-11-22 08:30")
            assert "Yesterday's news" in (await told.hears("A full day")).text
            await says(told, "2026-11-22 09:00", "/daily off")
            at(told, "2026-11-23 08:30")
            await says(told, "2026-11-23 09:00", "/daily")
            assert "no daily summary" in told.heard()[-1]
            assert await _next(gateway, "daily-summary") is None
        assert len([text for text in told.heard() if "A full day" in text]) == 1


async def test_a_summary_that_is_paused_comes_again_where_somebody_asks_for_it(tmp_path: Path) -> None:
    async with a_day(tmp_path) as (told, _), awake(told) as gateway:

        async def answer(minute: int, words: str) -> str:
            await says(told, f"{DAY} 09:{minute:02}", words)
            return told.heard()[-1]

        await answer(0, "News")
        await answer(1, "/jobs pause daily-summary")
        assert "There's no daily summary here" in await answer(2, "/daily")
        await answer(3, "/daily 20:00")
        await answer(4, f"/jobs pause daily-summary-telegram-{ALICE}")
        assert "There's no daily summary here" in await answer(5, "/daily")
        assert "I'll sum up the day here at 20:15" in await answer(6, "/daily 20:15")
        assert "comes here at 20:15" in await answer(7, "/daily")
        assert await _next(gateway, f"daily-summary-telegram-{ALICE}") == f"{DAY}T20:15:00+01:00"
        at(told, f"{DAY} 20:15")
        await told.hears("A full day")


async def test_where_others_keep_the_usual_hour_it_is_the_next(tmp_path: Path) -> None:
    schedule = {"daily_summary": {"to": ["owner", f"telegram:{GROUP}"]}}
    async with a_day(tmp_path, schedule=schedule) as (told, _), awake(told) as gateway:
        await says(told, f"{DAY} 09:00", "/daily 20:15")
        assert await _next(gateway, "daily-summary") == f"{DAY}T21:00:00+01:00"
        await says(told, f"{DAY} 09:01", "/daily off", GROUP)
        assert await _next(gateway, "daily-summary") == f"{DAY}T20:15:00+01:00"


async def test_a_day_that_was_told_is_not_told_at_another_hour(tmp_path: Path) -> None:
    async with a_day(tmp_path) as (told, diarist):
        async with awake(told) as gateway:
            await says(told, f"{DAY} 09:00", "News")
            at(told, f"{DAY} 21:00")
            await told.hears("A full day")
            await says(told, f"{DAY} 21:10", "/daily 22:00")
            while await _next(gateway, f"daily-summary-telegram-{ALICE}") is None:  # noqa: ASYNC110  the next tick
                await asyncio.sleep(0)
            at(told, f"{DAY} 22:00")
            assert await ran(gateway, f"daily-summary-telegram-{ALICE}") == "done"
        assert len(diarist.summaries) == 1
        assert len([text for text in told.heard() if "A full day" in text]) == 1


async def _next(gateway: Gateway, job: str) -> str | None:
    listed: Any = await gateway.operations["schedule.list"]({})
    return next((row["next_run"] for row in listed if row["id"] == job), None)


async def test_missed_while_down_it_comes_late_and_once(tmp_path: Path) -> None:
    async with a_day(tmp_path) as (told, _):
        async with awake(told):
            await says(told, f"{DAY} 09:00", "Before the night")
        at(told, "2026-11-22 07:00")
        async with awake(told) as gateway:
            late = await told.hears("A full day")
            assert "Before the night" in late.text and "Sorry, I'm late: this was due yesterday at 21:00" in late.text
            await ran(gateway, "daily-summary")
        at(told, "2026-11-22 07:30")
        async with awake(told):
            await told.idle()
        assert len(told.heard()) == 2


async def test_the_long_day_and_the_short_one(tmp_path: Path) -> None:
    """On 25 October 2026 the clocks go back at three, on 28 March 2027 forward at two."""
    async with a_day(tmp_path) as (told, _):
        at(told, "2026-10-24 12:00")
        async with awake(told) as gateway:
            await says(told, "2026-10-25 00:01", "The long day begins")
            at(told, "2026-10-25 00:05")
            await ran(gateway, "journal")
            await says(told, "2026-10-25 23:59", "and ends")
            at(told, "2026-10-26 00:05")
            await ran(gateway, "journal", 2)
        at(told, "2027-03-27 12:00")
        async with awake(told):
            await says(told, "2027-03-28 00:01", "The short day begins")
            await says(told, "2027-03-28 23:59", "and is over")
            at(told, "2027-03-29 00:05")
            short = told.log(1)
            while not short.exists() or "is over" not in short.read_text("utf-8"):  # noqa: ASYNC110  no bell rings
                await asyncio.sleep(0)
        long = told.read("memory/2026-10-25.md")
        assert "The long day begins" in long and "and ends" in long
        assert "The short day begins" in short.read_text("utf-8")


async def test_a_heartbeat_whose_budget_is_spent_asks_nobody(tmp_path: Path) -> None:
    schedule = {"heartbeat": {"every": "30m", "daily_budget_usd": 0.0001}}
    async with a_day(tmp_path, schedule=schedule) as (told, diarist):
        told.write("HEARTBEAT.md", "- The oven\n")
        async with awake(told) as gateway:
            for runs, moment in enumerate((f"{DAY} 09:00", f"{DAY} 09:30", "2026-11-22 09:00"), start=1):
                at(told, moment)
                assert await ran(gateway, "heartbeat", runs) == "silent"
        assert len(diarist.heartbeats) == 2


async def test_the_cost_of_it_is_shown(tmp_path: Path) -> None:
    async with a_day(tmp_path) as (told, _):
        async with awake(told):
            await says(told, f"{DAY} 09:00", "Hello")
            await says(told, f"{DAY} 10:00", "/daily now")
            await told.hears("A full day")
            await says(told, f"{DAY} 10:01", "/usage")
        purposes = told.heard()[-1].partition("By purpose: ")[2]
        assert [part.partition(" $")[0] for part in purposes.split("; ")] == ["answers", "summaries", "daily log"]


async def test_a_heartbeat_looks_at_its_list(tmp_path: Path) -> None:
    async with a_day(tmp_path, schedule={"heartbeat": {"every": "30m"}}) as (told, diarist):
        async with awake(told) as gateway:
            await says(told, f"{DAY} 08:40", "/whoami")
            at(told, f"{DAY} 09:00")
            assert await ran(gateway, "heartbeat") == "silent"
            assert told.asked == []
            told.write("HEARTBEAT.md", "# Heartbeat\n\n- The oven, when it was on for an hour\n")
            at(told, f"{DAY} 09:30")
            assert await ran(gateway, "heartbeat", 2) == "silent"
            told.model.reply = diarist = Diarist("The oven is still on.")
            at(told, f"{DAY} 10:00")
            assert await ran(gateway, "heartbeat", 3) == "done"
            await told.hears("The oven is still on.")
            at(told, f"{DAY} 21:00")
            assert await ran(gateway, "daily-summary") == "silent"
        assert "The oven, when" in diarist.heartbeats[0]
        assert set(told.heard()[1:]) == {"The oven is still on."}
        assert not told.log().exists()
