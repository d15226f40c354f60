"""Without a model, plain words do what the commands do, and are never filed as notes."""

from __future__ import annotations

import pytest

from tests.gateway.conftest import GROUP, OWNER, Daybook
from tests.gateway.scheduling.test_requests import ask

pytestmark = pytest.mark.usefixtures("offline")


def notes(daybook: Daybook) -> str:
    return "".join(file.read_text("utf-8") for file in (daybook.workspace / "memory").glob("20*.md"))


@pytest.mark.parametrize(
    "said",
    [
        "Remind me tomorrow at three to call mum",
        "Remind me to call mum tomorrow at 15:00.",
        "Can you remind me tomorrow at 3pm to call mum?",
    ],
)
async def test_remind_me_makes_a_reminder(daybook: Daybook, said: str) -> None:
    async with daybook.running() as gateway:
        assert "tomorrow (Sun 22 Nov) at 15:00" in await ask(daybook, said)
        jobs = await gateway.ask("schedule.list")
        assert isinstance(jobs, list)
        assert "call mum" in [row["text"] for row in jobs]
    assert notes(daybook) == "" and not daybook.model.requests


@pytest.mark.parametrize(
    ("said", "answer", "task"),
    [
        ("Recuérdame mañana a las tres llamar a mamá", "Te lo recordaré mañana a las 15:00.", "llamar a mamá"),
        ("Rappelle-moi d'appeler maman demain à 15 h", "Je te le rappellerai demain à 15:00.", "appeler maman"),
        ("明天下午三点提醒我给妈妈打电话", "我会在明天 15:00 提醒你。", "给妈妈打电话"),
        ("明日の3時に母に電話するようにリマインドして", "明日 15:00 にお知らせします。", "母に電話する"),
        ("Erinnere mich morgen um drei daran, Mama anzurufen", "Ich erinnere dich morgen um 15:00.", "Mama anzurufen"),
        ("Erinnere mich morgen um halb drei an den Zahnarzt", "Ich erinnere dich morgen um 14:30.", "Zahnarzt"),
    ],
)
async def test_remind_me_is_understood_and_answered_in_each_language(
    daybook: Daybook, said: str, answer: str, task: str
) -> None:
    async with daybook.running() as gateway:
        assert await ask(daybook, said) == answer
        jobs = await gateway.ask("schedule.list")
        assert isinstance(jobs, list)
        assert task in [row["text"] for row in jobs]
    assert notes(daybook) == "" and not daybook.model.requests


@pytest.mark.parametrize(
    ("said", "question"),
    [
        ("Remind me tomorrow to call mum", "At what time?"),
        ("Erinnere mich am Freitag an die Miete", "Um wie viel Uhr?"),
        ("明天提醒我交房租", "几点？"),
    ],
)
async def test_a_day_without_an_hour_is_asked_about_with_three_to_press(
    daybook: Daybook, said: str, question: str
) -> None:
    async with daybook.running() as gateway:
        assert await ask(daybook, said) == question
        (shown,) = daybook.chat.standing(OWNER).values()
        ((morning, noon, evening),) = shown.buttons
        assert [one.label for one in (morning, noon, evening)] == ["9:00", "12:00", "18:00"]
        await ask(daybook, evening.data)
        jobs = await gateway.ask("schedule.list")
        assert isinstance(jobs, list)
        assert [row["when"]["at"][11:] for row in jobs if "at" in row["when"]] == ["18:00"]


@pytest.mark.parametrize(
    "said", ["Remind me at dawn to call mum", "Erinnere mich bei Gelegenheit an Mama", "Remind me next year to pay"]
)
async def test_a_time_that_is_not_understood_says_how(daybook: Daybook, said: str) -> None:
    async with daybook.running():
        assert "15" in await ask(daybook, said)
    assert notes(daybook) == "" and not daybook.model.requests


@pytest.mark.parametrize(
    ("fact", "forget", "undo"),
    [
        ("The bike is blue", "Forget the bike", "undo that"),
        ("Das Fahrrad ist blau", "Vergiss das Fahrrad", "Mach das rückgängig"),
        ("La bici es azul", "Olvida la bici", "Deshaz eso"),
        ("Le vélo est bleu", "Oublie le vélo", "Annule ça"),
        ("自行车是蓝色的", "忘掉自行车", "撤销"),
        ("自転車は青いです", "自転車のことは忘れて", "元に戻して"),
    ],
)
async def test_forget_and_undo_do_what_they_say(daybook: Daybook, fact: str, forget: str, undo: str) -> None:
    async with daybook.running():
        await ask(daybook, f"/remember {fact}")
        assert fact in await ask(daybook, forget)
        assert "daybook sessions prune" in await ask(daybook, "yes")
        assert fact not in notes(daybook)
        assert "memory/" not in await ask(daybook, undo)
        assert notes(daybook).count("- ") == 1 and fact in notes(daybook)
    assert not daybook.model.requests


async def test_with_a_model_plain_words_are_the_models(daybook: Daybook) -> None:
    daybook.settings["model"] = {"api_key": "sk-ant-test"}
    daybook.model.then("I will.")
    async with daybook.running():
        assert await ask(daybook, "Remind me tomorrow at three to call mum") == "I will."
    assert len(daybook.model.requests) == 1


async def test_in_a_group_only_the_owner_forgets(daybook: Daybook) -> None:
    daybook.group()
    async with daybook.running():
        said = await ask(daybook, "forget the bike", chat=GROUP, sender=OWNER, group=True)
    assert "I found nothing about" in said or "only my owner" in said
