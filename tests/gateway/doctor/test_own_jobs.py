"""What `doctor` says of Daybook's own jobs, while nothing runs: as the gateway says it."""

from __future__ import annotations

from datetime import datetime, timedelta

from gateway.doctor.schedule import check_own_jobs
from gateway.doctor.schedule import check_schedule as check_schedule
from gateway.spoken_time import spoken
from tests.gateway.conftest import BERLIN, OWNER, Daybook
from tests.gateway.scheduling.test_requests import ask
from tests.gateway.scheduling.test_service import awake, until, write


def said(daybook: Daybook) -> dict[str, str]:
    """By the id of the job."""
    found = list(check_own_jobs(daybook.home, daybook.config, daybook.moment.now))
    assert all(one.ok and one.check == "schedule" for one in found)
    return {id: rest for id, _, rest in (one.message.partition(": ") for one in found)}


def test_in_a_new_home_as_configured(daybook: Daybook) -> None:
    daybook.settings["schedule"] = {"heartbeat": {"every": "30m"}, "daily_summary": {"time": "19:30"}}
    assert said(daybook) == {
        "journal": "next tomorrow (Sun 22 Nov) at 00:05",
        "heartbeat": "next today at 09:00",
        "daily-summary": "next today at 19:30",
    }
    assert not daybook.home.path.exists()


def test_what_is_off_and_quiet_hours(daybook: Daybook) -> None:
    daybook.settings["memory"] = {"journal": False}
    daybook.settings["schedule"] = {"quiet_hours": "20:00-07:00"}
    assert said(daybook) == {
        "journal": "off",
        "heartbeat": "off",
        "daily-summary": "next tomorrow (Sun 22 Nov) at 07:00",
    }


async def test_chosen_times_paused_jobs_and_last_results(daybook: Daybook) -> None:
    async with awake(daybook) as gateway:
        assert "I'll sum up the day here at 20:15" in await ask(daybook, "/daily 20:15")
        assert "Paused: I write down the day." in await ask(daybook, "/jobs pause journal")
        await ask(daybook, "/jobs run journal")
        await until(gateway, "journal", "silent")
    assert said(daybook) == {
        "journal": "off; last today at 08:30: silent",
        "heartbeat": "off",
        "daily-summary": "off",
        f"daily-summary-telegram-{OWNER}": "next today at 20:15",
    }
    async with daybook.running():
        await ask(daybook, "/daily off")
    assert f"daily-summary-telegram-{OWNER}" not in said(daybook)


async def test_it_says_the_next_runs_that_the_gateway_says(daybook: Daybook) -> None:
    daybook.settings["schedule"] = {"heartbeat": {"every": "2h"}}
    async with awake(daybook) as gateway:
        await ask(daybook, "/daily 8:15")
        listed = await gateway.ask("schedule.list")
        assert isinstance(listed, list)
        now = daybook.moment.now
        theirs = {
            row["id"]: f"next {spoken(datetime.fromisoformat(str(row['next_run'])), now, BERLIN)}"
            for row in listed
            if row["enabled"]
        }
    assert {id: told for id, told in said(daybook).items() if told != "off"} == theirs


async def test_the_last_result_of_a_job_of_one_s_own(daybook: Daybook) -> None:
    write(daybook, "{id: tea, text: Tea, when: {cron: '0 9 * * *'}, to: owner}")
    async with awake(daybook) as gateway:
        daybook.moment.pass_(timedelta(minutes=31))
        await until(gateway, "tea", "delivered")
    found = check_schedule(daybook.home, daybook.workspace, daybook.config, daybook.moment.now, {"telegram"})
    jobs, tea = (one.message for one in found)
    assert jobs == "you have 1 job"
    assert tea == "tea: next tomorrow (Sun 22 Nov) at 09:00; last today at 09:00: delivered"
