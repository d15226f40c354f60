"""Without a model, plain words do what the commands do, and are never filed as notes."""

from __future__ import annotations

import pytest

from tests.gateway.conftest import GROUP, OWNER, Daybook
from tests.gateway.scheduling.test_requests import ask


def notes(daybook: Daybook) -> str:
    return "".join(file.read_text("utf-8") for file in (daybook.workspace / "memory").glob("20*.md"))


@pytest.mark.parametrize(
    "said",
    [
        "Remind me tomorrow at three to call mum",
        "Remind me to call mum tomorrow at 15:00.",
        "Can you remind me tomorrow at 3pm to call mum?",
        "Erinnere mich morgen um drei daran, call mum",
        "Erinnere mich morgen um 15 Uhr: call mum",
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
    "said",
    [
        "Remind me at dawn to call mum",
        "Erinnere mich bei Gelegenheit an Mama",
        "Recuérdame mañana a las 15:00 llamar a mamá",
        "Rappelle-moi demain à 15 h d'appeler maman",
        "明天下午三点提醒我给妈妈打电话",
        "明日15時に母に電話するようにリマインドして",
    ],
)
async def test_a_time_that_is_not_understood_says_which_command_does(daybook: Daybook, said: str) -> None:
    async with daybook.running():
        assert "/remind tomorrow 15:00 call Ann" in await ask(daybook, said)
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
        assert "Deleted from" in await ask(daybook, "yes")
        assert fact not in notes(daybook)
        assert "Undone" in await ask(daybook, undo)
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
