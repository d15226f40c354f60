"""What the other clauses of a line tell of the order that one of them is."""

from __future__ import annotations

import pytest

from agent.languages.codes import Language
from agent.languages.registry import LANGUAGES
from agent.model.offline.model import OfflineModel
from gateway.recurrence import Cron
from gateway.scheduling import jobs_file
from tests.gateway.commands.test_plain_commands import notes
from tests.gateway.commands.test_plain_orders import reminders
from tests.gateway.conftest import Daybook
from tests.gateway.scheduling.test_requests import ask

pytestmark = pytest.mark.usefixtures("offline")
UNCLEAR = LANGUAGES[Language.ENGLISH].reminders.unclear


@pytest.fixture
def assistant(daybook: Daybook) -> Daybook:
    daybook.model = OfflineModel(daybook.moment.clock, ".env")  # type: ignore[assignment]
    return daybook


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("not going to the dentist after all, get rid of that reminder", "Cancelled: dentist"),
        ("the dentist is closed, delete it", "Cancelled: dentist"),
        ("cancel the dentist, it's too early", "Cancelled: dentist"),
        ("cancel the dentist, mum", "Cancelled: dentist\nCancelled: call mum"),
        ("the dentist rang me, it's half past six tomorrow now, change it", "⏰ dentist"),
        ("the weather is nasty, cancel the reminder", "Which one?"),
        ("the lights are still on, turn them off", "I can't do that in words yet."),
        ("Anna comes tomorrow, remind me at 5pm to clean", UNCLEAR),
        ("Anna comes tomorrow at 4pm, remind me at 3pm", UNCLEAR),
    ],
)
async def test_the_other_clause_says_what_is_meant(assistant: Daybook, said: str, answer: str) -> None:
    async with assistant.running():
        for task in ("tomorrow at 4pm: dentist", "tomorrow at 5pm to call mum"):
            await ask(assistant, f"Remind me {task}")
        assert answer in await ask(assistant, said)
    assert notes(assistant) == ""


@pytest.mark.parametrize(
    "said",
    [
        "the bike is in the garage now, change that",
        "I fell asleep, set the timer",
        "She said, remind me tomorrow at 5 to clean",
    ],
)
async def test_what_is_no_order_after_all_is_filed(assistant: Daybook, said: str) -> None:
    async with assistant.running():
        assert (await ask(assistant, said)).startswith("Noted:")
        assert await reminders(assistant) == []


@pytest.mark.parametrize(
    ("said", "expression"),
    [
        ("every weekday wake me at 6", "0 6 * * 1-5"),
        ("I start early now, wake me every day at 5:15", "15 5 * * *"),
    ],
)
async def test_how_often_may_be_said_before_the_order(assistant: Daybook, said: str, expression: str) -> None:
    async with assistant.running():
        await ask(assistant, said)
    (job,) = jobs_file.read((assistant.workspace / "schedule.yaml").read_text("utf-8")).jobs
    assert isinstance(job.when, Cron) and job.when.expression == expression


@pytest.mark.parametrize(
    ("said", "when"),
    [
        ("wake me tomorrow at 5:40", "05:40"),
        ("weck mich morgen um viertel nach 5", "05:15"),
        ("despiértame mañana a las 5 y media", "05:30"),
        ("réveille-moi demain à 5h40", "05:40"),
        ("svegliami domani alle 5 e 40", "05:40"),
        ("目覚まし、明日の5時40分", "05:40"),
        ("明天五点四十叫我起床", "05:40"),
        ("wake me tomorrow at 5pm", "17:00"),
        ("明天下午五点四十叫我起床", "17:40"),
    ],
)
async def test_a_bare_hour_wakes_in_the_morning(assistant: Daybook, said: str, when: str) -> None:
    async with assistant.running():
        await ask(assistant, said)
        ((_, at),) = await reminders(assistant)
    assert at.endswith(when)


@pytest.mark.parametrize(
    "said",
    [
        "timer for an hour and a half",
        "Timer anderthalb Stunden",
        "pon un temporizador de una hora y media",
        "lance un minuteur d'une heure et demie",
        "minuteur 1h30",
        "timer di un'ora e mezza",
        "1時間半のタイマー",
        "一个半小时的倒计时",
    ],
)
async def test_a_timer_rings_after_the_length_that_is_named(assistant: Daybook, said: str) -> None:
    async with assistant.running():
        now = assistant.moment.clock.now()
        await ask(assistant, said)
        ((_, at),) = await reminders(assistant)
    hour, minute = divmod(now.hour * 60 + now.minute + 90, 60)
    assert at.endswith(f"{hour % 24:02}:{minute:02}")


@pytest.mark.parametrize(
    "said", ["mets un réveil à 26h", "26時75分にアラームかけて", "Weck mich um 26 Uhr 75", "wake me at 25h"]
)
async def test_an_hour_that_does_not_exist_is_no_length_of_time(assistant: Daybook, said: str) -> None:
    async with assistant.running():
        await ask(assistant, said)
        assert await reminders(assistant) == []
