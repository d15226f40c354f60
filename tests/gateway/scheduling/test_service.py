"""Jobs and reminders in a whole gateway, with a clock that the test owns: Saturday, 21 November, 08:30 in Berlin."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest

from agent.clock import utc_stamp
from agent.model.base import Json, ModelError
from agent.model.scripted import Call, Hold, ScriptedAnswer
from channels.message import ChatGone, Event
from gateway.recurrence import Cron
from gateway.rpc.protocol import OperationError
from gateway.scheduling.builtins import BuiltIn, DueTime, JobFailed, JobOutcome
from gateway.scheduling.run_state import RunState
from gateway.server import Timeouts
from gateway.store.database import Database
from gateway.store.run_rows import Run, RunStatus
from tests.gateway.conftest import ALICE, BERLIN, GROUP, OWNER, Daybook, Running

DAILY = "when: {cron: '0 9 * * *'}"
WATER = f"{{id: water, text: Drink, {DAILY}, to: owner}}"
WEATHER = f"{{id: weather, kind: prompt, text: Tell the weather, {DAILY}, to: owner}}"
HALF_HOUR = timedelta(minutes=30)
DAY = timedelta(days=1)


async def no_one(_: Sequence[Event]) -> None:
    """Takes nothing."""


def write(daybook: Daybook, *jobs: str) -> None:
    text = "".join(f"  - {job}\n" for job in jobs)
    daybook.workspace.mkdir(parents=True, exist_ok=True)
    (daybook.workspace / "schedule.yaml").write_text(f"# mine\njobs:\n{text}", "utf-8")


def schedule(daybook: Daybook) -> str:
    return (daybook.workspace / "schedule.yaml").read_text("utf-8")


@asynccontextmanager
async def awake(daybook: Daybook) -> AsyncIterator[Running]:
    """Running, and it has read its jobs."""
    async with daybook.running() as gateway:
        await gateway.ask("schedule.list")
        yield gateway


async def listed(gateway: Running, id: str) -> dict[str, Json]:
    found = await gateway.ask("schedule.list")
    assert isinstance(found, list)
    return next(dict(row) for row in found if row["id"] == id)


async def until(gateway: Running, id: str, result: str) -> dict[str, Json]:
    """The job's row once its last run came to that."""
    while (row := await listed(gateway, id))["last_result"] != result:  # noqa: ASYNC110  what is on disk rings no bell
        await asyncio.sleep(0)
    return row


async def runs(gateway: Running, id: str | None = None) -> list[str]:
    found = await gateway.ask("schedule.history", id=id)
    assert isinstance(found, list)
    return [row["result"] for row in found]


def dates(gateway: Running) -> dict[str, str]:
    """The date jobs in APScheduler's store, by the job's own clock."""
    timers = gateway.gateway.schedule.timers
    assert timers.scheduler is not None
    ids = [job.id for job in timers.scheduler.get_jobs()]
    assert len(ids) == len(set(ids))
    return {id: f"{due.astimezone(BERLIN):%d %H:%M}" for id in ids if (due := timers.until(id)) is not None}


async def test_each_enabled_job_has_one_date_job(daybook: Daybook) -> None:
    off = f"{{id: off, text: Off, {DAILY}, enabled: false}}"
    far = "{id: far, text: Far, when: {at: '2099-01-02T10:00'}}"
    past = "{id: past, text: Past, when: {at: '2020-01-02T10:00'}, catch_up: false}"
    write(daybook, WATER, off, far, past)
    async with awake(daybook) as gateway:
        await until(gateway, "past", "missed")
        await gateway.ticks()
        rows = await gateway.ask("schedule.list")
        assert isinstance(rows, list)
        assert dates(gateway).keys() - {"memory-test"} == {row["id"] for row in rows if row["next_run"]}
        assert {"journal", "daily-summary"} <= dates(gateway).keys()
        mine = {"water": "21 09:00", "far": "02 10:00"}
        assert dates(gateway) | mine == dates(gateway) and "heartbeat" not in dates(gateway)
        for verb in ("pause", "resume", "remove"):
            await gateway.ask(f"schedule.{verb}", id="water")
            await gateway.ticks()
            assert ("water" in dates(gateway)) is (verb == "resume")
        write(daybook, WATER.replace("0 9", "15 9"), off.replace("false", "true"), far)
        while dates(gateway).get("water") != "21 09:15" or "off" not in dates(gateway):
            await gateway.ticks()
        daybook.moment.pass_(HALF_HOUR)
        await until(gateway, "off", "delivered")
        assert (dates(gateway)["off"], dates(gateway)["water"]) == ("22 09:00", "21 09:15")


async def test_each_date_follows_the_clock_when_that_is_put_back_or_ahead(daybook: Daybook) -> None:
    write(daybook, "{id: tea, text: Tea, when: {cron: '0 * * * *'}}", WATER)
    async with awake(daybook) as gateway:
        await gateway.ticks()
        assert (dates(gateway)["tea"], dates(gateway)["water"]) == ("21 09:00", "21 09:00")
        daybook.moment.pass_(-5 * DAY)
        await gateway.ticks()
        assert (dates(gateway)["tea"], dates(gateway)["water"]) == ("16 09:00", "16 09:00")
        daybook.moment.pass_(10 * DAY)
        await until(gateway, "tea", "delivered")
        assert (dates(gateway)["tea"], dates(gateway)["water"]) == ("26 09:00", "26 09:00")


async def test_a_job_that_is_edited_while_it_runs_has_its_new_date_after_that(daybook: Daybook) -> None:
    hold = Hold()
    write(daybook, WEATHER)
    daybook.model.then(ScriptedAnswer("It rains.", hold=hold))
    async with awake(daybook) as gateway:
        daybook.moment.pass_(HALF_HOUR)
        await hold.reached.wait()
        assert dates(gateway)["weather"] == "22 09:00"
        write(daybook, WEATHER.replace("0 9", "0 10"))
        while (await listed(gateway, "weather"))["when"] != {"cron": "0 10 * * *"}:
            await gateway.ticks()
        assert (await listed(gateway, "weather"))["next_run"] == "2026-11-21T10:00:00+01:00"
        daybook.moment.pass_(2 * HALF_HOUR)
        await gateway.ticks()  # it is due again, and waits for the end of the first run
        daybook.model.then("It rains again.")
        hold.released.set()
        assert await daybook.chat.wait_heard(2, chat=OWNER) == ["It rains.", "It rains again."]
        await until(gateway, "weather", "delivered")
        assert dates(gateway)["weather"] == "22 10:00"


async def test_a_reminder_rings_without_a_model_and_leaves_the_file(daybook: Daybook) -> None:
    write(daybook, "{id: milk, text: Buy milk, when: {at: '2026-11-21T08:40'}, to: owner}", WATER)
    async with awake(daybook) as gateway:
        assert (await listed(gateway, "milk"))["next_run"] == "2026-11-21T08:40:00+01:00"
        daybook.moment.pass_(timedelta(minutes=10))
        assert await daybook.chat.wait_heard(1, chat=OWNER) == ["⏰ Buy milk"]
        while "milk" in schedule(daybook):
            await gateway.ticks()
        assert await runs(gateway, "milk") == ["delivered"]
    assert schedule(daybook) == f"# mine\njobs:\n  - {WATER}\n"
    assert daybook.model.requests == []


async def test_a_prompt_is_an_isolated_turn_whose_last_words_are_delivered(daybook: Daybook) -> None:
    daybook.settings["schedule"] = {
        "daily_summary": {"enabled": False}
    }  # of the same day, it would be heard in between
    write(daybook, WEATHER)
    looks = ScriptedAnswer("Let me look.", calls=(Call("memory_append", {"text": "asked for rain"}),))
    daybook.model.then("Hello.", looks, "It rains.", "It rains again.")
    async with awake(daybook) as gateway:
        daybook.chat.say("Hi", chat=OWNER)
        await daybook.chat.wait_heard(1, chat=OWNER)
        daybook.moment.pass_(HALF_HOUR)
        assert (await daybook.chat.wait_heard(2, chat=OWNER))[1] == "It rains."
        await until(gateway, "weather", "delivered")
        daybook.moment.pass_(DAY)
        assert (await daybook.chat.wait_heard(3, chat=OWNER))[2] == "It rains again."
    talk, first, _, second = daybook.model.requests
    assert first.purpose == "job"
    assert "Tell the weather" in str(first.messages) and "Hi" not in str(first.messages)
    assert len(second.messages) == 1
    assert "schedule_add" in str(talk.tools) and "schedule_add" not in str(first.tools)


async def test_a_prompt_with_nothing_to_say_delivers_nothing(daybook: Daybook) -> None:
    write(daybook, WEATHER)
    daybook.model.then("NO_REPLY")
    async with awake(daybook) as gateway:
        daybook.moment.pass_(HALF_HOUR)
        await until(gateway, "weather", "silent")
    assert daybook.chat.history == []


async def test_a_group_s_job_sees_what_the_group_sees(daybook: Daybook) -> None:
    daybook.group()
    write(daybook, f"{{id: news, kind: prompt, text: What is new?, {DAILY}, to: 'telegram:{GROUP}'}}")
    (daybook.workspace / "MEMORY.md").write_text("The safe's number is 739.\n", "utf-8")
    daybook.model.then("Nothing.")
    async with awake(daybook):
        daybook.moment.pass_(HALF_HOUR)
        assert await daybook.chat.wait_heard(1, chat=GROUP) == ["Nothing."]
    assert "739" not in daybook.everything_asked()


async def test_missed_while_down_it_runs_once_marked_late(daybook: Daybook) -> None:
    write(daybook, "{id: water, text: Drink, when: {every: 30m, from: '2026-11-21T08:00'}, to: owner}")
    async with awake(daybook) as gateway:
        daybook.moment.pass_(HALF_HOUR)
        await daybook.chat.wait_heard(1, chat=OWNER)
    daybook.moment.pass_(timedelta(hours=5, minutes=10))
    async with awake(daybook) as gateway:
        heard = await daybook.chat.wait_heard(2, chat=OWNER)
        assert heard == ["⏰ Drink", "⏰ Drink\n\n_(Sorry, I'm late: this was due today at 14:00.)_"]
        await until(gateway, "water", "delivered")
        assert await runs(gateway, "water") == ["delivered", "delivered"]


async def test_missed_too_long_ago_or_not_to_be_made_up_for_it_is_recorded(daybook: Daybook) -> None:
    write(daybook, WATER, f"{{id: tea, text: Tea, {DAILY}, catch_up: false}}")
    async with awake(daybook) as gateway:
        assert await runs(gateway) == []
    daybook.moment.pass_(timedelta(hours=14))
    async with awake(daybook) as gateway:
        await until(gateway, "water", "missed")
        await until(gateway, "tea", "missed")
    assert daybook.chat.heard(OWNER) == []


async def test_a_reminder_that_was_missed_for_too_long_is_told_once_where_it_should_have_rung(
    daybook: Daybook,
) -> None:
    """It comes but once: whoever set it would wait for it for ever."""
    daybook.settings["channels"] = {"telegram": {"allow": [ALICE]}}
    nine = "when: {at: '2026-11-21T09:00'}"
    alices = f"{{id: cake, text: The cake, {nine}, to: 'telegram:{ALICE}', timezone: Europe/London}}"
    more = (f"{{id: m{at}, text: More, {nine}}}" for at in range(30))
    write(
        daybook, f"{{id: milk, text: Buy milk, {nine}}}", alices, f"{{id: x, text: X, {nine}, catch_up: false}}", *more
    )
    async with awake(daybook) as gateway:
        daybook.chat.say("/whoami", chat=ALICE, sender=ALICE)
        await daybook.chat.wait_heard(1, chat=ALICE)
    daybook.moment.pass_(DAY)
    async with awake(daybook) as gateway:
        await until(gateway, "milk", "missed")
        (mine,) = await daybook.chat.wait_heard(1, chat=OWNER)
        assert "- yesterday at 09:00: Buy milk (`milk`)\n" in mine and "and 11 more" in mine
        assert "cake" not in mine and "`x`" not in mine
        (_, alices) = await daybook.chat.wait_heard(2, chat=ALICE)
        assert "- yesterday at 09:00: The cake (`cake`)" in alices and "milk" not in alices
    async with awake(daybook) as gateway:
        await gateway.ticks()
    assert len(daybook.chat.heard(OWNER)) == 1 and len(daybook.chat.heard(ALICE)) == 2


@pytest.mark.parametrize("text", ["/remind in 5 minutes tea", "/jobs delete weather", "/daily off", "/new"])
async def test_a_job_whose_text_reads_like_a_command_is_no_command(daybook: Daybook, text: str) -> None:
    write(daybook, f"{{id: weather, kind: prompt, text: '{text}', {DAILY}}}")
    before = schedule(daybook)
    daybook.model.then("I can't do that from a job.")
    async with awake(daybook):
        daybook.moment.pass_(HALF_HOUR)
        assert await daybook.chat.wait_heard(1, chat=OWNER) == ["I can't do that from a job."]
    assert schedule(daybook) == before


async def test_in_quiet_hours_jobs_wait_and_reminders_ring(daybook: Daybook) -> None:
    daybook.settings["schedule"] = {"quiet_hours": "08:45-10:00"}
    write(daybook, WATER, WEATHER)
    daybook.model.then("It rains.")
    async with awake(daybook) as gateway:
        await gateway.ticks()
        assert (await listed(gateway, "weather"))["next_run"] == "2026-11-21T10:00:00+01:00"
        assert (await listed(gateway, "water"))["next_run"] == "2026-11-21T09:00:00+01:00"
        daybook.moment.pass_(HALF_HOUR)
        await daybook.chat.wait_heard(1, chat=OWNER)
        assert (await listed(gateway, "weather"))["next_run"] == "2026-11-21T10:00:00+01:00"
        assert daybook.model.requests == []
        daybook.moment.pass_(timedelta(hours=1))
        assert await daybook.chat.wait_heard(2, chat=OWNER) == ["⏰ Drink", "It rains."]


async def test_a_job_that_fails_is_tried_again_and_the_owner_hears_of_the_second_failure(daybook: Daybook) -> None:
    write(daybook, WEATHER)
    daybook.model.then(ModelError("The server is on fire."), ModelError("The server is on fire."), "It rains.")
    async with awake(daybook) as gateway:
        daybook.moment.pass_(HALF_HOUR)
        await until(gateway, "weather", "waiting")
        assert daybook.chat.heard(OWNER) == []
        assert "fire" in str((await listed(gateway, "weather"))["last_error"])
        daybook.moment.pass_(timedelta(seconds=30))
        (told,) = await daybook.chat.wait_heard(1, chat=OWNER)
        assert "`weather` failed 2 times in a row" in told and "on fire" in told
        daybook.moment.pass_(timedelta(seconds=60))
        assert (await daybook.chat.wait_heard(2, chat=OWNER))[1] == "It rains."
        await until(gateway, "weather", "delivered")
        daybook.model.then("Sun.")
        daybook.moment.pass_(DAY)
        assert (await daybook.chat.wait_heard(3, chat=OWNER))[2].startswith("Sun.")


async def test_a_retry_waits_for_the_end_of_the_quiet_hours(daybook: Daybook) -> None:
    daybook.settings["schedule"] = {"quiet_hours": "09:00-10:00", "daily_summary": {"enabled": False}}
    write(daybook, WEATHER.replace("0 9", "59 8"))
    daybook.model.then(ModelError("Down."), "It rains.")
    async with awake(daybook) as gateway:
        daybook.moment.pass_(timedelta(minutes=29))
        await until(gateway, "weather", "waiting")
        daybook.moment.pass_(timedelta(minutes=5))
        assert await gateway.gateway.schedule.tick(no_one) is None  # at no moment before the next look
        assert (await listed(gateway, "weather"))["last_result"] == "waiting"
        daybook.moment.pass_(timedelta(minutes=56))
        assert await daybook.chat.wait_heard(1, chat=OWNER) == ["It rains."]


async def test_a_job_that_is_paused_in_the_file_is_not_tried_again(daybook: Daybook) -> None:
    write(daybook, WEATHER)
    daybook.model.then(ModelError("Down."), "It rains.")
    async with awake(daybook) as gateway:
        daybook.moment.pass_(HALF_HOUR)
        await until(gateway, "weather", "waiting")
        write(daybook, f"{WEATHER[:-1]}, enabled: false}}")
        while (await listed(gateway, "weather"))["enabled"]:
            await gateway.ticks()
        daybook.moment.pass_(timedelta(seconds=30))
        await until(gateway, "weather", "stopped")
        await gateway.ask("schedule.run", id="weather")
        assert await daybook.chat.wait_heard(1, chat=OWNER) == ["It rains."]


async def test_a_job_that_fails_for_a_day_is_paused_and_resumed_by_its_owner(daybook: Daybook) -> None:
    write(daybook, "{id: weather, kind: prompt, text: Tell the weather, when: {cron: '0 * * * *'}}")
    fails = [ModelError("Down.")] * 10
    daybook.model.then(*fails)
    async with awake(daybook) as gateway:
        while daybook.model.left:
            daybook.moment.pass_(timedelta(minutes=10))
            await gateway.ticks()
            while "running" in await runs(gateway, "weather"):
                await gateway.ticks()
        heard = await daybook.chat.wait_heard(2, chat=OWNER)
        assert "so I paused it. `/jobs resume weather`" in heard[-1]
        while "enabled: false" not in schedule(daybook):
            await gateway.ticks()
        daybook.moment.pass_(DAY)
        await gateway.ticks()
        daybook.chat.say("/jobs resume weather", chat=OWNER)
        assert "Next: today at 1" in (await daybook.chat.wait_heard(3, chat=OWNER))[-1]
        assert (await listed(gateway, "weather"))["enabled"] is True
        daybook.model.then("Sun.")
        daybook.moment.pass_(timedelta(hours=1))
        await daybook.chat.wait_heard(4, chat=OWNER)
    assert daybook.model.left == 0


async def test_a_job_is_paused_before_its_next_due_time_is_taken_up(daybook: Daybook) -> None:
    """One is past at every failure: nothing runs after the tenth."""
    write(daybook, "{id: weather, kind: prompt, text: Tell the weather, when: {every: 1m}}")
    daybook.model.then(*[ModelError("Down.")] * 10)
    async with awake(daybook) as gateway:
        while "enabled: false" not in schedule(daybook):
            daybook.moment.pass_(timedelta(minutes=70))
            await gateway.ticks()
        daybook.moment.pass_(DAY)
        await gateway.ticks()
        assert set(await runs(gateway, "weather")) == {"failed"}
    assert len(daybook.model.requests) == 10


async def test_a_chat_that_is_gone_is_a_failure_and_is_not_tried_again(daybook: Daybook) -> None:
    write(daybook, "{id: milk, text: Buy milk, when: {at: '2026-11-21T09:00'}, to: 'telegram:22222'}")
    daybook.settings["channels"] = {"telegram": {"allow": [ALICE]}}
    daybook.chat.fail_next(ChatGone("the bot was blocked"))
    async with awake(daybook) as gateway:
        daybook.moment.pass_(HALF_HOUR)
        await until(gateway, "milk", "failed")
        (told,) = await daybook.chat.wait_heard(1, chat=OWNER)
        assert "`milk` failed, and I won't try it again" in told and "blocked" in told
    assert daybook.chat.heard(ALICE) == []


@pytest.mark.parametrize("to", ["telegram:99999", "telegram:-100999"])
async def test_a_chat_that_it_may_not_write_to_is_a_failure(daybook: Daybook, to: str) -> None:
    write(daybook, f"{{id: spy, text: Hello, {DAILY}, to: '{to}'}}")
    async with awake(daybook) as gateway:
        daybook.moment.pass_(HALF_HOUR)
        row = await until(gateway, "spy", "waiting")
        assert row["last_error"]
    assert daybook.chat.history == []


async def test_a_channel_that_is_off_is_told_when_it_is_written_and_again_when_it_is_due(daybook: Daybook) -> None:
    """Once for each job, however often it starts."""
    write(daybook, f"{{id: spy, text: Hello, {DAILY}, to: 'discord:5'}}")
    async with awake(daybook) as gateway:
        (told,) = await daybook.chat.wait_heard(1, chat=OWNER)
        assert "Job `spy` in `schedule.yaml` sends to `discord:5`, but discord is switched off" in told
    async with awake(daybook) as gateway:
        await gateway.ticks()
        daybook.moment.pass_(HALF_HOUR)
        assert (await until(gateway, "spy", "waiting"))["last_error"]
        added = await gateway.ask("schedule.add", text="Other", every="2h", to="discord:5")
        assert isinstance(added, dict) and "But discord is switched off" in str(added["message"])
        with pytest.raises(OperationError, match="there is no channel 'telegrm'; did you mean 'telegram'"):
            await gateway.ask("schedule.add", text="Other", every="2h", to="telegrm:5")
    assert daybook.chat.heard(OWNER) == [told]


async def test_the_good_edits_beside_a_bad_one_take_effect_and_that_is_said(daybook: Daybook) -> None:
    write(daybook, WATER, f"{{id: tea, text: Tea, {DAILY}}}")
    async with awake(daybook) as gateway:
        await listed(gateway, "tea")
        milk = f"{{id: milk, text: Milk, {DAILY}}}"
        write(daybook, WATER, milk, "{id: tea, text: Coffee, when: soon}", "{id: new, when: {every: 1h}}")
        (told,) = await daybook.chat.wait_heard(1, chat=OWNER)
        assert told.startswith("`schedule.yaml` has 2 mistakes. Everything else in it has taken effect.")
        assert "- line 5: `when` is 'soon'" in told and "Until this is fixed, `tea` runs as before." in told
        assert "- line 6: `text` is empty" in told and "Until this is fixed, that job does not exist." in told
        assert (await listed(gateway, "milk"))["text"] == "Milk"
        assert (await listed(gateway, "tea"))["text"] == "Tea"


async def test_a_new_reminder_under_an_old_name_has_not_run(daybook: Daybook) -> None:
    async with awake(daybook) as gateway:
        await gateway.ask("schedule.add", text="Tea", at="2026-11-21T09:00", id="tea")
        daybook.moment.pass_(HALF_HOUR)
        await daybook.chat.wait_heard(1, chat=OWNER)
        while "id: tea" in schedule(daybook):
            await gateway.ticks()
        again = await gateway.ask("schedule.add", text="Tea", at="2026-11-21T10:00", id="tea")
        assert isinstance(again, dict) and (again["last_run"], again["last_result"]) == (None, None)


async def test_the_owner_is_where_they_wrote_last(daybook: Daybook) -> None:
    daybook.settings["people"] = {"me": ["telegram:11111", "telegram:33333"]}
    write(daybook, WATER)
    async with awake(daybook):
        daybook.chat.say("/whoami", chat="33333", sender="33333")
        await daybook.chat.wait_heard(1, chat="33333")
        daybook.moment.pass_(HALF_HOUR)
        assert (await daybook.chat.wait_heard(2, chat="33333"))[1] == "⏰ Drink"


async def test_an_edit_by_hand_is_picked_up_and_a_broken_one_told(daybook: Daybook) -> None:
    write(daybook, WATER)
    async with awake(daybook) as gateway:
        await listed(gateway, "water")
        write(daybook, WATER, "{id: tea, text: [, when")
        (told,) = await daybook.chat.wait_heard(1, chat=OWNER)
        assert "`schedule.yaml` has a mistake" in told and "line 4" in told
        daybook.moment.pass_(HALF_HOUR)
        assert (await daybook.chat.wait_heard(2, chat=OWNER))[1] == "⏰ Drink"
    async with awake(daybook) as gateway:
        await daybook.chat.wait_heard(3, chat=OWNER)
        assert (await listed(gateway, "water"))["enabled"] is True
        write(daybook, f"{{id: tea, text: Tea, {DAILY}}}")
        await gateway.ticks()
        daybook.moment.pass_(DAY)
        assert (await daybook.chat.wait_heard(4, chat=OWNER))[3].startswith("⏰ Tea")


async def test_a_reminder_that_rang_while_the_file_was_broken_leaves_it_once_it_is_mended(daybook: Daybook) -> None:
    milk = "{id: milk, text: Buy milk, when: {at: '2026-11-21T09:00'}}"
    write(daybook, milk)
    async with awake(daybook) as gateway:
        write(daybook, milk, "{id: tea, text: [, when")
        await daybook.chat.wait_heard(1, chat=OWNER)
        daybook.moment.pass_(HALF_HOUR)
        assert (await daybook.chat.wait_heard(2, chat=OWNER))[1] == "⏰ Buy milk"
        await until(gateway, "milk", "delivered")
        assert "milk" in schedule(daybook)
        write(daybook, milk, WATER)
        while "milk" in schedule(daybook):
            await gateway.ticks()
    assert schedule(daybook) == f"# mine\njobs:\n  - {WATER}\n"
    assert daybook.chat.heard(OWNER).count("⏰ Buy milk") == 1


async def test_a_new_or_changed_job_owes_nothing_for_before(daybook: Daybook) -> None:
    write(daybook, "{id: water, text: Drink, when: {cron: '0 8 * * *'}, to: owner}")
    async with awake(daybook) as gateway:
        await gateway.ticks()
        write(daybook, "{id: water, text: Drink, when: {cron: '15 8 * * *'}, to: owner}")
        while (await listed(gateway, "water"))["when"] != {"cron": "15 8 * * *"}:
            await gateway.ticks()
        assert (await listed(gateway, "water"))["next_run"] == "2026-11-22T08:15:00+01:00"
    assert daybook.chat.heard(OWNER) == []


async def test_a_clock_that_is_put_back_runs_nothing_twice(daybook: Daybook) -> None:
    write(daybook, WATER)
    async with awake(daybook) as gateway:
        daybook.moment.pass_(HALF_HOUR)
        await daybook.chat.wait_heard(1, chat=OWNER)
        await until(gateway, "water", "delivered")
        daybook.moment.pass_(-timedelta(hours=3))
        await gateway.ticks()
        daybook.moment.pass_(timedelta(hours=3, minutes=1))
        await gateway.ticks()
        assert await runs(gateway, "water") == ["delivered"]
    assert daybook.chat.heard(OWNER) == ["⏰ Drink"]


@pytest.mark.parametrize("attempts", [0, 1])
async def test_what_was_claimed_while_the_clock_ran_ahead_holds_up_nothing(daybook: Daybook, attempts: int) -> None:
    """The process dies between the claim and the next attempt, and the clock is put back by a week."""
    write(daybook, WATER)
    async with awake(daybook):
        pass
    now, ahead = daybook.moment.now + HALF_HOUR, 7 * DAY
    due, stamp = utc_stamp(now + ahead), utc_stamp(now + ahead + HALF_HOUR)
    claimed = Run("water", due, "message", "Drink", None, False, False, RunStatus.WAITING, stamp, attempts, stamp)
    database = await Database.open(daybook.home.database)
    ledger = RunState(database, daybook.moment.clock)
    await ledger.load()
    assert await ledger.claim([claimed])
    await database.aclose()
    async with awake(daybook) as gateway:
        await gateway.ticks()  # only a look at the clock tells that it was put back
        daybook.moment.pass_(HALF_HOUR)
        assert await daybook.chat.wait_heard(1, chat=OWNER) == ["⏰ Drink"]
        await until(gateway, "water", "delivered")
        daybook.moment.pass_(ahead + HALF_HOUR)
        await daybook.chat.wait_heard(2, chat=OWNER)
        await gateway.ticks()
        assert await runs(gateway, "water") == ["delivered", "delivered"]


async def test_a_wait_that_a_clock_made_before_it_was_put_back_is_over(daybook: Daybook) -> None:
    write(daybook, WATER)
    async with awake(daybook):
        pass
    due, stamp = utc_stamp(daybook.moment.now), utc_stamp(daybook.moment.now + DAY)
    failed = Run("water", due, "message", "Drink", None, False, False, RunStatus.WAITING, stamp, 1, stamp)
    database = await Database.open(daybook.home.database)
    ledger = RunState(database, daybook.moment.clock)
    await ledger.load()
    assert await ledger.claim([failed])
    await database.aclose()
    async with awake(daybook):
        assert await daybook.chat.wait_heard(1, chat=OWNER) == ["⏰ Drink"]


async def test_a_slow_job_delays_no_other(daybook: Daybook) -> None:
    hold = Hold()
    write(daybook, WEATHER, f"{{id: news, kind: prompt, text: News, {DAILY}}}", WATER)
    daybook.model.then(
        *[lambda request: ScriptedAnswer("Slow.", hold=hold) if "weather" in str(request.messages) else "Quick."] * 2
    )
    async with awake(daybook):
        daybook.moment.pass_(HALF_HOUR)
        await hold.reached.wait()
        assert sorted(await daybook.chat.wait_heard(2, chat=OWNER)) == ["Quick.", "⏰ Drink"]
        hold.released.set()
        await daybook.chat.wait_heard(3, chat=OWNER)


async def test_run_now_by_hand(daybook: Daybook) -> None:
    write(daybook, f"{{id: water, text: Drink, {DAILY}, enabled: false}}")
    async with awake(daybook) as gateway:
        await gateway.ask("schedule.run", id="water")
        assert await daybook.chat.wait_heard(1, chat=OWNER) == ["⏰ Drink"]
        assert (await listed(gateway, "water"))["next_run"] is None


async def test_killed_at_each_turn_of_the_loop_it_is_said_once(daybook: Daybook) -> None:
    """However soon the process ends after the due time, whatever it had begun."""
    write(daybook, WATER, WEATHER)
    daybook.model.then(*["It rains."] * 12)
    async with awake(daybook) as gateway:
        await gateway.ticks()
    daybook.moment.pass_(HALF_HOUR)
    for turns in range(0, 60, 6):
        async with daybook.running() as gateway:
            for _ in range(turns):
                await asyncio.sleep(0)
            await gateway.kill()
    async with awake(daybook) as gateway:
        await until(gateway, "water", "delivered")
        await until(gateway, "weather", "delivered")
    heard = [text.removeprefix("↻ (may be a repeat) ") for text in daybook.chat.heard(OWNER)]
    assert heard.count("⏰ Drink") <= 2 and heard.count("It rains.") <= 2
    plain = [text for text in daybook.chat.heard(OWNER) if not text.startswith("↻")]
    assert len(plain) == len(set(plain)) <= 2


class Nightly:
    """A built-in job that is told what to come to."""

    def __init__(self, *results: JobOutcome | Exception) -> None:
        self.results = list(results)
        self.dues: list[DueTime] = []

    @property
    def journal(self) -> BuiltIn:
        return BuiltIn("journal", Cron("0 9 * * *"), self.run)

    async def run(self, due: DueTime) -> JobOutcome:
        self.dues.append(due)
        result = self.results.pop(0)
        if isinstance(result, Exception):
            raise result
        return result


async def test_a_built_in_job_stands_in_the_list_and_runs(daybook: Daybook) -> None:
    nightly = Nightly(JobOutcome(), JobFailed("there is no model"), JobOutcome(silent=True))
    async with awake(daybook) as gateway:
        gateway.gateway.schedule.offer(nightly.journal)
        assert (await listed(gateway, "journal"))["kind"] == "built-in"
        assert (await listed(gateway, "heartbeat"))["enabled"] is False
        await gateway.ask("schedule.run", id="journal")
        await until(gateway, "journal", "done")
        assert nightly.dues[0].by_hand
        daybook.moment.pass_(HALF_HOUR)
        row = await until(gateway, "journal", "waiting")
        assert row["last_error"] == "there is no model"
        daybook.moment.pass_(timedelta(seconds=30))
        await until(gateway, "journal", "silent")
        assert [one.moment.isoformat() for one in nightly.dues[1:]] == ["2026-11-21T09:00:00+01:00"] * 2
        await gateway.ask("schedule.pause", id="journal")
        assert (await listed(gateway, "journal"))["next_run"] is None
    async with awake(daybook) as gateway:
        gateway.gateway.schedule.offer(nightly.journal)
        assert (await listed(gateway, "journal"))["enabled"] is False
        await gateway.ask("schedule.resume", id="journal")
        assert (await listed(gateway, "journal"))["next_run"] == "2026-11-22T09:00:00+01:00"


@pytest.mark.parametrize("operation", ["schedule.list", "schedule.run", "schedule.pause"])
async def test_a_job_that_was_offered_a_moment_ago_is_a_job_like_others(daybook: Daybook, operation: str) -> None:
    """As `/daily 8:15` offers one; the schedule has not looked at the clock since."""
    daybook.timeouts = Timeouts(tick=60)
    async with awake(daybook) as gateway:
        await gateway.ticks()
        gateway.gateway.schedule.offer(BuiltIn("news", Cron("15 8 * * *"), Nightly(JobOutcome()).run))
        await gateway.ask(operation, **({} if operation == "schedule.list" else {"id": "news"}))
        due = None if operation == "schedule.pause" else "2026-11-22T08:15:00+01:00"
        assert (await listed(gateway, "news"))["next_run"] == due


@pytest.mark.full
async def test_ten_thousand_jobs(daybook: Daybook) -> None:
    write(
        daybook,
        *(f"{{id: j{number}, text: Job {number}, when: {{cron: '0 10 * * *'}}}}" for number in range(10_000)),
        WATER,
    )
    async with awake(daybook) as gateway:
        daybook.moment.pass_(HALF_HOUR)
        assert await daybook.chat.wait_heard(1, chat=OWNER) == ["⏰ Drink"]
        found = await gateway.ask("schedule.list")
        assert isinstance(found, list) and len(found) == 10_004


@pytest.mark.parametrize("path", ["schedule.yaml", "Schedule.YAML", "./schedule.yaml", "memory/link.md"])
async def test_no_job_is_made_by_a_file_tool_inside_a_job(daybook: Daybook, path: str) -> None:
    """However the file is called; the same tools write it in a talk, where somebody asks for it."""
    write(daybook, WEATHER)
    if path == "Schedule.YAML" and not (daybook.workspace / path).exists():
        pytest.skip("this disk tells letters of either case apart")
    (daybook.workspace / "memory").mkdir()
    (daybook.workspace / "memory/link.md").symlink_to(daybook.workspace / "schedule.yaml")
    more = schedule(daybook) + "  - {id: more, text: More, when: {every: 1m}}\n"
    tries = (
        Call("read_file", {"path": path}),
        Call("write_file", {"path": path, "content": more}),
        Call("edit_file", {"path": path, "old_text": "# mine", "new_text": "# ours"}),
    )
    daybook.model.then(ScriptedAnswer(calls=tries), "No more.")
    async with awake(daybook) as gateway:
        before = schedule(daybook)
        daybook.moment.pass_(HALF_HOUR)
        assert await daybook.chat.wait_heard(1, chat=OWNER) == ["No more."]
        await until(gateway, "weather", "delivered")
        assert schedule(daybook) == before
        assert daybook.asked().count("no job is made, changed or removed in a job or task") == 2
        daybook.model.then(ScriptedAnswer(calls=tries), "Done.")
        daybook.chat.say("Add it to the file", chat=OWNER)
        await daybook.chat.wait_heard(2, chat=OWNER)
    assert schedule(daybook) == more.replace("# mine", "# ours")


async def test_the_index_is_no_way_to_the_schedule_for_a_job(daybook: Daybook) -> None:
    write(daybook, WEATHER)
    before = schedule(daybook)
    (daybook.workspace / "MEMORY.md").symlink_to(daybook.workspace / "schedule.yaml")
    line = "  - {id: more, text: More, when: {every: 1m}}"
    note = {"name": "More", "description": "x", "type": "user", "content": "More"}
    updates = ({"old_text": "", "new_text": line}, {"old_text": "# mine", "new_text": "# ours"})
    calls = [Call("memory_update", update) for update in updates]
    daybook.model.then(ScriptedAnswer(calls=(*calls, Call("memory_save", note))), "No more.")
    async with awake(daybook):
        daybook.moment.pass_(HALF_HOUR)
        assert await daybook.chat.wait_heard(1, chat=OWNER) == ["No more."]
    assert schedule(daybook) == before


async def test_other_people_s_folders_have_no_schedule(daybook: Daybook) -> None:
    """A file of that name there is a file like any other."""
    daybook.settings["channels"] = {"telegram": {"allow": [ALICE]}}
    write(daybook, WATER)
    more = "jobs:\n  - {id: spy, kind: prompt, text: Tell me, when: {every: 1m}, to: owner}\n"
    daybook.model.then(Call("write_file", {"path": "schedule.yaml", "content": more}), "Done.")
    async with awake(daybook) as gateway:
        daybook.chat.say("Hi", chat=ALICE, sender=ALICE)
        await daybook.chat.wait_heard(1, chat=ALICE)
        daybook.moment.pass_(HALF_HOUR)
        await until(gateway, "water", "delivered")
        assert await runs(gateway) == ["delivered"]
    assert (daybook.workspace / f"people/telegram-{ALICE}/schedule.yaml").read_text("utf-8") == more
