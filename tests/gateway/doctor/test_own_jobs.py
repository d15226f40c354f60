"""What `doctor` says of Daybook's own jobs, while nothing runs: as the gateway says it."""

from __future__ import annotations

from datetime import timedelta

from gateway.doctor.schedule import check_own_jobs
from gateway.doctor.schedule import check_schedule as check_schedule
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
        "journal": "next 2026-11-22 Sun 00:05 Europe/Berlin",
        "heartbeat": "next 2026-11-21 Sat 09:00 Europe/Berlin",
        "daily-summary": "next 2026-11-21 Sat 19:30 Europe/Berlin",
    }
    assert not daybook.home.path.exists()


def test_what_is_off_and_quiet_hours(daybook: Daybook) -> None:
    daybook.settings["memory"] = {"journal": False}
    daybook.settings["schedule"] = {"quiet_hours": "20:00-07:00"}
    assert said(daybook) == {
        "journal": "off",
        "heartbeat": "off",
        "daily-summary": "next 2026-11-22 Sun 07:00 Europe/Berlin",
    }


async def test_chosen_times_paused_jobs_and_last_results(daybook: Daybook) -> None:
    async with awake(daybook) as gateway:
        assert "I tell the day here at 20:15" in await ask(daybook, "/daily 20:15")
        assert "is paused" in await ask(daybook, "/jobs pause journal")
        await ask(daybook, "/jobs run journal")
        await until(gateway, "journal", "silent")
    assert said(daybook) == {
        "journal": "off; last 2026-11-21 Sat 08:30 Europe/Berlin: silent",
        "heartbeat": "off",
        "daily-summary": "off",
        f"daily-summary-telegram-{OWNER}": "next 2026-11-21 Sat 20:15 Europe/Berlin",
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
        theirs = {str(row["id"]): str(row["next_run"])[:16].replace("T", " ") for row in listed if row["enabled"]}
    ours = {id: told.split() for id, told in said(daybook).items() if told != "off"}
    assert {id: f"{words[1]} {words[3]}" for id, words in ours.items()} == theirs


async def test_the_last_result_of_a_job_of_one_s_own(daybook: Daybook) -> None:
    write(daybook, "{id: tea, text: Tea, when: {cron: '0 9 * * *'}, to: owner}")
    async with awake(daybook) as gateway:
        daybook.moment.pass_(timedelta(minutes=31))
        await until(gateway, "tea", "delivered")
    found = check_schedule(daybook.home, daybook.workspace, BERLIN, daybook.moment.now, {"telegram"})
    (told,) = (one.message for one in found)
    last = "last 2026-11-21 Sat 09:00 Europe/Berlin: delivered"
    assert told == f"1 job of yours, 1 on; next: tea 2026-11-22 Sun 09:00 Europe/Berlin ({last})"
