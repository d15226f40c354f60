"""What was said since the last summary is told by the next that is sent, however many days lie between."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from gateway.server import Gateway
from tests.fakes.anthropic_answers import Answer, JsonObject
from tests.flows.diarist import Diarist
from tests.flows.story import ALICE, GROUP, ZONE
from tests.flows.test_daily import DAY, Story, a_day, at, awake, ran, says
from tests.strength import first


async def silent(told: Story, gateway: Gateway, moment: str, runs: int) -> None:
    """A day's end at which nothing is sent."""
    at(told, moment)
    assert await ran(gateway, "daily-summary", runs) == "silent"


async def until(told: Story, gateway: Gateway, moment: str, runs: int) -> str:
    """What the summary of that moment says."""
    count = len(told.heard())
    at(told, moment)
    assert await ran(gateway, "daily-summary", runs) == "done"
    await told.idle()
    return "\n".join(told.heard()[count:])


async def test_after_a_silent_day_the_next_summary_tells_what_was_said_since_the_last(tmp_path: Path) -> None:
    async with a_day(tmp_path) as (told, _), awake(told) as gateway:
        await says(told, f"{DAY} 09:00", "We take the blue tiles")
        await until(told, gateway, f"{DAY} 21:00", 1)
        await says(told, f"{DAY} 23:10", "The cat is back")
        await silent(told, gateway, "2026-11-22 21:00", 2)
        await silent(told, gateway, "2026-11-23 21:00", 3)
        await says(told, "2026-11-23 22:00", "The boiler hums")
        await says(told, "2026-11-24 10:00", "Nothing much today")
        summary = await until(told, gateway, "2026-11-24 21:00", 4)
        assert summary.index("The cat is back") < summary.index("The boiler hums") < summary.index("Nothing much")
        assert "blue tiles" not in summary
        await says(told, "2026-11-25 10:00", "Rain")
        later = await until(told, gateway, "2026-11-25 21:00", 5)
        assert "Rain" in later and "cat" not in later and "boiler" not in later and "Nothing much" not in later


async def test_what_a_hand_wrote_below_without_a_time_is_told_too(tmp_path: Path) -> None:
    async with a_day(tmp_path) as (told, diarist), awake(told) as gateway:
        told.write(f"memory/{DAY}.md", f"# {DAY}\n\n- Bread by hand\n")
        await says(told, f"{DAY} 09:00", "We take the blue tiles")
        await until(told, gateway, f"{DAY} 21:00", 1)
        await says(told, f"{DAY} 23:10", "The cat is back")
        at(told, "2026-11-22 00:05")
        assert await ran(gateway, "journal") == "done"
        told.write(f"memory/{DAY}.md", told.read(f"memory/{DAY}.md") + "- Milk by hand\n  and cheese\n")
        await says(told, "2026-11-22 10:00", "Nothing much today")
        await until(told, gateway, "2026-11-22 21:00", 2)
        shown = diarist.summaries[-1]
        assert "The cat is back" in shown and "- Milk by hand\n  and cheese" in shown and "Bread" not in shown


async def test_over_restarts_and_under_their_dates_without_a_model(tmp_path: Path) -> None:
    async with a_day(tmp_path, model={"provider": "offline"}) as (told, _):
        async with awake(told) as gateway:
            await says(told, f"{DAY} 09:00", "The tiles are blue")
            await until(told, gateway, f"{DAY} 21:00", 1)
            await says(told, f"{DAY} 23:10", "The cat is back")
        async with awake(told) as gateway:
            await silent(told, gateway, "2026-11-22 21:00", 2)
            await says(told, "2026-11-22 22:30", "The boiler hums")
        async with awake(told) as gateway:
            await says(told, "2026-11-23 10:00", "The door is green")
            told_of = await until(told, gateway, "2026-11-23 21:00", 3)
        expected = ["Saturday 21", "The cat is back", "Sunday 22", "The boiler hums", "Monday 23", "The door is green"]
        places = [told_of.index(part) for part in expected]
        assert places == sorted(places) and "tiles" not in told_of


async def test_a_summary_missed_for_too_long_is_told_with_the_next(tmp_path: Path) -> None:
    """Also the very first, of which nothing was sent yet."""
    async with a_day(tmp_path) as (told, _):
        async with awake(told):
            await says(told, f"{DAY} 09:00", "We take the blue tiles")
        at(told, "2026-11-22 20:00")  # 23 hours late
        async with awake(told) as gateway:
            assert await ran(gateway, "daily-summary") == "missed"
            await silent(told, gateway, "2026-11-22 21:00", 2)
            await says(told, "2026-11-23 10:00", "Nothing much today")
            first = await until(told, gateway, "2026-11-23 21:00", 3)
            assert first.index("blue tiles") < first.index("Nothing much")
            await says(told, "2026-11-24 10:00", "Rain")
        at(told, "2026-11-27 10:00")
        async with awake(told) as gateway:
            assert await ran(gateway, "daily-summary", 4) == "missed"
            await says(told, "2026-11-27 11:00", "Back home")
            second = await until(told, gateway, "2026-11-27 21:00", 5)
            assert second.index("Rain") < second.index("Back home") and "Nothing much" not in second


async def test_a_summary_that_could_not_be_delivered_is_told_with_the_next(tmp_path: Path) -> None:
    async with a_day(tmp_path) as (told, _), awake(told) as gateway:
        await says(told, f"{DAY} 09:00", "We take the blue tiles")
        told.telegram.block(ALICE)
        at(told, f"{DAY} 21:00")
        await ran(gateway, "daily-summary")
        await told.idle()
        told.telegram.unblock(ALICE)
        assert told.heard() == ["Fine."]
        await says(told, "2026-11-22 10:00", "Nothing much today")
        summary = await until(told, gateway, "2026-11-22 21:00", 2)
        assert summary.index("blue tiles") < summary.index("Nothing much")


async def test_what_is_said_while_the_summary_is_made_is_told_by_the_next(tmp_path: Path) -> None:
    async with a_day(tmp_path) as (told, _), awake(told) as gateway:
        inner = Diarist()

        def slow(body: JsonObject) -> Answer | str:
            if "daily summary" in "".join(block["text"] for block in body["system"]):
                at(told, f"{DAY} 21:07")
            return inner(body)

        told.model.reply = slow
        await says(told, f"{DAY} 09:00", "We take the blue tiles")
        await until(told, gateway, f"{DAY} 21:00", 1)
        await says(told, f"{DAY} 21:05", "The cat is back")
        await says(told, "2026-11-22 10:00", "Nothing much today")
        assert "The cat is back" in await until(told, gateway, "2026-11-22 21:00", 2)


async def test_each_target_has_its_own_last_summary(tmp_path: Path) -> None:
    schedule = {"daily_summary": {"to": ["owner", f"telegram:{GROUP}"]}}
    async with a_day(tmp_path, schedule=schedule) as (told, _), awake(told) as gateway:

        async def groups(moment: str, runs: int) -> str:
            count = len(told.heard(GROUP))
            await until(told, gateway, moment, runs)
            return "\n".join(told.heard(GROUP)[count:])

        await says(told, f"{DAY} 09:00", "Mine of Saturday")
        await groups(f"{DAY} 21:00", 1)
        await says(told, f"{DAY} 22:00", "The cake is lemon", GROUP)
        await says(told, "2026-11-22 09:00", "Mine of Sunday")
        assert await groups("2026-11-22 21:00", 2) == ""
        await says(told, "2026-11-23 09:00", "We meet at six", GROUP)
        ours = await groups("2026-11-23 21:00", 3)
        assert ours.index("The cake is lemon") < ours.index("We meet at six") and "Mine" not in ours


async def test_a_chat_that_takes_an_hour_of_its_own_is_told_on_from_where_it_was(tmp_path: Path) -> None:
    async with a_day(tmp_path) as (told, _), awake(told) as gateway:
        await says(told, f"{DAY} 09:00", "We take the blue tiles")
        await until(told, gateway, f"{DAY} 21:00", 1)
        await says(told, f"{DAY} 21:10", "/daily 22:00")
        await says(told, f"{DAY} 23:10", "The cat is back")
        await says(told, "2026-11-24 10:00", "Nothing much today")
        at(told, "2026-11-24 22:00")
        summary = (await told.hears("Nothing much")).text
        assert "The cat is back" in summary and "blue tiles" not in summary


async def test_run_by_hand_it_tells_what_the_evening_s_would_and_nothing_twice(tmp_path: Path) -> None:
    async with a_day(tmp_path) as (told, _), awake(told) as gateway:

        async def by_hand(moment: str, runs: int) -> str:
            at(told, moment)
            await gateway.operations["schedule.run"]({"id": "daily-summary"})
            return await ran(gateway, "daily-summary", runs)

        await says(told, f"{DAY} 09:00", "We take the blue tiles")
        await until(told, gateway, f"{DAY} 21:00", 1)
        await says(told, f"{DAY} 23:10", "The cat is back")
        await says(told, "2026-11-22 13:00", "Nothing much today")
        assert await by_hand("2026-11-22 14:00", 2) == "done"
        assert "The cat is back" in (await told.hears("Nothing much")).text
        assert await by_hand("2026-11-22 15:00", 3) == "silent"
        await silent(told, gateway, "2026-11-22 21:00", 4)


async def test_many_days_are_bounded_and_the_newest_are_whole(tmp_path: Path) -> None:
    """Nine days of log, too long to be shown together."""
    async with a_day(tmp_path) as (told, diarist), awake(told) as gateway:
        await says(told, f"{DAY} 09:00", "We take the blue tiles")
        await until(told, gateway, f"{DAY} 21:00", 1)
        from_then = [f"2026-11-{day}" for day in range(22, 31)]
        for day in from_then:
            lines = "".join(f"- 10:{number:02} {day} entry {number} {'word ' * 120}\n" for number in range(30))
            told.write(f"memory/{day}.md", f"# {day}\n\n{lines}")
        told.model.fail(529, times=200)
        at(told, "2026-12-01 10:00")
        assert await ran(gateway, "daily-summary", 2) == "missed"
        told.write("memory/2026-12-01.md", "# 2026-12-01\n\n- 10:00 Snow\n")
        plain = await until(told, gateway, "2026-12-01 21:00", 3)
        assert "Snow" in plain and "**" not in plain and len(plain) < 12_000
        assert "2026-11-30 entry 29" in plain and "2026-11-22 entry" not in plain and "memory/2026-11-22.md" in plain
        told.model._faults.clear()
        told.write("memory/2026-12-02.md", "# 2026-12-02\n\n- 10:00 Ice\n")
        assert "Snow" not in await until(told, gateway, "2026-12-02 21:00", 4)
        assert "left out" not in diarist.summaries[-1]


async def test_a_model_is_shown_the_newest_days_whole_and_the_oldest_by_name(tmp_path: Path) -> None:
    async with a_day(tmp_path) as (told, diarist), awake(told) as gateway:
        await says(told, f"{DAY} 09:00", "We take the blue tiles")
        await until(told, gateway, f"{DAY} 21:00", 1)
        for day in (f"2026-11-{day}" for day in range(22, 31)):
            lines = "".join(f"- 10:{number:02} {day} entry {number} {'word ' * 60}\n" for number in range(30))
            told.write(f"memory/{day}.md", f"# {day}\n\n{lines}")
        told.write("memory/2026-12-01.md", "# 2026-12-01\n\n- 10:00 Snow\n")
        at(told, "2026-12-01 10:00")
        assert await ran(gateway, "daily-summary", 2) == "missed"
        await until(told, gateway, "2026-12-01 21:00", 3)
        shown = diarist.summaries[-1]
        assert all(f"2026-11-30 entry {number} " in shown for number in range(30)) and "Snow" in shown
        assert "2026-11-22 entry" not in shown and "left out: `memory/2026-11-22.md` – `memory/" in shown
        assert len(shown) < 60_000


@pytest.mark.parametrize(("seed", "hour"), first((3, 8), (1, 21), (2, 21), (4, 8)))
async def test_whatever_the_days_were_like_each_word_is_in_a_summary(tmp_path: Path, seed: int, hour: int) -> None:
    """Silent days, days off, starts at any hour: nothing that was said falls between two summaries."""
    choice = random.Random(seed)
    noon = datetime.fromisoformat(f"{DAY} 12:00").replace(tzinfo=ZoneInfo(ZONE))
    said: list[str] = []
    day = gap = runs = 0
    async with a_day(tmp_path, schedule={"daily_summary": {"time": f"{hour:02}:00"}}) as (told, _):

        def stands(hours: float) -> str:
            return f"{(noon + timedelta(days=day)).date()} {int(hours):02}:{int(hours * 60) % 60:02}"

        async def talk(begin: float, end: float, times: int) -> None:
            for moment in sorted(choice.uniform(begin, end) for _ in range(times)):
                said.append(f"word{len(said)}x")
                await says(told, stands(moment), said[-1])

        async def run(gateway: Gateway) -> None:
            nonlocal runs
            runs += 1
            await ran(gateway, "daily-summary", runs)
            await told.idle()

        while day < 10:
            start = choice.uniform(0.2, hour - 1)
            at(told, stands(start))
            async with awake(told) as gateway:
                if gap:  # the last of what fell due meanwhile, late or missed
                    await run(gateway)
                for _ in range(choice.randint(1, 3)):
                    await talk(start, hour - 0.1, choice.choice((0, 1, 2)))
                    at(told, stands(hour))
                    await run(gateway)
                    await talk(hour + 0.1, 23.8, choice.choice((0, 1, 2)))
                    day, start = day + 1, 0.2
                gap = choice.choice((0, 0, 1, 3))
                day += gap
        at(told, stands(0.2))
        async with awake(told) as gateway:
            if gap:
                await run(gateway)
            await says(told, stands(hour - 0.5), "The end")
            at(told, stands(hour))
            await run(gateway)
        everything = "\n".join(told.heard())
        assert len(said) > 4 and [word for word in said if word not in everything] == []
